package log

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"headwater/graph"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quietLog = slog.New(slog.DiscardHandler)

// open opens the log on a file system; the test closes it if nobody does.
func open(t testing.TB, fs vfs.FS) *Log {
	t.Helper()
	l, err := Open("log", Options{FS: fs, Log: quietLog})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func closed(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// event is the deltas of an event: of a job, and of what it reads.
func event(job string) []graph.Delta {
	name := func(kind graph.Kind, n string) graph.Name {
		return graph.Name{Kind: kind, Region: "eu", Namespace: "hive://m:9083", Name: n}
	}
	table := name(graph.DataStoreKind, "of_"+job)
	return []graph.Delta{
		{Subject: name(graph.ProcessKind, job), Origin: "openlineage", Run: job + "-run", State: graph.Completed, Time: 1_772_366_400_000_000_000,
			Says: graph.Content{Reads: []graph.Dataset{{Name: table}}}, Seen: []graph.Seen{{Name: table, Facets: []byte(`{"a":1}`), Partitions: []string{"dt=1"}}}},
		{Subject: table, Origin: "openlineage/inputs", Time: 1},
	}
}

// stored is the stored form of deltas, which is that of the same deltas sealed.
func stored(deltas []graph.Delta) string { return string(appendEntry(nil, 0, deltas)) }

func add(t testing.TB, l *Log, jobs ...string) uint64 {
	t.Helper()
	var events [][]graph.Delta
	for _, j := range jobs {
		events = append(events, event(j))
	}
	offset, err := l.Append(context.Background(), events)
	if err != nil {
		t.Fatal(err)
	}
	return offset
}

// read writes down what the log holds from an offset on: offset and job.
func read(t testing.TB, l *Log, from uint64) string {
	t.Helper()
	var all []string
	for {
		if _, last := l.Bounds(); from > last {
			return strings.Join(all, " ")
		}
		entries, err := l.Read(context.Background(), from, 3, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if want := event(e.Deltas[0].Subject.Name); stored(e.Deltas) != stored(want) {
				t.Errorf("entry %d: %+v, want %+v", e.Offset, e.Deltas, want)
			}
			if age := time.Since(e.Appended); age < 0 || age > time.Hour {
				t.Errorf("entry %d was appended at %s", e.Offset, e.Appended)
			}
			all = append(all, fmt.Sprintf("%d:%s", e.Offset, e.Deltas[0].Subject.Name))
			from = e.Offset + 1
		}
	}
}

func bounds(t testing.TB, l *Log, first, last uint64) {
	t.Helper()
	if f, n := l.Bounds(); f != first || n != last {
		t.Errorf("the log holds %d to %d, want %d to %d", f, n, first, last)
	}
}

func TestLogKeepsWhatIsAppendedInOrderAcrossReopen(t *testing.T) {
	fs := vfs.NewMem()
	l := open(t, fs)
	bounds(t, l, 1, 0)
	if got := add(t, l, "a"); got != 1 {
		t.Errorf("the first receipt is %d", got)
	}
	if got := add(t, l, "b", "c", "d"); got != 4 {
		t.Errorf("the receipt of four is %d", got)
	}
	if got := add(t, l); got != 4 {
		t.Errorf("the receipt of nothing is %d, want the newest", got)
	}
	for range 2 {
		bounds(t, l, 1, 4)
		if got, want := read(t, l, 1), "1:a 2:b 3:c 4:d"; got != want {
			t.Errorf("read %s, want %s", got, want)
		}
		if got, want := read(t, l, 3), "3:c 4:d"; got != want {
			t.Errorf("read %s, want %s", got, want)
		}
		closed(t, l)
		l = open(t, fs)
	}
	if got := add(t, l, "e"); got != 5 {
		t.Errorf("after opening again the receipt is %d, want 5", got)
	}
}

func TestTrimForgetsUpToAnOffsetAndTheCountGoesOn(t *testing.T) {
	fs := vfs.NewMem()
	l := open(t, fs)
	add(t, l, "a", "b", "c", "d")
	trim := func(through uint64) {
		t.Helper()
		if err := l.Trim(through); err != nil {
			t.Fatal(err)
		}
	}
	trim(0)
	bounds(t, l, 1, 4)
	trim(2)
	trim(1)
	bounds(t, l, 3, 4)
	if got, want := read(t, l, 3), "3:c 4:d"; got != want {
		t.Errorf("read %s, want %s", got, want)
	}
	if _, err := l.Read(context.Background(), 2, 10, 1<<20); !errors.Is(err, graph.ErrFormat) {
		t.Errorf("reading what is gone: %v", err)
	}
	trim(99)
	bounds(t, l, 5, 4)
	closed(t, l)
	l = open(t, fs)
	bounds(t, l, 5, 4)
	if got := add(t, l, "e"); got != 5 {
		t.Errorf("the receipt after all was forgotten is %d, want 5", got)
	}
	if got, want := read(t, l, 5), "5:e"; got != want {
		t.Errorf("read %s, want %s", got, want)
	}
}

func TestReadIsBoundedByEntriesAndBytesButGivesOne(t *testing.T) {
	l := open(t, vfs.NewMem())
	add(t, l, "a", "b", "c", "d")
	size := len(appendEntry(nil, 0, event("a")))
	for _, c := range []struct{ max, bytes, want int }{{10, 1 << 20, 4}, {2, 1 << 20, 2}, {10, 1, 1}, {10, size, 1}, {10, size + 1, 2}, {0, 0, 1}} {
		entries, err := l.Read(context.Background(), 1, c.max, c.bytes)
		if err != nil || len(entries) != c.want {
			t.Errorf("at most %d entries and %d bytes: %d entries, %v; want %d", c.max, c.bytes, len(entries), err, c.want)
		}
	}
}

func TestReadWaitsForWhatIsAppendedNext(t *testing.T) {
	l := open(t, vfs.NewMem())
	add(t, l, "a")
	got := make(chan string)
	go func() {
		entries, err := l.Read(context.Background(), 2, 10, 1<<20)
		if err != nil {
			got <- err.Error()
			return
		}
		got <- entries[0].Deltas[0].Subject.Name
	}()
	add(t, l, "b")
	if name := <-got; name != "b" {
		t.Errorf("read %s", name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Read(ctx, 3, 10, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("reading when the context has ended: %v", err)
	}
	if _, err := l.Append(ctx, [][]graph.Delta{event("c")}); !errors.Is(err, context.Canceled) {
		t.Errorf("appending when the context has ended: %v", err)
	}
	bounds(t, l, 1, 2)
}

func TestManyWhoAppendAtOnceGetReceiptsInOrderOfTheLog(t *testing.T) {
	l := open(t, vfs.NewMem())
	const writers, each = 40, 25
	receipts := make([][]uint64, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				// Some take two events at once.
				jobs := []string{fmt.Sprintf("%d_%d", w, i)}
				if w%2 == 0 {
					jobs = append(jobs, jobs[0]+"x")
				}
				receipts[w] = append(receipts[w], add(t, l, jobs...))
			}
		})
	}
	wg.Wait()
	bounds(t, l, 1, writers*each*3/2)
	at := map[string]string{}
	for _, e := range strings.Fields(read(t, l, 1)) {
		offset, job, _ := strings.Cut(e, ":")
		at[job] = offset
	}
	for w, list := range receipts {
		for i, r := range list {
			job := fmt.Sprintf("%d_%d", w, i)
			first, last := r, job
			if w%2 == 0 {
				first, last = r-1, job+"x"
			}
			if at[last] != fmt.Sprint(r) || at[job] != fmt.Sprint(first) || i > 0 && r <= list[i-1] {
				t.Fatalf("writer %d got receipt %d for %s, which stands at %s", w, r, last, at[last])
			}
		}
	}
}

func TestAppendsThatWaitTogetherShareOneSync(t *testing.T) {
	l := open(t, vfs.NewMem())
	// More than any queue is long: no writer may wait for another one here.
	const appends = 5000
	l.writing.Lock()
	var wg sync.WaitGroup
	for i := range appends {
		wg.Go(func() { add(t, l, fmt.Sprint(i)) })
	}
	for queued, before := 0, -1; queued != before || queued < appends/2; {
		runtime.Gosched()
		l.mu.Lock()
		before, queued = queued, len(l.queue)
		l.mu.Unlock()
	}
	l.writing.Unlock()
	wg.Wait()
	bounds(t, l, 1, appends)
	if got := l.Syncs(); got > appends/10 {
		t.Errorf("%d syncs for %d appends", got, appends)
	}
}

func TestCloseSettlesWhatWaitsAndRefusesWhatComes(t *testing.T) {
	fs := vfs.NewMem()
	l := open(t, fs)
	const writers = 50
	var mu sync.Mutex
	taken := map[string]uint64{}
	var started, wg sync.WaitGroup
	started.Add(writers)
	for w := range writers {
		wg.Go(func() {
			for i := 0; ; i++ {
				job := fmt.Sprintf("%d_%d", w, i)
				offset, err := l.Append(context.Background(), [][]graph.Delta{event(job)})
				if i == 0 {
					started.Done()
				}
				if err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				taken[fmt.Sprintf("%d:%s", offset, job)] = offset
				mu.Unlock()
			}
		})
	}
	// Readers and keepers are under way too.
	for range 4 {
		wg.Go(func() {
			var err error
			for from := uint64(1); err == nil; {
				var entries []Entry
				if entries, err = l.Read(context.Background(), from, 100, 1<<20); err == nil {
					from += uint64(len(entries))
				}
			}
			if !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
	}
	started.Wait()
	for range 2 {
		wg.Go(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	l = open(t, fs)
	held := strings.Fields(read(t, l, 1))
	if len(held) != len(taken) {
		t.Errorf("%d entries are there, %d were acknowledged", len(held), len(taken))
	}
	for _, e := range held {
		if taken[e] == 0 {
			t.Errorf("%s was not acknowledged", e)
		}
	}
}

func TestClosedLogAnswersErrClosed(t *testing.T) {
	l := open(t, vfs.NewMem())
	add(t, l, "a")
	closed(t, l)
	closed(t, l)
	ctx := context.Background()
	for what, do := range map[string]func() error{
		"Append":        func() error { _, err := l.Append(ctx, [][]graph.Delta{event("b")}); return err },
		"Append none":   func() error { _, err := l.Append(ctx, nil); return err },
		"Read":          func() error { _, err := l.Read(ctx, 1, 1, 1); return err },
		"Read the next": func() error { _, err := l.Read(ctx, 2, 1, 1); return err },
		"Trim":          func() error { return l.Trim(1) },
		"Advance":       func() error { return l.Advance(9) },
		"Keep":          func() error { return l.Keep("x", nil) },
		"Kept":          func() error { _, err := l.Kept("x"); return err },
		"Bury":          func() error { return l.Bury(DeadLetter{}) },
		"Dead":          func() error { _, err := l.Dead("", 1); return err },
		"DeadByID":      func() error { _, err := l.DeadByID("1.0"); return err },
		"DropDead":      func() error { return l.DropDead("1.0") },
	} {
		if err := do(); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestLogOfAnotherFormatVersionIsRefused(t *testing.T) {
	fs := vfs.NewMem()
	closed(t, open(t, fs))
	db, err := pebble.Open("log", &pebble.Options{FS: fs, Logger: quiet{quietLog}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Set(metaFormat, []byte("9"), pebble.Sync), db.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = Open("log", Options{FS: fs, Log: quietLog})
	if want := "log in log has format version 9; this headwater reads version " + strconv.Itoa(graph.FormatVersion); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestAdvanceGoesOnFromWhereTheGraphIs(t *testing.T) {
	fs := vfs.NewMem()
	l := open(t, fs)
	add(t, l, "old", "older")
	for _, applied := range []uint64{41, 7} {
		if err := l.Advance(applied); err != nil {
			t.Fatal(err)
		}
		bounds(t, l, 42, 41)
	}
	closed(t, l)
	l = open(t, fs)
	bounds(t, l, 42, 41)
	if got := add(t, l, "a"); got != 42 {
		t.Errorf("the receipt after Advance(41) is %d", got)
	}
	bounds(t, l, 42, 42)
	if got, want := read(t, l, 42), "42:a"; got != want {
		t.Errorf("read %s, want %s", got, want)
	}
}

func TestWhatIsKeptUnderANameIsThereAfterwards(t *testing.T) {
	fs := vfs.NewMem()
	l := open(t, fs)
	for name, want := range map[string]string{"rules": "{}", "cursor/of/a": "\x00\xff", "": "no name", "format": "9", "empty": ""} {
		if got, err := l.Kept(name); err != nil || got != nil {
			t.Errorf("%q before it is kept: %q, %v", name, got, err)
		}
		if err := errors.Join(l.Keep(name, []byte("before")), l.Keep(name, []byte(want))); err != nil {
			t.Fatal(err)
		}
		closed(t, l)
		l = open(t, fs)
		if got, err := l.Kept(name); err != nil || got == nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", name, got, err, want)
		}
	}
}
