package graph

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
)

// Records are the values that are written most: each run of each task writes
// one anew, with all the runs that it keeps. So times stand as the distance to
// that of the run's start or end, contents that do not change are not repeated, and ids of
// runs that are UUIDs have 16 bytes.
const (
	runStreaming = 1 << iota
	runDeletes
	runCompleted
	runFailed
	runIsUUID
	runSameParts  // the hashes of its parts are those of the run before
	runSaidBefore // what it says is what the run before said
	runSaidPart   // what it says is its first part
)

func codeRecord(c *coder, r *Record) {
	c.name(&r.Subject)
	c.string(&r.Origin)
	before := &Run{}
	list(c, &r.Runs, func(c *coder, r *Run) {
		codeRun(c, r, before)
		before = r
	})
}

func codeRun(c *coder, r, before *Run) {
	var flags uint8
	var id [16]byte
	for _, f := range [...]struct {
		bit uint8
		is  bool
	}{{runStreaming, r.Streaming}, {runDeletes, r.Deletes}, {runCompleted, r.Complete != 0}, {runFailed, r.Failed != 0 || r.FailState != 0},
		{runIsUUID, parseUUID(&id, r.ID)}, {runSameParts, len(r.Parts) > 0 && samePartHashes(r.Parts, before.Parts)},
		{runSaidBefore, r.Said == before.Said}, {runSaidPart, len(r.Parts) > 0 && r.Said == r.Parts[0].Hash}} {
		if f.is {
			flags |= f.bit
		}
	}
	if small(c, &flags); c.decode {
		r.Streaming, r.Deletes = flags&runStreaming != 0, flags&runDeletes != 0
	}
	switch {
	case flags&runIsUUID == 0:
		c.string(&r.ID)
	case c.decode:
		n := copy(id[:], c.b)
		if c.b = c.b[n:]; n < len(id) {
			c.fail()
		}
		r.ID = c.uuid(&id)
	default:
		c.b = append(c.b, id[:]...)
	}
	c.fixed(&r.Start) // a record does not grow with its age
	c.near(&r.End, r.Start)
	if flags&runCompleted != 0 {
		c.near(&r.Complete, r.End)
	}
	if flags&runFailed != 0 {
		c.near(&r.Failed, r.End)
		small(c, &r.FailState)
	}
	if flags&runSameParts == 0 {
		list(c, &r.Parts, func(c *coder, p *Part) { c.uint(&p.Hash) })
	} else if c.decode {
		r.Parts = slices.Clone(before.Parts)
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		c.near(&p.First, r.End)
		c.near(&p.Last, p.First)
	}
	switch {
	case flags&(runSaidBefore|runSaidPart) == 0:
		c.uint(&r.Said)
	case c.decode && flags&runSaidBefore != 0:
		r.Said = before.Said
	case c.decode && len(r.Parts) > 0:
		r.Said = r.Parts[0].Hash
	}
}

// fixed codes a number with 8 bytes.
func (c *coder) fixed(v *int64) {
	switch {
	case !c.decode:
		c.b = binary.BigEndian.AppendUint64(c.b, uint64(*v))
	case len(c.b) < 8:
		c.fail()
	default:
		*v, c.b = int64(binary.BigEndian.Uint64(c.b)), c.b[8:]
	}
}

func samePartHashes(a, b []Part) bool {
	return slices.EqualFunc(a, b, func(x, y Part) bool { return x.Hash == y.Hash })
}

// parseUUID reads a UUID in the one form that formatUUID writes.
func parseUUID(id *[16]byte, s string) bool {
	if len(s) != 36 {
		return false
	}
	var digits [32]byte
	n := 0
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'f':
			digits[n] = c
			n++
		default:
			return false
		}
	}
	_, err := hex.Decode(id[:], digits[:])
	return err == nil
}

// uuid is formatUUID into memory that many share.
func (c *coder) uuid(id *[16]byte) string {
	b := formatUUID(id)
	if c.uuids.Cap()-c.uuids.Len() < len(b) {
		c.uuids = strings.Builder{}
		c.uuids.Grow(keepRuns * len(b))
	}
	at := c.uuids.Len()
	c.uuids.Write(b[:])
	return c.uuids.String()[at:]
}

func formatUUID(id *[16]byte) (b [36]byte) {
	at := 0
	for i, n := range [...]int{4, 2, 2, 2, 6} {
		if i > 0 {
			b[at] = '-'
			at++
		}
		from := [...]int{0, 4, 6, 8, 10}[i]
		at += hex.Encode(b[at:], id[from:from+n])
	}
	return b
}
