package graph

import "slices"

// A Segment is a time during which a contribution said the same.
type Segment struct {
	// From and To bound it: [From, To).
	From, To int64
	// Parts fold to the content, in this order.
	Parts []uint64
	// newest are those of the last run that said it; said is Run.Said, and
	// partly that the parts are not all of a run's, so that said does not hold.
	newest []uint64
	said   uint64
	partly bool
	// Provisional: no run has completed yet; this is what the newest says.
	Provisional bool
	// Deletes: the subject was deleted.
	Deletes bool
	// run indexes the run that began the segment.
	run int
}

// Segments lays the runs out in time: versions are ordered by (start, id) of
// their runs, and a version lasts until one with another content begins. same
// says whether two lists of parts fold to the same content; it is asked where
// one of them is not all of what a run said.
func (r *Record) Segments(same func(a, b []uint64) bool) []Segment {
	var effective []int
	for i := range r.Runs {
		if r.Runs[i].effective() {
			effective = append(effective, i)
		}
	}
	if len(effective) == 0 {
		return r.provisional()
	}
	var segs []Segment
	add := func(s Segment) {
		if n := len(segs); n > 0 {
			last := &segs[n-1]
			equal := last.said == s.said
			if last.partly || s.partly {
				equal = same(last.Parts, s.Parts)
			}
			if last.Deletes == s.Deletes && equal {
				last.newest = s.Parts
				return
			}
			last.To = s.From
		}
		s.newest = s.Parts
		segs = append(segs, s)
	}
	for n, i := range effective {
		run := &r.Runs[i]
		until := int64(Forever)
		if n+1 < len(effective) {
			until = r.Runs[effective[n+1]].Start
		}
		if !run.Streaming || len(run.Parts) == 0 {
			add(Segment{From: run.Start, To: Forever, Parts: run.hashes(Forever), said: run.Said, Deletes: run.Deletes, run: i})
			continue
		}
		var firsts []int64
		for _, p := range run.Parts {
			firsts = append(firsts, p.First)
		}
		slices.Sort(firsts)
		for _, at := range slices.Compact(firsts) {
			if at < until || at == run.Start {
				add(Segment{From: at, To: Forever, Parts: run.hashes(at), partly: true, run: i})
			}
		}
	}
	// Versions that began in the same nanosecond: the later one counts.
	return slices.DeleteFunc(segs, func(s Segment) bool { return s.From >= s.To })
}

// provisional is the newest open run that says something, where none has
// completed.
func (r *Record) provisional() []Segment {
	for i := len(r.Runs) - 1; i >= 0; i-- {
		if run := &r.Runs[i]; run.Failed == 0 && len(run.Parts) > 0 {
			hashes := run.hashes(Forever)
			return []Segment{{From: run.Start, To: Forever, Parts: hashes, newest: hashes, Provisional: true, run: i}}
		}
	}
	return nil
}

// Current returns the segment that holds now, or nil.
func Current(segs []Segment) *Segment {
	if len(segs) == 0 {
		return nil
	}
	return &segs[len(segs)-1]
}

// SegmentAt returns the segment that holds at a time, or nil.
func SegmentAt(segs []Segment, at int64) *Segment {
	for i := range segs {
		if segs[i].From <= at && at < segs[i].To {
			return &segs[i]
		}
	}
	return nil
}
