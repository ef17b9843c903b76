package pebble

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"headwater/graph"
)

// Search implements graph.Raw. Names that begin with the text are a range of
// keys, and so are those in which a word does. Names that have it elsewhere
// are found through the words there are, of which there are far fewer than
// names: a word with the text in it leads to the names with that word.
func (r *rows) Search(ctx context.Context, text string, last graph.Rank, emit func(graph.Rank) (bool, error)) error {
	more := true
	classed := func(class int) func(graph.Rank) (bool, error) {
		return func(rank graph.Rank) (bool, error) {
			if rank.Class != class || rank.Compare(last) <= 0 {
				return true, nil
			}
			var err error
			more, err = emit(rank)
			return more, errors.Join(err, ctx.Err())
		}
	}
	for class := max(last.Class, graph.MatchExact); class < graph.NoMatch && more; class++ {
		var err error
		from := ""
		if last.Class == class {
			from = last.Text
		}
		switch class {
		case graph.MatchExact:
			err = r.texts(spaceText, text, text, true, from, classed(class))
		case graph.MatchPrefix:
			err = r.texts(spaceText, text, text, false, from, classed(class))
		case graph.MatchToken:
			if text != "" {
				err = r.texts(spaceSuffix, text, text, false, from, classed(class))
			}
		case graph.MatchInside:
			if text != "" {
				err = r.inside(ctx, text, last, classed(class))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// texts ranks the entries of a space whose text begins with a prefix, or is
// it, in the order of text and id. query is what the names are ranked by.
func (r *rows) texts(in byte, prefix, query string, exact bool, from string, emit func(graph.Rank) (bool, error)) error {
	low := append(space(in), prefix...)
	if exact {
		low = space(in).text(prefix)
	}
	var start []byte
	if from > prefix {
		start = append(space(in), from...)
	}
	var g group
	err := r.seek(low, start, func(it *pebble.Iterator) (bool, error) {
		text, rest := cutText(it.Key()[1:])
		id, _ := cutID(rest)
		whole := text
		if in == spaceSuffix {
			v, err := it.ValueAndErr()
			if err != nil {
				return false, err
			}
			whole = string(v) + text
		}
		if len(g.entries) > 0 && g.text != text {
			if more, err := g.emit(r, query, emit); err != nil || !more {
				g.entries = nil
				return false, err
			}
		}
		g.text = text
		g.entries = append(g.entries, entry{id, whole})
		return it.Next(), nil
	})
	if err != nil {
		return err
	}
	_, err = g.emit(r, query, emit)
	return err
}

// A group holds the entries that share a text. Columns stand in it by their
// path; they are looked up when the group is emitted.
type group struct {
	text    string
	entries []entry
}

type entry struct {
	id    graph.ID
	whole string
}

func (g *group) emit(r *rows, query string, emit func(graph.Rank) (bool, error)) (bool, error) {
	defer func() { g.entries = g.entries[:0] }()
	var own []graph.Rank // of all but columns
	var paths []entry
	add := func(whole string, id graph.ID) (rank graph.Rank, ok bool) {
		// A name with several such words ranks by the first.
		rank = graph.RankName(whole, query, id)
		return rank, rank.Class != graph.MatchToken || rank.Text == g.text
	}
	for _, e := range g.entries {
		if e.id.Kind() == 0 {
			paths = append(paths, e)
		} else if rank, ok := add(e.whole, e.id); ok {
			own = append(own, rank)
		}
	}
	slices.SortFunc(own, graph.Rank.Compare)
	own = slices.Compact(own)
	more := true
	upTo := func(rank *graph.Rank) (err error) {
		for len(own) > 0 && more && err == nil && (rank == nil || own[0].Compare(*rank) < 0) {
			more, err = emit(own[0])
			own = own[1:]
		}
		return err
	}
	// Paths of one text differ only by the case that their columns' hash
	// folds, so there is one at most; its columns come in the order of ids.
	for _, e := range paths {
		err := r.scan(append(space(spaceColumn), e.id[16:]...), func(rest, _ []byte) (bool, error) {
			id, _ := cutID(rest)
			rank, ok := add(e.whole, id)
			if !ok {
				return true, nil
			}
			err := upTo(&rank)
			if err == nil && more {
				more, err = emit(rank)
			}
			return more, err
		})
		if err != nil || !more {
			return false, err
		}
	}
	return more, upTo(nil)
}

// keepInside is how many matches are sorted at a time.
const keepInside = 10_000

// inside ranks the names that have the text in them, but not at the start of
// a word.
func (r *rows) inside(ctx context.Context, text string, last graph.Rank, emit func(graph.Rank) (bool, error)) error {
	for {
		var ranks []graph.Rank
		cut := false
		note := func(rank graph.Rank) (bool, error) {
			if rank.Class == graph.MatchInside && rank.Compare(last) > 0 {
				ranks = append(ranks, rank)
			}
			if len(ranks) >= 2*keepInside {
				ranks, cut = smallest(ranks), true
			}
			return true, ctx.Err()
		}
		prefixes, err := r.prefixes(ctx, text)
		if err != nil {
			return err
		}
		for _, p := range prefixes {
			for _, in := range []byte{spaceText, spaceSuffix} {
				if err := r.texts(in, p, text, false, "", note); err != nil {
					return err
				}
			}
		}
		ranks = smallest(ranks)
		for _, rank := range ranks {
			if more, err := emit(rank); err != nil || !more {
				return err
			}
			last = rank
		}
		if !cut {
			return nil
		}
	}
}

func smallest(ranks []graph.Rank) []graph.Rank {
	slices.SortFunc(ranks, graph.Rank.Compare)
	ranks = slices.Compact(ranks)
	return ranks[:min(len(ranks), keepInside)]
}

// prefixes lists what the rest of a name begins with, from the word on in
// which the text begins, and not at its start. None is the prefix of another.
func (r *rows) prefixes(ctx context.Context, text string) ([]string, error) {
	head := graph.Word(text)
	if head == "" {
		return []string{""}, nil // it begins between words: look everywhere
	}
	tail := text[len(head):]
	var prefixes []string
	low := append(space(spaceWord), head...)
	if tail != "" {
		low = append(low, 0) // the word ends with it
	}
	err := r.scan(low, func(rest, _ []byte) (bool, error) {
		end, lead, _ := bytes.Cut(rest, []byte{0})
		if tail != "" {
			lead, end = rest, nil
		}
		prefixes = append(prefixes, string(lead)+head+string(end)+tail)
		return true, ctx.Err()
	})
	slices.Sort(prefixes)
	var kept []string
	for _, p := range prefixes {
		if n := len(kept); n == 0 || !strings.HasPrefix(p, kept[n-1]) {
			kept = append(kept, p)
		}
	}
	return kept, err
}
