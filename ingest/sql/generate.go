package sql

import (
	"strconv"
	"strings"

	"headwater/ingest/sql/syntax"
)

// generatedNames are the columns of generators that name them themselves.
var generatedNames = map[string][]string{
	"EXPLODE":                   {"col"},
	"EXPLODE_OUTER":             {"col"},
	"EXPLODE_SPLIT":             {"col"},
	"POSEXPLODE":                {"pos", "col"},
	"POSEXPLODE_OUTER":          {"pos", "col"},
	"FLATTEN":                   {"SEQ", "KEY", "PATH", "INDEX", "VALUE", "THIS"},
	"SPLIT_TO_TABLE":            {"SEQ", "INDEX", "VALUE"},
	"STRTOK_SPLIT_TO_TABLE":     {"SEQ", "INDEX", "VALUE"},
	"STRING_SPLIT":              {"value", "ordinal"},
	"OPENJSON":                  {"key", "value", "type"},
	"JSON_EACH":                 {"key", "value"},
	"JSONB_EACH":                {"key", "value"},
	"JSON_EACH_TEXT":            {"key", "value"},
	"JSONB_EACH_TEXT":           {"key", "value"},
	"JSON_ARRAY_ELEMENTS":       {"value"},
	"JSONB_ARRAY_ELEMENTS":      {"value"},
	"JSON_ARRAY_ELEMENTS_TEXT":  {"value"},
	"JSONB_ARRAY_ELEMENTS_TEXT": {"value"},
	"EXPLODE_MAP":               {"key", "value"},
	"NUMBERS":                   {"number"},
	"RANGE":                     {"id"},
}

// A generator's call: what its arguments are made of, as one column.
func (f *from) arguments(call *syntax.Call) int32 {
	r := f.r
	acc := r.scratch()
	defer r.release(acc)
	name := strings.ToUpper(call.Func)
	for _, a := range call.Args {
		if _, ok := a.(*syntax.Lambda); ok {
			continue
		}
		r.walk(a, f.scope, Identity, inFrom, acc)
	}
	if call.Query != nil {
		rel := r.query(call.Query, f.scope.parent)
		acc.subs = append(acc.subs, rel.node)
		f.acc.deps = append(f.acc.deps, rel.deps...)
		for _, c := range r.all(rel) {
			r.use(c, Identity, acc)
		}
	}
	f.acc.subs = append(f.acc.subs, acc.subs...)
	flags := columnFlags(unnest)
	deps := normal(acc.deps)
	if !unnests[name] || len(call.Args) != 1 || !isPath(call.Args[0]) {
		flags = 0
	}
	for i := range deps {
		deps[i].kinds = compose(Transformation, deps[i].kinds)
	}
	op := OpTableFunction
	if unnests[name] {
		op = OpUnnest
	}
	node := r.node(op, call.Func, call)
	r.input(node, f.node)
	r.inputs(node, acc.subs)
	return r.newColumn(column{set: r.deps.keep(deps), from: r.ints.keep(acc.from), node: node, item: call, flags: flags})
}

// isPath reports whether an expression is a column or a path into one.
func isPath(e syntax.Expr) bool {
	switch e.(type) {
	case *syntax.Ref, *syntax.Field, *syntax.Index:
		return true
	}
	return false
}

// unnests are the generators whose rows are the elements of their argument.
var unnests = words(`UNNEST EXPLODE EXPLODE_OUTER POSEXPLODE POSEXPLODE_OUTER FLATTEN INLINE INLINE_OUTER STACK JSON_TUPLE PARSE_URL_TUPLE
EXPLODE_SPLIT EXPLODE_JSON_ARRAY_STRING EXPLODE_NUMBERS EXPLODE_BITMAP JSON_ARRAY_ELEMENTS JSONB_ARRAY_ELEMENTS JSON_EACH JSONB_EACH OPENJSON`)

// elements binds the elements of an array as a table.
func (f *from) elements(c int32, alias string, columns []syntax.Ident, at syntax.Node) int32 {
	r := f.r
	col := r.columns[c]
	node := r.node(OpUnnest, alias, at)
	r.input(node, f.node)
	col.node, col.from, col.scan = node, r.ints.keep([]int32{c}), 0
	col.flags |= unnest
	deps := r.scratch()
	deps.deps = add(deps.deps, col.set, Transformation)
	col.set = r.keepSet(deps)
	r.release(deps)
	col.item = at
	element := r.newColumn(col)
	rel := &relation{table: -1, node: node, open: [][]opening{{{col: element + 1}}}}
	switch {
	case len(columns) > 0:
		for _, n := range columns {
			rel.names, rel.cols = append(rel.names, n.Text), append(rel.cols, element)
		}
	case alias != "":
		// The alias is the element itself; its fields are behind it.
		rel.names, rel.cols = []string{alias}, []int32{element}
	}
	f.scope.tables = append(f.scope.tables, binding{alias: alias, rel: rel})
	f.node = node
	return node
}

// lateralView binds Hive's LATERAL VIEW.
func (f *from) lateralView(x *syntax.LateralView) int32 {
	if x.Source != nil {
		f.node = f.tableRef(x.Source)
	}
	if x.Call == nil {
		return f.node
	}
	return f.generator(x.Call, x.Alias, nil, false, syntax.Ident{})
}

// tableFunc binds a function as a table.
func (f *from) tableFunc(x *syntax.TableFunc) int32 {
	if x.Call == nil {
		return f.node
	}
	if node, ok := f.windowTable(x); ok {
		return node
	}
	return f.generator(x.Call, x.Alias, x.Columns, x.Ordinality, x.OffsetName)
}

// generator binds the columns that a call yields. All are made of all its
// arguments.
func (f *from) generator(call *syntax.Call, alias syntax.Alias, columns []syntax.ColumnDef, ordinality bool, offset syntax.Ident) int32 {
	r := f.r
	if call.Table != nil {
		// A function of a table: its columns are among those it yields.
		return f.tableArgument(call, alias)
	}
	if node, ok := f.routineTable(call, alias); ok {
		return node
	}
	if path := filePath(call); path != "" {
		id := r.table([]string{path}, []bool{true}, PathTable)
		return f.bind(r.scanOf(id, call), alias, nil)
	}
	c := f.arguments(call)
	node := r.columns[c].node
	rel := &relation{table: -1, node: node}
	put := func(name string, col int32) {
		rel.names, rel.cols = append(rel.names, name), append(rel.cols, col)
	}
	name := strings.ToUpper(call.Func)
	many := len(call.Args) > 1 && (name == "UNNEST" || name == "EXPLODE" || name == "ARRAYS_ZIP")
	switch {
	case len(alias.Columns) > 0:
		for i, n := range alias.Columns {
			if ordinality && i > 0 && i == len(alias.Columns)-1 {
				put(n.Text, r.newColumn(column{node: node, item: call}))
				continue
			}
			if many && i < len(call.Args) {
				put(n.Text, f.argument(call, i, node))
				continue
			}
			put(n.Text, c)
		}
	case len(columns) > 0:
		f.declared(columns, c, put)
	case len(generatedNames[name]) > 0:
		for _, n := range generatedNames[name] {
			put(n, c)
		}
		if name == "EXPLODE" || name == "EXPLODE_OUTER" || name == "POSEXPLODE" {
			put("key", c)
			put("value", c)
			rel.hidden = 2
		}
	case name == "JSON_TUPLE" || name == "PARSE_URL_TUPLE":
		for i := range max(len(call.Args)-1, 1) {
			put("c"+strconv.Itoa(i), c)
		}
	case name == "INLINE" || name == "STACK" || name == "INLINE_OUTER":
		for i := range 8 {
			put("col"+strconv.Itoa(i+1), c)
		}
		rel.hidden = 8
	case alias.Name.Text != "":
		put(alias.Name.Text, c)
	case many:
		for i := range call.Args {
			put("col"+strconv.Itoa(i), f.argument(call, i, node))
		}
	default:
		put(strings.ToLower(lastPartOr(call.Name, call.Func)), c)
		rel.hidden = 1
	}
	if len(columns) == 0 && (len(alias.Columns) == 0 || name == "UNNEST") && (len(generatedNames[name]) == 0 || name == "EXPLODE") {
		rel.open = [][]opening{{{col: c + 1}}}
	}
	if ordinality && len(alias.Columns) == 0 {
		put("ordinality", r.newColumn(column{node: node, item: call}))
	}
	if offset.Text != "" {
		put(offset.Text, r.newColumn(column{node: node, item: offset}))
	}
	f.scope.tables = append(f.scope.tables, binding{alias: alias.Name.Text, rel: rel})
	f.node = node
	return node
}

// fileFunctions read files that an argument names.
var fileFunctions = words(`READ_PARQUET READ_CSV READ_CSV_AUTO READ_JSON READ_JSON_AUTO READ_TEXT PARQUET_SCAN CSV_SCAN ICEBERG_SCAN DELTA_SCAN
S3 S3CLUSTER HDFS HDFSCLUSTER FILE URL GCS GCSCLUSTER AZUREBLOBSTORAGE READ_FILES CLOUD_FILES OPENROWSET FILES LOCAL ICEBERG DELTALAKE HUDI`)

// filePath is the file that a function reads, empty if it is none of those.
func filePath(call *syntax.Call) string {
	if !fileFunctions[strings.ToUpper(call.Func)] {
		return ""
	}
	path := ""
	for _, a := range call.Args {
		syntax.Inspect(a, func(n syntax.Node) bool {
			if l, ok := n.(*syntax.Literal); ok && path == "" && l.Kind == "STRING" && strings.ContainsAny(l.Value, "/.:") {
				path = l.Value
			}
			return path == ""
		})
	}
	return path
}

// argument is the column that one array of several yields.
func (f *from) argument(call *syntax.Call, i int, node int32) int32 {
	r := f.r
	acc := r.scratch()
	defer r.release(acc)
	r.walk(call.Args[i], f.scope, Transformation, inFrom, acc)
	return r.newColumn(column{set: r.keepSet(acc), from: r.ints.keep(acc.from), node: node, item: call, flags: unnest})
}

// declared are the columns of JSON_TABLE, OPENJSON … WITH and their kin; nested
// ones stand in a row.
func (f *from) declared(columns []syntax.ColumnDef, c int32, put func(string, int32)) {
	for i := range columns {
		d := &columns[i]
		if name := lastPart(d.Name); name != "" {
			put(name, c)
		}
		if d.Type != nil && d.Type.Name == "NESTED" {
			f.declared(d.Type.Fields, c, put)
		}
	}
}

// generated names the columns of a generator in the select list.
func (r *resolver) generated(e syntax.Expr) []string {
	call, ok := e.(*syntax.Call)
	if !ok || call.Over != nil {
		return nil
	}
	switch name := strings.ToUpper(call.Func); name {
	case "POSEXPLODE", "POSEXPLODE_OUTER", "EXPLODE", "EXPLODE_OUTER":
		if r.rules.name == "hive" || r.rules.name == "spark" || r.rules.name == "ansi" {
			return generatedNames[name]
		}
	case "JSON_TUPLE":
		names := make([]string, max(len(call.Args)-1, 1))
		for i := range names {
			names[i] = "c" + strconv.Itoa(i)
		}
		return names
	}
	return nil
}

// arrayJoin binds ClickHouse's ARRAY JOIN: the items are elements, under their
// own name or an alias.
func (f *from) arrayJoin(x *syntax.ArrayJoin) int32 {
	r := f.r
	node := r.node(OpUnnest, "ARRAY JOIN", x)
	r.input(node, f.node)
	rel := &relation{table: -1, node: node}
	for i := range x.Items {
		it := &x.Items[i]
		acc := r.scratch()
		r.walk(it.Expr, f.scope, Transformation, inFrom, acc)
		c := r.newColumn(column{set: r.keepSet(acc), from: r.ints.keep(acc.from), node: node, item: it, flags: unnest})
		r.release(acc)
		name := it.Alias.Text
		if name == "" {
			name, _ = r.implied(it.Expr, i)
		}
		rel.names, rel.cols = append(rel.names, name), append(rel.cols, c)
		// The element hides the array of the same name.
		f.scope.merged = append(f.scope.merged, mergedColumn{name, c})
	}
	rel.hidden = len(rel.names)
	f.node = node
	return node
}
