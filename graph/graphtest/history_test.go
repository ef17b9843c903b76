package graphtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"headwater/graph"
)

// What was answered at a time is what asOf answers for it later. Aliases and
// names are today's, so the world of this test has none that change; its runs
// report once, since a run counts from its start on.
func TestAsOfGivesWhatWasAnsweredThen(t *testing.T) {
	ctx := context.Background()
	compared := 0
	for seed := range uint64(2) {
		r := NewRandom(4000 + seed)
		m := NewModel("local")
		type moment struct {
			at      time.Time
			answers []string
		}
		var past []moment
		roots := r.World()
		answers := func(at graph.At) []string {
			v, err := m.View(ctx, at)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = v.Close() }()
			var texts []string
			for i, id := range roots {
				if i%3 != 0 {
					continue
				}
				for _, g := range []graph.Granularity{graph.DataStores, graph.Columns, graph.Processes} {
					text, err := lineageText(ctx, v, graph.Question{Root: id, Direction: graph.Both, Granularity: g, Depth: 2})
					if err != nil {
						t.Fatal(err)
					}
					texts = append(texts, fmt.Sprintf("%s %d\n%s", id, g, text))
				}
				_, err := v.Nodes(ctx, []graph.ID{id}, graph.WantColumns, func(n graph.Node) error {
					if n.Updated == 0 {
						// A view of the past knows all names, of nodes that
						// were to come too; it has nothing to say of them.
						return nil
					}
					column := n.Column
					n.Column = nil
					texts = append(texts, fmt.Sprintf("%+v %+v", n, column))
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			return texts
		}
		for i := range 60 {
			d := r.Delta()
			d.Seen = nil
			if d.Run != "" {
				d.Run, d.State = fmt.Sprint("run-", i), graph.Completed
			}
			d.Time = r.Now + int64(i)*int64(time.Minute)
			for _, list := range [][]graph.Dataset{d.Says.Reads, d.Says.Writes} {
				for j := range list {
					list[j].Aliases = nil
					if list[j].Lifecycle == graph.LifecycleRename {
						list[j].Lifecycle, list[j].RenamedFrom = "", graph.Name{}
					}
				}
			}
			Feed(t, m, d)
			past = append(past, moment{time.Unix(0, d.Time), answers(graph.At{})})
		}
		for i, p := range past {
			got := answers(graph.At{AsOf: p.at})
			compared += len(got)
			if !slices.Equal(got, p.answers) {
				t.Fatalf("seed %d, as of delta %d (-then +asOf):\n%s", seed, i, cmp.Diff(strings.Split(strings.Join(p.answers, "\n"), "\n"), strings.Split(strings.Join(got, "\n"), "\n")))
			}
		}
	}
	t.Logf("%d answers compared", compared)
}
