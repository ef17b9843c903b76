package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"headwater/graph"
)

// A session is one request: when its time is up, and the views that its
// fields read. Fields that ask for the same state share a view, so they agree.
type session struct {
	o        *Options
	phrases  *phrasebook
	work     *workspace
	deadline time.Time

	mu    sync.Mutex // guards views
	views map[string]*state

	// splices: what fields have written is not copied into the data of the
	// response, but stands in parts.
	splices bool
	parts   []part

	// touched is what is read, where the answer may be kept; nil otherwise.
	touched *graph.Touched
}

// A part is what belongs into the data of a response, at an offset.
type part struct {
	at    int
	bytes []byte
}

// insert writes the value of a field into the data of the response, or notes
// where it belongs.
func (s *session) insert(out io.Writer, value []byte) {
	if data, ok := out.(*bytes.Buffer); ok && s.splices {
		s.parts = append(s.parts, part{data.Len(), value})
		return
	}
	_, _ = out.Write(value)
}

// A state is one state of the graph, opened when a field first needs it.
type state struct {
	once sync.Once
	err  error

	graph.View
	// behind are the regions that are not where the question wants them.
	behind []graph.Gap
	cancel context.CancelFunc
}

func newSession(o *Options, phrases *phrasebook, work *workspace) *session {
	return &session{o: o, phrases: phrases, work: work, deadline: time.Now().Add(o.Timeout), views: map[string]*state{}}
}

type sessionKey struct{}

func withSession(ctx context.Context, s *session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

func sessionOf(ctx context.Context) *session { return ctx.Value(sessionKey{}).(*session) }

// reading bounds what is read for a field. It leaves the context of the field
// itself alone: what was read in time is written, however long that takes.
func (s *session) reading(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, s.deadline)
}

// within is reading, but leaves a part of the time that is left to those who
// read after it.
func (s *session) within(ctx context.Context, part float64) (context.Context, context.CancelFunc) {
	left := time.Until(s.deadline)
	return context.WithDeadline(ctx, s.deadline.Add(-time.Duration(float64(left)*(1-part))))
}

// view returns the state asked for. The session closes it.
func (s *session) view(ctx context.Context, at graph.At) (*state, error) {
	key := positions(at.AtLeast)
	if !at.AsOf.IsZero() {
		key += " " + at.AsOf.UTC().Format(time.RFC3339Nano)
	}
	s.mu.Lock()
	st := s.views[key]
	if st == nil {
		st = &state{}
		s.views[key] = st
	}
	s.mu.Unlock()
	st.once.Do(func() { st.err = st.open(ctx, s, at) })
	return st, st.err
}

// Numbers has the numbers of the view, if it has any.
func (st *state) Numbers() graph.Numbers {
	if n, ok := st.View.(interface{ Numbers() graph.Numbers }); ok {
		return n.Numbers()
	}
	return nil
}

// open opens the view. Positions that are not reached when half of the time is
// over become gaps of the newest state that there is.
func (st *state) open(ctx context.Context, s *session, at graph.At) error {
	wait, cancel := s.reading(ctx)
	if len(at.AtLeast) > 0 {
		cancel()
		wait, cancel = s.within(ctx, 0.5)
	}
	view, err := s.o.Reader.View(wait, at)
	if len(at.AtLeast) > 0 && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		cancel()
		wait, cancel = s.reading(ctx)
		view, err = s.o.Reader.View(wait, graph.At{AsOf: at.AsOf})
	}
	st.cancel = cancel
	if err != nil {
		return fmt.Errorf("open a view: %w", err)
	}
	if st.View = view; s.touched != nil {
		if len(at.AtLeast) > 0 || !at.AsOf.IsZero() {
			s.unsteady()
		} else {
			st.View = graph.Track(view, s.touched)
		}
	}
	marks := view.Marks()
	for _, region := range slices.Sorted(maps.Keys(at.AtLeast)) {
		want := at.AtLeast[region]
		switch mark, ok := marks[region]; {
		case !ok:
			st.behind = append(st.behind, graph.Gap{Region: region, Reason: "is not a region that is known here"})
		case mark.Position < want:
			st.behind = append(st.behind, graph.Gap{Region: region, Reason: fmt.Sprintf("is at %s@%d, behind %s@%d", region, mark.Position, region, want)})
		}
	}
	return nil
}

// close closes the views. No field may be read any more.
func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.views {
		if st.View != nil {
			if err := st.View.Close(); err != nil {
				s.o.Log.Error("close a view", "err", err)
			}
		}
		if st.cancel != nil {
			st.cancel()
		}
	}
	clear(s.views)
}

// positions writes positions as they are read: eu@1042,us@77.
func positions(at map[string]uint64) string {
	parts := make([]string, 0, len(at))
	for _, region := range slices.Sorted(maps.Keys(at)) {
		parts = append(parts, fmt.Sprintf("%s@%d", region, at[region]))
	}
	return strings.Join(parts, ",")
}

// revisions writes the state of a view: eu#77,us#3.
func revisions(marks map[string]graph.Mark) string {
	parts := make([]string, 0, len(marks))
	for _, region := range slices.Sorted(maps.Keys(marks)) {
		parts = append(parts, fmt.Sprintf("%s#%d", region, marks[region].Revision))
	}
	return strings.Join(parts, ",")
}

// joinGaps joins lists of gaps, sorted and each once. It is never nil.
func joinGaps(lists ...[]graph.Gap) []graph.Gap {
	gaps := slices.Concat(lists...)
	slices.SortFunc(gaps, func(a, b graph.Gap) int {
		return cmp.Or(cmp.Compare(a.Region, b.Region), cmp.Compare(a.Reason, b.Reason))
	})
	return slices.Compact(gaps)
}
