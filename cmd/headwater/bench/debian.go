package bench

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"headwater/graph"
	"headwater/graph/graphtest"
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
	deltas, err := graphtest.Packages(z)
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
		if id := graphtest.Package(a.Start).ID(); a.Reachable > 0 && !slices.Contains(roots, id) && a.Direction == "downstream" && a.MaxHops != nil && *a.MaxHops == 3 {
			roots = append(roots, id)
		}
	}
	dir, err = r.store(ctx, "debian", len(deltas), func(i int) graph.Delta { return deltas[i] })
	return dir, roots, err
}
