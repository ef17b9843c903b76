package api

import (
	"cmp"
	"context"
	"fmt"

	"headwater/graph"
)

// processSays is what contributions say of one process, over all origins.
type processSays struct {
	sql, dialect string
	// runs is what says the SQL, and runner of whom.
	runs    *graph.Content
	runner  graph.Name
	parent  graph.Name
	lastRun *graph.Run
	// settled: a contribution stands on a completed run; open: one does not.
	settled, open bool
	// sqlBy and parentBy are who of several counts.
	sqlBy, parentBy saidBy
}

// saidBy orders contributions of one subject, the newest last.
type saidBy struct {
	from   int64
	origin string
}

func (b saidBy) before(o saidBy) bool {
	return cmp.Or(cmp.Compare(b.from, o.from), -cmp.Compare(b.origin, o.origin)) < 0
}

// loadSays loads what is said of the processes of the list, in one read.
func (l *list) loadSays(ctx context.Context) ([]graph.Gap, error) {
	l.says = map[graph.ID]*processSays{}
	var subjects []graph.ID
	for _, id := range l.ids {
		if id.Kind() == graph.ProcessKind && l.says[id] == nil {
			l.says[id] = &processSays{}
			subjects = append(subjects, id)
		}
	}
	if len(subjects) == 0 {
		return nil, nil
	}
	return l.view.Says(ctx, subjects, func(said graph.Said) error {
		if says := l.says[said.Record.Subject.ID()]; says != nil {
			says.add(&said)
		}
		return nil
	})
}

func (s *processSays) add(said *graph.Said) {
	if run := said.Record.LastRun(); run != nil && (s.lastRun == nil || cmp.Or(
		cmp.Compare(run.Start, s.lastRun.Start), cmp.Compare(run.End, s.lastRun.End), cmp.Compare(run.ID, s.lastRun.ID)) > 0) {
		s.lastRun = run
	}
	if said.Content == nil {
		return
	}
	s.settled = s.settled || !said.Provisional
	s.open = s.open || said.Provisional
	by := saidBy{said.From, said.Record.Origin}
	if said.Content.SQL != "" && (s.sql == "" || s.sqlBy.before(by)) {
		s.sql, s.dialect, s.sqlBy = said.Content.SQL, said.Content.Dialect, by
		s.runs, s.runner = said.Content, said.Record.Subject
	}
	if !said.Content.Parent.IsZero() && (s.parent.IsZero() || s.parentBy.before(by)) {
		s.parent, s.parentBy = said.Content.Parent, by
	}
}

// A process is Process.
type process struct{ member }

func (p process) says() *processSays {
	if s := p.list.says[p.Node.ID]; s != nil {
		return s
	}
	return &processSays{}
}

// Kind is Process.kind.
func (p process) Kind() string { return cmp.Or(p.Node.Facts.Kind, "UNKNOWN") }

// SQL is Process.sql.
func (p process) SQL() *string { return optional(p.says().sql) }

// Dialect is Process.dialect.
func (p process) Dialect() *string { return optional(p.says().dialect) }

// Plan is Process.plan.
func (p process) Plan(ctx context.Context) ([]*PlanNode, error) {
	says := p.says()
	ctx, cancel := p.list.s.reading(ctx)
	defer cancel()
	t, gaps, err := p.list.s.trace(ctx, p.list.view, says.runner, says.runs)
	if err != nil {
		return nil, fmt.Errorf("plan of %s: %w", p.Node.Name, err)
	}
	reportGaps(ctx, gaps)
	plan := []*PlanNode{}
	if t != nil {
		for _, o := range t.Plan() {
			plan = append(plan, newPlanNode(o))
		}
	}
	return plan, nil
}

// Provisional is Process.provisional.
func (p process) Provisional() bool { return p.says().open && !p.says().settled }

// LastRun is Process.lastRun.
func (p process) LastRun() *Run {
	run := p.says().lastRun
	if run == nil {
		return nil
	}
	r := &Run{ID: run.ID, State: run.State().String(), StartedAt: dateTime(run.Start)}
	switch run.State() {
	case graph.Completed:
		r.EndedAt = dateTime(run.Complete)
	case graph.Failed, graph.Aborted:
		r.EndedAt = dateTime(run.Failed)
	}
	return r
}

// Parent is Process.parent.
func (p process) Parent(ctx context.Context) (*process, error) {
	ps, err := p.processesIn(p.parent(ctx))
	if err != nil || len(ps) == 0 {
		return nil, err
	}
	return ps[0], nil
}

func (m member) parent(ctx context.Context) (*step, error) {
	st, err := m.list.follow(ctx, "parent", m.list.sel.at("parent"), func(_ context.Context, to map[graph.ID][]graph.ID) ([]graph.Gap, error) {
		for id, says := range m.list.says {
			if !says.parent.IsZero() {
				to[id] = []graph.ID{says.parent.ID()}
			}
		}
		return nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("parent of %s: %w", m.Node.Name, err)
	}
	return st, nil
}

// Reads is Process.reads.
func (p process) Reads(ctx context.Context) ([]*dataStore, error) {
	return p.dataStoresIn(p.reads(ctx))
}

// Writes is Process.writes.
func (p process) Writes(ctx context.Context) ([]*dataStore, error) {
	return p.dataStoresIn(p.writes(ctx))
}

func (m member) reads(ctx context.Context) (*step, error) {
	return m.uses(ctx, "reads", true, graph.Upstream)
}

func (m member) writes(ctx context.Context) (*step, error) {
	return m.uses(ctx, "writes", true, graph.Downstream)
}

func (p process) dataStoresIn(st *step, err error) ([]*dataStore, error) {
	if err != nil {
		return nil, err
	}
	ds := []*dataStore{}
	for _, id := range st.to[p.Node.ID] {
		ds = append(ds, &dataStore{st.member(id, nil)})
	}
	return ds, nil
}
