package nebula

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/vesoft-inc/nebula-go/v3/nebula"

	"headwater/graph"
)

// Rows are read by frontier: one statement for all rows of a type that leave,
// or enter, up to so many vertices.
const frontier = 10_000

// blobsAtOnce is how many blobs are read by one statement: they may be large.
const blobsAtOnce = 1000

// An edgeRow is one row of an edge type: its key, and its values.
type edgeRow struct {
	key    rowKey
	values []*nebula.Value // by column
}

func (r *edgeRow) text(i int) []byte  { return r.values[i].GetSVal() }
func (r *edgeRow) number(i int) int64 { return r.values[i].GetIVal() }
func (r *edgeRow) truth(i int) bool   { return r.values[i].GetBVal() }
func (r *edgeRow) opened() uint64     { return uint64(r.number(len(r.values) - 1)) }
func (r *edgeRow) start(rev bool) graph.ID {
	if rev {
		return r.key.dst
	}
	return r.key.src
}

// An answer is the rows of one statement.
type answer []edgeRow

// edges reads the rows of a type that leave vertices, or enter them if
// reversely is set, and gives each answer, of up to frontier of them, to f.
// What a limit of storaged has cut is read on. ends, if not nil, are the far
// ends that alone are wanted.
func (e *engine) edges(ctx context.Context, table uint8, reversely bool, vids, ends []graph.ID, f func(some []graph.ID, rows answer) error) error {
	t := &tables[table]
	for len(vids) > 0 {
		some := vids[:min(len(vids), frontier)]
		vids = vids[len(some):]
		statement := goFrom(t, reversely)
		if ends != nil {
			statement = goTo(t, texted(ends))
		}
		rows, err := e.ask(ctx, table, reversely, statement, map[string]any{"ids": texted(some)})
		if err != nil {
			return err
		}
		if ends == nil {
			if rows, err = e.whole(ctx, table, reversely, rows); err != nil {
				return err
			}
		}
		if err := f(some, rows); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// ask runs a statement that yields what table.yield does.
func (e *engine) ask(ctx context.Context, table uint8, reversely bool, statement string, params map[string]any) (answer, error) {
	rs, err := e.p.run(ctx, statement, params)
	if err != nil {
		return nil, err
	}
	read := rs.GetRows()
	e.rows.Add(uint64(len(read)))
	rows := make(answer, len(read))
	for i, r := range read {
		k := rowKey{table: table, rank: r.Values[2].GetIVal()}
		var err error
		if k.src, err = parseVID(r.Values[0].GetSVal()); err != nil {
			return nil, err
		}
		if k.dst, err = parseVID(r.Values[1].GetSVal()); err != nil {
			return nil, err
		}
		if reversely {
			k.src, k.dst = k.dst, k.src
		}
		rows[i] = edgeRow{k, r.Values[3:]}
	}
	return rows, nil
}

// whole reads on from vertices that have as many rows in an answer as storaged
// has been seen to return, or more: max_edge_returned_per_vertex, if it is set,
// cuts them without a word. It is known to be no less than Options.HubRows.
func (e *engine) whole(ctx context.Context, table uint8, reversely bool, rows answer) (answer, error) {
	if len(rows) < e.o.HubRows {
		return rows, nil
	}
	type last struct {
		n    int
		rank int64
		end  graph.ID
	}
	hubs := map[graph.ID]last{}
	note := func(rows answer) {
		for i := range rows {
			r := &rows[i]
			start := r.start(reversely)
			end := r.start(!reversely)
			l := hubs[start]
			if l.n == 0 || r.key.rank > l.rank || r.key.rank == l.rank && compareVIDs(end, l.end) > 0 {
				l.rank, l.end = r.key.rank, end
			}
			l.n++
			hubs[start] = l
		}
	}
	note(rows)
	for start, l := range hubs {
		for l.n >= e.o.HubRows {
			page, err := e.ask(ctx, table, reversely, goPage(&tables[table], reversely, vid(start), l.rank, vid(l.end), hubPage), nil)
			if err != nil {
				return nil, err
			}
			if len(page) == 0 {
				break
			}
			rows = append(rows, page...)
			note(page)
			l = hubs[start]
		}
	}
	return rows, nil
}

// hubPage is how many rows of one vertex are asked for at once when they are
// read on. Each page costs the reading of all that comes before.
const hubPage = 50_000

// compareVIDs orders vertices as NebulaGraph does: by their text, in which
// base64url does not keep the order of the bytes.
func compareVIDs(a, b graph.ID) int {
	var x, y [vidLen]byte
	base64.RawURLEncoding.Encode(x[:], a[:])
	base64.RawURLEncoding.Encode(y[:], b[:])
	for i := range x {
		if x[i] != y[i] {
			return int(x[i]) - int(y[i])
		}
	}
	return 0
}

func texted(ids []graph.ID) []string {
	s := make([]string, len(ids))
	for i, id := range ids {
		s[i] = vid(id)
	}
	return s
}

// blobs reads what is long, by vertex; what is not there is nil.
func (e *engine) blobs(ctx context.Context, ids []graph.ID) ([][]byte, error) {
	at := make(map[graph.ID][]byte, len(ids))
	var wanted []graph.ID
	for _, id := range ids {
		if _, ok := at[id]; !ok {
			at[id] = nil
			wanted = append(wanted, id)
		}
	}
	for len(wanted) > 0 {
		some := wanted[:min(len(wanted), blobsAtOnce)]
		wanted = wanted[len(some):]
		rs, err := e.p.run(ctx, fetchBlobs, map[string]any{"ids": texted(some)})
		if err != nil {
			return nil, err
		}
		for _, r := range rs.GetRows() {
			id, err := parseVID(r.Values[0].GetSVal())
			if err != nil {
				return nil, err
			}
			if r.Values[1].IsSetSVal() {
				at[id] = r.Values[1].GetSVal()
			}
		}
		e.rows.Add(uint64(len(rs.GetRows())))
	}
	contents := make([][]byte, len(ids))
	for i, id := range ids {
		contents[i] = at[id]
	}
	return contents, ctx.Err()
}

// blobsOf reads what rows say that have a blob each; all of them have.
func (e *engine) blobsOf(ctx context.Context, keys []rowKey) ([][]byte, error) {
	ids := make([]graph.ID, len(keys))
	for i := range keys {
		ids[i] = keys[i].blob()
	}
	contents, err := e.blobs(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, c := range contents {
		if c == nil {
			return nil, fmt.Errorf("what %s %s says is not there: the space is damaged", tables[keys[i].table].name, keys[i].text(nil))
		}
	}
	return contents, nil
}

// there calls f with the rows among keys that are in the newest view. All are
// of one type.
func (e *engine) there(ctx context.Context, t *table, keys []rowKey, f func(rowKey)) error {
	for len(keys) > 0 {
		some := keys[:min(len(keys), frontier)]
		keys = keys[len(some):]
		b := []byte(t.fetchEdgesHead())
		for i := range some {
			if i > 0 {
				b = append(b, ',')
			}
			b = some[i].text(b)
		}
		rs, err := e.p.run(ctx, string(append(b, t.fetchEdgesTail()...)), nil)
		if err != nil {
			return err
		}
		rows := rs.GetRows()
		e.rows.Add(uint64(len(rows)))
		for _, r := range rows {
			k := rowKey{table: some[0].table, rank: r.Values[2].GetIVal()}
			var err error
			if k.src, err = parseVID(r.Values[0].GetSVal()); err != nil {
				return err
			}
			if k.dst, err = parseVID(r.Values[1].GetSVal()); err != nil {
				return err
			}
			seen := false
			e.closed.visible(e.last, func(visible func(*rowKey, uint64) bool) { seen = visible(&k, uint64(r.Values[3].GetIVal())) })
			if seen {
				f(k)
			}
		}
	}
	return nil
}
