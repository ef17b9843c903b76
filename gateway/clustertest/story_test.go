package clustertest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"headwater/graph"
)

// TestStories tells what becomes of gateways and regions, as text. Each step
// prints how the gateways stand a while after it: whether they know a leader,
// the catalog's version, the regions that they follow, and how many names cross
// borders.
//
//	cluster   regions=(eu,us) kept=N   three gateways over regions, from nothing; kept bounds change streams, and
//	                                   snapshots=N has the catalog kept as a snapshot after so many changes
//	tell      region=eu shift=1h       a job a line: its name, what it reads > what it writes; shift is its clock's
//	do        at=A settle=2s           a change of the catalog a line: its kind and its JSON; what became of each
//	ask       root=eu:hive/a dir=up    the lineage, as each gateway answers it
//	part      of=(A,us) from=(B,C)     they don't hear each other
//	heal                               all hear each other
//	kill      of=(A,eu)                end without a word; a region loses what was not synced
//	start     of=(A,eu)                start again
//	restart                            all gateways are killed, then started
//	stop      of=(eu)                  a region stops in order
//	away      region=us by=3s          how far it is from all gateways; nothing is near
//	backup    region=eu                an image of its disk is kept
//	restore   region=eu                it goes on from that image
//	manners   region=eu like=(twice,swapped,broken)   how its change stream comes
//	anew      region=eu                which gateways have taken a snapshot since the last time that this was asked
//	wait      for=10s
//	meanwhile root=eu:hive/a every=5ms a change and its undoing, a line each: made at moments of a walk
//	load      root=eu:hive/a           the question and changes at every gateway, until end
//	end                                what became of them
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		synctest.Test(t, func(t *testing.T) {
			s := &story{images: map[string]image{}, snapshots: map[string]int{}}
			defer s.close()
			datadriven.RunTest(t, path, s.step)
		})
	})
}

// awhile is long enough for what a step begins to end.
const awhile = 2 * time.Second

// A story is told step by step.
type story struct {
	*cluster
	images    map[string]image
	snapshots map[string]int // counted when it was last asked, by region and gateway
	loading   *load
	minute    int // of events
}

func (s *story) close() {
	if s.loading != nil {
		s.loading.halt()
		s.loading = nil
	}
	if s.cluster != nil {
		s.cluster.close()
		s.cluster = nil
	}
}

func (s *story) step(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	var said string
	switch d.Cmd {
	case "cluster":
		s.close()
		kept, snapshots := 0, uint64(0)
		d.MaybeScanArgs(t, "kept", &kept)
		d.MaybeScanArgs(t, "snapshots", &snapshots)
		s.cluster = newCluster(t, d.CmdArgs[0].Vals, kept, snapshots)
	case "tell":
		s.tell(t, d)
	case "do":
		said = s.do(t, d)
	case "ask":
		return s.askAll(s.question(t, d))
	case "part":
		s.net.part(s.places(t, d, "of"), s.places(t, d, "from"))
		said = s.soon()
	case "heal":
		s.net.heal()
		said = s.soon()
	case "kill":
		for _, p := range s.places(t, d, "of") {
			if r := s.sites[p]; r != nil {
				r.kill()
			} else {
				s.kill(p)
			}
		}
		said = s.soon()
	case "start":
		for _, p := range s.places(t, d, "of") {
			if r := s.sites[p]; r != nil {
				r.start()
			} else {
				s.open(p)
			}
		}
		said = s.soon()
	case "restart":
		for _, p := range s.peers {
			s.kill(p.Name)
		}
		for _, p := range s.peers {
			s.open(p.Name)
		}
		said = s.soon()
	case "stop":
		for _, p := range s.places(t, d, "of") {
			s.sites[p].end()
		}
	case "away":
		by := near
		if d.HasArg("by") {
			by = s.duration(t, d, "by")
		}
		s.net.move(s.region(t, d).name, []string{"g1", "g2", "g3"}, by)
		return ""
	case "backup":
		s.images[s.region(t, d).name] = image{s.region(t, d).image()}
		return ""
	case "restore":
		r := s.region(t, d)
		r.end()
		r.disk = s.images[r.name].MemFS
		r.start()
	case "manners":
		s.behave(t, d)
		return ""
	case "anew":
		return s.anew(s.region(t, d).name)
	case "wait":
		time.Sleep(s.duration(t, d, "for"))
		return s.state()
	case "meanwhile":
		return s.meanwhile(t, d)
	case "load":
		s.loading = s.load(s.question(t, d))
		return ""
	case "end":
		said = s.loading.end()
		s.loading = nil
		return said
	default:
		t.Fatalf("there is no step %q", d.Cmd)
	}
	settle := awhile
	if d.HasArg("settle") {
		settle = s.duration(t, d, "settle")
	}
	time.Sleep(settle)
	return strings.TrimPrefix(said+"\n"+s.state(), "\n")
}

// soon says whether there is a leader in time, where one can be.
func (s *story) soon() string {
	run := 0
	for _, p := range s.peers {
		if s.gateway(p.Name) != nil {
			run++
		}
	}
	if run < 2 {
		return ""
	}
	if _, took := s.leader(); took >= 3*time.Second {
		return "a leader after " + took.String()
	}
	return "a leader in under 3s"
}

func (s *story) question(t *testing.T, d *datadriven.TestData) question {
	var root string
	d.ScanArgs(t, "root", &root)
	q := question{root: table(root), depth: 9}
	if d.HasArg("dir") {
		q.dir = graph.Upstream
	}
	return q
}
