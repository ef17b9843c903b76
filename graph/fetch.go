package graph

import "context"

// A Remote is a view whose flows are elsewhere: one answer takes many of them,
// and each look there takes long. A walk over it goes in rounds. It walks with
// what there is, has fetched all at once what it missed, and walks again,
// until it misses nothing: so what it finds is what a walk over one store
// would, and the rounds are as many as the crossings on the way.
type Remote interface {
	View
	// Walking returns the view for a walk; of q, Root may be zero.
	Walking(q LegQuestion) Walking
}

// A Walking is a view for one walk. Nodes whose flows it has not got seem to
// have none.
type Walking interface {
	View
	// Fetch fetches the flows that were missed since. It returns false where
	// none were: what the walk found then is right.
	Fetch(ctx context.Context) (bool, error)
	// Missed reports whether there is anything that will be fetched: what the
	// walk found need not be made an answer then.
	Missed(ctx context.Context) bool
	// Lacking returns what could not be learnt of the names that were resolved:
	// no flow tells of it where a walk does not leave its root.
	Lacking() []Gap
}

// walking calls f with a view again and again until it has missed nothing, and
// returns what could not be learnt of where the walk begins.
func walking(ctx context.Context, v View, q LegQuestion, f func(v View) error) ([]Gap, error) {
	remote, ok := v.(Remote)
	if !ok {
		return nil, f(v)
	}
	w := remote.Walking(q)
	for {
		if err := f(w); err != nil {
			return nil, err
		}
		if more, err := w.Fetch(ctx); err != nil || !more {
			return w.Lacking(), err
		}
	}
}

// pathsAhead is how many nodes a search for paths has fetched at a time from
// each place that it enters.
const pathsAhead = 2000

// An Expecting is a Remote that can be told beforehand what will be asked: the
// details of roots, one of which the walk q will then begin with, and of what
// it reaches, where q wants details. It then asks for all of it at once.
type Expecting interface {
	Remote
	// Expect is given the ids of roots, or the names that may be theirs.
	Expect(q LegQuestion, ids []ID, names []Name)
}

// Leg returns the leg of the walk that answers q, as far as q says.
func (q *Question) Leg() LegQuestion {
	return LegQuestion{Root: q.Root, Direction: q.Direction, Granularity: q.Granularity, Depth: q.Depth, Kinds: q.Kinds, Origins: q.Filter.Origins, Enough: q.Limit}
}
