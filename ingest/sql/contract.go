package sql

import (
	"slices"
	"strings"
)

// An event is what changes the contents or the name of a table, in the order
// of the script.
type event struct {
	verb   eventVerb
	table  int32
	to     int32
	target *Target
}

type eventVerb uint8

const (
	wrote eventVerb = iota
	renamed
	swapped
	dropped
)

// The contents of a temporary table: what its columns hold, down to tables that
// are not temporary.
type contents struct {
	names []string
	sets  []set
	deps  set
	from  []*Table
	via   []*Table
	steps []*Target
}

func (r *resolver) flow(t *Target) {
	r.happened(event{verb: wrote, table: t.Table.id, target: t})
}

func (r *resolver) happened(e event) {
	if !r.dry {
		r.events = append(r.events, e)
	}
}

// contract makes the Flows: targets with temporary tables replaced by what they
// hold, and under the names that tables have in the end.
func (r *resolver) contract() {
	passing := r.passing()
	moves := false
	for _, e := range r.events {
		moves = moves || e.verb == renamed || e.verb == swapped
	}
	if len(passing) == 0 && !moves {
		r.a.Flows = r.a.Targets
		return
	}
	var flows []*Target
	made := make(map[*Table]bool)
	for _, e := range r.events {
		switch e.verb {
		case wrote:
			if e.target.Mode == "CREATE" || e.target.Mode == "CLONE" {
				made[e.target.Table] = true
			}
			f := r.contracted(e.target, passing)
			if passing[e.table] {
				r.hold(f)
			} else {
				flows = append(flows, f)
			}
		case renamed:
			r.infos[e.to].held, r.infos[e.table].held = r.infos[e.table].held, nil
			flows = r.rehang(flows, e, made)
		case swapped:
			a, b := &r.infos[e.table], &r.infos[e.to]
			a.held, b.held = b.held, a.held
			flows = r.rehang(flows, e, made)
		case dropped:
			r.infos[e.table].held = nil
		}
	}
	r.a.Flows = flows
}

// passing are the tables that do not outlive the script: temporary ones, and
// those that it creates and drops again.
func (r *resolver) passing() map[int32]bool {
	var set map[int32]bool
	put := func(id int32) {
		if set == nil {
			set = make(map[int32]bool)
		}
		set[id] = true
	}
	made := make(map[int32]bool)
	for _, e := range r.events {
		switch e.verb {
		case wrote:
			if e.target.Mode == "CREATE" || e.target.Mode == "CLONE" {
				made[e.table] = true
			}
		case renamed, swapped:
			delete(made, e.table)
			delete(made, e.to)
		case dropped:
			if made[e.table] {
				put(e.table)
			}
		}
	}
	for i, t := range r.tables {
		if t != nil && t.Temporary && r.infos[i].inOutputs {
			put(int32(i))
		}
	}
	return set
}

// A flowing is a Target's sets while it is contracted.
type flowing struct {
	r       *resolver
	passing map[int32]bool
}

// contracted is a target with its temporary sources replaced.
func (r *resolver) contracted(t *Target, passing map[int32]bool) *Target {
	f := *t
	w := flowing{r: r, passing: passing}
	f.sets = make([]set, len(t.outs))
	f.Outputs = slices.Clone(t.Outputs)
	for i, c := range t.outs {
		f.sets[i] = w.replace(r.columns[c].set)
		f.Outputs[i].Sources = r.sources(f.sets[i])
	}
	f.deps = w.replace(t.deps)
	f.Inputs = nil
	for _, in := range t.Inputs {
		held := r.infos[in.id].held
		if held == nil || !passing[in.id] {
			f.Inputs = appendNew(f.Inputs, in)
			continue
		}
		f.Via = appendNew(f.Via, in)
		for _, s := range held.steps {
			if !slices.Contains(f.Steps, s) {
				f.Steps = append(f.Steps, s)
			}
		}
		for _, v := range held.via {
			f.Via = appendNew(f.Via, v)
		}
		for _, b := range held.from {
			f.Inputs = appendNew(f.Inputs, b)
		}
		f.deps = indirect(slices.Clone(f.deps), held.deps, Identity)
	}
	f.Steps = append(f.Steps, t)
	f.deps = normal(slices.Clone(f.deps))
	f.Dependencies = r.sources(f.deps)
	return &f
}

func appendNew(to []*Table, t *Table) []*Table {
	if slices.Contains(to, t) {
		return to
	}
	return append(to, t)
}

// replace puts the contents of temporary tables in the place of their columns.
func (w *flowing) replace(s set) set {
	hit := false
	for _, d := range s {
		id := w.r.base[d.base].table
		hit = hit || w.passing[id] && w.r.infos[id].held != nil
	}
	if !hit {
		return s
	}
	var out []dep
	for _, d := range s {
		b := w.r.base[d.base]
		held := w.r.infos[b.table].held
		if !w.passing[b.table] || held == nil {
			out = append(out, d)
			continue
		}
		out = addAll(out, w.r.holds(held, b.path), d.kinds)
	}
	return normal(out)
}

// holds is what a column of a temporary table holds; a star stands for all.
func (r *resolver) holds(c *contents, path string) set {
	var out []dep
	head, _, _ := strings.Cut(path, ".")
	for i, n := range c.names {
		switch {
		case path == "*", strings.EqualFold(n, path), strings.EqualFold(n, head):
			out = append(out, c.sets[i]...)
		case n == "*":
			// A column behind a star: that of the name of what it is of.
			for _, d := range c.sets[i] {
				if b := r.base[d.base]; b.path == "*" {
					d.base = r.baseColumn(b.table, path)
				}
				out = append(out, d)
			}
		}
	}
	return normal(out)
}

// hold adds what a flow writes to what its table holds.
func (r *resolver) hold(f *Target) {
	info := &r.infos[f.Table.id]
	if info.held == nil || f.Mode == "OVERWRITE" && len(f.Partitions) == 0 || f.Mode == "CREATE" || f.Mode == "VIEW" {
		info.held = &contents{}
	}
	c := info.held
	for i, o := range f.Outputs {
		k := slices.IndexFunc(c.names, func(n string) bool { return strings.EqualFold(n, o.Name) })
		if k < 0 {
			c.names, c.sets = append(c.names, o.Name), append(c.sets, f.sets[i])
			continue
		}
		c.sets[k] = normal(append(slices.Clone(c.sets[k]), f.sets[i]...))
	}
	c.deps = normal(append(slices.Clone(c.deps), f.deps...))
	for _, t := range f.Inputs {
		c.from = appendNew(c.from, t)
	}
	for _, v := range f.Via {
		c.via = appendNew(c.via, v)
	}
	for _, s := range f.Steps {
		if !slices.Contains(c.steps, s) {
			c.steps = append(c.steps, s)
		}
	}
}

// rehang gives earlier flows the names that tables have now. What was read of a
// table that the script did not make keeps its name through a swap: that is
// where the rows are known to come from.
func (r *resolver) rehang(flows []*Target, e event, made map[*Table]bool) []*Target {
	from, to := r.tables[e.table], r.tables[e.to]
	now := func(t *Table) *Table {
		switch {
		case t == from:
			return to
		case t == to && e.verb == swapped:
			return from
		}
		return t
	}
	read := func(t *Table) *Table {
		if e.verb == swapped && !made[t] {
			return t
		}
		return now(t)
	}
	for i, f := range flows {
		g := *f
		g.Table = now(f.Table)
		g.Inputs = slices.Clone(f.Inputs)
		for k, t := range g.Inputs {
			g.Inputs[k] = read(t)
		}
		g.Outputs = slices.Clone(f.Outputs)
		for k := range g.Outputs {
			g.Outputs[k].Sources = moved(g.Outputs[k].Sources, read)
		}
		g.Dependencies = moved(g.Dependencies, read)
		flows[i] = &g
	}
	return flows
}

func moved(sources []Source, now func(*Table) *Table) []Source {
	for i, s := range sources {
		if now(s.Table) != s.Table {
			sources = slices.Clone(sources)
			for k := i; k < len(sources); k++ {
				sources[k].Table = now(sources[k].Table)
			}
			return sources
		}
	}
	return sources
}
