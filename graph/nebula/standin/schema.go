package standin

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// A column is one of a tag or an edge type.
type column struct {
	name      string
	kind      string
	size      int // of a fixed_string
	nullable  bool
	byDefault *value // nil: NULL, or none where it is not nullable
	born      uint64
}

func (c *column) typeName() string {
	if c.kind == "fixed_string" {
		return fmt.Sprintf("fixed_string(%d)", c.size)
	}
	return c.kind
}

// absent is what a row has that does not say.
func (c *column) absent() value {
	if c.byDefault != nil {
		return *c.byDefault
	}
	return null
}

// A schema is a tag or an edge type. It is replaced when it changes.
type schema struct {
	name    string
	edge    bool
	columns []column
	index   map[string]int
	born    uint64
}

func newSchema(name string, edge bool, columns []column, born uint64) *schema {
	s := &schema{name: name, edge: edge, columns: columns, index: map[string]int{}, born: born}
	for i, c := range columns {
		s.index[c.name] = i
	}
	return s
}

// A space is a graph.
type space struct {
	name            string
	parts, replicas int64
	vid             int
	born            uint64
	tags, edges     map[string]*schema
	partitions      []partition
}

// What is born at a tick is heard of by graphd a heartbeat later, by storaged
// two.
const (
	byGraphd   = 1
	byStoraged = 2
)

// heard reports whether what was born then has been heard of. There is one
// tick for each statement.
func (s *store) heard(born, by uint64) bool {
	return atomic.LoadUint64(&s.tick) >= born+by*s.heartbeat
}

// space returns a space that graphd knows.
func (s *store) space(name string) (*space, error) {
	sp := s.spaces[name]
	if sp == nil || !s.heard(sp.born, byGraphd) {
		return nil, refuse(codeExecution, "SpaceNotFound: SpaceName `%s`", name)
	}
	return sp, nil
}

// leading says whether a partition can be asked: those of a new space find a
// leader one by one.
func (s *store) leading(sp *space, part int) error {
	if s.heartbeat > 0 && atomic.LoadUint64(&s.tick) < sp.born+byStoraged*s.heartbeat+uint64(part) {
		return refuse(codeExecution, "Storage Error: Not the leader of %d. Please retry later.", part+1)
	}
	return nil
}

// stored says whether storaged knows a schema and columns of it.
func (s *store) stored(sp *space, sc *schema, columns []string) error {
	what := "Tag"
	if sc.edge {
		what = "Edge"
	}
	switch {
	case !s.heard(sp.born, byStoraged):
		return refuse(codeExecution, "Storage Error: Space not found.")
	case !s.heard(sc.born, byStoraged):
		return refuse(codeExecution, "Storage Error: %s not found.", what)
	}
	for _, c := range columns {
		if i, ok := sc.index[c]; !ok || !s.heard(sc.columns[i].born, byStoraged) {
			return refuse(codeExecution, "Storage Error: %s prop not found.", what)
		}
	}
	return nil
}

// has says whether graphd knows a column.
func (s *store) has(sc *schema, name string) bool {
	i, ok := sc.index[name]
	return ok && s.heard(sc.columns[i].born, byGraphd)
}

func (r *run) use(c *useClause) error {
	r.store.mu.RLock()
	_, err := r.store.space(c.space)
	r.store.mu.RUnlock()
	if err != nil {
		return err
	}
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.session.space = c.space
	return nil
}

func (r *run) createSpace(c *createSpaceClause) error {
	s := r.store
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.spaces[c.name] != nil && c.ifNotExists:
		return nil
	case s.spaces[c.name] != nil:
		return refuse(codeExecution, "Existed!")
	case c.replicas > 1:
		return refuse(codeExecution, "Host not enough!")
	case c.parts < 1 || c.vid < 1:
		return refuse(codeExecution, "Invalid param!")
	}
	sp := &space{name: c.name, parts: c.parts, replicas: c.replicas, vid: int(c.vid), born: atomic.LoadUint64(&s.tick), tags: map[string]*schema{}, edges: map[string]*schema{}}
	sp.partitions = make([]partition, c.parts)
	for i := range sp.partitions {
		sp.partitions[i].init()
	}
	s.spaces[c.name] = sp
	return nil
}

func (r *run) drop(c *dropClause) error {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	if r.store.spaces[c.space] == nil && !c.ifExists {
		return refuse(codeExecution, "Space not existed!")
	}
	delete(r.store.spaces, c.space)
	return nil
}

func (sp *space) schemas(edge bool) (of, others map[string]*schema) {
	if edge {
		return sp.edges, sp.tags
	}
	return sp.tags, sp.edges
}

func (r *run) create(c *createClause) error {
	s := r.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sp, err := r.space()
	if err != nil {
		return err
	}
	of, others := sp.schemas(c.edge)
	switch {
	case others[c.name] != nil:
		return refuse(codeExecution, "Schema with same name exists")
	case of[c.name] != nil && c.ifNotExists:
		return nil
	case of[c.name] != nil:
		return refuse(codeExecution, "Existed!")
	}
	now := atomic.LoadUint64(&s.tick)
	columns := slices.Clone(c.columns)
	for i := range columns {
		columns[i].born = now
	}
	of[c.name] = newSchema(c.name, c.edge, columns, now)
	return nil
}

func (r *run) alter(c *alterClause) error {
	s := r.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sp, err := r.space()
	if err != nil {
		return err
	}
	of, _ := sp.schemas(c.edge)
	sc := of[c.name]
	if sc == nil {
		return refuse(codeExecution, "Tag not existed!")
	}
	columns := slices.Clone(sc.columns)
	for _, col := range c.columns {
		if _, ok := sc.index[col.name]; ok {
			return refuse(codeExecution, "Existed!")
		}
		col.born = atomic.LoadUint64(&s.tick)
		columns = append(columns, col)
	}
	of[c.name] = newSchema(sc.name, sc.edge, columns, sc.born)
	return nil
}

// describe answers from what metad has, heard of or not.
func (r *run) describe(c *descClause) (*table, error) {
	r.store.mu.RLock()
	defer r.store.mu.RUnlock()
	if c.kind == "SPACE" {
		sp := r.store.spaces[c.name]
		if sp == nil {
			return nil, refuse(codeExecution, "SpaceNotFound: SpaceName `%s`", c.name)
		}
		return &table{
			columns: []string{"ID", "Name", "Partition Number", "Replica Factor", "Charset", "Collate", "Vid Type", "Comment"},
			rows: [][]value{{intValue(1), stringValue(sp.name), intValue(sp.parts), intValue(sp.replicas), stringValue("utf8"), stringValue("utf8_bin"),
				stringValue(fmt.Sprintf("FIXED_STRING(%d)", sp.vid)), {}}},
		}, nil
	}
	sp, err := r.space()
	if err != nil {
		return nil, err
	}
	of, _ := sp.schemas(c.kind == "EDGE")
	sc := of[c.name]
	if sc == nil {
		return nil, refuse(codeExecution, "%s not existed!", map[bool]string{true: "Edge", false: "Tag"}[c.kind == "EDGE"])
	}
	t := &table{columns: []string{"Field", "Type", "Null", "Default", "Comment"}}
	for i := range sc.columns {
		col := &sc.columns[i]
		nullable, byDefault := "NO", value{}
		if col.nullable {
			nullable = "YES"
		}
		if col.byDefault != nil {
			byDefault = *col.byDefault
		}
		t.rows = append(t.rows, []value{stringValue(col.name), stringValue(col.typeName()), stringValue(nullable), byDefault, {}})
	}
	return t, nil
}
