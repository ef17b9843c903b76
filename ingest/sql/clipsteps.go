package sql

import (
	"slices"
	"strings"
)

// maxStepClips is how many clips ClipSteps makes before it returns statements
// whole.
const maxStepClips = 500

// ClipSteps clips every statement that one output of a Flow passes: those that
// fill the temporary tables behind it, in the order of the script, then the one
// that writes it. A step has a clip for each text that its needed columns come
// to; the Target of a clip says what it writes. A step that decides rows only,
// such as a DELETE, stays whole.
func (a *Analysis) ClipSteps(t *Target, output int, o Options) []Clip {
	last := a.Clip(t, output, o)
	if len(t.Steps) < 2 {
		return []Clip{last}
	}
	o.Dialect, o.Catalog = a.Dialect, known{a, o.Catalog}
	need := needs{}
	need.of(last.Text, o)
	chain := [][]Clip{{last}}
	made := 1
	for i := len(t.Steps) - 2; i >= 0; i-- {
		step := t.Steps[i]
		columns := need.find(step.Table)
		if columns == nil {
			continue
		}
		var clips []Clip
		for k := range step.Outputs {
			name := step.Outputs[k].Name
			if !columns["*"] && name != "*" && !columns[lower(name)] {
				continue
			}
			clip := Clip{Text: strings.TrimSpace(step.Statement.In(a.Text)), Whole: true, Target: step, Columns: []string{name}}
			if made++; made < maxStepClips {
				clip = a.Clip(step, k, o)
			}
			same := slices.IndexFunc(clips, func(c Clip) bool { return c.Text == clip.Text })
			if same < 0 {
				clips = append(clips, clip)
				continue
			}
			clips[same].Columns = append(clips[same].Columns, name)
		}
		if len(step.Outputs) == 0 {
			clips = []Clip{{Text: strings.TrimSpace(step.Statement.In(a.Text)), Whole: true, Target: step}}
		}
		for _, c := range clips {
			need.of(c.Text, o)
		}
		chain = append(chain, clips)
	}
	slices.Reverse(chain)
	return slices.Concat(chain...)
}

// needs are the columns of tables that clips read.
type needs struct{ tables []needed }

type needed struct {
	parts   []string
	columns map[string]bool
}

// of adds what a text reads.
func (n *needs) of(text string, o Options) {
	a := Analyze(text, o)
	for _, in := range a.Inputs {
		n.table(in)
	}
	for _, t := range a.Targets {
		for _, out := range t.Outputs {
			n.sources(out.Sources)
		}
		n.sources(t.Dependencies)
	}
}

func (n *needs) sources(list []Source) {
	for _, s := range list {
		if s.Table != nil {
			n.table(s.Table)[lower(s.Column)] = true
		}
	}
}

// table returns the columns that are needed of a table; they may be added to.
func (n *needs) table(t *Table) map[string]bool {
	if columns := n.find(t); columns != nil {
		return columns
	}
	n.tables = append(n.tables, needed{t.Parts, map[string]bool{}})
	return n.tables[len(n.tables)-1].columns
}

// find returns the columns that are needed of a table, nil where it is not. A
// clip does not know what USE said before it: a name's end decides.
func (n *needs) find(t *Table) map[string]bool {
	for _, x := range n.tables {
		if sameEnd(x.parts, t.Parts) || sameEnd(t.Parts, x.parts) {
			return x.columns
		}
	}
	return nil
}
