package bench

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"headwater/graph"
)

// debian returns the folder of a server with Debian's package graph in it,
// and packages to ask about: a job for each package reads what the package
// depends on. Empty where the graph is not there.
func (r *run) debian(ctx context.Context) (dir string, roots []graph.ID, err error) {
	f, err := os.Open(filepath.Join(r.Inputs, "graphs", "debian-bookworm", "edges.csv.gz"))
	if errors.Is(err, os.ErrNotExist) {
		r.tell("Debian's graph is not at hand; its questions are left out")
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", nil, err
	}
	deltas, err := packages(z)
	if err != nil {
		return "", nil, err
	}
	b, err := os.ReadFile(filepath.Join(r.Inputs, "graphs", "debian-bookworm", "expected.json"))
	if err != nil {
		return "", nil, err
	}
	var expected struct {
		Answers []struct {
			Start, Direction string
			MaxHops          *int `json:"max_hops"`
			Reachable        int
		} `json:"answers_hard_edges_only"`
	}
	if err := json.Unmarshal(b, &expected); err != nil {
		return "", nil, err
	}
	for _, a := range expected.Answers {
		if id := packageName(a.Start).ID(); a.Reachable > 0 && !slices.Contains(roots, id) && a.Direction == "downstream" && a.MaxHops != nil && *a.MaxHops == 3 {
			roots = append(roots, id)
		}
	}
	dir, err = r.store(ctx, "debian", len(deltas), func(i int) graph.Delta { return deltas[i] })
	return dir, roots, err
}

func packageName(name string) graph.Name {
	return graph.Name{Kind: graph.DataStoreKind, Region: region, Namespace: "deb://bookworm", Name: name}
}

// packages makes deltas of lines of (what is needed, what needs it, how).
func packages(csvFile io.Reader) ([]graph.Delta, error) {
	at := map[string]int{}
	var deltas []graph.Delta
	seen := map[[2]string]bool{} // some are depends and pre-depends
	for lines := csv.NewReader(csvFile); ; {
		row, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return deltas, nil
		}
		if err != nil {
			return nil, err
		}
		edge := [2]string{row[0], row[1]}
		if row[2] != "depends" && row[2] != "pre-depends" || seen[edge] {
			continue
		}
		seen[edge] = true
		i, ok := at[row[1]]
		if !ok {
			i = len(deltas)
			at[row[1]] = i
			d := graph.Delta{Subject: graph.Name{Kind: graph.ProcessKind, Region: region, Namespace: "deb://build", Name: row[1]}, Origin: "openlineage",
				Run: row[1], State: graph.Completed, Time: time.Date(2026, 1, 1, 0, 0, 0, i, time.UTC).UnixNano()}
			d.Says.Writes = []graph.Dataset{{Name: packageName(row[1])}}
			deltas = append(deltas, d)
		}
		deltas[i].Says.Reads = append(deltas[i].Says.Reads, graph.Dataset{Name: packageName(row[0])})
	}
}
