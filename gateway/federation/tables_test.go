package federation

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"headwater/gateway/border"
	"headwater/gateway/catalog"
	"headwater/graph"
	"headwater/graph/graphtest"
)

// part is the table of each region that may be a member of the global table;
// shared is the one that stands for the table itself.
const part, shared = "tmp_x", "users"

// replace returns what a delta says with the names of data stores replaced:
// one by several where a table is by its members.
func replace(d graph.Delta, reads, writes func(graph.Name) []graph.Name) graph.Delta {
	sources := func(list []graph.Source) (out []graph.Source) {
		for _, s := range list {
			for _, n := range reads(s.Name.DataStore()) {
				s.Name = n.Of(s.Name.Column)
				out = append(out, s)
			}
		}
		return out
	}
	sets := func(list []graph.Dataset, names func(graph.Name) []graph.Name) (out []graph.Dataset) {
		for _, ds := range list {
			if l := ds.Lineage; l != nil {
				now := *l
				now.Inputs, now.Columns = sources(l.Inputs), slices.Clone(l.Columns)
				for i := range now.Columns {
					now.Columns[i].Inputs = sources(now.Columns[i].Inputs)
				}
				ds.Lineage = &now
			}
			for _, n := range names(ds.Name) {
				ds.Name = n
				out = append(out, ds)
			}
		}
		return out
	}
	d.Says.Reads, d.Says.Writes = sets(d.Says.Reads, reads), sets(d.Says.Writes, writes)
	return d
}

// plainly takes aliases and ends of tables out of a delta.
func plainly(d graph.Delta) graph.Delta {
	for _, list := range [...][]graph.Dataset{d.Says.Reads, d.Says.Writes} {
		for i := range list {
			list[i].Aliases, list[i].Lifecycle, list[i].RenamedFrom = nil, "", graph.Name{}
			list[i].Facts.Deleted = nil
		}
	}
	return d
}

// speaks reports whether a delta speaks of a table of the world by its name.
func speaks(d graph.Delta, name string) (found bool) {
	look := func(n graph.Name) []graph.Name {
		found = found || n.Kind == graph.DataStoreKind && n.Name == name
		return []graph.Name{n}
	}
	replace(d, look, look)
	return found || d.Subject.Name == name
}

// What reads or writes a global table reads or writes its members: as if it
// had named them.
func TestGlobalTablesAreTheirMembers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt, func(region string) graph.Store { return graphtest.NewModel(region) }, rapid.IntRange(1, 4).Draw(rt, "regions"))
		w.r.Unfiltered = true
		state := catalog.New()
		for _, name := range w.names {
			state = changed(rt, state, catalog.SetRegion{Region: catalog.Region{Name: name, Addresses: []string{name + ":1"}}})
		}
		var members []catalog.Name
		for _, name := range w.names {
			for _, ns := range []string{"s3://lake", "kafka://broker:9092"} {
				if rapid.Bool().Draw(rt, "member") {
					members = append(members, catalog.Name{Region: name, Namespace: ns, Name: part})
				}
			}
		}
		kind := rapid.SampledFrom([]catalog.TableKind{catalog.Partitioned, catalog.Replicated}).Draw(rt, "kind")
		state = changed(rt, state, catalog.DeclareTable{Name: shared, Kind: kind, Members: members})
		w.index = border.New(state)
		table := w.index.Table(border.TableName(shared).ID())
		names := map[graph.ID]graph.Name{}
		for _, m := range members {
			names[m.Graph().ID()] = m.Graph()
		}
		of := func(members []border.Member) (out []graph.Name) {
			for _, m := range members {
				out = append(out, names[m.ID])
			}
			return out
		}
		for range 3 {
			for range rapid.IntRange(1, 15).Draw(rt, "deltas") {
				region := w.names[w.r.IntN(len(w.names))]
				w.r.Region = region
				d := plainly(w.r.Delta())
				if d.Subject.Name == shared || d.State == graph.Deleting {
					continue
				}
				if speaks(d, shared) && speaks(d, part) {
					continue // what is said of a table and of a member is joined by column only where it is one
				}
				expand := func(members []border.Member) func(n graph.Name) []graph.Name {
					return func(n graph.Name) []graph.Name {
						if n.Name != shared || len(members) == 0 {
							return []graph.Name{n}
						}
						return of(members)
					}
				}
				itself := func(n graph.Name) []graph.Name {
					if n.Name == shared && len(table.Members) > 0 {
						n.Namespace = border.GlobalNamespace
					}
					return []graph.Name{n}
				}
				w.tell(region, replace(d, itself, itself), replace(d, expand(table.Reads(region)), expand(table.Writes(region))))
			}
			f, j := w.federation()
			for range 8 {
				w.ask(f, j)
			}
		}
	})
}

// A walk from a global table is one from its members, and an edge that was
// said of the table says so.
func TestEdgesSayWhichGlobalTable(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt, func(region string) graph.Store { return graphtest.NewModel(region) }, 2)
		state := catalog.New()
		for _, name := range w.names {
			state = changed(rt, state, catalog.SetRegion{Region: catalog.Region{Name: name, Addresses: []string{name + ":1"}}})
		}
		state = changed(rt, state, catalog.DeclareTable{Name: "orders", Kind: catalog.Replicated, Members: []catalog.Name{
			{Region: "r0", Namespace: "db", Name: "orders"}, {Region: "r1", Namespace: "db", Name: "orders"}}})
		w.index = border.New(state)
		store := func(region, namespace, name string) graph.Name {
			return graph.Name{Kind: graph.DataStoreKind, Region: region, Namespace: namespace, Name: name}
		}
		job := func(region, name string, from, to graph.Name) graph.Delta {
			return graph.Delta{Subject: graph.Name{Kind: graph.ProcessKind, Region: region, Namespace: "jobs", Name: name}, Origin: "declared", State: graph.Declared, Time: 1,
				Says: graph.Content{Reads: []graph.Dataset{{Name: from}}, Writes: []graph.Dataset{{Name: to}}}}
		}
		source, report := store("r0", "app", "checkout"), store("r1", "bi", "report")
		in, out := job("r0", "in", source, store("r0", border.GlobalNamespace, "orders")), job("r1", "out", store("r1", border.GlobalNamespace, "orders"), report)
		w.tell("r0", in, in)
		w.tell("r1", out, out)
		f, _ := w.federation()
		v, err := f.View(context.Background(), graph.At{})
		if err != nil {
			rt.Fatal(err)
		}
		a, err := graph.GetLineage(context.Background(), v, graph.Question{Root: source.ID(), Depth: 9})
		if err != nil {
			rt.Fatal(err)
		}
		table := border.TableName("orders").ID()
		want := map[graph.ID]int{source.ID(): 0, store("r0", "db", "orders").ID(): 1, store("r1", "db", "orders").ID(): 1, report.ID(): 2}
		if len(a.Nodes) != len(want) || !a.Complete() {
			rt.Fatalf("answer: %+v", a)
		}
		for _, n := range a.Nodes {
			if d, ok := want[n.ID]; !ok || d != n.Downstream {
				rt.Errorf("node %s at %d, want %d", n.ID, n.Downstream, d)
			}
		}
		// The reader in r1 has a copy of its own.
		if len(a.Edges) != 3 {
			rt.Errorf("%d edges, want 3: %+v", len(a.Edges), a.Edges)
		}
		for _, e := range a.Edges {
			if e.Via != table {
				rt.Errorf("edge %+v is not via the table", e)
			}
		}
		up, err := graph.GetLineage(context.Background(), v, graph.Question{Root: table, Direction: graph.Upstream, Depth: 9})
		if err != nil || len(up.Nodes) != 2 || up.Nodes[1].ID != source.ID() {
			rt.Errorf("up from the table: %+v, %v", up, err)
		}
	})
}
