package catalog

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
)

// snapshotFormat is the version of what Snapshot writes.
const snapshotFormat = 1

// head is the first line of a snapshot.
type head struct {
	Catalog        int    `json:"catalog"` // the format
	Seq            uint64 `json:"seq"`
	Version        uint64 `json:"version"`
	LastGeneration uint64 `json:"lastGeneration"`
}

// tail is the last line: without it, or with another sum, the snapshot is cut
// or damaged.
type tail struct {
	Rows int    `json:"rows"`
	Sum  string `json:"sum"` // SHA-256 of all lines before
}

// line is one thing of a state: its sort and itself.
type line struct {
	T string          `json:"t"`
	V json.RawMessage `json:"v"`
}

// Snapshot writes the state as lines of JSON, one thing a line, so that
// neither end holds a second copy. Equal states write equal bytes.
func (s *State) Snapshot(w io.Writer) error {
	out := &lines{w: bufio.NewWriterSize(w, 64<<10), sum: sha256.New()}
	out.put(head{snapshotFormat, s.seq, s.version, s.lastGeneration})
	writeAll(out, "region", s.regions)
	writeAll(out, "gateway", s.gateways)
	writeAll(out, "namespace", s.namespaces)
	writeAll(out, "alias", s.aliases)
	writeAll(out, "naming", s.naming)
	writeAll(out, "table", s.tables)
	writeAll(out, "filter", s.filters)
	writeAll(out, "notice", s.notices)
	writeAll(out, "generation", s.generations)
	for _, e := range s.audit {
		out.row("audit", e)
	}
	for _, id := range s.order {
		r, _ := s.receipts.get(id)
		out.row("receipt", r)
	}
	out.put(tail{out.rows, hex.EncodeToString(out.sum.Sum(nil))})
	if out.err == nil {
		out.err = out.w.Flush()
	}
	if out.err != nil {
		return fmt.Errorf("write the catalog's snapshot: %w", out.err)
	}
	return nil
}

// lines writes JSON by line and keeps the first error.
type lines struct {
	w    *bufio.Writer
	sum  hash.Hash
	rows int
	err  error
}

func (l *lines) put(v any) {
	b, err := json.Marshal(v)
	if err == nil && l.err == nil {
		b = append(b, '\n')
		l.sum.Write(b)
		_, err = l.w.Write(b)
	}
	if l.err == nil {
		l.err = err
	}
}

func (l *lines) row(t string, v any) {
	b, err := json.Marshal(v)
	if l.err == nil {
		l.err = err
	}
	l.rows++
	l.put(line{t, b})
}

func writeAll[T any](l *lines, t string, all list[T]) {
	for _, r := range all {
		l.row(t, r.value)
	}
}

// Restore reads a state that Snapshot wrote. A snapshot that is cut, damaged
// or of a format that this build does not know is an error.
func Restore(r io.Reader) (*State, error) {
	s, err := restore(bufio.NewReaderSize(r, 64<<10))
	if err != nil {
		return nil, fmt.Errorf("read the catalog's snapshot: %w", err)
	}
	return s, nil
}

func restore(r *bufio.Reader) (*State, error) {
	b, err := r.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("its first line: %w", err)
	}
	h, err := decodeStrictly[head](b)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is none: %w", err)
	case h.Catalog != snapshotFormat:
		return nil, fmt.Errorf("it has format %d; this build knows %d", h.Catalog, snapshotFormat)
	}
	s := &State{seq: h.Seq, version: h.Version, lastGeneration: h.LastGeneration}
	sum := sha256.New()
	for rows := 0; ; rows++ {
		sum.Write(b)
		if b, err = r.ReadBytes('\n'); err != nil {
			return nil, fmt.Errorf("it is cut after %d rows: %w", rows, err)
		}
		l, err := decodeStrictly[line](b)
		if err == nil {
			err = s.add(l)
		}
		if err == nil {
			continue
		}
		end, notTail := decodeStrictly[tail](b)
		switch {
		case notTail != nil:
			return nil, fmt.Errorf("row %d: %w", rows+1, err)
		case end.Rows != rows || end.Sum != hex.EncodeToString(sum.Sum(nil)):
			return nil, fmt.Errorf("it is damaged: %d rows do not have the sum that its end says", rows)
		}
		break
	}
	// Keys are made anew, so the order is too: a later build may fold names
	// otherwise.
	sortRows(s.namespaces)
	sortRows(s.aliases)
	sortRows(s.naming)
	sortRows(s.receipts)
	s.owners, err = s.placed(slices.Collect(s.Tables())...)
	return s, err
}

// add adds what a line says.
func (s *State) add(l line) error {
	switch l.T {
	case "region":
		return readRow(l.V, &s.regions, func(r Region) string { return r.Name })
	case "gateway":
		return readRow(l.V, &s.gateways, func(g Gateway) string { return g.Name })
	case "namespace":
		return readRow(l.V, &s.namespaces, func(r NamespaceRule) string { return foldNamespace(r.Namespace) })
	case "alias":
		return readRow(l.V, &s.aliases, func(a Alias) string { return a.From.key() })
	case "naming":
		return readRow(l.V, &s.naming, NamingRule.key)
	case "table":
		return readRow(l.V, &s.tables, func(t Table) string { return t.Name })
	case "filter":
		return readRow(l.V, &s.filters, func(f Filter) string { return f.Name })
	case "notice":
		return readRow(l.V, &s.notices, func(n Notice) string { return n.Name })
	case "generation":
		return readRow(l.V, &s.generations, func(g Generation) string { return g.Region })
	case "audit":
		e, err := decodeStrictly[Entry](l.V)
		s.audit = append(s.audit, e)
		return err
	case "receipt":
		r, err := decodeStrictly[*receipt](l.V)
		if err == nil && r == nil {
			err = errors.New("an empty receipt")
		}
		if err == nil {
			s.order = append(s.order, r.ID)
			s.receipts = append(s.receipts, row[*receipt]{r.ID, r})
		}
		return err
	}
	return fmt.Errorf("this build knows no %q", l.T)
}

func readRow[T any](raw json.RawMessage, l *list[T], key func(T) string) error {
	v, err := decodeStrictly[T](raw)
	if err == nil {
		*l = append(*l, row[T]{key(v), v})
	}
	return err
}
