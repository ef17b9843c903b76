package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// A tableInfo is what the resolver knows of a table, beside its Table.
type tableInfo struct {
	// names are the known columns in order, ids their base columns + 1 (0: not
	// yet asked for); more are those that no schema lists.
	names []string
	ids   []int32
	more  []int32
	known bool
	asked bool
	// flat: the script says the columns; a dot in a name is no path.
	flat  bool
	index map[string]int32 // of names, folded; made for wide tables
	extra map[string]int32 // of more, made when there are many
	// held are the contents of a temporary table, contracted; see contract.go.
	held *contents
	// partitioned lists the columns that the script says partition it.
	partitioned         []string
	inInputs, inOutputs bool
	// readAt and wroteAt are the last statements that read and wrote it.
	readAt, wroteAt int32
	// inputAt is the last plan that has it as an input.
	inputAt int32
}

// A baseColumn is a column of a table, or a path into one.
type baseColumn struct {
	table int32
	path  string
}

// undecided is the table of columns whose table could not be decided.
const undecided = 0

// table interns a table by its complete name.
func (r *resolver) table(parts []string, quoted []bool, kind TableKind) int32 {
	key := r.keyBuf[:0]
	for i, p := range parts {
		if i > 0 {
			key = append(key, '\x00')
		}
		key = r.appendFolded(key, p, i < len(quoted) && quoted[i])
	}
	r.keyBuf = key
	if id, ok := r.byName[string(key)]; ok {
		return id
	}
	t := &Table{Parts: parts, Kind: kind, id: int32(len(r.tables))}
	n := len(parts)
	t.Name = parts[n-1]
	if n > 1 {
		t.Database = parts[n-2]
	}
	if n > 2 {
		t.Catalog = parts[n-3]
	}
	r.byName[string(key)] = t.id
	r.tables = append(r.tables, t)
	r.infos = append(r.infos, tableInfo{})
	return t.id
}

func (r *resolver) appendFolded(to []byte, part string, quoted bool) []byte {
	if quoted && r.rules.exact || r.rules.sensitive {
		return append(to, part...)
	}
	for i := 0; i < len(part); i++ {
		c := part[i]
		switch {
		case c >= 0x80:
			return append(to, r.rules.fold(part[i:], false)...)
		case r.rules.upper && 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		case !r.rules.upper && 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

// fileFormats are what Spark lets stand before a path: parquet.`/x`.
var fileFormats = words(`PARQUET CSV JSON ORC TEXT AVRO DELTA BINARYFILE ICEBERG LIBSVM XML HUDI`)

// tableOf interns the table that a reference names, completed from the current
// catalog and database.
func (r *resolver) tableOf(t *syntax.Table) int32 {
	if t.Path != "" {
		return r.table([]string{t.Path}, []bool{true}, PathTable)
	}
	if n := t.Name.Parts; len(n) == 2 && n[1].Quoted && strings.ContainsAny(n[1].Text, "/:") && fileFormats[strings.ToUpper(n[0].Text)] {
		return r.table([]string{n[1].Text}, []bool{true}, PathTable)
	}
	parts := make([]string, 0, 4)
	quoted := make([]bool, 0, 4)
	if !t.Stage {
		n := len(t.Name.Parts)
		if n == 1 && r.database != "" {
			if r.catalog != "" {
				parts, quoted = append(parts, r.catalog), append(quoted, r.defaultsQuoted)
			}
			parts, quoted = append(parts, r.database), append(quoted, r.defaultsQuoted)
		} else if n <= 2 && r.catalog != "" {
			parts, quoted = append(parts, r.catalog), append(quoted, r.defaultsQuoted)
		}
	}
	for _, p := range t.Name.Parts {
		text := p.Text
		parts, quoted = append(parts, text), append(quoted, p.Quoted)
	}
	if len(parts) == 0 {
		parts = append(parts, strings.TrimSpace(t.Span.In(r.text)))
		quoted = append(quoted, true)
	}
	if last := len(parts) - 1; r.rules.name == "bigquery" {
		// A partition decorator: t$20260101.
		if i := strings.LastIndexByte(parts[last], '$'); i > 0 {
			parts[last] = parts[last][:i]
		}
	}
	kind := BaseTable
	if t.Stage {
		kind = StageTable
		if !strings.HasPrefix(parts[0], "@") {
			parts[0] = "@" + parts[0]
		}
	}
	return r.table(parts, quoted, kind)
}

// askCatalog fills in what the catalog knows of a table, once.
func (r *resolver) askCatalog(id int32) *tableInfo {
	info := &r.infos[id]
	if info.asked {
		return info
	}
	info.asked = true
	if info.known || r.lookup == nil {
		return info
	}
	t := r.tables[id]
	if names, known := r.lookup.Columns(t.Parts); known {
		info.names, info.known = names, true
		t.Columns, t.Known = names, true
	}
	return info
}

// declare tells the columns of a table that the script defines.
func (r *resolver) declare(id int32, names []string, known bool) {
	info := &r.infos[id]
	info.asked, info.flat = true, true
	old, oldIDs, more := info.names, info.ids, info.more
	info.names, info.known = names, known
	info.ids, info.index, info.more, info.extra = nil, nil, nil, nil
	t := r.tables[id]
	t.Columns, t.Known = names, known
	// Base columns that are in use keep their identity.
	for i, b := range oldIDs {
		if b != 0 && i < len(old) {
			r.adopt(info, b)
		}
	}
	for _, b := range more {
		r.adopt(info, b+1)
	}
}

func (r *resolver) adopt(info *tableInfo, b int32) {
	if i := r.columnIndex(info, r.base[b-1].path); i >= 0 {
		if info.ids == nil {
			info.ids = make([]int32, len(info.names))
		}
		info.ids[i] = b
		return
	}
	info.more = append(info.more, b-1)
}

// columnIndex finds a column of a table by name, -1 if it is not listed. Equal
// case wins.
func (r *resolver) columnIndex(info *tableInfo, name string) int32 {
	return lookupName(info.names, &info.index, name)
}

// lookupName finds a name in a list without regard to case, an equal one first.
// The index is made when the list is long.
func lookupName(names []string, index *map[string]int32, name string) int32 {
	if len(names) > 24 {
		if *index == nil {
			m := make(map[string]int32, len(names))
			for i, n := range names {
				f := lower(n)
				if _, ok := m[f]; !ok {
					m[f] = int32(i)
				}
			}
			*index = m
		}
		i, ok := (*index)[lower(name)]
		if !ok {
			return -1
		}
		return i
	}
	found := int32(-1)
	for i, n := range names {
		if len(n) != len(name) {
			continue
		}
		if n == name {
			return int32(i)
		}
		if found < 0 && strings.EqualFold(n, name) {
			found = int32(i)
		}
	}
	return found
}

// lower is strings.ToLower, without an allocation where nothing changes.
func lower(s string) string { return strings.ToLower(s) }

// baseColumn interns a column, or a path, of a table.
func (r *resolver) baseColumn(table int32, path string) int32 {
	info := &r.infos[table]
	if i := r.columnIndex(info, path); i >= 0 {
		return r.listed(table, i)
	}
	if info.extra != nil {
		if b, ok := info.extra[lower(path)]; ok {
			return b
		}
	} else {
		for _, b := range info.more {
			if p := r.base[b].path; len(p) == len(path) && strings.EqualFold(p, path) {
				return b
			}
		}
	}
	b := int32(len(r.base))
	r.base = append(r.base, baseColumn{table, path})
	info.more = append(info.more, b)
	if info.extra != nil {
		info.extra[lower(path)] = b
	} else if len(info.more) > 24 {
		info.extra = make(map[string]int32, 64)
		for _, m := range info.more {
			info.extra[lower(r.base[m].path)] = m
		}
	}
	return b
}

// listed interns column i of a table with a schema.
func (r *resolver) listed(table int32, i int32) int32 {
	info := &r.infos[table]
	if info.ids == nil {
		info.ids = make([]int32, len(info.names))
	}
	if info.ids[i] == 0 {
		r.base = append(r.base, baseColumn{table, info.names[i]})
		info.ids[i] = int32(len(r.base))
	}
	return info.ids[i] - 1
}
