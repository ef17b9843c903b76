package shop

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"headwater/ingest/sql"
)

// A text is read block by block. A block begins in the first column; what
// belongs to it is indented by two, SQL by four. Lines that begin with # are
// comments.
//
//	schema NAME… KIND NAMESPACE PREFIX       the prefix may be left out: NAME.
//	list NAME MEMBER,MEMBER                  a line of SQL with {NAME} is there once for each member
//	dag NAME                                 about, owner, at
//	table SCHEMA.NAME                        about, owner, tag, kind, named, location, columns, note
//	task ENGINE [DAG.]NAME                   about, owner, stream, daily, once, after, check, fails,
//	                                         into, sql, before, copy, reads, writes, drop, rename
type reader struct {
	platform *platform
	lines    []string
	next     int
	lists    map[string][]string
}

// read reads a file.
func (p *platform) read(file, text string) error {
	r := &reader{platform: p, lines: strings.Split(text, "\n"), lists: map[string][]string{}}
	for r.next < len(r.lines) {
		line := r.lines[r.next]
		r.next++
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		first := r.next
		if err := r.block(line); err != nil {
			return fmt.Errorf("%s:%d: %s: %w", file, first, line, err)
		}
	}
	return nil
}

func (r *reader) block(line string) error {
	what, rest, _ := strings.Cut(line, " ")
	switch what {
	case "schema":
		return r.schema(rest)
	case "list":
		name, members, _ := strings.Cut(rest, " ")
		for other, list := range r.lists {
			members = strings.ReplaceAll(members, "{"+other+"}", strings.Join(list, ","))
		}
		r.lists[name] = strings.Split(members, ",")
		return nil
	case "dag":
		return r.dag(rest)
	case "table":
		return r.table(rest)
	case "task":
		return r.task(rest)
	}
	return fmt.Errorf("%s is no block", what)
}

// attributes reads the lines of a block: each a word and the rest.
func (r *reader) attributes(each func(name, rest string) error) error {
	for r.next < len(r.lines) {
		line, ok := strings.CutPrefix(r.lines[r.next], "  ")
		if !ok {
			return nil
		}
		r.next++
		name, rest, _ := strings.Cut(line, " ")
		if err := each(name, strings.TrimSpace(rest)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// sql reads the lines that are indented by four.
func (r *reader) sql() string {
	var lines []string
	for ; r.next < len(r.lines); r.next++ {
		line, ok := strings.CutPrefix(r.lines[r.next], "    ")
		if !ok {
			break
		}
		lines = append(lines, r.expand(line)...)
	}
	return strings.Join(lines, "\n")
}

// expand makes a line for each member of a list that the line names, and of
// those one for each member of the next list.
func (r *reader) expand(line string) []string {
	for _, behind := range strings.Split(line, "{")[1:] {
		name, _, _ := strings.Cut(behind, "}")
		var lines []string
		for _, member := range r.lists[name] {
			lines = append(lines, r.expand(strings.ReplaceAll(line, "{"+name+"}", member))...)
		}
		if lines != nil {
			return lines
		}
	}
	return []string{line}
}

func (r *reader) schema(rest string) error {
	words := strings.Fields(rest)
	at := slices.IndexFunc(words, func(w string) bool { return w == strings.ToUpper(w) })
	if at < 1 || at+1 >= len(words) {
		return errors.New("write: schema NAME… KIND NAMESPACE PREFIX")
	}
	_, prefix, hasPrefix := strings.Cut(rest, words[at+1]+" ")
	for _, name := range words[:at] {
		s := &schema{name: name, kind: words[at], namespace: words[at+1], prefix: name + "."}
		if hasPrefix {
			s.prefix = strings.Trim(prefix, `"`)
		}
		r.platform.schemas[name] = s
	}
	return nil
}

func (r *reader) dag(name string) error {
	d := &dag{name: name}
	r.platform.dags, r.platform.dagOf[name] = append(r.platform.dags, d), d
	return r.attributes(func(name, rest string) (err error) {
		switch name {
		case "about":
			d.about = rest
		case "owner":
			d.owner = rest
		case "at":
			d.at, err = clock(rest)
		default:
			err = errors.New("a DAG has no such thing")
		}
		return err
	})
}

func (r *reader) table(ref string) error {
	t, err := r.platform.tableFor(ref)
	if err != nil {
		return err
	}
	t.own = true
	return r.attributes(func(name, rest string) error {
		first, second, _ := strings.Cut(rest, " ")
		switch name {
		case "about":
			t.about = rest
		case "owner":
			t.owner = rest
		case "kind":
			t.kind = rest
		case "named":
			t.name = rest
		case "location":
			t.location = &location{first, second}
		case "note":
			t.notes[first] = second
		case "tag":
			if second == "" {
				t.tags = append(t.tags, tag{key: first})
			}
			for c := range strings.FieldsSeq(second) {
				t.tags = append(t.tags, tag{first, c})
			}
		case "columns":
			a := sql.Analyze("CREATE TABLE t ("+rest+")", sql.Options{Dialect: "spark"})
			for _, c := range a.Changes {
				for _, col := range c.Columns {
					t.columns = append(t.columns, column{col.Name, strings.Join(strings.Fields(col.Type), "")})
				}
			}
			if t.listed = true; a.Confidence < 1 || len(t.columns) == 0 {
				return errors.New("write: columns NAME TYPE, NAME TYPE")
			}
		default:
			return errors.New("a table has no such thing")
		}
		return nil
	})
}

// clock reads a time of day, as 02:30.
func clock(s string) (time.Duration, error) {
	t, err := time.Parse("15:04", s)
	return t.Sub(t.Truncate(24 * time.Hour)), err
}

// check says what the text, read to its end, leaves open.
func (p *platform) check() error {
	for _, t := range p.tables {
		for _, g := range t.tags {
			if _, ok := t.column(g.column); g.column != "" && !ok {
				return fmt.Errorf("table %s: tag %s: there is no column %s", t.ref, g.key, g.column)
			}
		}
		for name := range t.notes {
			if _, ok := t.column(name); !ok {
				return fmt.Errorf("table %s: note: there is no column %s", t.ref, name)
			}
		}
	}
	return nil
}
