package graphtest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"headwater/graph"
)

// A story is told in testdata/stories: what producers say, and what the graph
// answers then. Times are seconds. See the first story for the words.
type story struct {
	t      *testing.T
	store  graph.Store
	feeder Feeder
	names  map[graph.ID]string
}

func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		s := &story{t: t, store: NewModel("eu"), feeder: Feeder{Region: "eu"}, names: map[graph.ID]string{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t = t
			out, err := s.run(d)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return out
		})
	})
}

// name reads a data store's name: letters alone are a table of the warehouse,
// with a scheme in front (s3:x, hive:x) one of that; "#c" is a column.
func (s *story) name(text string) graph.Name {
	n := graph.Name{Kind: graph.DataStoreKind, Region: "eu", Namespace: "warehouse"}
	text, n.Column, _ = strings.Cut(text, "#")
	if scheme, rest, ok := strings.Cut(text, ":"); ok {
		n.Namespace, text = scheme+"://x", rest
	}
	if job, ok := strings.CutPrefix(text, "@"); ok {
		n = graph.Name{Kind: graph.ProcessKind, Region: "eu", Namespace: "jobs", Name: job}
		text = job
	}
	n.Name = text
	s.names[n.ID()] = s.text(n)
	return n
}

func (s *story) text(n graph.Name) string {
	out := n.Name
	if n.Kind == graph.ProcessKind {
		out = "@" + out
	} else if scheme, ok := strings.CutSuffix(n.Namespace, "://x"); ok {
		out = scheme + ":" + out
	}
	if n.Column != "" {
		out += "#" + n.Column
	}
	return out
}

func (s *story) run(d *datadriven.TestData) (string, error) {
	ctx := context.Background()
	switch d.Cmd {
	case "say":
		deltas, err := s.deltas(d.Input)
		if err != nil {
			return "", err
		}
		before, err := s.store.Applied(ctx)
		if err != nil {
			return "", err
		}
		for _, delta := range deltas {
			if err := s.feeder.Feed(ctx, []graph.Store{s.store}, delta); err != nil {
				return "", err
			}
		}
		after, err := s.store.Applied(ctx)
		return fmt.Sprintf("%d said, %d changes\n", len(deltas), after.Revision-before.Revision), err
	case "expire":
		var until int64
		d.ScanArgs(s.t, "until", &until)
		for r, err := range s.store.Contributions(ctx, graph.Key{}) {
			if err != nil {
				return "", err
			}
			delta := graph.Delta{Subject: r.Subject, Origin: r.Origin, State: graph.Expiring, Time: until * int64(time.Second)}
			if err := s.feeder.Feed(ctx, []graph.Store{s.store}, delta); err != nil {
				return "", err
			}
		}
		return "ok\n", nil
	}
	at := graph.At{}
	if d.HasArg("asof") {
		var sec int64
		d.ScanArgs(s.t, "asof", &sec)
		at.AsOf = time.Unix(sec, 0)
	}
	v, err := s.store.View(ctx, at)
	if err != nil {
		return "", err
	}
	defer func() { _ = v.Close() }()
	switch d.Cmd {
	case "lineage":
		return s.lineage(ctx, v, d)
	case "node":
		return s.node(ctx, v, d.CmdArgs[0].Key)
	case "conflicts":
		cs, _, err := v.Conflicts(ctx, graph.ID{}, 100)
		var b strings.Builder
		for _, c := range cs {
			fmt.Fprintf(&b, "%s could be", s.text(c.Name))
			for _, n := range c.Targets {
				fmt.Fprintf(&b, " %s", s.text(n))
			}
			b.WriteByte('\n')
		}
		return b.String(), err
	}
	return "", fmt.Errorf("%s is not a word of stories", d.Cmd)
}

// deltas reads lines
//
//	TIME @JOB|STORE[/ORIGIN] RUN|- STATE READS -> WRITES [FACT=VALUE ...]
//
// and, below one, indented lines STORE[#COL] <- STORE#COL KINDS for lineage.
func (s *story) deltas(input string) ([]graph.Delta, error) {
	var deltas []graph.Delta
	for _, line := range strings.Split(strings.TrimRight(input, "\n"), "\n") {
		if strings.HasPrefix(line, " ") {
			if err := s.source(&deltas[len(deltas)-1], strings.Fields(line)); err != nil {
				return nil, err
			}
			continue
		}
		f := strings.Fields(line)
		if len(f) < 4 {
			return nil, fmt.Errorf("too short: %s", line)
		}
		sec, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			return nil, err
		}
		subject, origin, ok := strings.Cut(f[1], "/")
		if !ok {
			origin = "openlineage"
		}
		d := graph.Delta{Subject: s.name(subject), Origin: origin, Time: sec * int64(time.Second), State: runStates[f[3]]}
		if f[2] != "-" {
			d.Run = f[2]
		}
		writes := false
		for _, word := range f[4:] {
			switch key, value, fact := strings.Cut(word, "="); {
			case word == "->":
				writes = true
			case word == "streaming":
				d.Says.Streaming = true
			case fact:
				if err := s.fact(&d, key, value); err != nil {
					return nil, err
				}
			case writes:
				d.Says.Writes = append(d.Says.Writes, graph.Dataset{Name: s.name(word)})
			default:
				d.Says.Reads = append(d.Says.Reads, graph.Dataset{Name: s.name(word)})
			}
		}
		deltas = append(deltas, d)
	}
	return deltas, nil
}

var runStates = map[string]graph.RunState{"START": graph.Started, "RUNNING": graph.Running, "COMPLETE": graph.Completed, "FAIL": graph.Failed, "ABORT": graph.Aborted, "DECLARED": graph.Declared, "DELETE": graph.Deleting}

// fact reads NAME[:STORE]=VALUE: schema, owner, alias, drop, renamed, after.
func (s *story) fact(d *graph.Delta, key, value string) error {
	key, of, _ := strings.Cut(key, ":")
	var ds *graph.Dataset
	for _, list := range [][]graph.Dataset{d.Says.Writes, d.Says.Reads} {
		for i := range list {
			if list[i].Name == s.name(of) {
				ds = &list[i]
			}
		}
	}
	switch {
	case key == "after":
		d.Says.Processes = append(d.Says.Processes, graph.ProcessFlow{From: s.name(value), To: d.Subject, Kinds: graph.Control})
	case ds == nil:
		return fmt.Errorf("%s: %q is neither read nor written", key, of)
	case key == "schema":
		for i, c := range strings.Split(value, ",") {
			ds.Facts.Columns = append(ds.Facts.Columns, graph.Field{Path: c, Ordinal: i + 1})
		}
	case key == "owner":
		ds.Facts.Owners = []string{value}
	case key == "describe":
		ds.Facts.Description = value
	case key == "is":
		ds.Aliases = append(ds.Aliases, graph.Alias{From: ds.Name, To: s.name(value)})
	case key == "at":
		ds.Aliases = append(ds.Aliases, graph.Alias{From: s.name(value), To: ds.Name})
	case key == "lifecycle":
		ds.Lifecycle = value
	case key == "renamed":
		ds.Lifecycle, ds.RenamedFrom = graph.LifecycleRename, s.name(value)
	case key == "complete":
		ds.Lineage = &graph.Lineage{Complete: true}
	default:
		return fmt.Errorf("%s is not a fact of stories", key)
	}
	return nil
}

func (s *story) source(d *graph.Delta, f []string) error {
	if len(f) != 4 || f[1] != "<-" {
		return fmt.Errorf("not STORE[#COL] <- STORE[#COL] KINDS: %v", f)
	}
	to, from := s.name(f[0]), s.name(f[2])
	src := graph.Source{Name: from}
	for _, k := range strings.Split(f[3], ",") {
		src.Kinds |= graph.ParseKind(k)
	}
	for i := range d.Says.Writes {
		w := &d.Says.Writes[i]
		if w.Name != to.DataStore() {
			continue
		}
		if w.Lineage == nil {
			w.Lineage = &graph.Lineage{}
		}
		if to.Column == "" {
			w.Lineage.Inputs = append(w.Lineage.Inputs, src)
		} else {
			w.Lineage.Columns = append(w.Lineage.Columns, graph.ColumnLineage{Column: to.Column, Inputs: []graph.Source{src}})
		}
		return nil
	}
	return fmt.Errorf("%s is not written", f[0])
}

func (s *story) show(id graph.ID) string {
	if n, ok := s.names[id]; ok {
		return n
	}
	return id.String()
}

func (s *story) lineage(ctx context.Context, v graph.View, d *datadriven.TestData) (string, error) {
	q := graph.Question{Direction: graph.Both, Depth: graph.Unlimited}
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "of":
			q.Root = s.name(a.Vals[0]).ID()
		case "up":
			q.Direction = graph.Upstream
		case "down":
			q.Direction = graph.Downstream
		case "columns":
			q.Granularity = graph.Columns
		case "processes":
			q.Granularity = graph.Processes
		case "depth":
			q.Depth, _ = strconv.Atoi(a.Vals[0])
		case "limit":
			q.Limit, _ = strconv.Atoi(a.Vals[0])
		case "kinds":
			for _, k := range a.Vals {
				q.Kinds |= graph.ParseKind(k)
			}
		case "through":
			q.Filter.ThroughDeleted, q.Filter.PassThrough = true, true
		}
	}
	var b strings.Builder
	for {
		a, err := graph.GetLineage(ctx, v, q)
		if err != nil {
			return "", err
		}
		for i, n := range a.Nodes {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%s(%d)", s.show(n.ID), n.Distance())
		}
		b.WriteByte('\n')
		for _, e := range a.Edges {
			fmt.Fprintf(&b, "  %s -> %s %s", s.show(e.From), s.show(e.To), e.Kinds)
			if e.Coarse && q.Granularity == graph.Columns {
				b.WriteString(" coarse")
			}
			for _, src := range e.Sources {
				fmt.Fprintf(&b, " [%s/%s]", s.show(src.By.Subject), src.By.Origin)
			}
			b.WriteByte('\n')
		}
		if a.Truncated == nil {
			return b.String(), nil
		}
		fmt.Fprintf(&b, "cut: %s\n", a.Truncated.Reason)
		q.After = a.Truncated.After
	}
}

func (s *story) node(ctx context.Context, v graph.View, name string) (string, error) {
	var b strings.Builder
	_, err := v.Nodes(ctx, []graph.ID{s.name(name).ID()}, graph.WantColumns, func(n graph.Node) error {
		fmt.Fprintf(&b, "%s", s.text(n.Name))
		for _, a := range n.Aliases {
			fmt.Fprintf(&b, ", also %s", s.text(a))
		}
		if n.Deleted != 0 {
			fmt.Fprintf(&b, ", deleted at %d", n.Deleted/int64(time.Second))
		}
		if len(n.Facts.Columns) > 0 {
			b.WriteString("\n  columns")
			for _, c := range n.Facts.Columns {
				b.WriteString(" " + c.Path)
			}
		}
		if len(n.Facts.Owners) > 0 {
			fmt.Fprintf(&b, "\n  owners %v", n.Facts.Owners)
		}
		if n.Facts.Description != "" {
			fmt.Fprintf(&b, "\n  %s", n.Facts.Description)
		}
		b.WriteByte('\n')
		return nil
	})
	if err == nil && b.Len() == 0 {
		return "nothing\n", nil
	}
	if err != nil {
		return "", err
	}
	_, err = v.Says(ctx, []graph.ID{s.name(name).ID()}, func(said graph.Said) error {
		if said.Provisional {
			b.WriteString("  provisional\n")
		}
		if r := said.Record.LastRun(); r != nil {
			fmt.Fprintf(&b, "  last run %s %s\n", r.ID, r.State())
		}
		return nil
	})
	return b.String(), err
}
