package federation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"headwater/gateway/border"
	"headwater/graph"
)

// A view is one state of all regions.
type view struct {
	names    *border.Index
	added    uint64 // to names, when the view was opened
	patience time.Duration
	at       graph.At
	regions  []*region // by name
	// unheard are gaps of all walks: regions whose names are not in the index.
	unheard []graph.Gap

	mu sync.Mutex // guards all below
	*sheet
	resolver *graph.Resolver
	places   map[graph.ID]*placed // by name
	// expected is the walk that will follow, from one of roots; nil: not known.
	expected *graph.LegQuestion
	roots    map[graph.ID]string // their regions
	// touched, if set, notes what is read.
	touched *touched
	closed  bool
}

// A region is a region of one view.
type region struct {
	Region
	generation uint64 // of its changes, when the view was opened

	once sync.Once
	view graph.LegView
	err  error

	// Under the view's mu: asked is view once it is open, why says what kept the
	// region from answering.
	asked  graph.View
	why    string
	behind []graph.Gap // what it says itself that its answers lack
}

// open returns the state of the region, opened when it is first asked for.
func (v *view) open(ctx context.Context, r *region) (graph.LegView, error) {
	r.once.Do(func() {
		at := graph.At{AsOf: v.at.AsOf}
		if p, ok := v.at.AtLeast[r.Name]; ok {
			at.AtLeast = map[string]uint64{r.Name: p}
		}
		var opened graph.View
		if opened, r.err = r.Reader.View(ctx, at); r.err != nil {
			return
		}
		if r.view, _ = opened.(graph.LegView); r.view == nil {
			r.view = local{opened}
		}
		v.mu.Lock()
		r.asked = r.view
		v.mu.Unlock()
	})
	return r.view, r.err
}

// local walks the legs of a view here.
type local struct{ graph.View }

func (l local) Leg(ctx context.Context, q graph.LegQuestion) (*graph.Leg, error) {
	return graph.WalkLeg(ctx, l.View, q)
}

// Expect implements graph.Expecting.
func (v *view) Expect(q graph.LegQuestion, roots map[graph.ID]string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.expected, v.roots = &q, roots
	for id, region := range roots {
		if _, ok := v.home[id.Base()]; !ok && v.named(region) != nil {
			v.home[id.Base()] = region
		}
	}
	v.forget()
}

// Marks has all regions; the mark of one that has not been
// asked is the last that is known, or zero.
func (v *view) Marks() map[string]graph.Mark {
	v.mu.Lock()
	defer v.mu.Unlock()
	marks := make(map[string]graph.Mark, len(v.regions))
	for _, r := range v.regions {
		var m graph.Mark
		if r.asked != nil {
			m = r.asked.Marks()[r.Name]
		}
		if m == (graph.Mark{}) && r.Mark != nil {
			m = r.Mark()
		}
		marks[r.Name] = m
	}
	return marks
}

// Close closes the views of the regions.
func (v *view) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil
	}
	v.closed = true
	var errs []error
	for _, r := range v.regions {
		r.once.Do(func() { r.err = errors.New("the view is closed") })
		if r.view != nil {
			errs = append(errs, r.view.Close())
		}
	}
	return errors.Join(errs...)
}

// named returns a region of the view, or nil.
func (v *view) named(name string) *region {
	i, ok := slices.BinarySearchFunc(v.regions, name, func(r *region, name string) int { return strings.Compare(r.Name, name) })
	if !ok {
		return nil
	}
	return v.regions[i]
}

// gap returns why a region can't be asked; false where it can.
func (v *view) gap(name string) (graph.Gap, bool) {
	r := v.named(name)
	if r == nil {
		return graph.Gap{Region: name, Reason: "is not a region that is known here"}, true
	}
	return graph.Gap{Region: name, Reason: r.why}, r.why != ""
}

// gaps returns what answers lack that a region has a part in.
func (v *view) gaps(name string) []graph.Gap {
	if g, is := v.gap(name); is {
		return []graph.Gap{g}
	}
	return v.named(name).behind
}

// ask calls f with the views of regions, all at once. What can't be asked is
// marked, and does not fail the others; ctx's own end is an error.
func (v *view) ask(ctx context.Context, of []string, f func(ctx context.Context, r *region, view graph.LegView) error) ([]graph.Gap, error) {
	var wg sync.WaitGroup
	failed := make([]error, len(of))
	for i, name := range of {
		v.mu.Lock()
		r := v.named(name)
		skip := r == nil || r.why != ""
		v.mu.Unlock()
		if skip {
			continue
		}
		one := func() {
			patient, cancel := context.WithTimeout(ctx, v.patience)
			defer cancel()
			opened, err := v.open(patient, r)
			if err == nil {
				err = f(patient, r, opened)
			}
			if err != nil && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
				err = fmt.Errorf("did not answer within %v", v.patience)
			}
			failed[i] = err
		}
		if len(of) == 1 {
			one()
		} else {
			wg.Go(one)
		}
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	var gaps []graph.Gap
	for i, name := range of {
		if r := v.named(name); failed[i] != nil {
			r.why = reason(failed[i])
			v.forget()
		} else if r != nil && r.why == "" {
			v.noteRegion(r)
		}
		if g, is := v.gap(name); is {
			gaps = append(gaps, g)
		}
	}
	return gaps, nil
}

// reason says for people why a region did not answer.
func reason(err error) string {
	if named, ok := errors.AsType[interface {
		error
		Reason() string
	}](err); ok {
		return named.Reason()
	}
	return err.Error()
}
