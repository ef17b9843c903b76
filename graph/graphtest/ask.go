package graphtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"headwater/graph"
)

// Ask asks a store a question that r makes, and returns question and answer
// as text: equal stores give equal text. Each call makes one question.
func Ask[R graph.Reader](ctx context.Context, r *Random, store ...R) (question string, answers []string, err error) {
	return ask(ctx, r, r.IntN(6), store)
}

// AskWalk is Ask for lineage and paths alone.
func AskWalk[R graph.Reader](ctx context.Context, r *Random, store ...R) (question string, answers []string, err error) {
	return ask(ctx, r, r.IntN(4), store)
}

func ask[R graph.Reader](ctx context.Context, r *Random, kind int, store []R) (question string, answers []string, err error) {
	at := graph.At{}
	if r.chance(30) {
		at.AsOf = time.Unix(0, r.Time()).UTC()
	}
	var ask func(v graph.View) (string, error)
	switch kind {
	case 0, 1, 2:
		q := graph.Question{Root: r.Any(), Direction: graph.Direction(r.IntN(3)), Granularity: graph.Granularity(r.IntN(3)), Depth: r.IntN(6),
			Filter: graph.NodeFilter{PassThrough: r.chance(50)}}
		if r.chance(30) {
			q.Kinds = pick(r, []graph.Kinds{graph.DirectKinds, graph.Control, graph.AllKinds, graph.WholeKinds})
		}
		if r.chance(30) {
			q.Limit = 1 + r.IntN(5)
		}
		if r.chance(20) && !r.Unfiltered {
			q.Filter.Namespaces = []string{pick(r, worldNamespaces)}
		}
		if r.chance(10) {
			q.Filter.Origins = []string{"openlineage"}
		}
		q.Filter.ThroughDeleted = r.chance(10) && !r.Unfiltered
		question = fmt.Sprintf("lineage %+v as of %s", q, at.AsOf)
		ask = func(v graph.View) (string, error) { return lineageText(ctx, v, q) }
	case 3:
		q := graph.PathQuestion{From: r.Any(), To: r.Any(), Granularity: graph.Granularity(r.IntN(3)), MaxDepth: 6, First: 1 + r.IntN(4)}
		question = fmt.Sprintf("paths %+v as of %s", q, at.AsOf)
		ask = func(v graph.View) (string, error) {
			p, err := graph.GetPaths(ctx, v, q)
			return fmt.Sprintf("%+v", p), err
		}
	case 4:
		q := graph.Query{Text: pick(r, []string{"order", "s", "rder", "user_id", "der_it", "_", "", "id", "zzz", "ly_s", "EVENTS", "x"}), Limit: 1 + r.IntN(6)}
		if r.chance(30) {
			q.Columns = true
		}
		if r.chance(20) {
			q.Tag = "pii"
		}
		question = fmt.Sprintf("search %+v", q)
		ask = func(v graph.View) (string, error) { return searchText(ctx, v, q) }
	default:
		ids := []graph.ID{r.Any(), r.Any(), r.Any()}
		question = fmt.Sprintf("nodes %v as of %s", ids, at.AsOf)
		ask = func(v graph.View) (string, error) { return nodesText(ctx, v, ids) }
	}
	for _, s := range store {
		v, err := s.View(ctx, at)
		if err != nil {
			return question, nil, err
		}
		a, err := ask(v)
		if cerr := v.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return question, nil, fmt.Errorf("%s: %w", question, err)
		}
		answers = append(answers, a)
	}
	return question, answers, nil
}

// lineageText follows the cursor to the end.
func lineageText(ctx context.Context, v graph.View, q graph.Question) (string, error) {
	var b strings.Builder
	for page := 0; ; page++ {
		a, err := graph.GetLineage(ctx, v, q)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "page %d, hidden %d, changed %v, gaps %v\n", page, a.Filtered, a.Changed, a.Gaps)
		for _, n := range a.Nodes {
			fmt.Fprintf(&b, "%s %d %d %d\n", n.ID, n.Distance(), n.Upstream, n.Downstream)
		}
		for _, e := range a.Edges {
			fmt.Fprintf(&b, "%s -> %s %s coarse=%v %v\n", e.From, e.To, e.Kinds, e.Coarse, e.Sources)
		}
		if a.Truncated == nil {
			return b.String(), nil
		}
		fmt.Fprintf(&b, "%s\n", a.Truncated.Reason)
		q.After = a.Truncated.After
		if q.After == "" || page > 200 {
			return b.String(), nil
		}
	}
}

func searchText(ctx context.Context, v graph.View, q graph.Query) (string, error) {
	var b strings.Builder
	for page := 0; page < 100; page++ {
		p, err := v.Find(ctx, q)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%v\n", p.IDs)
		if q.After = p.Next; q.After == "" {
			break
		}
	}
	return b.String(), nil
}

func nodesText(ctx context.Context, v graph.View, ids []graph.ID) (string, error) {
	var lines []string
	_, err := v.Nodes(ctx, ids, graph.WantColumns|graph.WantPartitions|graph.WantSeen, func(n graph.Node) error {
		column := n.Column
		n.Column = nil
		lines = append(lines, fmt.Sprintf("%+v column %+v", n, column))
		return nil
	})
	if err != nil {
		return "", err
	}
	_, err = v.Says(ctx, ids, func(s graph.Said) error {
		content := []byte{}
		if s.Content != nil {
			content = graph.AppendContent(nil, s.Content)
		}
		lines = append(lines, fmt.Sprintf("%+v %x %v %d", s.Record, content, s.Provisional, s.From))
		return nil
	})
	if err != nil {
		return "", err
	}
	conflicts, _, err := v.Conflicts(ctx, graph.ID{}, 3)
	lines = append(lines, fmt.Sprintf("%+v", conflicts))
	slices.Sort(lines)
	return strings.Join(lines, "\n"), err
}
