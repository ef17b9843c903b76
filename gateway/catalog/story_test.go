package catalog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"headwater/graph"
)

// TestStories tells what the catalog takes and refuses, as text:
//
//	do        a command a line: its kind and its JSON; what became of each
//	show      the rows of the state, without audit and receipts
//	audit     the trail, newest first
//	resolve   a name a line (region namespace name); what it stands for
//	suspects  a region and its namespaces a line
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		s := New()
		n := 0
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for _, l := range strings.Split(strings.TrimSpace(d.Input), "\n") {
				words := strings.Fields(l)
				switch d.Cmd {
				case "do":
					kind, with, _ := strings.Cut(l, " ")
					n++
					id, seen := fmt.Sprint("c", n), s.Seq()
					d.MaybeScanArgs(t, "id", &id)
					d.MaybeScanArgs(t, "seen", &seen)
					who := "ann"
					d.MaybeScanArgs(t, "who", &who)
					b, err := json.Marshal(wireCommand{id, seen, who, int64(n), kind, json.RawMessage(with)})
					if err != nil {
						return err.Error()
					}
					next, r, err := s.ApplyEncoded(append([]byte{codecVersion}, b...))
					s = next
					switch {
					case err != nil:
						fmt.Fprintln(&out, err)
					case r.Generation > 0:
						fmt.Fprintf(&out, "%v: generation %d\n", r, r.Generation)
					default:
						fmt.Fprintln(&out, r)
					}
				case "resolve":
					g := Name{words[0], words[1], words[2]}.Graph()
					fmt.Fprint(&out, s.Resolve(g))
					if table, ok := s.TableOf(g); ok {
						fmt.Fprintf(&out, ", of %s", table.Name)
					}
					fmt.Fprintln(&out)
				case "hidden":
					f, ok := s.Hidden(graph.Name{Kind: graph.DataStoreKind, Namespace: words[0], Name: words[1]}, words[2:])
					fmt.Fprintln(&out, ok, f.Reason)
				}
			}
			switch d.Cmd {
			case "show":
				for l := range strings.Lines(image(t, s)) {
					if strings.HasPrefix(l, `{"t":`) && !strings.HasPrefix(l, `{"t":"audit"`) && !strings.HasPrefix(l, `{"t":"receipt"`) {
						var row line
						if err := json.Unmarshal([]byte(l), &row); err != nil {
							t.Fatal(err)
						}
						fmt.Fprintln(&out, row.T, string(row.V))
					}
				}
			case "audit":
				for e := range s.Audit() {
					fmt.Fprintf(&out, "%d at %d %s: %s %s\n  was %s\n  now %s\n", e.Version, e.At, e.Who, e.What, e.Of, e.Before, e.After)
				}
			case "suspects":
				reported := map[string][]string{}
				for _, l := range strings.Split(strings.TrimSpace(d.Input), "\n") {
					words := strings.Fields(l)
					reported[words[0]] = words[1:]
				}
				for _, x := range s.Suspects(reported) {
					fmt.Fprintln(&out, x.Namespace, x.Regions)
				}
			}
			return out.String()
		})
	})
}
