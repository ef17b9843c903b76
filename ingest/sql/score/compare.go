package score

import (
	"slices"
	"strings"
)

// tablesRight compares the sets of tables.
func tablesRight(c *Case, r answer) bool {
	if !sameSet(c.ExpectedTables.Out, r.out) {
		return false
	}
	if c.suite().Tables == valuesRead {
		return subset(c.ExpectedTables.In, r.in) && subset(r.values, c.ExpectedTables.In)
	}
	return sameSet(c.ExpectedTables.In, r.in)
}

// expectedOutputs groups the expected pairs by output.
func expectedOutputs(c *Case) []output {
	var outs []output
	for _, p := range c.ExpectedColumns {
		if strings.HasSuffix(p[0], ".__count__") || c.suite().Self >= selfNever && fold(p[0]) == fold(p[1]) {
			continue
		}
		name := fold(p[1])
		k := slices.IndexFunc(outs, func(o output) bool { return o.name == name })
		if k < 0 {
			k = len(outs)
			outs = append(outs, output{name: name})
		}
		outs[k].sources = append(outs[k].sources, fold(p[0]))
	}
	return outs
}

// columnsRight compares the pairs: outputs by name; those that have no name of
// their own by their sources, since every tool names them in its own way.
func columnsRight(c *Case, r answer) bool {
	want := expectedOutputs(c)
	left := make([]bool, len(r.outputs))
	for i, o := range r.outputs {
		left[i] = len(o.sources) > 0
		if len(c.AskedColumns) > 0 && !asked(c, o.name) {
			left[i] = false
		}
	}
	var rest []output
	for _, w := range want {
		k := slices.IndexFunc(r.outputs, func(o output) bool { return sameName(o.name, w.name) })
		if k < 0 {
			rest = append(rest, w)
			continue
		}
		if !sourcesRight(w.sources, r.outputs[k].sources, c.suite().Contains) {
			return false
		}
		left[k] = false
	}
	for _, w := range rest {
		found := false
		for k, o := range r.outputs {
			if left[k] && sameTable(o.name, w.name) && sourcesRight(w.sources, o.sources, false) {
				left[k], found = false, true
				break
			}
		}
		if !found {
			return false
		}
	}
	return !slices.Contains(left, true) || c.suite().Contains
}

func asked(c *Case, name string) bool {
	for _, a := range c.AskedColumns {
		if strings.HasSuffix(name, "."+strings.Trim(fold(a), "`\"")) {
			return true
		}
	}
	return false
}

// sameName compares names without the quotes and spaces in them.
func sameName(a, b string) bool { return a == b || bare(a) == bare(b) }

func bare(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\n', '\t':
			return -1
		}
		return r
	}, s)
}

// sameTable compares what stands before the column; an unnamed column may have
// dots.
func sameTable(a, b string) bool {
	if strings.HasPrefix(a, "<query>.") || strings.HasPrefix(b, "<query>.") {
		return strings.HasPrefix(a, "<query>.") && strings.HasPrefix(b, "<query>.")
	}
	i := strings.IndexByte(b, '(')
	if i < 0 {
		i = len(b)
	}
	k := strings.LastIndexByte(b[:i], '.')
	return k > 0 && strings.HasPrefix(a, b[:k+1])
}

// sourcesRight compares the sources of one output.
func sourcesRight(want, got []string, contains bool) bool {
	used := make([]bool, len(got))
	for _, w := range want {
		found := false
		for i, g := range got {
			if sameSource(w, g) {
				used[i], found = true, true
			}
		}
		if !found {
			return false
		}
	}
	return contains || !slices.Contains(used, false)
}

// sameSource: ?.c is c of any table, t.* any column of t.
func sameSource(want, got string) bool {
	if want == got {
		return true
	}
	if c, ok := strings.CutPrefix(want, "?."); ok {
		return strings.HasSuffix(got, "."+c)
	}
	if t, ok := strings.CutSuffix(want, "*"); ok {
		return strings.HasPrefix(got, t)
	}
	return false
}
