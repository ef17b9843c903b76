package graph

import (
	"cmp"
	"slices"
	"strings"
)

// A Piece is what one contribution says of a node, with its precedence.
type Piece struct {
	Rank  uint8
	From  int64
	By    Key
	Facts Facts
}

// comparePieces puts first what counts more: what the node itself says, then
// its writers, then its readers; within a rank the newest.
func comparePieces(a, b Piece) int {
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(b.From, a.From), a.By.Compare(b.By))
}

// MergePieces merges what is said of one node into what is true of it. The
// order of the pieces does not matter. Each fact is taken from the piece that
// counts most; tags and, where only readers know the columns, columns are
// joined, since a reader may have read a part.
func MergePieces(pieces []Piece) (f Facts, updated int64) {
	slices.SortFunc(pieces, comparePieces)
	tags := map[[2]string]bool{}
	columns := map[string]bool{}
	whole := false
	for i := range pieces {
		p := &pieces[i]
		updated = max(updated, p.From)
		for _, s := range [...][2]*string{{&f.Kind, &p.Facts.Kind}, {&f.Platform, &p.Facts.Platform}, {&f.URL, &p.Facts.URL},
			{&f.Description, &p.Facts.Description}, {&f.Display, &p.Facts.Display}} {
			*s[0] = cmp.Or(*s[0], *s[1])
		}
		if len(f.Owners) == 0 {
			f.Owners = p.Facts.Owners
		}
		for _, t := range p.Facts.Tags {
			if k := [2]string{t.Column, t.Name}; !tags[k] {
				tags[k] = true
				f.Tags = append(f.Tags, t)
			}
		}
		switch {
		case whole || len(p.Facts.Columns) == 0:
		case p.Rank != RankReader:
			f.Columns, whole = slices.Clone(p.Facts.Columns), true
		default:
			for _, c := range p.Facts.Columns {
				if k := strings.ToLower(c.Path); !columns[k] {
					columns[k] = true
					f.Columns = append(f.Columns, c)
				}
			}
		}
	}
	slices.SortStableFunc(f.Columns, func(a, b Field) int {
		return cmp.Or(cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.Path, b.Path))
	})
	slices.SortFunc(f.Tags, func(a, b Tag) int {
		return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(a.Name, b.Name))
	})
	return f, updated
}

// makeNode makes the node of id from what was merged: defaults, and the column
// where id is one. named are the columns that flows name. It returns false for
// a column that neither they nor the schema name, and for a hub.
func makeNode(id ID, name Name, f Facts, named []NamedRow) (Node, bool) {
	if f.Display != "" {
		name.Name = f.Display
	}
	n := Node{ID: id, Name: name, Facts: f}
	if name.Kind == DataStoreKind {
		n.Facts.Kind = cmp.Or(f.Kind, defaultKind(name.Namespace))
		n.Facts.Platform = cmp.Or(f.Platform, defaultPlatform(name.Namespace))
	}
	have := map[ID]bool{}
	for _, c := range f.Columns {
		have[id.Column(c.Path)] = true
	}
	for _, r := range named {
		if cid := r.Column.WithBase(id); !have[cid] {
			have[cid] = true
			n.Facts.Columns = append(n.Facts.Columns, Field{Path: r.Display})
		}
	}
	if !id.IsColumn() {
		return n, !id.IsHub()
	}
	for _, c := range n.Facts.Columns {
		if id.Column(c.Path) == id {
			n.Column = &c
			break
		}
	}
	if n.Column == nil {
		return n, false
	}
	n.Name.Column = n.Column.Path
	n.Facts.Description = n.Column.Description
	n.Facts.Columns = nil
	n.Facts.Tags = slices.DeleteFunc(slices.Clone(f.Tags), func(t Tag) bool {
		return t.Column == "" || id.Column(t.Column) != id
	})
	return n, true
}

// defaultKind guesses the kind of a data store from its namespace, where no
// producer has said it.
func defaultKind(namespace string) string {
	switch defaultPlatform(namespace) {
	case "kafka", "pulsar", "kinesis", "rabbitmq", "pubsub":
		return "TOPIC"
	case "s3", "s3a", "gs", "hdfs", "file", "abfss", "abfs", "wasbs", "dbfs", "oss", "cos", "obs":
		return "FILE"
	case "redis":
		return "KEY_VALUE"
	case "http", "https":
		return "API"
	}
	return "TABLE"
}

// defaultPlatform is the scheme of a namespace, or empty.
func defaultPlatform(namespace string) string {
	if strings.HasPrefix(namespace, "arn:aws:glue") {
		return "glue"
	}
	scheme, _, ok := strings.Cut(namespace, ":")
	switch {
	case ok && len(scheme) < 20 && !strings.ContainsAny(scheme, "/ ."):
		return strings.ToLower(scheme)
	case namespace == "file":
		return "file"
	}
	return ""
}

// DeletedAt returns when the subject was deleted, where the newest that the
// record holds is that; otherwise 0.
func (r *Record) DeletedAt() int64 {
	for i := len(r.Runs) - 1; i >= 0; i-- {
		if r.Runs[i].effective() {
			if r.Runs[i].Deletes {
				return r.Runs[i].Start
			}
			return 0
		}
	}
	return 0
}
