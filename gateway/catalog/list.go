package catalog

import (
	"iter"
	"slices"
	"strings"
)

// A list is an immutable set of values, sorted by the bytes of their keys, so
// that every replica goes through it in the same order. What changes it makes
// another one. Copying a hundred thousand rows takes some 0.2 ms: people
// decide more slowly than that.
type list[T any] []row[T]

type row[T any] struct {
	key   string
	value T
}

func (l list[T]) find(key string) (int, bool) {
	return slices.BinarySearchFunc(l, key, func(r row[T], key string) int { return strings.Compare(r.key, key) })
}

// get returns the value of a key.
func (l list[T]) get(key string) (T, bool) {
	if i, ok := l.find(key); ok {
		return l[i].value, true
	}
	var none T
	return none, false
}

// with returns a list in which key has the value.
func (l list[T]) with(key string, value T) list[T] {
	i, ok := l.find(key)
	if ok {
		l = slices.Clone(l)
		l[i].value = value
		return l
	}
	more := make(list[T], len(l)+1)
	copy(more, l[:i])
	more[i] = row[T]{key, value}
	copy(more[i+1:], l[i:])
	return more
}

// without returns a list that lacks the key.
func (l list[T]) without(key string) list[T] {
	i, ok := l.find(key)
	if !ok {
		return l
	}
	return slices.Concat(l[:i], l[i+1:])
}

// under goes through the rows whose keys begin with prefix.
func (l list[T]) under(prefix string) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i, _ := l.find(prefix); i < len(l) && strings.HasPrefix(l[i].key, prefix); i++ {
			if !yield(l[i].value) {
				return
			}
		}
	}
}

// all goes through the values in the order of their keys.
func (l list[T]) all() iter.Seq[T] { return l.under("") }

// sortRows sorts rows by key; rows of one key keep their order.
func sortRows[T any](rows list[T]) {
	slices.SortStableFunc(rows, func(a, b row[T]) int { return strings.Compare(a.key, b.key) })
}

// merge returns the rows of two sorted lists that share no key.
func merge[T any](a, b list[T]) list[T] {
	out := make(list[T], 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].key < b[0].key {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
