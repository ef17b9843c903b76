package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/region/bus"
	"headwater/region/bus/bustest"
	"headwater/region/bus/embedded"
)

// A rig is a region and a topic.
type rig struct {
	t *testing.T
	b *broker
	o Options
	r *bustest.Region
}

func newRig(t *testing.T) *rig {
	b := open(t)
	return &rig{t, b, b.topic(t), bustest.NewRegion(t, func() bustest.Store { return graphtest.NewModel("eu") })}
}

// say applies so many entries.
func (g *rig) say(n int) {
	for range n {
		g.r.Say([]graph.Name{{Kind: graph.DataStoreKind, Region: "eu", Namespace: "pg", Name: fmt.Sprint(len(g.r.Batches()))}})
	}
}

// follow returns the entries behind a cursor until a sequence.
func (g *rig) follow(c bus.Cursor, until uint64) (entries []bus.Entry, duplicates int, err error) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	enough := errors.New("enough")
	s := &Stream{Options: g.o}
	if g.r != nil {
		s.From = embedded.New(embedded.Options{Store: g.r.Store(), Head: g.r.Head})
	}
	err = s.Follow(ctx, c, bus.Filter{All: true}, func(come []bus.Entry) error {
		for i := range come {
			switch v := bus.Check(c, &come[i], true); v {
			case bus.Next:
				entries, c = append(entries, come[i]), come[i].Cursor()
			case bus.Duplicate:
				duplicates++
			case bus.Beat:
			default:
				g.t.Errorf("behind %s came %s: %s", c, come[i].Cursor(), v)
			}
		}
		if c.Sequence >= until {
			return enough
		}
		return nil
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return entries, duplicates, err
}

// records returns what the topic holds: kind, generation, sequence, part.
func (g *rig) records() []string {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	q, err := openPartition(ctx, &g.o)
	if err != nil {
		g.t.Fatal(err)
	}
	defer q.close()
	q.read(q.start)
	var list []string
	for at := q.start; at < q.end; {
		come, err := q.poll(ctx, 100)
		if err != nil {
			g.t.Fatal(err)
		}
		for _, k := range come {
			r, err := recordOf(&g.o, k)
			if err != nil {
				g.t.Fatal(err)
			}
			if r.kind != beatRecord {
				list = append(list, fmt.Sprintf("%c%d:%d.%d", r.kind, r.generation, r.cursor.Sequence, r.part))
			}
			at = k.Offset + 1
		}
	}
	return list
}

// send writes records as a publisher that was broken off would have.
func (g *rig) send(records ...record) {
	g.t.Helper()
	client, err := g.o.client(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		g.t.Fatal(err)
	}
	defer client.Close()
	for _, r := range records {
		k := &kgo.Record{Topic: g.o.Topic, Partition: g.o.Partition, Key: []byte(g.o.Region), Value: r.bytes()}
		if err := client.ProduceSync(context.Background(), k).FirstErr(); err != nil {
			g.t.Fatal(err)
		}
	}
}

func (g *rig) mustFollow(c bus.Cursor, until uint64) []bus.Entry {
	g.t.Helper()
	entries, _, err := g.follow(c, until)
	if err != nil {
		g.t.Fatal(err)
	}
	return entries
}

func TestPublisherGoesOnBehindWhatTheTopicHas(t *testing.T) {
	g := newRig(t)
	for range 3 {
		g.say(2)
		p := publish(g.r, g.o)
		g.mustFollow(bus.Cursor{}, uint64(len(g.r.Batches())))
		p.end(t)
	}
	want := "g1:0.0 e1:1.0 e1:2.0 e1:3.0 e1:4.0 e1:5.0 e1:6.0"
	if got := strings.Join(g.records(), " "); got != want {
		t.Errorf("the topic holds %s, want %s", got, want)
	}
}

func TestEntryThatWasNotPublishedWholeIsPublishedAgain(t *testing.T) {
	g := newRig(t)
	g.say(1)
	p := publish(g.r, g.o)
	first := g.mustFollow(bus.Cursor{}, 1)[0]
	p.end(t)
	var names []graph.Name
	for i := range 30_000 {
		names = append(names, graph.Name{Kind: graph.DataStoreKind, Region: "eu", Namespace: strings.Repeat("long", 12), Name: fmt.Sprintf("%05d", i)})
	}
	g.r.Say(names)
	large := g.r.Made(2)[0]
	chunks := split(1, &large, first.Hash)
	if len(chunks) != 3 {
		t.Fatalf("%d chunks, want 3", len(chunks))
	}
	g.send(chunks[:2]...)
	p = publish(g.r, g.o)
	if diff := cmp.Diff(g.r.Made(1), g.mustFollow(bus.Cursor{}, 2)); diff != "" {
		t.Errorf("%.1000s", diff)
	}
	p.end(t)
	want := "g1:0.0 e1:1.0 e1:2.0 e1:2.1 e1:2.0 e1:2.1 e1:2.2"
	if got := strings.Join(g.records(), " "); got != want {
		t.Errorf("the topic holds %s, want %s", got, want)
	}
	if diff := cmp.Diff(g.r.Made(2), g.mustFollow(first.Cursor(), 2)); diff != "" {
		t.Errorf("from the second on: %.1000s", diff)
	}
}

func TestDuplicatesOfAPublisherThatWasReplacedAreDropped(t *testing.T) {
	g := newRig(t)
	g.say(10)
	p := publish(g.r, g.o)
	g.mustFollow(bus.Cursor{}, 10)
	p.end(t)
	made := g.r.Made(1)
	for i := 5; i < 10; i++ {
		g.send(split(1, &made[i], made[i-1].Hash)...)
	}
	g.say(5)
	p = publish(g.r, g.o)
	defer p.end(t)
	made = g.r.Made(1)
	for at := 0; at < 15; at++ {
		c := bus.Cursor{}
		if at > 0 {
			c = made[at-1].Cursor()
		}
		entries, _, err := g.follow(c, 15)
		if diff := cmp.Diff(made[at:], entries); err != nil || diff != "" {
			t.Errorf("from %d: %v\n%s", at, err, diff)
		}
	}
}

func TestGenerationsFollowWhatTheRegionDid(t *testing.T) {
	g := newRig(t)
	g.say(6)
	p := publish(g.r, g.o)
	old := g.mustFollow(bus.Cursor{}, 6)
	p.end(t)
	g.r.Restart(4, 0)
	g.r.Say([]graph.Name{{Kind: graph.DataStoreKind, Region: "eu", Namespace: "pg", Name: "other"}})
	p = publish(g.r, g.o)
	made := g.r.Made(1)
	// Its cursor is from before the new generation, which may not be there yet.
	if _, _, err := g.follow(old[5].Cursor(), 100); !errors.Is(err, bus.ErrDiverged) {
		t.Errorf("from the old generation: %v, want ErrDiverged", err)
	}
	g.say(3)
	if diff := cmp.Diff(g.r.Made(6), g.mustFollow(made[4].Cursor(), 8)); diff != "" {
		t.Errorf("behind where the new one begins:\n%s", diff)
	}
	if _, _, err := g.follow(old[5].Cursor(), 100); !errors.Is(err, bus.ErrDiverged) {
		t.Errorf("from the old generation: %v, want ErrDiverged", err)
	}
	p.end(t)
	want := "g1:0.0 e1:1.0 e1:2.0 e1:3.0 e1:4.0 e1:5.0 e1:6.0 g2:5.0 e2:6.0 e2:7.0 e2:8.0"
	if got := strings.Join(g.records(), " "); got != want {
		t.Errorf("the topic holds %s, want %s", got, want)
	}
}

func TestLateRecordsOfAPublisherThatWasReplacedDoNotLeadBack(t *testing.T) {
	g := newRig(t)
	g.say(6)
	p := publish(g.r, g.o)
	old := g.mustFollow(bus.Cursor{}, 6)
	p.end(t)
	g.r.Restart(4, 0)
	g.say(1)
	p = publish(g.r, g.o)
	cursor := g.r.Made(5)[0].Cursor()
	g.say(1)
	g.mustFollow(cursor, 6)
	p.end(t)
	g.send(split(1, &old[5], old[4].Hash)...) // it was under way
	g.say(1)
	p = publish(g.r, g.o)
	defer p.end(t)
	if diff := cmp.Diff(g.r.Made(6), g.mustFollow(cursor, 7)); diff != "" {
		t.Error(diff)
	}
}

func TestTopicThatKeepsNothingAnyMoreGoesOn(t *testing.T) {
	g := newRig(t)
	g.say(6)
	p := publish(g.r, g.o)
	made := g.mustFollow(bus.Cursor{}, 6)
	p.end(t)
	g.b.admin(t, func(ctx context.Context, admin *kadm.Client) error {
		ends, err := admin.ListEndOffsets(ctx, g.o.Topic)
		if err == nil {
			_, err = admin.DeleteRecords(ctx, ends.Offsets())
		}
		return err
	})
	g.r.Trim(3)
	g.say(1)
	p = publish(g.r, g.o)
	defer p.end(t)
	if _, _, err := g.follow(made[4].Cursor(), 7); !errors.Is(err, bus.ErrExpired) {
		t.Errorf("%v, want ErrExpired", err)
	}
	g.say(1)
	if diff := cmp.Diff(g.r.Made(8), g.mustFollow(g.r.Made(7)[0].Cursor(), 8)); diff != "" {
		t.Error(diff)
	}
	if first := g.records()[0]; first < "g8" {
		t.Errorf("the topic begins with %s, want a generation behind all there were", first)
	}
}

func TestCursorAheadOfTheTopicWaitsForIt(t *testing.T) {
	g := newRig(t)
	g.say(3)
	p := publish(g.r, g.o)
	g.mustFollow(bus.Cursor{}, 3)
	p.end(t)
	g.say(3)
	ahead := g.r.Made(6)[0].Cursor()
	type result struct {
		entries []bus.Entry
		err     error
	}
	done := make(chan result, 1)
	go func() {
		entries, _, err := g.follow(ahead, 8)
		done <- result{entries, err}
	}()
	g.say(2)
	p = publish(g.r, g.o)
	defer p.end(t)
	got := <-done
	if diff := cmp.Diff(g.r.Made(7), got.entries); got.err != nil || diff != "" {
		t.Errorf("%v\n%s", got.err, diff)
	}
}

func TestCursorThatWasLostBeforeItWasPublishedHasDiverged(t *testing.T) {
	g := newRig(t)
	g.say(3)
	p := publish(g.r, g.o)
	g.mustFollow(bus.Cursor{}, 3)
	p.end(t)
	g.say(3)
	lost := g.r.Made(6)[0].Cursor()
	for _, batches := range []int{3, 2} { // as far as the topic, and behind it
		g.r.Restart(batches, 0)
		p = publish(g.r, g.o)
		if _, _, err := g.follow(lost, 100); !errors.Is(err, bus.ErrDiverged) {
			t.Errorf("a region of %d: from %s: %v, want ErrDiverged", batches, lost, err)
		}
		p.end(t)
	}
}

func TestWhatTheTopicDoesNotKeepHasExpired(t *testing.T) {
	g := newRig(t)
	g.say(20)
	p := publish(g.r, g.o)
	defer p.end(t)
	made := g.mustFollow(bus.Cursor{}, 20)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	q, err := openPartition(ctx, &g.o)
	if err != nil {
		t.Fatal(err)
	}
	offset, err := q.search(ctx, 1, 11)
	q.close()
	if err != nil {
		t.Fatal(err)
	}
	g.b.admin(t, func(ctx context.Context, admin *kadm.Client) error {
		offsets := kadm.Offsets{}
		offsets.AddOffset(g.o.Topic, g.o.Partition, offset, -1)
		_, err := admin.DeleteRecords(ctx, offsets)
		return err
	})
	for _, c := range []bus.Cursor{{}, made[0].Cursor(), made[8].Cursor()} {
		var told *bus.CursorError
		if _, _, err := g.follow(c, 20); !errors.Is(err, bus.ErrExpired) || !errors.As(err, &told) || told.First != 11 {
			t.Errorf("from %s: %v, want ErrExpired, entries from 11 on", c, err)
		}
	}
	if diff := cmp.Diff(made[10:], g.mustFollow(made[9].Cursor(), 20)); diff != "" {
		t.Errorf("from the oldest that is kept:\n%s", diff)
	}
}

func TestPartitionOfAnotherRegionIsRefused(t *testing.T) {
	g := newRig(t)
	g.say(1)
	p := publish(g.r, g.o)
	g.mustFollow(bus.Cursor{}, 1)
	p.end(t)
	g.o.Region = "us"
	if _, _, err := g.follow(bus.Cursor{}, 1); err == nil || !strings.Contains(err.Error(), `is of region "eu", not "us"`) {
		t.Errorf("following as another region: %v", err)
	}
	g.o.Partition = 5
	if _, _, err := g.follow(bus.Cursor{}, 1); err == nil || !strings.Contains(err.Error(), "no partition 5") {
		t.Errorf("following a partition that is none: %v", err)
	}
	if _, _, err := (&rig{t: t}).follow(bus.Cursor{}, 1); err == nil || !strings.Contains(err.Error(), "are needed") {
		t.Errorf("following without options: %v", err)
	}
}
