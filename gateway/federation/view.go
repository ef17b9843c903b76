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
	// What follows from what is known holds for an epoch. stale says that since
	// it began something was learnt of a name that was asked about, and followed
	// is how many names the index had then.
	epoch    int
	stale    bool
	followed uint64
	// strange are regions of which there is nothing here but the name.
	strange map[string]*region
	// expected is the walk that will follow, from one of roots; nil: not known.
	expected *graph.LegQuestion
	roots    []graph.ID
	// ruled are roots by name that stand for others by the catalog.
	ruled map[graph.ID]graph.ID
	// touched, if set, notes what is read.
	touched *touched
	// told: regions have told something of the graph. hops is how many flows they
	// have sent, of mostHops.
	told           bool
	hops, mostHops int
	// coming are the legs of which details are still to come; stop ends them.
	coming map[*coming]bool
	stop   context.CancelFunc
	life   context.Context
	closed bool
}

// A region is a region of one view.
type region struct {
	Region
	generation uint64 // of its changes, when the view was opened
	// opening has room for one, who opens view.
	opening chan struct{}

	// Under the view's mu: view is nil until it is open, why says what kept the
	// region from answering.
	view   graph.LegView
	why    string
	behind []graph.Gap // what it says itself that its answers lack
}

// errClosed is returned for what a closed view would have to ask a region.
var errClosed = errors.New("ask a region: the view is closed")

// open returns the state of the region, opened when it is first asked for. Who
// gives up while it is opened leaves it to the next.
func (v *view) open(ctx context.Context, r *region) (graph.LegView, error) {
	select {
	case r.opening <- struct{}{}:
		defer func() { <-r.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	v.mu.Lock()
	opened := r.view
	v.mu.Unlock()
	if opened != nil {
		return opened, nil
	}
	at := graph.At{AsOf: v.at.AsOf}
	if p, ok := v.at.AtLeast[r.Name]; ok {
		at.AtLeast = map[string]uint64{r.Name: p}
	}
	fresh, err := r.Reader.View(ctx, at)
	if err != nil {
		return nil, err
	}
	opened, ok := fresh.(graph.LegView)
	if !ok {
		opened = local{fresh}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, errors.Join(errClosed, opened.Close())
	}
	r.view = opened
	return opened, nil
}

// local walks the legs of a view here.
type local struct{ graph.View }

func (l local) Leg(ctx context.Context, q graph.LegQuestion, to graph.LegTaker) (*graph.Leg, error) {
	return graph.WalkLeg(ctx, l.View, q, to)
}

// Expect implements graph.Expecting.
func (v *view) Expect(q graph.LegQuestion, ids []graph.ID, names []graph.Name) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.expected, v.roots, v.ruled = &q, slices.Clone(ids), map[graph.ID]graph.ID{}
	home := func(n graph.Name) graph.ID {
		id := n.ID()
		if a := v.about(id).base; a.home == nil {
			a.home = v.named(n.Region)
		}
		return id
	}
	for _, n := range names {
		id := home(n)
		v.roots = append(v.roots, id)
		n.Column = ""
		// A name that its region does not have is not in the index; what it would
		// stand for is known all the same, and that region need not be asked.
		if to := v.names.Resolve(n); to != n {
			if to := home(to); to != id.Base() {
				v.ruled[id.Base()] = to
			}
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
		if r.view != nil {
			m = r.view.Marks()[r.Name]
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
	v.stop()
	for c := range v.coming {
		v.mu.Unlock()
		<-c.done
		v.mu.Lock()
	}
	var errs []error
	for _, r := range v.regions { // one that is being opened closes by itself
		if r.view != nil {
			errs = append(errs, r.view.Close())
		}
	}
	return errors.Join(errs...)
}

func byName(a, b *region) int { return strings.Compare(a.Name, b.Name) }

// named returns a region of the view, or nil.
func (v *view) named(name string) *region {
	i, ok := slices.BinarySearchFunc(v.regions, name, func(r *region, name string) int { return strings.Compare(r.Name, name) })
	if !ok {
		return nil
	}
	return v.regions[i]
}

const unknownRegion = "is not a region that is known here"

// region returns a region, which can't be asked where it is not of the view.
func (v *view) region(name string) *region {
	if r := v.named(name); r != nil {
		return r
	}
	r := v.strange[name]
	if r == nil {
		r = &region{Region: Region{Name: name}, why: unknownRegion}
		v.strange[name] = r
	}
	return r
}

// gap returns why a region can't be asked; false where it can.
func (r *region) gap() (graph.Gap, bool) {
	return graph.Gap{Region: r.Name, Reason: r.why}, r.why != ""
}

// lags notes what a region itself says that its answers lack.
func (v *view) lags(r *region, gaps []graph.Gap) {
	if all := joined(r.behind, gaps); len(all) > len(r.behind) {
		r.behind = all
		v.forget()
	}
}

// reserve is how much of the time of a question is kept at most, to make an
// answer of what regions have sent in time.
const reserve = 250 * time.Millisecond

// until returns when the regions' time for a question that begins now is up;
// zero: never.
func until(ctx context.Context) time.Time {
	deadline, ok := ctx.Deadline()
	if !ok {
		return deadline
	}
	return deadline.Add(-min(reserve, time.Until(deadline)/8))
}

// ask calls f with the views of regions, all at once. What can't be asked by a
// time is marked, and does not fail the others. An error is what is wrong with
// the question, or ctx's own end.
func (v *view) ask(ctx context.Context, by time.Time, of []*region, f func(ctx context.Context, r *region, view graph.LegView) error) ([]graph.Gap, error) {
	return v.begin(ctx, by, of, func(ctx context.Context, r *region, view graph.LegView, _ func(end func())) error {
		return f(ctx, r, view)
	})
}

// begin is ask for an f that may have more to do than is waited for: it calls
// beside, and goes on. When it returns, and what kept it from its end has been
// noted, end is called, with v locked.
func (v *view) begin(ctx context.Context, by time.Time, of []*region, f func(ctx context.Context, r *region, view graph.LegView, beside func(end func())) error) ([]graph.Gap, error) {
	var wg sync.WaitGroup
	failed := make([]error, len(of))
	patience := v.patience
	if !by.IsZero() {
		patience = min(patience, time.Until(by))
	}
	for i, r := range of {
		v.mu.Lock()
		closed, skip := v.closed, r.why != ""
		v.mu.Unlock()
		if closed {
			failed[i] = errClosed
			continue
		}
		if skip {
			continue
		}
		wg.Add(1)
		go func() {
			patient, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			defer context.AfterFunc(v.life, cancel)()
			var end func()
			opened, err := v.open(patient, r)
			if err == nil {
				err = f(patient, r, opened, func(then func()) {
					end = then
					wg.Done()
				})
			}
			switch {
			case err == nil:
			case v.life.Err() != nil:
				err = errClosed
			case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
				err = errors.New("was not asked: there was no time left")
				if patience > 0 {
					err = fmt.Errorf("did not answer within %v", patience.Round(time.Millisecond))
				}
			}
			if end == nil {
				failed[i] = err
				wg.Done()
				return
			}
			v.mu.Lock()
			defer v.mu.Unlock()
			if err != nil && ctx.Err() == nil && !errors.Is(err, errClosed) { // who gives up leaves the region to the others
				r.why = reason(err)
				v.forget()
			}
			end()
		}()
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, err := range failed {
		if asker(err) {
			return nil, err
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	var gaps []graph.Gap
	for i, r := range of {
		if failed[i] != nil {
			r.why = reason(failed[i])
			v.forget()
		} else if r.why == "" {
			v.noteRegion(r)
		}
		if g, is := r.gap(); is {
			gaps = append(gaps, g)
		}
	}
	return gaps, nil
}

// asker reports whether an error is the fault of who asks.
func asker(err error) bool {
	_, bad := errors.AsType[*graph.BadInputError](err)
	_, missing := errors.AsType[*graph.NotFoundError](err)
	return bad || missing || errors.Is(err, errClosed)
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
