package border

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headwater/gateway/catalog"
	"headwater/graph"
)

var regions = []string{"eu", "us", "ap"}

// decided is a catalog of three regions, in which people have decided things.
func decided(t testing.TB, changes ...catalog.Change) *catalog.State {
	t.Helper()
	state := catalog.New()
	var all []catalog.Change
	for _, r := range regions {
		all = append(all, catalog.SetRegion{Region: catalog.Region{Name: r, Addresses: []string{r + ":1"}}})
	}
	for _, c := range append(all, changes...) {
		next, _, err := state.Apply(catalog.Command{ID: fmt.Sprint("c", state.Seq()), Who: "test", Do: c})
		if err != nil {
			t.Fatal(err)
		}
		state = next
	}
	return state
}

func store(region, namespace, name string) graph.Name {
	return graph.Name{Kind: graph.DataStoreKind, Region: region, Namespace: namespace, Name: name}
}

// shop has a namespace of the eu, an alias, and a global table with a member
// that stands for another name.
func shop(t testing.TB, kind catalog.TableKind) *catalog.State {
	return decided(t,
		catalog.SetNamespaceRule{NamespaceRule: catalog.NamespaceRule{Namespace: "hive://meta", Region: "eu"}},
		catalog.SetAlias{Alias: catalog.Alias{From: catalog.Name{Region: "us", Namespace: "s3://lake", Name: "orders"}, To: catalog.Name{Region: "eu", Namespace: "hive://meta", Name: "orders"}}},
		catalog.DeclareTable{Name: "orders", Kind: kind, Members: []catalog.Name{
			{Region: "us", Namespace: "s3://lake", Name: "orders"}, {Region: "us", Namespace: "s3://lake", Name: "more"}, {Region: "ap", Namespace: "s3://lake", Name: "orders"}}})
}

// A reading is all that an index says.
type reading struct {
	Targets map[graph.ID]graph.ID
	Sources map[graph.ID][]graph.ID
	Regions map[graph.ID]string
	Names   map[graph.ID]graph.Name
	Tables  map[graph.ID]string
	Len     int
}

func read(x *Index, ids []graph.ID) reading {
	r := reading{map[graph.ID]graph.ID{}, map[graph.ID][]graph.ID{}, map[graph.ID]string{}, map[graph.ID]graph.Name{}, map[graph.ID]string{}, x.Len()}
	for _, id := range ids {
		if to, ok := x.Target(id); ok {
			r.Targets[id] = to
		}
		if from := x.Sources(id); len(from) > 0 {
			r.Sources[id] = from
		}
		if region, ok := x.Region(id); ok {
			r.Regions[id] = region
		}
		if n, ok := x.Name(id); ok {
			r.Names[id] = n
		}
		if table := x.TableOf(id); table != nil {
			r.Tables[id] = table.Name
		}
	}
	return r
}

// world lists names that regions have, some of which differ in their case
// alone, and the ids of all that an index of shop may speak of.
func world() (names []graph.Name, ids []graph.ID) {
	for _, r := range regions {
		for _, ns := range []string{"hive://meta", "s3://lake", GlobalNamespace} {
			for _, n := range []string{"orders", "Orders", "more", "items"} {
				names = append(names, store(r, ns, n), store(r, ns, n).Of("id"))
			}
		}
	}
	names = append(names, graph.Name{Kind: graph.ProcessKind, Region: "us", Namespace: "hive://meta", Name: "job"})
	for _, n := range names {
		ids = append(ids, n.ID())
	}
	return names, append(ids, TableName("orders").ID())
}

func TestNamesAddedInAnyOrderGiveTheSame(t *testing.T) {
	state := shop(t, catalog.Partitioned)
	names, ids := world()
	var want reading
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		mixed := append(slices.Clone(names), names[:r.IntN(len(names))]...)
		r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		x := New(state)
		for len(mixed) > 0 {
			n := min(1+r.IntN(9), len(mixed))
			x.Add(mixed[:n]...)
			mixed = mixed[n:]
		}
		got := read(x, ids)
		if seed == 0 {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d (-first +this):\n%s", seed, diff)
		}
	}
}

func TestNamesStandForWhatTheCatalogSays(t *testing.T) {
	x := New(shop(t, catalog.Partitioned))
	names, _ := world()
	x.Add(names...)
	orders := store("eu", "hive://meta", "orders")
	for _, c := range []struct {
		name graph.Name
		to   graph.Name // zero: itself
	}{
		{store("us", "hive://meta", "orders"), orders},
		{store("us", "hive://meta", "Orders"), orders}, // Hive folds
		{store("us", "s3://lake", "orders"), orders},
		{store("us", "s3://lake", "more"), graph.Name{}},
		{store("ap", GlobalNamespace, "orders"), TableName("orders")},
		{store("ap", GlobalNamespace, "items"), graph.Name{}},
		{orders, graph.Name{}},
	} {
		to, ok := x.Target(c.name.ID())
		if ok != !c.to.IsZero() || ok && to != c.to.ID() {
			t.Errorf("%s stands for %s, %v; want %s", c.name, to, ok, c.to)
		}
	}
	if region, ok := x.Region(orders.ID()); !ok || region != "eu" {
		t.Errorf("region %q, %v; want eu", region, ok)
	}
	if got, want := len(x.Sources(orders.ID())), 3; got != want { // hive of us and ap, and the path
		t.Errorf("%d names stand for %s, want %d", got, orders, want)
	}
	table := x.Table(TableName("orders").ID())
	want := []Member{{"ap", store("ap", "s3://lake", "orders").ID()}, {"us", store("us", "s3://lake", "more").ID()}, {"eu", orders.ID()}}
	byRegion := func(a, b Member) int { return strings.Compare(a.Region, b.Region) }
	slices.SortFunc(want, byRegion)
	got := slices.SortedFunc(slices.Values(table.Members), byRegion)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

func TestTablesAreReadAndWrittenByTheirKind(t *testing.T) {
	us, ap := []string{"us"}, []string{"ap"}
	all := []string{"ap", "eu", "us"}
	for _, c := range []struct {
		kind          catalog.TableKind
		region        string
		reads, writes []string
	}{
		{catalog.Partitioned, "us", all, us},
		{catalog.Partitioned, "ap", all, ap},
		{catalog.Partitioned, "elsewhere", all, all},
		{catalog.Replicated, "us", us, all},
		{catalog.Replicated, "ap", ap, all},
		{catalog.Replicated, "elsewhere", all, all},
	} {
		table := New(shop(t, c.kind)).Table(TableName("orders").ID())
		in := func(members []Member) (regions []string) {
			for _, m := range members {
				regions = append(regions, m.Region)
			}
			slices.Sort(regions)
			return regions
		}
		if got := in(table.Reads(c.region)); !slices.Equal(got, c.reads) {
			t.Errorf("%s in %s reads %v, want %v", c.kind, c.region, got, c.reads)
		}
		if got := in(table.Writes(c.region)); !slices.Equal(got, c.writes) {
			t.Errorf("%s in %s writes %v, want %v", c.kind, c.region, got, c.writes)
		}
	}
}

func TestSameTellsOfNodesWhoseNamesWereAdded(t *testing.T) {
	x := New(shop(t, catalog.Partitioned))
	of := func(names ...graph.Name) (nodes []uint64) {
		for _, n := range names {
			nodes = append(nodes, prefix(n.ID()))
		}
		return nodes
	}
	items, more := store("eu", "hive://meta", "items"), store("eu", "hive://meta", "more")
	before := x.Added()
	x.Add(store("us", "hive://meta", "items"), store("us", "s3://elsewhere", "x"))
	if got := x.Added(); got != before+1 {
		t.Errorf("%d were added, want 1", got-before)
	}
	for _, c := range []struct {
		what  string
		nodes []uint64
		since uint64
		same  bool
	}{
		{"the node", of(more, items), before, false},
		{"the name", of(store("us", "hive://meta", "items")), before, false},
		{"another", of(more), before, true},
		{"none", nil, before, true},
		{"the node, later", of(items), x.Added(), true},
	} {
		if got := x.Same(c.since, c.nodes); got != c.same {
			t.Errorf("%s: same %v, want %v", c.what, got, c.same)
		}
	}
	now := x.Added()
	x.Add(store("us", "hive://meta", "items")) // once more
	if x.Added() != now {
		t.Error("a name that was known has been added")
	}
}

// Readers see what was added before, and lists that stand still.
func TestNamesAreReadWhileOthersAreAdded(t *testing.T) {
	x := New(shop(t, catalog.Partitioned))
	const many = 200
	name := func(region string, i int) graph.Name { return store(region, "hive://meta", fmt.Sprint("t", i)) }
	var wg sync.WaitGroup
	for _, r := range []string{"us", "ap"} {
		wg.Go(func() {
			for i := range many {
				x.Add(name(r, i))
			}
		})
	}
	for range 4 {
		wg.Go(func() {
			for i := range many {
				node := name("eu", i).ID()
				for _, s := range x.Sources(node) {
					if to, ok := x.Target(s); !ok || to != node {
						t.Errorf("t%d: a source stands for %s, %v", i, to, ok)
					}
				}
				x.Region(node)
				x.Name(node)
				x.Same(uint64(i), []uint64{prefix(node)})
				_ = x.Len()
			}
		})
	}
	wg.Wait()
	for i := range many {
		if got := len(x.Sources(name("eu", i).ID())); got != 2 {
			t.Errorf("%d names stand for t%d, want 2", got, i)
		}
	}
}

// BenchmarkMemory measures what an index of 100,000 names takes, each of which
// stands for a name of another region.
func BenchmarkMemory(b *testing.B) {
	const many = 100_000
	state := shop(b, catalog.Partitioned)
	names := make([]graph.Name, many)
	for i := range names {
		names[i] = store("us", "hive://meta", fmt.Sprintf("warehouse.table_%d", i))
	}
	bytes := uint64(0)
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		x := New(state)
		x.Add(names...)
		runtime.GC()
		runtime.ReadMemStats(&after)
		bytes = after.HeapAlloc - before.HeapAlloc
		runtime.KeepAlive(x)
	}
	b.ReportMetric(float64(bytes)/many, "bytes/name")
}
