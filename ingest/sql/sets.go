package sql

import "slices"

// A dep is a dependency on a base column, with the kinds in which it holds.
type dep struct {
	base  int32
	kinds Kind
}

// A set of dependencies is sorted by base column, each once. Sets are shared
// and never changed.
type set []dep

// compose gives the kinds of a chain: what depends in role on something that
// depends in k on a base column.
func compose(role, k Kind) Kind {
	switch {
	case k == 0:
		return 0
	case role&Indirect != 0:
		return role
	case role == Aggregation && k&Direct != 0:
		return k&Indirect | Aggregation
	case role == Transformation && k&Identity != 0:
		return k&^Identity | Transformation
	}
	return k
}

// An arena hands out parts of large slices, so that many small sets cost few
// allocations.
type arena[T any] struct{ free []T }

func (a *arena[T]) keep(s []T) []T {
	n := len(s)
	if n == 0 {
		return nil
	}
	if n > len(a.free) {
		if n >= 256 {
			return slices.Clone(s)
		}
		size := 32
		if cap(a.free) > 0 || a.free != nil {
			size = 256
		}
		a.free = make([]T, max(size, n))
	}
	k := a.free[:n:n]
	copy(k, s)
	a.free = a.free[n:]
	return k
}

// reserve returns an empty slice with room for n.
func (a *arena[T]) reserve(n int) []T {
	if n >= 256 {
		return make([]T, 0, n)
	}
	if n > len(a.free) {
		a.free = make([]T, 256)
	}
	k := a.free[:0:n]
	a.free = a.free[n:]
	return k
}

// normal sorts a scratch list of dependencies and joins equal ones in place.
func normal(s []dep) []dep {
	if len(s) < 2 {
		return s
	}
	sorted := true
	for i := 1; i < len(s); i++ {
		if s[i].base <= s[i-1].base {
			sorted = false
			break
		}
	}
	if sorted {
		return s
	}
	if len(s) <= 12 {
		for i := 1; i < len(s); i++ {
			for j := i; j > 0 && s[j].base < s[j-1].base; j-- {
				s[j], s[j-1] = s[j-1], s[j]
			}
		}
	} else {
		slices.SortFunc(s, func(a, b dep) int { return int(a.base) - int(b.base) })
	}
	out := s[:1]
	for _, d := range s[1:] {
		if last := &out[len(out)-1]; last.base == d.base {
			last.kinds |= d.kinds
		} else {
			out = append(out, d)
		}
	}
	return out
}

// add appends what depends in role on what s depends on.
func add(to []dep, s set, role Kind) []dep {
	for _, d := range s {
		to = append(to, dep{d.base, compose(role, d.kinds)})
	}
	return to
}

// indirect appends the dependencies of a whole relation to those of something
// that stands in role to it: under a direct role they keep their kinds.
func indirect(to []dep, s set, role Kind) []dep {
	for _, d := range s {
		k := d.kinds & Indirect
		if role&Indirect != 0 {
			k = role
		}
		if k != 0 {
			to = append(to, dep{d.base, k})
		}
	}
	return to
}

// keepSet keeps what an expression depends on. Where that is what one of the
// columns it is made of depends on, the set is shared.
func (r *resolver) keepSet(a *acc) set {
	s := normal(a.deps)
	if len(s) > 8 {
		for i, c := range a.from {
			if i == 4 {
				break
			}
			if old := r.columns[c].set; slices.Equal(old, s) {
				return old
			}
		}
		if r.kept > maxKept+16*len(r.text) && len(s) > 64 {
			// Hostile: as much as can be said in linear space.
			r.beyond(nil, "more sources than are listed")
			s = s[:64]
		}
		r.kept += len(s)
	}
	return r.deps.keep(s)
}
