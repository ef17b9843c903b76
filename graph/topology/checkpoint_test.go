package topology

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"testing"

	"headwater/graph"
)

var savedAt = graph.Mark{Position: 1<<40 + 7, Revision: 99}

func save(t testing.TB, v *View) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := v.Save(&b, "eu", savedAt); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(t testing.TB, b []byte) *Topology {
	t.Helper()
	top, mark, err := Load(bytes.NewReader(b), "eu")
	if err != nil || mark != savedAt {
		t.Fatalf("mark %v, %v", mark, err)
	}
	return top
}

// linkedWorld is a graph of everything that there is.
func linkedWorld(t testing.TB, seed uint64, changes int) (*maker, *rows, *Topology) {
	m, r, top := newMaker(seed, 12, 4), newRows(), New()
	if seed%2 == 0 {
		top.Tune(3, 4)
	}
	for range changes {
		feed(t, top, r, m.change(), m.link(r))
	}
	return m, r, top
}

// numbers are the names by number, and the contributions.
func numbers(v *View) (all []any) {
	for class, n := range [...]uint32{v.stores.n, v.columns.n, v.processes.n, v.hubs.n} {
		for i := range n {
			all = append(all, v.ID(graph.MakeHandle(class, i)))
		}
	}
	for i := range v.says.n {
		all = append(all, v.By(i))
	}
	return all
}

func TestACheckpointIsTheVersionThatWasSaved(t *testing.T) {
	for seed := range uint64(6) {
		m, r, top := linkedWorld(t, seed, 60)
		names := slices.Concat(m.stores, m.columns)
		v := top.View()
		was, meant, counted := answers(t, over(v, r), m.world()), meaningsOf(v, names), top.Stats().Flows
		for range 20 {
			feed(t, top, r, m.change()) // not of the version that is saved
		}
		b := save(t, v)
		got := load(t, b)
		g := got.View()
		if !slices.Equal(numbers(g), numbers(v)) {
			t.Error("the numbers are others")
		}
		sameAnswers(t, answers(t, over(g, r), m.world()), was)
		sameMeanings(t, meaningsOf(g, names), meant)
		if got.Stats().Flows != counted {
			t.Errorf("%d flows, want %d", got.Stats().Flows, counted)
		}
		if again := save(t, g); !bytes.Equal(again, b) {
			t.Errorf("saved again it is another: %d and %d bytes", len(again), len(b))
		}
		g.Release()
		v.Release()
	}
}

func TestALoadedTopologyGoesOnAsOneThatWasNot(t *testing.T) {
	for seed := range uint64(4) {
		m, r, top := linkedWorld(t, seed, 30)
		v := top.View()
		top = load(t, save(t, v))
		v.Release()
		if seed%3 == 0 {
			top.Tune(3, 4)
		}
		names := slices.Concat(m.stores, m.columns)
		old := top.View()
		was := answers(t, over(old, r), m.world())
		for range 12 {
			feed(t, top, r, m.change(), m.link(r))
			if !settled(t, r, m.stores) {
				continue
			}
			v := top.View()
			sameAnswers(t, answers(t, over(v, r), m.world()), answers(t, r.view(), m.world()))
			sameMeanings(t, meaningsOf(v, names), resolved(t, r, names))
			v.Release()
		}
		sameAnswers(t, answers(t, over(old, r), m.world()), was)
		old.Release()
		feed(t, top, r)
		noneWaits(t, top)
	}
}

func TestRefreshIsAsGoodAsBuild(t *testing.T) {
	compared := 0
	for seed := range uint64(8) {
		m, r, top := linkedWorld(t, seed, 40)
		v := top.View()
		b := save(t, v)
		v.Release()
		changed := map[graph.ID]bool{}
		for range 1 + m.IntN(20) {
			for _, c := range []graph.Change{m.change(), m.link(r), m.unlink(r)} {
				r.apply(&c)
				for _, id := range c.Nodes() {
					changed[id] = true
				}
			}
		}
		if !settled(t, r, m.stores) {
			continue
		}
		compared++
		refreshed := load(t, b)
		if err := refreshed.Refresh(t.Context(), r, slices.Collect(maps.Keys(changed))); err != nil {
			t.Fatal(err)
		}
		if err := refreshed.Publish(); err != nil {
			t.Fatal(err)
		}
		built, err := Build(t.Context(), r, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := answers(t, r.view(), m.world())
		names := slices.Concat(m.stores, m.columns)
		for name, top := range map[string]*Topology{"refreshed": refreshed, "built": built} {
			v := top.View()
			sameAnswers(t, answers(t, over(v, r), m.world()), want)
			sameMeanings(t, meaningsOf(v, names), resolved(t, r, names))
			v.Release()
			if got := top.Stats().Flows; got != built.Stats().Flows {
				t.Errorf("%s: %d flows, want %d", name, got, built.Stats().Flows)
			}
		}
	}
	if compared < 4 {
		t.Errorf("only %d were compared", compared)
	}
}

func TestADamagedCheckpointIsRefused(t *testing.T) {
	_, _, top := linkedWorld(t, 0, 4)
	v := top.View()
	defer v.Release()
	b := save(t, v)
	refused := func(what string, b []byte) {
		t.Helper()
		if top, _, err := Load(bytes.NewReader(b), "eu"); !errors.Is(err, ErrCheckpoint) || top != nil {
			t.Fatalf("%s of %d bytes: %v", what, len(b), err)
		}
	}
	for i := range b {
		for _, bits := range []byte{1, 0x80, 0xff} {
			damaged := slices.Clone(b)
			damaged[i] ^= bits
			refused(fmt.Sprintf("with byte %d another", i), damaged)
		}
		refused("cut", b[:i])
	}
	refused("with a zero more", append(slices.Clone(b), 0))
	refused("twice", append(slices.Clone(b), b...))
}

// sum puts a checksum that fits under a checkpoint.
func sum(b []byte) []byte {
	body := b[:len(b)-4]
	return binary.LittleEndian.AppendUint32(slices.Clone(body), crc32.Checksum(body, castagnoli))
}

func TestACheckpointOfSomethingElseIsRefused(t *testing.T) {
	_, _, top := linkedWorld(t, 1, 10)
	v := top.View()
	defer v.Release()
	b := save(t, v)
	if _, _, err := Load(bytes.NewReader(b), "us"); !errors.Is(err, ErrCheckpoint) {
		t.Errorf("another region: %v", err)
	}
	for _, word := range []int{0, 4} { // magic, format
		other := slices.Clone(b)
		other[word]++
		if _, _, err := Load(bytes.NewReader(sum(other)), "eu"); !errors.Is(err, ErrCheckpoint) {
			t.Errorf("another word at %d: %v", word, err)
		}
	}
	load(t, sum(b))
}

func TestAnEmptyTopologyHasACheckpoint(t *testing.T) {
	v := New().View()
	defer v.Release()
	top := load(t, save(t, v))
	m, r := newMaker(1, 5, 2), newRows()
	feed(t, top, r, m.change(), m.change())
	v = top.View()
	defer v.Release()
	sameAnswers(t, answers(t, over(v, r), m.world()), answers(t, r.view(), m.world()))
}

// A shrinking file is whole when its checksum is read, and cut after that.
type shrinking struct {
	*bytes.Reader
	b      []byte
	passes int
}

func (s *shrinking) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekStart {
		if s.passes++; s.passes == 2 {
			s.Reader = bytes.NewReader(s.b)
		}
	}
	return s.Reader.Seek(offset, whence)
}

var errDisk = errors.New("the disk is broken")

// A failing writer takes so many bytes.
type failing int

func (f *failing) Write(b []byte) (int, error) {
	if *f -= failing(len(b)); *f < 0 {
		return 0, errDisk
	}
	return len(b), nil
}

func TestAFileThatFailsIsAnError(t *testing.T) {
	worlds := map[string]*Topology{}
	_, _, worlds["all"] = linkedWorld(t, 0, 2)
	// No data stores at all.
	m, r, processes := newMaker(1, 1, 2), newRows(), New()
	rows := map[graph.Row][]graph.Target{}
	m.flow(rows, graph.ControlLayer, m.processes[0], m.processes[1], graph.Control, false)
	feed(t, processes, r, m.says(m.keys[0], rows))
	worlds["processes"] = processes
	for name, top := range worlds {
		v := top.View()
		b := save(t, v)
		for cut := 0; cut < len(b)-8; cut += 4 * less {
			if _, _, err := Load(&shrinking{Reader: bytes.NewReader(b), b: b[:cut]}, "eu"); err == nil {
				t.Errorf("%s: %d bytes of %d are enough", name, cut, len(b))
			}
		}
		for room := failing(0); room < failing(len(b)); room += 37 * less {
			room := room
			if err := v.Save(&room, "eu", savedAt); !errors.Is(err, errDisk) {
				t.Fatalf("%s: saving to a broken disk: %v", name, err)
			}
		}
		v.Release()
	}
}

func FuzzLoad(f *testing.F) {
	for seed := range uint64(4) {
		_, _, top := linkedWorld(f, seed, 3*int(seed))
		v := top.View()
		b := save(f, v)
		v.Release()
		f.Add(b)
		f.Add(b[:len(b)/2])
		f.Add(append(b[:len(b)/3:len(b)/3], b[len(b)/2:]...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		top, mark, err := Load(bytes.NewReader(b), "eu")
		if err != nil {
			return
		}
		v := top.View()
		defer v.Release()
		var again bytes.Buffer
		if err := v.Save(&again, "eu", mark); err != nil || !bytes.Equal(again.Bytes(), b) {
			t.Errorf("what was loaded is saved as another: %v", err)
		}
	})
}
