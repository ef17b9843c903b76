package nebula

import (
	"strconv"
	"strings"
)

// All that is ever said to a graphd about the graph is in this file; sessions,
// spaces and the schema are in session.go and schema.go. Each statement says
// which form of nGQL 3.8 it is. Names of tags, edge types and columns are no
// reserved words. Ids stand in statements as literals where nGQL takes no
// parameters (every vertex, rank and limit), values as literals where they are
// short and as parameters where they may be long.

// A column is a column of a tag or an edge type: its name and its type in nGQL.
type column struct{ name, kind string }

// A table is a tag or an edge type.
type table struct {
	name    string
	edge    bool
	columns []column
}

// The tags and the edge types. Vertices are named by the 32 characters of an
// id, or of a hash that begins with a kind that ids do not have.
//
//	claim      whose space it is; at claimVertex alone
//	node       a name
//	blob       what is long: a record, a part, facts, a facet; at what it is of
//	…_flow     from → to: one flow as one contribution says it
//	says       node → contribution: facts, which are a blob
//	named      data store → column, by contribution
//	speaks     node → contribution that speaks or spoke of it; wrote: wrote it
//	seen       node → hash of the name of a facet, which is a blob
//	slice      node → hash of the name of a partition
//
// opened is the ordinal of the batch that wrote the row. sayer is a
// contribution: 32 characters of its subject, then its origin.
var tables = []table{
	{"claim", false, []column{{"folder", "string"}, {"region", "string"}, {"layout", "int64"}, {"ordinal", "int64"}}},
	{"node", false, []column{{"kind", "int64"}, {"region", "string"}, {"namespace", "string"}, {"name", "string"}, {"opened", "int64"}}},
	{"blob", false, []column{{"content", "string"}}},
	{"table_flow", true, flowColumns},
	{"column_flow", true, flowColumns},
	{"use_flow", true, flowColumns},
	{"control_flow", true, flowColumns},
	{"says", true, []column{{"sayer", "string"}, {"place", "int64"}, {"digest", "int64"}, {"since", "int64"}, {"opened", "int64"}}},
	{"named", true, []column{{"display", "string"}, {"opened", "int64"}}},
	{"speaks", true, []column{{"sayer", "string"}, {"opened", "int64"}}},
	{"wrote", true, []column{{"sayer", "string"}, {"opened", "int64"}}},
	{"seen", true, []column{{"facet", "string"}, {"seen_at", "int64"}, {"opened", "int64"}}},
	{"slice", true, []column{{"name", "string"}, {"created", "int64"}, {"opened", "int64"}}},
}

var flowColumns = []column{{"sayer", "string"}, {"kinds", "int64"}, {"coarse", "bool"}, {"opened", "int64"}}

// claimVertex is the vertex that says whose space it is.
const claimVertex = "headwater"

// fetchClaim: FETCH PROP ON tag literal YIELD …
const fetchClaim = `FETCH PROP ON claim "` + claimVertex + `" YIELD claim.folder AS f, claim.region AS r, claim.layout AS l, claim.ordinal AS o`

// fetchNodes and fetchBlobs: UNWIND a parameter, piped into FETCH PROP ON tag
// $-.id. Ids that have no such tag give no row.
const (
	fetchNodes = `UNWIND $ids AS id | FETCH PROP ON node $-.id YIELD id(vertex) AS id, node.kind AS k, node.region AS r, node.namespace AS s, node.name AS n, node.opened AS o`
	fetchBlobs = `UNWIND $ids AS id | FETCH PROP ON blob $-.id YIELD id(vertex) AS id, blob.content AS c`
)

// goFrom: UNWIND a parameter, piped into GO FROM $-.id OVER one type, with the
// columns of the type named, so that only they travel. Reversely the start is
// _src all the same, and _dst the far end.
func goFrom(t *table, reversely bool) string {
	return "UNWIND $ids AS id | GO FROM $-.id OVER " + t.over(reversely) + " YIELD " + t.yield()
}

// goTo is goFrom to some far ends alone: WHERE type._dst IN a list of literals,
// which storaged filters by.
func goTo(t *table, ends []string) string {
	return "UNWIND $ids AS id | GO FROM $-.id OVER " + t.name + " WHERE " + t.name + "._dst IN [" + literals(ends) + "] YIELD " + t.yield()
}

// goPage: GO FROM one literal OVER one type WHERE what is behind an edge, in
// the order of rank and far end, YIELD …, LIMIT [n], one number for one step.
func goPage(t *table, reversely bool, vid string, rank int64, end string, limit int) string {
	n, r := t.name, strconv.FormatInt(rank, 10)
	return "GO FROM " + quote(vid) + " OVER " + t.over(reversely) +
		" WHERE " + n + "._rank > " + r + " OR (" + n + "._rank == " + r + " AND " + n + "._dst > " + quote(end) + ")" +
		" YIELD " + t.yield() + " LIMIT [" + strconv.Itoa(limit) + "]"
}

func (t *table) over(reversely bool) string {
	if reversely {
		return t.name + " REVERSELY"
	}
	return t.name
}

// yield lists an edge's start, far end and rank, and then the columns in
// their order, each under an alias: s, d, r, c0, c1 …
func (t *table) yield() string {
	s := t.name + "._src AS s, " + t.name + "._dst AS d, " + t.name + "._rank AS r"
	for i, c := range t.columns {
		s += ", " + t.name + "." + c.name + " AS c" + strconv.Itoa(i)
	}
	return s
}

func literals(vids []string) string {
	var b strings.Builder
	for i, v := range vids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quote(v))
	}
	return b.String()
}

// insertHead: INSERT VERTEX tag(columns) VALUES, or INSERT EDGE type(columns)
// VALUES. What follows is, with commas between,
//
//	"vid":(value, …)               of a vertex
//	"from"->"to"@rank:(value, …)   of an edge
//
// where a value is a literal or a parameter ($p0). Several inserts are one
// text, with "; " between: graphd runs them in order, and stops at an error.
func (t *table) insertHead() string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	kind := "VERTEX "
	if t.edge {
		kind = "EDGE "
	}
	return "INSERT " + kind + t.name + "(" + strings.Join(names, ", ") + ") VALUES "
}

// deleteHead: DELETE EDGE type, followed by "from"->"to"@rank, with commas
// between; DELETE VERTEX followed by "vid", with commas between. Those that are
// not there do not matter.
func (t *table) deleteHead() string {
	if t.edge {
		return "DELETE EDGE " + t.name + " "
	}
	return "DELETE VERTEX "
}

// fetchEdgesHead: FETCH PROP ON type, followed by "from"->"to"@rank, with
// commas between, and fetchEdgesTail. Edges that are not there give no row.
func (t *table) fetchEdgesHead() string { return "FETCH PROP ON " + t.name + " " }

// fetchEdgesTail ends what fetchEdgesHead begins.
func (t *table) fetchEdgesTail() string {
	return " YIELD src(edge) AS s, dst(edge) AS d, rank(edge) AS r, " + t.name + ".opened AS o"
}
