package shop

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// task reads a block that tells a task.
func (r *reader) task(rest string) error {
	by, name, _ := strings.Cut(rest, " ")
	t := &task{engine: engineOf(by), name: name, now: &statement{}}
	switch {
	case t.engine == nil:
		return fmt.Errorf("%s is no engine", by)
	case name == "" || r.platform.taskOf[name] != nil:
		return fmt.Errorf("%q is no name, or that of another task", name)
	}
	t.when.streaming = t.engine.processing != batch
	if dag, _, ok := strings.Cut(name, "."); ok {
		if t.dag = r.platform.dagOf[dag]; t.dag == nil {
			return fmt.Errorf("%s is no DAG", dag)
		}
		t.dag.tasks, t.owner = append(t.dag.tasks, t), t.dag.owner
	}
	r.platform.tasks, r.platform.taskOf[name] = append(r.platform.tasks, t), t
	var into *table
	err := r.attributes(func(name, rest string) (err error) {
		switch name {
		case "about":
			t.about = rest
		case "owner":
			t.owner = rest
		case "fails":
			t.fails = rest
		case "daily":
			t.when.at, err = clock(rest)
		case "once":
			days, at, _ := strings.Cut(rest, " ")
			if t.when.once, err = strconv.Atoi(days); err == nil {
				t.when.at, err = clock(at)
			}
		case "after":
			return r.after(t, rest)
		case "check":
			assertion, rest, _ := strings.Cut(rest, " ")
			column, failed := strings.CutSuffix(rest, " fails")
			t.checks = append(t.checks, check{assertion, column, failed})
		case "into":
			into, err = r.platform.tableFor(rest)
		case "sql":
			t.now, err = r.platform.statement(r.sql(), t.engine.dialect, into)
		case "before":
			t.before, err = r.platform.statement(r.sql(), t.engine.dialect, into)
		default:
			return r.does(t.now, name, rest)
		}
		return err
	})
	if err != nil {
		return err
	}
	if t.engine.dialect == "" {
		t.now.sql = ""
	}
	if len(t.now.reads)+len(t.now.writes) == 0 {
		return errors.New("it does nothing")
	}
	return r.platform.checked(t)
}

func (r *reader) after(t *task, names string) error {
	for name := range strings.FieldsSeq(names) {
		other := r.platform.taskOf[name]
		if other == nil {
			return fmt.Errorf("%s is no task", name)
		}
		t.after = append(t.after, other)
	}
	return nil
}

// checked says whether what a task asserts is about columns that it reads.
func (p *platform) checked(t *task) error {
	for _, c := range t.checks {
		if !slices.ContainsFunc(t.now.reads, func(t *table) bool { _, ok := t.column(c.column); return ok }) {
			return fmt.Errorf("check %s: it reads no column %s", c.assertion, c.column)
		}
	}
	return nil
}

// does reads a line that tells, without SQL, what a task does.
func (r *reader) does(s *statement, name, rest string) error {
	switch name {
	case "copy": // TABLE from TABLE, all columns as they are
		return r.copies(s, rest)
	case "reads": // tables, of which nobody knows what becomes of them
		for ref := range strings.FieldsSeq(rest) {
			t, err := r.platform.lookUp(ref)
			if err != nil {
				return err
			}
			s.reads = append(s.reads, t)
		}
	case "writes":
		for ref := range strings.FieldsSeq(rest) {
			t, err := r.platform.tableFor(ref)
			if err != nil {
				return err
			}
			s.writes = append(s.writes, write{table: t})
		}
	case "drop":
		t, err := r.platform.lookUp(rest)
		if err != nil {
			return err
		}
		s.sql = "drop table " + rest
		s.writes = append(s.writes, write{table: t, lifecycle: "DROP"})
	case "rename": // TABLE to TABLE
		old, name, _ := strings.Cut(rest, " to ")
		was, err := r.platform.lookUp(old)
		if err != nil {
			return err
		}
		is, err := r.platform.tableFor(name)
		if err != nil {
			return err
		}
		s.sql = "alter table " + old + " rename to " + name
		s.writes = append(s.writes, write{table: is, lifecycle: "RENAME", previous: was})
	default:
		return errors.New("a task has no such thing")
	}
	return nil
}

func (r *reader) copies(s *statement, rest string) error {
	to, ref, _ := strings.Cut(rest, " from ")
	from, err := r.platform.lookUp(ref)
	if err != nil {
		return err
	}
	into, err := r.platform.tableFor(to)
	if err != nil {
		return err
	}
	for _, c := range from.columns {
		into.add(c)
	}
	s.reads = append(s.reads, from)
	s.writes = append(s.writes, write{table: into, results: from.copied()})
	return nil
}
