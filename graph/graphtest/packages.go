package graphtest

import (
	"encoding/csv"
	"errors"
	"io"
	"time"

	"headwater/graph"
)

// Package is the data store of a package.
func Package(name string) graph.Name {
	return graph.Name{Kind: graph.DataStoreKind, Region: "local", Namespace: "deb://bookworm", Name: name}
}

// Packages makes a platform of a package graph, of lines of (what is needed,
// what needs it, how): a job for each package reads what the package depends
// on.
func Packages(csvFile io.Reader) ([]graph.Delta, error) {
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
			d := graph.Delta{Subject: graph.Name{Kind: graph.ProcessKind, Region: "local", Namespace: "deb://build", Name: row[1]}, Origin: "openlineage",
				Run: row[1], State: graph.Completed, Time: time.Date(2026, 1, 1, 0, 0, 0, i, time.UTC).UnixNano()}
			d.Says.Writes = []graph.Dataset{{Name: Package(row[1])}}
			deltas = append(deltas, d)
		}
		deltas[i].Says.Reads = append(deltas[i].Says.Reads, graph.Dataset{Name: Package(row[0])})
	}
}
