package nebula

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	client "github.com/vesoft-inc/nebula-go/v3"

	"headwater/graph"
)

// Spaces and schemas, in the forms of nGQL that are used for them. "IF NOT
// EXISTS" does not mind what is there, so that all is described afterwards.
const (
	createSpace   = "CREATE SPACE IF NOT EXISTS %s(partition_num=%d, replica_factor=%d, vid_type=FIXED_STRING(%d))"
	describeSpace = "DESC SPACE %s"
	createTable   = "CREATE %s IF NOT EXISTS %s(%s)" // TAG or EDGE, name, columns: name type, …
	alterTable    = "ALTER %s %s ADD (%s)"
	describeTable = "DESC %s %s"
)

// vidBytes is how long the ids of vertices may be.
const vidBytes = 32

// bringUp sees that the space and its schema are as this program needs them.
// With Options.Init what is missing is made, also columns that are new.
//
// graphd and storaged hear of a schema by their heartbeats, each by its own,
// and each part of a new space has to find a leader. So it is used, through
// every graphd, in every part, until that works.
func bringUp(ctx context.Context, p *pool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, p.o.wait, fmt.Errorf("not usable after %s", p.o.wait))
	defer cancel()
	parts, err := p.bringUpSpace(ctx)
	if err != nil {
		return err
	}
	for i := range tables {
		if err := p.bringUpTable(ctx, &tables[i]); err != nil {
			return err
		}
	}
	for _, address := range p.o.Addresses {
		if err := p.probe(ctx, address, parts); err != nil {
			return fmt.Errorf("use the schema of space %s through %s: %w", p.o.Space, address, err)
		}
	}
	return nil
}

// bringUpSpace makes the space, or sees that it fits, and returns how many
// partitions it has.
func (p *pool) bringUpSpace(ctx context.Context) (parts int, err error) {
	o := p.o
	if o.Init {
		text := fmt.Sprintf(createSpace, o.Space, o.Partitions, o.Replicas, vidBytes)
		if _, err := p.patient(ctx, false, never, text); err != nil {
			return 0, fmt.Errorf("make space %s: %w", o.Space, err)
		}
	}
	waitOver := never
	if o.Init {
		waitOver = notYet // it is there
	}
	rs, err := p.patient(ctx, false, waitOver, fmt.Sprintf(describeSpace, o.Space))
	if err != nil {
		if !errors.Is(err, graph.ErrUnavailable) && !o.Init {
			return 0, fmt.Errorf("space %s: is it there? --init makes it: %w", o.Space, err)
		}
		return 0, fmt.Errorf("space %s: %w", o.Space, err)
	}
	found := described(rs, "Partition Number", "Vid Type")
	if len(found) != 1 {
		return 0, fmt.Errorf("space %s: its description has %d rows", o.Space, len(found))
	}
	if vid := found[0][1]; !strings.EqualFold(vid, fmt.Sprintf("FIXED_STRING(%d)", vidBytes)) {
		return 0, fmt.Errorf("space %s has ids of type %s, not FIXED_STRING(%d): it was not made for this", o.Space, vid, vidBytes)
	}
	if _, err := fmt.Sscan(found[0][0], &parts); err != nil || parts < 1 {
		return 0, fmt.Errorf("space %s: it has %q partitions", o.Space, found[0][0])
	}
	return parts, nil
}

// bringUpTable makes a tag or an edge type, or sees that its columns fit: it
// may have more than are needed.
func (p *pool) bringUpTable(ctx context.Context, t *table) error {
	kind := "TAG"
	if t.edge {
		kind = "EDGE"
	}
	what := fmt.Sprintf("%s %s of space %s", strings.ToLower(kind), t.name, p.o.Space)
	waitOver := noSpaceYet
	if p.o.Init {
		waitOver = notYet
		if _, err := p.patient(ctx, true, noSpaceYet, fmt.Sprintf(createTable, kind, t.name, columnList(t.columns))); err != nil {
			return fmt.Errorf("make %s: %w", what, err)
		}
	}
	rs, err := p.patient(ctx, true, waitOver, fmt.Sprintf(describeTable, kind, t.name))
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	has := map[string]string{}
	for _, row := range described(rs, "Field", "Type") {
		has[row[0]] = row[1]
	}
	var missing []column
	for _, c := range t.columns {
		switch is, ok := has[c.name]; {
		case !ok:
			missing = append(missing, c)
		case is != c.kind:
			return fmt.Errorf("%s: column %s is of type %s, not %s: it was not made for this", what, c.name, is, c.kind)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if !p.o.Init {
		return fmt.Errorf("%s: column %s is missing; --init adds it", what, missing[0].name)
	}
	if _, err := p.patient(ctx, true, waitOver, fmt.Sprintf(alterTable, kind, t.name, columnList(missing))); err != nil {
		return fmt.Errorf("add columns to %s: %w", what, err)
	}
	return nil
}

func columnList(columns []column) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.name + " " + c.kind
	}
	return strings.Join(list, ", ")
}

// described reads columns of an answer to DESC, as text.
func described(rs *client.ResultSet, columns ...string) [][]string {
	var found [][]string
	for _, row := range rs.AsStringTable()[1:] {
		line := make([]string, len(columns))
		for i, name := range rs.GetColNames() {
			for j, c := range columns {
				if strings.EqualFold(name, c) {
					line[j] = strings.Trim(row[i], `"`)
				}
			}
		}
		found = append(found, line)
	}
	return found
}

// patient runs a statement again as long as something may pass, or the error is
// one to wait over, and ctx allows.
func (p *pool) patient(ctx context.Context, inSpace bool, waitOver func(error) bool, text string) (*client.ResultSet, error) {
	var answer error
	for {
		rs, err := p.once(ctx, inSpace, text, nil)
		if err == nil || !waitOver(err) && !errors.Is(err, graph.ErrUnavailable) {
			return rs, err
		}
		if refused := new(serverError); answer == nil || errors.As(err, &refused) {
			answer = err // not that the time was over in the middle of a try
		}
		if e := sleep(ctx, p.o.poll); e != nil {
			return nil, fmt.Errorf("%w; the last answer: %w", e, answer)
		}
	}
}

func never(error) bool { return false }

// probe uses all of the schema through one graphd, in all partitions.
func (p *pool) probe(ctx context.Context, address string, parts int) error {
	o := *p.o
	o.Addresses = []string{address}
	one := &pool{o: &o, slots: make(chan struct{}, 1)}
	defer one.close()
	begun := time.Now()
	for _, text := range probes(parts) {
		if _, err := one.patient(ctx, true, notYet, text); err != nil {
			return err
		}
	}
	p.sent.Add(one.statements())
	p.o.Log.Debug("the schema is usable", "space", o.Space, "graphd", address, "took", time.Since(begun))
	return nil
}

// probes writes, reads and deletes a row of each tag and edge type at enough
// vertices to meet every partition: so many that one is missed once in e^12
// times. That one would be met by a batch, which is tried again.
func probes(parts int) []string {
	vids := make([]string, 12*parts)
	for i := range vids {
		vids[i] = fmt.Sprintf("__probe%d", i)
	}
	var texts []string
	for i := range tables {
		t := &tables[i]
		insert, del := []byte(t.insertHead()), []byte(t.deleteHead())
		columns := make([]string, len(t.columns))
		for j, c := range t.columns {
			columns[j] = map[string]string{"int64": "0", "string": `""`, "bool": "false"}[c.kind]
		}
		values := ":(" + strings.Join(columns, ", ") + ")"
		for j, vid := range vids {
			if j > 0 {
				insert, del = append(insert, ',', ' '), append(del, ',', ' ')
			}
			key := quote(vid)
			if t.edge {
				key += "->" + quote(vid) + "@0"
			}
			insert, del = append(append(insert, key...), values...), append(del, key...)
		}
		texts = append(texts, string(insert), t.probe(vids), string(del))
	}
	return texts
}

// probe reads all columns of a table at vertices.
func (t *table) probe(vids []string) string {
	if t.edge {
		return "GO FROM " + literals(vids) + " OVER " + t.name + " YIELD " + t.yield()
	}
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = fmt.Sprintf("%s.%s AS c%d", t.name, c.name, i)
	}
	return "FETCH PROP ON " + t.name + " " + literals(vids) + " YIELD " + strings.Join(names, ", ")
}
