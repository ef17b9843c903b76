package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

const lineageQuery = `query ($of: NodeRef!, $direction: Direction!, $granularity: Granularity!, $depth: Int!, $limit: Int!, $asOf: DateTime, $atLeast: String, $dependencies: [DependencyKind!]) {
  lineage(of: $of, direction: $direction, granularity: $granularity, depth: $depth, limit: $limit, asOf: $asOf, atLeast: $atLeast, dependencies: $dependencies) {
    root { id }
    nodes { distance upstream downstream node { __typename id region namespace name ... on Column { path dataStore { name } } ... on DataStore { kind } ... on Process { kind } } }
    edges { from to kinds coarse crossRegion sources { origin process { namespace name } } }
    complete changed revision truncated { reason after } gaps { region reason } hidden { filtered }
  }
}`

// A lineageAnswer is what lineageQuery answers.
type lineageAnswer struct {
	Lineage struct {
		Root  struct{ ID string }
		Nodes []struct {
			Distance             int
			Upstream, Downstream *int
			Node                 struct {
				Typename                                string `json:"__typename"`
				ID, Region, Namespace, Name, Path, Kind string
				DataStore                               struct{ Name string }
			}
		}
		Edges []struct {
			From, To string
			Kinds    []string
			Coarse   bool
			Sources  []struct {
				Origin  string
				Process *struct{ Namespace, Name string }
			}
		}
		Complete  bool
		Truncated *struct{ Reason, After string }
		Gaps      []struct{ Region, Reason string }
		Revision  string
	}
}

func lineageCommand(out io.Writer) func(*flag.FlagSet) func(context.Context, []string) error {
	return func(f *flag.FlagSet) func(context.Context, []string) error {
		connect := clientFlags(f)
		up := f.Bool("up", false, "only where it comes from")
		down := f.Bool("down", false, "only what it feeds")
		depth := f.Int("depth", 3, "how many `hops`")
		limit := f.Int("limit", 1000, "at most so many `nodes`, nearest first")
		columns := f.Bool("columns", false, "by column; on when NAME has a #COLUMN")
		processes := f.Bool("processes", false, "by process instead of by data store")
		kinds := f.String("dependencies", "", "only these `kinds` of dependency, with commas: IDENTITY,JOIN,…")
		asOf := f.String("as-of", "", "the graph as it was at this `time` (RFC 3339)")
		atLeast := f.String("at-least", "", "wait until this `receipt` can be read")
		asJSON := f.Bool("json", false, "print the answer as JSON")
		return func(ctx context.Context, args []string) error {
			if len(args) != 2 || *up && *down || *columns && *processes {
				return errUsage
			}
			of := map[string]any{"namespace": args[0], "name": args[1]}
			if name, column, ok := strings.Cut(args[1], "#"); ok {
				of["name"], of["column"] = name, column
				*columns = true
			}
			v := map[string]any{"of": of, "direction": "BOTH", "granularity": "DATASTORE", "depth": *depth, "limit": *limit}
			switch {
			case *up:
				v["direction"] = "UPSTREAM"
			case *down:
				v["direction"] = "DOWNSTREAM"
			}
			switch {
			case *columns:
				v["granularity"] = "COLUMN"
			case *processes:
				v["granularity"] = "PROCESS"
			}
			if *kinds != "" {
				v["dependencies"] = strings.Split(strings.ToUpper(*kinds), ",")
			}
			if *asOf != "" {
				t, err := time.Parse(time.RFC3339, *asOf)
				if err != nil {
					return fmt.Errorf("--as-of: %q is not a time like 2026-03-01T12:00:00Z", *asOf)
				}
				v["asOf"] = t
			}
			if *atLeast != "" {
				v["atLeast"] = *atLeast
			}
			var raw json.RawMessage
			if err := connect().graphql(ctx, lineageQuery, v, &raw); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(out, raw)
			}
			var a lineageAnswer
			if err := json.Unmarshal(raw, &a); err != nil {
				return err
			}
			return printTree(out, &a)
		}
	}
}

// printTree prints the answer as two trees, one a direction. A node that was
// printed before is only named again.
func printTree(out io.Writer, a *lineageAnswer) error {
	labels := map[string]string{}
	process := map[string]bool{}
	distance := map[string][2]*int{}
	for _, n := range a.Lineage.Nodes {
		label := n.Node.Namespace + " " + n.Node.Name
		if n.Node.Typename == "Column" {
			label = n.Node.Namespace + " " + n.Node.DataStore.Name + "#" + n.Node.Path
		}
		if n.Node.Kind != "" {
			label += " (" + strings.ToLower(n.Node.Kind) + ")"
		}
		labels[n.Node.ID] = label
		process[n.Node.ID] = n.Node.Typename == "Process"
		distance[n.Node.ID] = [2]*int{n.Upstream, n.Downstream}
	}
	root := a.Lineage.Root.ID
	fmt.Fprintln(out, labels[root])
	for dir, title := range []string{"comes from", "feeds"} {
		next := map[string]map[string]string{}
		for _, e := range a.Lineage.Edges {
			near, far := e.To, e.From
			if dir == 1 {
				near, far = e.From, e.To
			}
			if next[near] == nil {
				next[near] = map[string]string{}
			}
			note := strings.ToLower(strings.Join(e.Kinds, ", "))
			if e.Coarse && len(e.Kinds) == 0 {
				note = "coarse"
			}
			by := map[string]bool{}
			for _, s := range e.Sources {
				if s.Process != nil && !process[e.From] && !process[e.To] {
					by[s.Process.Name] = true
				}
			}
			if len(by) > 0 {
				note = strings.TrimPrefix(note+" by "+strings.Join(slices.Sorted(maps.Keys(by)), ", "), " ")
			}
			next[near][far] = note
		}
		// What the root stands for, or stands in, begins the tree with it.
		starts := []string{root}
		for id, d := range distance {
			if id != root && d[dir] != nil && *d[dir] == 0 {
				starts = append(starts, id)
			}
		}
		slices.Sort(starts[1:])
		seen := map[string]bool{}
		titled := false
		var walk func(id, indent string)
		walk = func(id, indent string) {
			seen[id] = true
			for _, far := range slices.SortedFunc(maps.Keys(next[id]), func(x, y string) int { return strings.Compare(labels[x], labels[y]) }) {
				d := distance[far][dir]
				if d == nil {
					continue
				}
				if !titled {
					fmt.Fprintln(out, title)
					titled = true
				}
				again := seen[far]
				mark := ""
				if again {
					mark = "  (see above)"
				}
				fmt.Fprintln(out, indent+labels[far]+bracketed(next[id][far])+mark)
				if !again {
					walk(far, indent+"  ")
				}
			}
		}
		for _, s := range starts {
			if seen[s] {
				continue
			}
			if len(next[s]) > 0 && s != root {
				if !titled {
					fmt.Fprintln(out, title)
					titled = true
				}
				fmt.Fprintf(out, "  of %s\n", labels[s])
				walk(s, "    ")
				continue
			}
			walk(s, "  ")
		}
	}
	if t := a.Lineage.Truncated; t != nil {
		fmt.Fprintf(out, "cut: %s\n", strings.ToLower(t.Reason))
	}
	for _, g := range a.Lineage.Gaps {
		fmt.Fprintf(out, "gap: region %s: %s\n", g.Region, g.Reason)
	}
	_, err := fmt.Fprintf(out, "%d nodes, %d edges, %s\n", len(a.Lineage.Nodes), len(a.Lineage.Edges), a.Lineage.Revision)
	return err
}

func deleteCommand(out io.Writer) func(*flag.FlagSet) func(context.Context, []string) error {
	return func(f *flag.FlagSet) func(context.Context, []string) error {
		connect := clientFlags(f)
		kind := f.String("kind", "", "DATASTORE or PROCESS, where both have the name (`kind`)")
		return func(ctx context.Context, args []string) error {
			if len(args) != 2 {
				return errUsage
			}
			of := map[string]any{"namespace": args[0], "name": args[1]}
			if *kind != "" {
				of["kind"] = strings.ToUpper(*kind)
			}
			var a struct{ DeleteNode struct{ Position string } }
			if err := connect().graphql(ctx, `mutation ($of: NodeRef!) { deleteNode(of: $of) { position } }`, map[string]any{"of": of}, &a); err != nil {
				return err
			}
			_, err := fmt.Fprintln(out, "deleted, receipt", a.DeleteNode.Position)
			return err
		}
	}
}

// bracketed is a note in brackets, or nothing.
func bracketed(note string) string {
	if note == "" {
		return ""
	}
	return "  [" + note + "]"
}
