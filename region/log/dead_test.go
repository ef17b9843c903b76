package log

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/graph"
)

func TestDeadLettersAreListedPagedReadAndDropped(t *testing.T) {
	fs := vfs.NewMem()
	l := open(t, fs)
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	// Buried in another order than they are listed in.
	for _, id := range [][2]uint64{{300, 1}, {2, 0}, {300, 0}, {1 << 40, 7}, {2, 0}, {10, 0}} {
		d := DeadLetter{Offset: id[0], Index: uint32(id[1]), At: at, Reason: fmt.Sprintf("reason of %d.%d: 仓库", id[0], id[1]), Delta: event("j")[0]}
		if err := l.Bury(d); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, l)
	l = open(t, fs)
	list := func(after string, limit int) string {
		t.Helper()
		letters, err := l.Dead(after, limit)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, d := range letters {
			ids = append(ids, d.ID)
			if d.Reason != "reason of "+d.ID+": 仓库" || !d.At.Equal(at) || fmt.Sprint(d.Delta) != fmt.Sprint(event("j")[0]) || d.ID != fmt.Sprintf("%d.%d", d.Offset, d.Index) {
				t.Errorf("%+v", d)
			}
		}
		return strings.Join(ids, " ")
	}
	for _, c := range []struct {
		after string
		limit int
		want  string
	}{
		{"", 100, "2.0 10.0 300.0 300.1 1099511627776.7"}, {"", 2, "2.0 10.0"}, {"10.0", 2, "300.0 300.1"}, {"300.0", 1, "300.1"},
		{"300.1", 9, "1099511627776.7"}, {"1099511627776.7", 9, ""}, {"11.5", 1, "300.0"}, {"", 0, ""},
	} {
		if got := list(c.after, c.limit); got != c.want {
			t.Errorf("%d after %q: %s, want %s", c.limit, c.after, got, c.want)
		}
	}
	if d, err := l.DeadByID("300.1"); err != nil || d.ID != "300.1" || d.Offset != 300 || d.Index != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	if err := l.DropDead("300.0"); err != nil {
		t.Error(err)
	}
	if got, want := list("", 100), "2.0 10.0 300.1 1099511627776.7"; got != want {
		t.Errorf("after dropping one: %s, want %s", got, want)
	}
	if err := l.DropDead("300.0"); !errors.Is(err, ErrNoDeadLetter) {
		t.Errorf("dropping it again: %v", err)
	}
	if err := l.Trim(1 << 50); err != nil || list("", 1) != "2.0" {
		t.Errorf("dead letters after Trim: %s, %v", list("", 1), err)
	}
}

func TestWhatIsNoDeadLettersIDIsNotFound(t *testing.T) {
	l := open(t, vfs.NewMem())
	if err := l.Bury(DeadLetter{Offset: 1042}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", "1042", "1042.", ".0", "1042.0x", "x1042.0", " 1042.0", "+1042.0", "01042.0", "1042.00", "1042.0.0", "1042.1", "1042.4294967296", "-1.0", "99999999999999999999.0"} {
		if _, err := l.DeadByID(id); !errors.Is(err, ErrNoDeadLetter) {
			t.Errorf("DeadByID(%q): %v", id, err)
		}
		if err := l.DropDead(id); !errors.Is(err, ErrNoDeadLetter) {
			t.Errorf("DropDead(%q): %v", id, err)
		}
		if _, err := l.Dead(id, 1); id != "" && id != "1042.1" && !errors.Is(err, ErrNoDeadLetter) {
			t.Errorf("Dead(%q): %v", id, err)
		}
	}
}

func TestDamagedDeadLetterIsReportedAndCanBeDropped(t *testing.T) {
	l := open(t, vfs.NewMem())
	if err := l.db.Set(deadKey(5, 0), []byte{graph.FormatVersion, 1}, pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if _, err := l.DeadByID("5.0"); !errors.Is(err, graph.ErrFormat) || !strings.Contains(err.Error(), "5.0") {
		t.Errorf("reading it: %v", err)
	}
	if _, err := l.Dead("", 10); !errors.Is(err, graph.ErrFormat) || !strings.Contains(err.Error(), "5.0") {
		t.Errorf("listing it: %v", err)
	}
	if err := l.DropDead("5.0"); err != nil {
		t.Error(err)
	}
	if letters, err := l.Dead("", 10); err != nil || len(letters) != 0 {
		t.Errorf("%v, %v", letters, err)
	}
}
