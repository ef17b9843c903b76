// Package bench measures what headwater promises, on the machine that it runs
// on: each figure with what it is compared with, in the same run.
//
//	bench.go     the figures, and how they are told
//	platform.go  stores of generated platforms
//	client.go    clients of a server
//	walk.go      closure walks, and the memory of the flows
//	csr.go       the bare search that walks are compared with
//	answers.go   GraphQL answers a second
//	intake.go    events a second
//	reopen.go    how long opening takes
//	growth.go    the same answers as the platform grows; a hub
//	postgres.go  the same questions to PostgreSQL
//	debian.go    a graph that nobody generated
//	writers.go   questions while others write
//	split.go     a platform that is split over regions; kept answers
//	cluster.go   regions and gateways, and a distance between them
//	fresh.go     how soon events are seen
//	replay.go    a day of changes
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"headwater/graph/pebble"
)

// Options say what is measured. What serves is needed; the rest has defaults.
type Options struct {
	// Serve opens a server on a folder, with the graph in its folder graph.
	// Keep: it keeps answers to give them again.
	Serve func(dir string, keep bool) (*Server, error)
	// ServeRegion opens a server on a folder as one of many regions, and
	// ServeGateways three gateways over regions by their addresses, to whom the
	// namespaces belong that end in -REGION, and which keep what they know in a
	// folder; it returns when they are followed.
	ServeRegion   func(dir, name string) (*Server, error)
	ServeGateways func(dir string, regions map[string]string, namespaces []string, keep bool) (*Cluster, error)
	// Tasks is the size of the platform. Default: 100,000.
	Tasks int
	// Sizes are those of the platforms of growth. Default: 10,000 and 100,000.
	Sizes []int
	// Hub is how many flows the hub has. Default: 1,000,000.
	Hub int
	// Runs is how often each figure is taken; the median is told. Default: 5.
	Runs int
	// Seconds is how long what is told by the second runs. Default: 3.
	Seconds int
	// Dir is where the platforms are kept. Default: a folder that is removed.
	Dir string
	// Inputs is a folder with graphs/debian-bookworm; where it is not there,
	// that part is left out.
	Inputs string
	// Out takes the figures, Log the progress.
	Out, Log io.Writer
}

func (o *Options) defaults() {
	o.Tasks, o.Runs, o.Seconds, o.Hub = cmp.Or(o.Tasks, 100_000), cmp.Or(o.Runs, 5), cmp.Or(o.Seconds, 3), cmp.Or(o.Hub, 1_000_000)
	if len(o.Sizes) == 0 {
		o.Sizes = []int{10_000, 100_000}
	}
}

// A Server is a running server and what it stands on.
type Server struct {
	URL   string
	Store *pebble.Store
	// Syncs counts the syncs of the log, Waiting the events of it that are not
	// applied.
	Syncs, Waiting func() uint64
	Stop           func() error
}

// A figure is one thing that can be measured.
type figure struct {
	name, short string
	measure     func(*run, context.Context) error
}

// figures lists them in the order in which they are measured.
var figures = []figure{
	{"walk", "closure walks, compared with a bare search over the same flows", (*run).walk},
	{"memory", "bytes of the flows in memory, by flow and by node", (*run).memory},
	{"answers", "GraphQL answers a second over HTTP, and the slowest of them", (*run).answers},
	{"intake", "events a second, new and unchanged, and syncs", (*run).intake},
	{"reopen", "opening, compared with reading all rows", (*run).reopen},
	{"growth", "the same answers as the platform grows", (*run).growth},
	{"hub", "a data store that very many read", (*run).hub},
	{"writers", "questions while tasks change, compared with none changing", (*run).writers},
	{"regions", "a platform split over three regions, compared with one store", (*run).regions},
	{"cached", "answers over regions that are given again, compared with such that are made anew", (*run).cached},
	{"freshness", "how soon an event is seen at every gateway", (*run).freshness},
	{"replay", "a day of changed tasks over regions, 100 times as fast: a quarter of an hour", (*run).replay},
	{"postgres", "the same questions to PostgreSQL (started for it; installed by apt)", (*run).postgres},
}

// asked are the figures that are measured only where they are named: what they
// need is not always there, or they take long.
var asked = []string{"replay", "postgres"}

// Names lists the figures with a line about each.
func Names() [][2]string {
	var names [][2]string
	for _, f := range figures {
		names = append(names, [2]string{f.name, f.short})
	}
	return names
}

// ErrShort is returned when a figure falls short of what is promised.
var ErrShort = errors.New("a figure falls short")

// Run measures the figures of these names; none is all but those
// of which it has to be asked.
func Run(ctx context.Context, o Options, names ...string) (err error) {
	o.defaults()
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "headwater-bench-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	}
	for _, n := range names {
		if !slices.ContainsFunc(figures, func(f figure) bool { return f.name == n }) {
			return fmt.Errorf("%q is not a figure", n)
		}
	}
	r := &run{Options: o}
	for _, f := range figures {
		if len(names) == 0 && slices.Contains(asked, f.name) || len(names) > 0 && !slices.Contains(names, f.name) {
			continue
		}
		fmt.Fprintf(o.Out, "%s: %s\n", f.name, f.short)
		if err := f.measure(r, ctx); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if r.short > 0 {
		return fmt.Errorf("%d of %d: %w", r.short, r.told, ErrShort)
	}
	return nil
}

// A run is one run of Run.
type run struct {
	Options
	told, short int
}

// tell writes a figure that is only told.
func (r *run) tell(format string, args ...any) {
	fmt.Fprintf(r.Out, "  %s\n", fmt.Sprintf(format, args...))
}

// hold writes a figure and whether it is within its bound.
func (r *run) hold(ok bool, bound, format string, args ...any) {
	verdict := "holds"
	r.told++
	if !ok {
		r.short++
		verdict = "FALLS SHORT"
	}
	fmt.Fprintf(r.Out, "  %s; %s: %s\n", fmt.Sprintf(format, args...), bound, verdict)
}

func (r *run) log(format string, args ...any) {
	fmt.Fprintf(r.Log, "%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

func (r *run) path(parts ...string) string {
	return filepath.Join(append([]string{r.Dir}, parts...)...)
}

// median returns the middle one.
func median[T cmp.Ordered](all []T) T {
	s := slices.Clone(all)
	slices.Sort(s)
	return s[len(s)/2]
}

// percentile returns the value below which a share of all lie.
func percentile[T cmp.Ordered](all []T, share float64) T {
	s := slices.Clone(all)
	slices.Sort(s)
	return s[min(len(s)-1, int(float64(len(s))*share))]
}

// spread lists values with their median first.
func spread(all []float64, format string) string {
	var each []string
	for _, v := range all {
		each = append(each, fmt.Sprintf(format, v))
	}
	return fmt.Sprintf(format+" (%s)", median(all), strings.Join(each, " "))
}

// trim writes a bound.
func trim(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
