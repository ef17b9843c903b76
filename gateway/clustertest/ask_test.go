package clustertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"headwater/graph"
)

// A question asks for the lineage of a table.
type question struct {
	root  graph.Name
	dir   graph.Direction
	depth int
}

// A reply is what a gateway answers.
type reply struct {
	// text has the nodes with their distances, how many flows are between them,
	// and the gaps.
	text string
	err  error
	took time.Duration
}

// table reads region:namespace/name.
func table(s string) graph.Name {
	region, path, _ := strings.Cut(s, ":")
	namespace, name, _ := strings.Cut(path, "/")
	return graph.Name{Kind: graph.DataStoreKind, Region: region, Namespace: namespace, Name: name}
}

// ask asks a gateway as its GraphQL does: for the lineage and what its nodes
// are.
func (c *cluster) ask(at string, q question) reply {
	began := time.Now()
	text, err := c.answer(at, q)
	return reply{text, err, time.Since(began)}
}

func (c *cluster) answer(at string, q question) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	g := c.gateway(at)
	if g == nil {
		return "does not run", nil
	}
	v, err := g.Reader().View(ctx, graph.At{})
	if err != nil {
		return "", err
	}
	defer func() { _ = v.Close() }() // of what was only read
	root := q.root.ID()
	walk := graph.Question{Root: root, Direction: q.dir, Depth: q.depth}
	if e, ok := v.(graph.Expecting); ok {
		leg := walk.Leg()
		leg.Details = true
		e.Expect(leg, nil, []graph.Name{q.root})
	}
	a, err := graph.GetLineage(ctx, v, walk)
	if err != nil {
		return "", err
	}
	var ids []graph.ID
	for _, n := range a.Nodes {
		ids = append(ids, n.ID)
	}
	names := map[graph.ID]string{}
	_, err = v.Nodes(ctx, ids, 0, func(n graph.Node) error {
		names[n.ID] = fmt.Sprintf("%s:%s/%s", n.Name.Region, n.Name.Namespace, n.Name.Name)
		return nil
	})
	if err != nil {
		return "", err
	}
	var nodes []string
	via := 0
	for _, n := range a.Nodes {
		nodes = append(nodes, fmt.Sprintf("%s %+d", names[n.ID], n.Distance()))
	}
	for _, e := range a.Edges {
		if !e.Via.IsZero() {
			via++
		}
	}
	slices.Sort(nodes)
	var out strings.Builder
	fmt.Fprintf(&out, "%s; %d flows", strings.Join(nodes, ", "), len(a.Edges))
	if via > 0 {
		fmt.Fprintf(&out, ", %d of global tables", via)
	}
	for _, gap := range a.Gaps {
		fmt.Fprintf(&out, "; %s %s", gap.Region, gap.Reason)
	}
	if a.Truncated != nil {
		fmt.Fprintf(&out, "; cut: %s", a.Truncated.Reason)
	}
	return out.String(), nil
}
