package pebble

import (
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/graph/graphtest"
)

func openWith(t testing.TB, cache int64) *Store {
	t.Helper()
	s, err := Open(t.TempDir(), Options{Region: "local", CacheBytes: cache})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A tested store is one of short lists that count as long.
type tested struct {
	s   *Store
	fs  *vfs.MemFS
	old []byte // an earlier checkpoint
}

const placeDir = "data"

func openPlace(t testing.TB, memory bool) graphtest.Place {
	t.Helper()
	p := &tested{fs: vfs.NewCrashableMem()}
	p.open(t, Options{OnDisk: !memory})
	t.Cleanup(func() { p.close(t) })
	return p
}

func (p *tested) open(t testing.TB, o Options) {
	t.Helper()
	o.Region, o.CacheBytes, o.FactsBytes, o.MemTableBytes, o.FS = "local", 8<<20, 1<<20, 256<<10, p.fs
	s, err := Open(placeDir, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.topology != nil {
		s.topology.Tune(3, 4)
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
	if !p.s.o.OnDisk {
		name := p.fs.PathJoin(placeDir, checkpointName)
		b := readFile(t, p.fs, name)
		old := p.old
		switch {
		case p.old == nil || how == 0:
			p.old, old = b, b
		case how == 2:
			old = nil
		case how == 3:
			old = slices.Clone(b)
			old[len(old)/2] ^= 1
		}
		writeFile(t, p.fs, name, old)
	}
	p.open(t, Options{OnDisk: p.s.o.OnDisk})
}

// Crash implements graphtest.Place.
func (p *tested) Crash(t testing.TB, r *rand.Rand) {
	t.Helper()
	crashed := p.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.IntN(101), RNG: r})
	p.close(t)
	p.fs = crashed
	p.open(t, Options{OnDisk: p.s.o.OnDisk})
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

func readFile(t testing.TB, fs vfs.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t testing.TB, fs vfs.FS, name string, b []byte) {
	t.Helper()
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.Write(b); err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestEngine(t *testing.T) {
	graphtest.Engine{Open: openPlace}.Run(t)
}
