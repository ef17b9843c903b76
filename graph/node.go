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

// nodeFacts are what is known of a data store or process, and of all its columns.
// They are never changed once they are complete, and shared.
type nodeFacts struct {
	base             ID
	stamp            uint64 // of what they were learnt from
	name             Name
	aliases          []Name
	facts            Facts
	updated, deleted int64
	// columns are the schema, by position and path, then what only flows name.
	columns []Field
	at      map[uint64]int32 // where in columns, by the tail of the id
	tags    map[uint64][]Tag // of columns
}

// complete fills in defaults, and the columns that flows name.
func (k *nodeFacts) complete(named []NamedRow) {
	if k.facts.Display != "" {
		k.name.Name = k.facts.Display
	}
	if k.name.Kind != DataStoreKind {
		return
	}
	k.facts.Kind = cmp.Or(k.facts.Kind, defaultKind(k.name.Namespace))
	k.facts.Platform = cmp.Or(k.facts.Platform, defaultPlatform(k.name.Namespace))
	k.columns = slices.Clip(k.facts.Columns)
	k.at = make(map[uint64]int32, len(k.columns)+len(named))
	for i := range k.columns {
		if tail := k.base.Column(k.columns[i].Path).tail(); !k.has(tail) {
			k.at[tail] = int32(i)
		}
	}
	for _, r := range named {
		if tail := r.Column.tail(); !k.has(tail) {
			k.at[tail] = int32(len(k.columns))
			k.columns = append(k.columns, Field{Path: r.Display})
		}
	}
	for _, t := range k.facts.Tags {
		if t.Column != "" {
			if k.tags == nil {
				k.tags = map[uint64][]Tag{}
			}
			tail := k.base.Column(t.Column).tail()
			k.tags[tail] = append(k.tags[tail], t)
		}
	}
}

func (k *nodeFacts) has(tail uint64) bool {
	_, ok := k.at[tail]
	return ok
}

// node returns the node itself, or that of one of its columns; false for a
// column that neither flows nor the schema name, and for a hub.
func (k *nodeFacts) node(id ID, want Want) (Node, bool) {
	n := Node{ID: id, Name: k.name, Facts: k.facts, Updated: k.updated, Deleted: k.deleted}
	if !id.IsColumn() {
		n.Aliases = k.aliases
		if want&WantColumns != 0 {
			n.Facts.Columns = k.columns
		}
		return n, !id.IsHub()
	}
	i, ok := k.at[id.tail()]
	if !ok {
		return n, false
	}
	n.Column = &k.columns[i]
	n.Name.Column = n.Column.Path
	n.Facts.Description = n.Column.Description
	n.Facts.Columns = nil
	n.Facts.Tags = k.tags[id.tail()]
	return n, true
}

// size is about how much memory it takes, in bytes.
func (k *nodeFacts) size() int {
	size := 512 + len(k.name.Namespace) + len(k.name.Name) + len(k.facts.Description) + len(k.facts.URL)
	for i := range k.columns {
		c := &k.columns[i]
		size += 80 + len(c.Path) + len(c.Type) + len(c.Description)
	}
	for _, a := range k.aliases {
		size += 80 + len(a.Namespace) + len(a.Name)
	}
	for _, t := range k.facts.Tags {
		size += 100 + len(t.Name) + len(t.Value) + len(t.Column)
	}
	for _, o := range k.facts.Owners {
		size += 16 + len(o)
	}
	return size
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
