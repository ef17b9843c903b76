package nebula

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/graph/graphtest"
	"headwater/graph/nebula/standin"
)

// A mode is where a store's flows are read from.
type mode struct {
	memory bool
	cache  int64
}

var modes = map[string]mode{
	"topology": {memory: true, cache: -1},
	"cache":    {cache: 64 << 10}, // so small that much is thrown out
	"neither":  {cache: -1},
}

// A tested store is a store in a space of its own.
type tested struct {
	s      *Store
	o      Options
	server *standin.Server // nil: a real one
	fs     *vfs.MemFS
}

// openTested opens a store on the server that there is, or on a stand-in of
// its own.
func openTested(t testing.TB, m mode) *tested {
	t.Helper()
	return openTestedWith(t, m, func(*Options) {})
}

func openTestedWith(t testing.TB, m mode, change func(*Options)) *tested {
	t.Helper()
	if o, ok := realServer(t); ok {
		o.Space = takeSpace(t, o)
		return openOn(t, nil, o, m, change)
	}
	return openStandIn(t, m, change)
}

// openStandIn opens a store on a stand-in of its own.
func openStandIn(t testing.TB, m mode, change func(*Options)) *tested {
	t.Helper()
	server, o := startStandIn(t, standin.Options{})
	return openOn(t, server, o, m, change)
}

func openOn(t testing.TB, server *standin.Server, o Options, m mode, change func(*Options)) *tested {
	t.Helper()
	p := &tested{o: o, server: server, fs: vfs.NewCrashableMem()}
	p.o.Region, p.o.HubRows, p.o.hold = "local", 20, 1
	p.o.OnDisk, p.o.CacheBytes = !m.memory, m.cache
	p.o.Folder.CacheBytes, p.o.Folder.FactsBytes, p.o.Folder.MemTableBytes = 8<<20, 1<<20, 256<<10
	change(&p.o)
	p.open(t)
	t.Cleanup(func() { p.close(t) })
	return p
}

func (p *tested) open(t testing.TB) {
	t.Helper()
	p.o.Folder.FS = p.fs
	s, err := Open(t.Context(), "data", p.o)
	if err != nil {
		t.Fatal(err)
	}
	p.s = s
}

func (p *tested) close(t testing.TB) {
	t.Helper()
	if err := p.s.Close(); err != nil {
		t.Error(err)
	}
}

// Store implements graphtest.Place.
func (p *tested) Store() graphtest.Kept { return p.s }

// Reopen implements graphtest.Place.
func (p *tested) Reopen(t testing.TB, how int) {
	t.Helper()
	p.close(t)
	if how == 2 && !p.o.OnDisk {
		if err := p.fs.Remove("data/topology"); err != nil {
			t.Fatal(err)
		}
	}
	p.open(t)
}

// Crash implements graphtest.Place.
func (p *tested) Crash(t testing.TB, r *rand.Rand) {
	t.Helper()
	crashed := p.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.IntN(101), RNG: r})
	p.close(t)
	p.fs = crashed
	p.open(t)
}

// Revisions implements graphtest.Place.
func (p *tested) Revisions(t testing.TB, after uint64) []graphtest.Revision {
	t.Helper()
	var all []graphtest.Revision
	for c, err := range p.s.Changes(t.Context(), after) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, graphtest.Revision(c))
	}
	return all
}

func TestEngine(t *testing.T) {
	for name, m := range modes {
		t.Run(name, func(t *testing.T) {
			e := graphtest.Engine{Open: func(t testing.TB, _ bool) graphtest.Place { return openTested(t, m) }, Worlds: 8, Rounds: 125, OnDisk: 1}
			if os.Getenv("HEADWATER_NEBULA") != "" {
				e.Worlds = 4 // each is a space
			}
			if raceEnabled {
				e.Worlds, e.Rounds = 4, 60
			}
			if m.memory {
				e.OnDisk = 1 << 20
			}
			e.Run(t)
		})
	}
}
