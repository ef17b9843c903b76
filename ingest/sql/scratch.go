package sql

// An acc gathers what an expression depends on.
type acc struct {
	deps   []dep
	from   []int32
	subs   []int32 // plan nodes of subqueries
	flags  columnFlags
	masked string
	limit  int // of deps, at which they are next compacted
}

// take adds all that another acc gathered.
func (a *acc) take(b *acc) {
	a.deps = append(a.deps, b.deps...)
	a.from = append(a.from, b.from...)
	a.subs = append(a.subs, b.subs...)
	a.flags |= b.flags
	if a.masked == "" {
		a.masked = b.masked
	}
}

// compact keeps the list of dependencies of a long expression short.
func (a *acc) compact() {
	if len(a.deps) > 2048 && len(a.deps) > a.limit {
		a.deps = normal(a.deps)
		a.limit = 2 * len(a.deps)
	}
}

// scratch returns an empty acc that is used again after release.
func (r *resolver) scratch() *acc {
	if n := len(r.spare); n > 0 {
		a := r.spare[n-1]
		r.spare = r.spare[:n-1]
		return a
	}
	return &acc{}
}

func (r *resolver) release(a *acc) {
	a.deps, a.from, a.subs = a.deps[:0], a.from[:0], a.subs[:0]
	a.flags, a.masked, a.limit = 0, "", 0
	r.spare = append(r.spare, a)
}
