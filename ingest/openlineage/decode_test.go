package openlineage

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"headwater/graph"
	"headwater/ingest"
)

// received is when the messages of the stories arrive.
var received = time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)

func decode(body string) ingest.Decoded {
	return Decode(ingest.Message{Body: []byte(body), Region: "eu", Received: received})
}

// TestEventsDecodeAsTheStoriesTell runs testdata/*.txt: each story is what it
// shows, an event, and what is made of it.
func TestEventsDecodeAsTheStoriesTell(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			first := decode(d.Input)
			if again := decode(d.Input); !reflect.DeepEqual(first, again) {
				d.Fatalf(t, "decoded again it differs:\n%s\n%s", describe(first), describe(again))
			}
			return describe(first)
		})
	})
}

// describe writes what was decoded as text; what is empty is left out.
func describe(d ingest.Decoded) string {
	var b strings.Builder
	if d.Fatal() {
		b.WriteString("refused\n")
	}
	for _, delta := range d.Deltas {
		describeDelta(&b, &delta)
	}
	if d.Clamped > 0 {
		fmt.Fprintf(&b, "clamped %d\n", d.Clamped)
	}
	for _, r := range d.Rejected {
		fmt.Fprintf(&b, "rejected %s @%d: %s\n", r.Path, r.Offset, r.Reason)
	}
	return b.String()
}

func describeDelta(b *strings.Builder, d *graph.Delta) {
	fmt.Fprintf(b, "%s %s %s", d.Subject.Kind, name(d.Subject), d.State)
	if d.Run != "" {
		fmt.Fprintf(b, " run=%s", d.Run)
	}
	fmt.Fprintf(b, " %s\n", time.Unix(0, d.Time).UTC().Format(time.RFC3339Nano))
	c := &d.Says
	describeFacts(b, "  ", &c.Facts)
	if c.Streaming {
		b.WriteString("  streaming\n")
	}
	if !c.Parent.IsZero() {
		fmt.Fprintf(b, "  parent %s\n", name(c.Parent))
	}
	if c.SQL != "" {
		fmt.Fprintf(b, "  sql %q %s\n", c.SQL, c.Dialect)
	}
	for _, list := range []struct {
		verb string
		of   []graph.Dataset
	}{{"reads", c.Reads}, {"writes", c.Writes}} {
		for i := range list.of {
			fmt.Fprintf(b, "  %s %s\n", list.verb, name(list.of[i].Name))
			describeDataset(b, &list.of[i])
		}
	}
	for _, f := range c.Processes {
		fmt.Fprintf(b, "  flow %s -> %s %s\n", name(f.From), name(f.To), f.Kinds)
	}
	for _, s := range d.Seen {
		fmt.Fprintf(b, "  seen %s %s\n", name(s.Name), s.Facets)
		for _, p := range s.Partitions {
			fmt.Fprintf(b, "    partition %s\n", p)
		}
	}
}

func describeDataset(b *strings.Builder, d *graph.Dataset) {
	describeFacts(b, "    ", &d.Facts)
	for _, a := range d.Aliases {
		fmt.Fprintf(b, "    alias %s -> %s\n", name(a.From), name(a.To))
	}
	if d.Lifecycle != "" {
		fmt.Fprintf(b, "    lifecycle %s", d.Lifecycle)
		if !d.RenamedFrom.IsZero() {
			fmt.Fprintf(b, " from %s", name(d.RenamedFrom))
		}
		b.WriteString("\n")
	}
	l := d.Lineage
	if l == nil {
		return
	}
	b.WriteString("    lineage")
	if l.Complete {
		b.WriteString(", complete")
	}
	b.WriteString("\n")
	describeSources(b, "*", l.Inputs)
	for _, c := range l.Columns {
		describeSources(b, c.Column, c.Inputs)
		if len(c.Inputs) == 0 {
			fmt.Fprintf(b, "      %s <- nothing\n", c.Column)
		}
	}
}

func describeSources(b *strings.Builder, to string, list []graph.Source) {
	for _, s := range list {
		fmt.Fprintf(b, "      %s <- %s %s", to, name(s.Name), s.Kinds)
		if s.Masking {
			b.WriteString(" masking")
		}
		if s.Detail != "" {
			fmt.Fprintf(b, " detail %q", s.Detail)
		}
		if s.Expression != "" {
			fmt.Fprintf(b, " expression %q", s.Expression)
		}
		b.WriteString("\n")
	}
}

func describeFacts(b *strings.Builder, indent string, f *graph.Facts) {
	for _, p := range []struct{ name, value string }{{"kind", f.Kind}, {"platform", f.Platform}, {"url", f.URL}, {"description", f.Description}, {"display", f.Display}} {
		if p.value != "" {
			fmt.Fprintf(b, "%s%s %s\n", indent, p.name, p.value)
		}
	}
	if len(f.Owners) > 0 {
		fmt.Fprintf(b, "%sowners %s\n", indent, strings.Join(f.Owners, ", "))
	}
	for _, t := range f.Tags {
		fmt.Fprintf(b, "%stag %s=%s %s\n", indent, t.Name, t.Value, t.Column)
	}
	for _, c := range f.Columns {
		fmt.Fprintf(b, "%scolumn %d %s %s %s\n", indent, c.Ordinal, c.Path, c.Type, c.Description)
	}
	if len(f.Deleted) > 0 {
		fmt.Fprintf(b, "%sdeleted %s\n", indent, strings.Join(f.Deleted, ", "))
	}
}

// name shows that the region and the kind are what they have to be by leaving
// them out.
func name(n graph.Name) string {
	s := n.Namespace + " " + n.Name
	if n.Column != "" {
		s += "#" + n.Column
	}
	if n.Region != "eu" {
		s += " IN NO REGION"
	}
	return s
}
