package pebble

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"headwater/graph"
)

// newFolderID makes the id of a folder: 32 characters.
func newFolderID() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// farFlows is Flows: of the nodes that have, or had, a row of the kind.
func (r *rows) farFlows(ctx context.Context, f graph.Ask, names []graph.ID, emit func(graph.ID, graph.Key, []graph.Target) error) error {
	bit := listOf(f.Layer, f.Dir, f.CoarseOnly)
	var nodes []graph.ID
	for _, name := range names {
		if !f.Whole {
			b, err := get(r.snap, space(spaceOwner).id(name))
			if err != nil {
				return err
			}
			if b != nil && binary.BigEndian.Uint16(b)&bit != 0 {
				nodes = append(nodes, name)
			}
			continue
		}
		err := r.scan(space(spaceOwner).base(name), func(rest, v []byte) (bool, error) {
			if binary.BigEndian.Uint16(v)&bit != 0 {
				node := name
				copy(node[16:], rest)
				nodes = append(nodes, node)
			}
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	if len(nodes) == 0 {
		return ctx.Err()
	}
	return r.far.Flows(ctx, f.Layer, f.Dir, nodes, emit)
}

// allFarFlows is AllFlows: so many nodes at once, in the order of the folder.
// What fails in passing is asked again, so that a long scan goes on where it
// was.
func (r *rows) allFarFlows(ctx context.Context, layer graph.Layer, dir graph.Direction, emit func(graph.ID, graph.Key, []graph.Target) error) error {
	bit := listOf(layer, dir, false)
	var nodes []graph.ID
	read, told := 0, time.Now()
	ask := func() error {
		emitted := false
		for tries := 1; ; tries++ {
			err := r.far.Flows(ctx, layer, dir, nodes, func(node graph.ID, by graph.Key, to []graph.Target) error {
				emitted = true
				return emit(node, by, to)
			})
			if err == nil {
				break
			}
			if emitted || tries == scanTries || ctx.Err() != nil || !errors.Is(err, graph.ErrUnavailable) {
				return err
			}
			r.s.o.Log.Warn("reading all flows stands still; trying again", "region", r.s.o.Region, "nodes", read, "err", err)
		}
		read, nodes = read+len(nodes), nodes[:0]
		if time.Since(told) > scanTold {
			told = time.Now()
			r.s.o.Log.Info("reading all flows", "region", r.s.o.Region, "layer", layer, "nodes", read)
		}
		return nil
	}
	err := r.scan(space(spaceOwner), func(rest, v []byte) (bool, error) {
		if binary.BigEndian.Uint16(v)&bit == 0 {
			return true, nil
		}
		id, _ := cutID(rest)
		if nodes = append(nodes, id); len(nodes) < chunk {
			return true, nil
		}
		return true, ask()
	})
	if err != nil || len(nodes) == 0 {
		return err
	}
	return ask()
}

// scanTries is how often a part of a scan is asked for, each time as often as
// Elsewhere tries by itself; scanTold is how often it is told how far it is.
const (
	scanTries = 10
	scanTold  = 10 * time.Second
)

// refs lists where the records of keys are: of all of a subject, where a key
// has no origin.
func (r *rows) refs(keys []graph.Key) ([]RecordRef, error) {
	var refs []RecordRef
	for _, k := range keys {
		if k.Origin != "" {
			b, err := get(r.snap, recordKey(k))
			if err != nil {
				return nil, err
			}
			if b != nil {
				refs = append(refs, RecordRef{k, binary.BigEndian.Uint64(b)})
			}
			continue
		}
		err := r.scan(recordKey(k), func(rest, v []byte) (bool, error) {
			refs = append(refs, RecordRef{graph.Key{Subject: k.Subject, Origin: string(rest)}, binary.BigEndian.Uint64(v)})
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return refs, nil
}

// records returns what refs refer to.
func (r *rows) records(ctx context.Context, refs []RecordRef) ([]*graph.Record, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	records, err := r.far.Records(ctx, refs)
	if err != nil {
		return nil, err
	}
	for i, record := range records {
		if record == nil {
			return nil, fmt.Errorf("the record of %s by %s is not there: the store is damaged", refs[i].Key.Subject, refs[i].Key.Origin)
		}
	}
	return records, nil
}

// A partsOf says which parts of a contribution are wanted.
type partsOf struct {
	key    graph.Key
	hashes []uint64
}

func allParts(record *graph.Record) partsOf {
	p := partsOf{key: record.Key()}
	for i := range record.Runs {
		for _, part := range record.Runs[i].Parts {
			p.hashes = append(p.hashes, part.Hash)
		}
	}
	slices.Sort(p.hashes)
	p.hashes = slices.Compact(p.hashes)
	return p
}

// parts returns the stored form of parts, by hash, for each contribution:
// those that are there.
func (r *rows) parts(ctx context.Context, wanted []partsOf) ([]map[uint64][]byte, error) {
	var refs []PartRef
	for _, w := range wanted {
		for _, h := range w.hashes {
			refs = append(refs, PartRef{w.key, h})
		}
	}
	var stored [][]byte
	if len(refs) > 0 {
		var err error
		if stored, err = r.far.Parts(ctx, refs); err != nil {
			return nil, err
		}
	}
	all := make([]map[uint64][]byte, len(wanted))
	for i, w := range wanted {
		all[i] = map[uint64][]byte{}
		for j, h := range w.hashes {
			if stored[j] != nil {
				all[i][h] = stored[j]
			}
		}
		stored = stored[len(w.hashes):]
	}
	return all, nil
}

// contributionsAtOnce is how many contributions are read together.
const contributionsAtOnce = 200

// farContributions is Contributions.
func (r *rows) farContributions(ctx context.Context, keys []graph.Key, emit func(*graph.Contribution) error) error {
	refs, err := r.refs(keys)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(refs, contributionsAtOnce) {
		records, err := r.records(ctx, some)
		if err != nil {
			return err
		}
		wanted := make([]partsOf, len(records))
		for i, record := range records {
			wanted[i] = allParts(record)
		}
		parts, err := r.parts(ctx, wanted)
		if err != nil {
			return err
		}
		for i, record := range records {
			if err := emit(graph.NewContribution(*record, parts[i])); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// farRecords is Records, of many.
func (r *rows) farRecords(ctx context.Context, keys []graph.Key, emit func(*graph.Record) error) error {
	refs, err := r.refs(keys)
	if err != nil {
		return err
	}
	records, err := r.records(ctx, refs)
	if err != nil {
		return err
	}
	for _, record := range records {
		if err := emit(record); err != nil {
			return err
		}
	}
	return nil
}

// farLoad is Load. It reads the newest state that views see: what a batch does
// that is being written is in st.
func (s *Store) farLoad(ctx context.Context, n graph.Need, st *graph.State) (err error) {
	now, err := s.take()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, now.release()) }()
	r := &now.rows
	refs, err := r.refs(n.Contributions)
	if err != nil {
		return err
	}
	records, err := r.records(ctx, refs)
	if err != nil {
		return fmt.Errorf("load contributions: %w", err)
	}
	for _, record := range records {
		st.PutRecord(record.Key(), record)
	}
	for _, k := range n.Contributions {
		st.PutRecord(k, nil) // it is there already where there is a record
	}
	var wanted []partsOf
	for _, k := range n.Newest {
		wanted = append(wanted, partsOf{k, st.Contribution(k).Record.Newest()})
	}
	for _, k := range n.Parts {
		if c := st.Contribution(k); c != nil {
			w := allParts(&c.Record)
			w.key = k
			wanted = append(wanted, w)
		} else {
			wanted = append(wanted, partsOf{key: k})
		}
	}
	parts, err := r.parts(ctx, wanted)
	if err != nil {
		return fmt.Errorf("load what contributions say: %w", err)
	}
	for i, k := range n.Newest {
		st.PutNewest(k, parts[i])
	}
	for i, k := range n.Parts {
		st.PutParts(k, parts[len(n.Newest)+i])
	}
	if err := s.loadLives(n.Lives, st); err != nil || len(n.Writers) == 0 {
		return err
	}
	writers := map[graph.ID][]graph.Key{}
	if err := r.far.Speakers(ctx, n.Writers, true, func(id graph.ID, k graph.Key) error {
		writers[id] = append(writers[id], k)
		return nil
	}); err != nil {
		return fmt.Errorf("load writers: %w", err)
	}
	for _, id := range n.Writers {
		st.PutWriters(id, writers[id])
	}
	return ctx.Err()
}
