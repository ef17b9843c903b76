package graph

import (
	"cmp"
	"math"
	"slices"
)

// A Record is the write model of one contribution: the runs that reported,
// each with the parts that its events added. It is a join: adding the same
// deltas in any order, any number of times, gives the same record. History is
// a function of it (Segments).
//
// It is bounded: the newest keepRuns runs are kept whole; of older ones only
// those that began a new content. So lineage that re-runs unchanged does not
// grow, and an event that is later than keepRuns runs of its subject still
// finds its place between the contents that are known.
type Record struct {
	Subject Name
	Origin  string
	Runs    []Run // by (Start, ID)
}

const (
	keepRuns  = 16
	keepParts = 64
)

// Forever is the end of what has not ended.
const Forever = math.MaxInt64

// A Run is one run of a subject, or, with an empty ID, one statement that
// belongs to no run. Times are in nanoseconds since 1970; 0 is none.
type Run struct {
	ID string
	// Start and End are the earliest and the latest event time seen.
	Start, End int64
	// Complete and Failed are the latest times of events that said so;
	// FailState tells FAIL from ABORT.
	Complete, Failed int64
	FailState        RunState
	Streaming        bool
	// Deletes: the run says that there is nothing more to say.
	Deletes bool
	Parts   []Part // by (Last, Hash)
	// Said identifies what its parts fold to, once the run counts: of two runs
	// that count it is the same if what they say is. 0: nothing.
	Said uint64
}

// A Part is a content that events of a run added, by its hash, and the
// earliest and the latest time at which one did.
type Part struct {
	Hash        uint64
	First, Last int64
}

// Key returns the key of the contribution.
func (r *Record) Key() Key { return Key{Subject: r.Subject.ID(), Origin: r.Origin} }

// State says how far the run has come.
func (r *Run) State() RunState {
	switch {
	case r.Deletes:
		return Deleting
	case r.ID == "":
		return Declared
	case r.Complete > 0 && r.Complete >= r.Failed:
		return Completed
	case r.Failed > 0:
		return r.FailState
	case len(r.Parts) > 0 || r.End > r.Start:
		return Running
	}
	return Started
}

// effective reports whether what the run says counts: a batch run once it is
// complete, a streaming one as it reports.
func (r *Run) effective() bool {
	return r.Deletes || r.ID == "" || r.Streaming || r.Complete > 0 && r.Complete >= r.Failed
}

// add joins the delta into the record. part is the hash of what it says, 0
// where it says nothing. It returns the run of the delta, whose Said is still
// what it was.
func (r *Record) add(d *Delta, part uint64) *Run {
	r.Runs = slices.Clone(r.Runs)
	deletes := d.State == Deleting
	is := func(run Run) bool {
		return run.ID == d.Run && run.Deletes == deletes && (d.Run != "" || run.Start == d.Time)
	}
	i := slices.IndexFunc(r.Runs, is)
	if i < 0 {
		i = len(r.Runs)
		r.Runs = append(r.Runs, Run{ID: d.Run, Start: d.Time, End: d.Time, Deletes: deletes})
	}
	run := &r.Runs[i]
	run.Start, run.End = min(run.Start, d.Time), max(run.End, d.Time)
	run.Streaming = run.Streaming || d.Says.Streaming
	switch d.State {
	case Completed:
		run.Complete = max(run.Complete, d.Time)
	case Failed, Aborted:
		if d.Time > run.Failed || d.Time == run.Failed && d.State > run.FailState {
			run.Failed, run.FailState = d.Time, d.State
		}
	}
	if part != 0 {
		run.addPart(part, d.Time)
	}
	slices.SortFunc(r.Runs, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
	})
	return &r.Runs[slices.IndexFunc(r.Runs, is)]
}

func (r *Run) addPart(hash uint64, at int64) {
	r.Parts = slices.Clone(r.Parts)
	i := slices.IndexFunc(r.Parts, func(p Part) bool { return p.Hash == hash })
	if i < 0 {
		r.Parts = append(r.Parts, Part{Hash: hash, First: at, Last: at})
	} else {
		p := &r.Parts[i]
		p.First, p.Last = min(p.First, at), max(p.Last, at)
	}
	slices.SortFunc(r.Parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(a.Hash, b.Hash))
	})
	if n := len(r.Parts) - keepParts; n > 0 {
		r.Parts = r.Parts[n:]
	}
}

func (r *Run) hashes(until int64) []uint64 {
	var hs []uint64
	for _, p := range r.Parts {
		if p.First <= until {
			hs = append(hs, p.Hash)
		}
	}
	return hs
}

// prune drops the runs that nothing needs: beyond the newest keepRuns, those
// that began no segment, and those whose segment ended by horizon.
func (r *Record) prune(segs []Segment, horizon int64) {
	begins := map[int]bool{}
	for _, s := range segs {
		if s.To > horizon {
			begins[s.run] = true
		}
	}
	if c := Current(segs); c != nil && c.Deletes && c.From <= horizon {
		r.Runs = nil
		return
	}
	floor := len(r.Runs) - keepRuns
	runs := r.Runs[:0:0]
	for i := range r.Runs {
		expired := r.Runs[i].End <= horizon && i != len(r.Runs)-1
		if begins[i] || i >= floor && !expired {
			runs = append(runs, r.Runs[i])
		}
	}
	r.Runs = runs
}

// LastRun returns the newest run that has an id, or nil.
func (r *Record) LastRun() *Run {
	for i := len(r.Runs) - 1; i >= 0; i-- {
		if r.Runs[i].ID != "" {
			return &r.Runs[i]
		}
	}
	return nil
}

// equal reports whether two records hold the same.
func (r *Record) equal(o *Record) bool {
	return slices.EqualFunc(r.Runs, o.Runs, func(a, b Run) bool {
		return a.ID == b.ID && a.Start == b.Start && a.End == b.End && a.Complete == b.Complete && a.Failed == b.Failed &&
			a.FailState == b.FailState && a.Streaming == b.Streaming && a.Deletes == b.Deletes && a.Said == b.Said && slices.Equal(a.Parts, b.Parts)
	})
}

// Expires reports whether something that the record holds may have ended by a
// horizon.
func (r *Record) Expires(horizon int64) bool {
	n := len(r.Runs)
	return n > 0 && r.Runs[0].End <= horizon && (n > 1 || r.Runs[0].Deletes)
}

// place returns the index of the run of d, or that behind all. False where d
// or a run that is there is not plain: it deletes, streams, or is no run.
func (r *Record) place(d *Delta) (at int, plain bool) {
	if len(r.Runs) == 0 || d.Run == "" || d.State == Deleting || d.State == Expiring || d.Says.Streaming {
		return 0, false
	}
	at = len(r.Runs)
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Streaming || run.Deletes {
			return 0, false
		}
		if run.ID == d.Run {
			at = i
		}
	}
	return at, true
}

// repeats reports whether d, which says part, changes nothing but the record:
// its run is the newest and says, so far, no more than the one before it, and
// nothing else. drop is the index of the run that prune would drop for it, or
// -1. What it reports holds whatever the parts are; where it can't tell without
// them it says no.
func (r *Record) repeats(d *Delta, part uint64) (drop int, ok bool) {
	n := len(r.Runs)
	at, ok := r.place(d)
	if !ok {
		return 0, false
	}
	before := r.effectiveBefore(at)
	switch {
	case at < n-1, at == n && d.Time <= r.Runs[n-1].Start:
		return 0, false // it may not be the newest
	case at == n-1:
		run := &r.Runs[at]
		if d.Time < run.Start || run.Failed > 0 || d.State == Failed || d.State == Aborted || len(run.Parts) > 1 || len(run.Parts) == 1 && run.Parts[0].Hash != part {
			return 0, false
		}
		if run.effective() {
			return -1, len(run.Parts) == 1 || part == 0
		}
	}
	switch {
	case before == nil:
		return 0, false
	case d.State == Completed && part == 0:
		ok = len(before.Parts) == 0
	case d.State == Completed:
		ok = len(before.Parts) == 1 && before.Parts[0].Hash == part
	default:
		ok = part == 0 || slices.ContainsFunc(before.Parts, func(p Part) bool { return p.Hash == part })
	}
	if !ok {
		return 0, false
	}
	// Of the runs that are kept, the oldest is no more one of the newest.
	old := n - keepRuns
	if at < n || old < 0 {
		return -1, true
	}
	run := &r.Runs[old]
	switch began := r.effectiveBefore(old); {
	case !run.effective():
		return old, len(run.Parts) == 0
	case began == nil:
		return -1, old+1 == n || r.Runs[old+1].Start > run.Start
	default:
		return old, samePartHashes(began.Parts, run.Parts)
	}
}

// appends reports whether d adds, behind all runs that count, what counts only
// from now on, if at all: of what was said before it, planning it needs what
// is said now.
func (r *Record) appends(d *Delta) bool {
	n := len(r.Runs)
	at, ok := r.place(d)
	if !ok {
		return false
	}
	if r.effectiveBefore(at) == nil {
		return false
	}
	last := &r.Runs[n-1]
	return at == n && d.Time > last.Start || at == n-1 && d.Time >= last.Start && !last.effective()
}

// Newest lists the parts of the newest run, and of the newest that count: what
// planning needs of a record to which a delta appends.
func (r *Record) Newest() []uint64 {
	n := len(r.Runs)
	if n == 0 {
		return nil
	}
	hashes := r.Runs[n-1].hashes(Forever)
	for _, at := range [...]int{n, n - 1} {
		if run := r.effectiveBefore(at); run != nil {
			hashes = append(hashes, run.hashes(Forever)...)
		}
	}
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// effectiveBefore returns the last run before index i that counts, or nil.
func (r *Record) effectiveBefore(i int) *Run {
	for i--; i >= 0; i-- {
		if r.Runs[i].effective() {
			return &r.Runs[i]
		}
	}
	return nil
}
