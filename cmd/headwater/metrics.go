package main

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"headwater/gateway"
	"headwater/gateway/cache"
	"headwater/graph/nebula"
	"headwater/graph/topology"
)

// metrics is what /metrics shows.
type metrics struct {
	registry *prometheus.Registry
	queries  *prometheus.HistogramVec
	failed   *prometheus.CounterVec
}

// queryMetrics are those of the API, and of the process.
func queryMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		queries: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "headwater_query_seconds", Help: "How long fields of Query took to answer.",
			Buckets: prometheus.ExponentialBuckets(0.00002, 2.5, 16)}, []string{"field"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "headwater_query_errors_total", Help: "Fields of Query that answered an error."}, []string{"field"}),
	}
	m.registry.MustRegister(m.queries, m.failed, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) counter(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
}

func (m *metrics) gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// kept adds what becomes of answers that are kept.
func (m *metrics) kept(a *cache.Cache) {
	if a == nil {
		return
	}
	m.counter("headwater_answers_given_again_total", "GraphQL answers that were kept and still held.", func() float64 { return float64(a.Hits.Load()) })
	m.counter("headwater_answers_outdated_total", "GraphQL answers that were kept and did not hold any more.", func() float64 { return float64(a.Stale.Load()) })
	m.counter("headwater_answers_not_kept_total", "GraphQL requests of which no answer was kept.", func() float64 { return float64(a.Misses.Load()) })
}

// A regionsCollector tells how a gateway sees the regions.
type regionsCollector struct {
	gateway   *gateway.Gateway
	up, heard *prometheus.Desc
	positions *prometheus.Desc
}

func (c *regionsCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.up
	ch <- c.heard
	ch <- c.positions
}

func (c *regionsCollector) Collect(ch chan<- prometheus.Metric) {
	for _, r := range c.gateway.Followed() {
		up := 0.0
		if r.Err == nil && !r.Heard.IsZero() {
			up = 1
		}
		ch <- prometheus.MustNewConstMetric(c.up, prometheus.GaugeValue, up, r.Name)
		if !r.Heard.IsZero() {
			ch <- prometheus.MustNewConstMetric(c.heard, prometheus.GaugeValue, time.Since(r.Heard).Seconds(), r.Name)
		}
		ch <- prometheus.MustNewConstMetric(c.positions, prometheus.GaugeValue, float64(r.Mark.Position), r.Name)
	}
}

func newGatewayMetrics(g *gateway.Gateway, answers *cache.Cache) *metrics {
	m := queryMetrics()
	m.kept(answers)
	m.registry.MustRegister(&regionsCollector{g,
		prometheus.NewDesc("headwater_region_followed", "Whether a region's stream of changes is followed.", []string{"region"}, nil),
		prometheus.NewDesc("headwater_region_silence_seconds", "How long ago a region's stream was heard of.", []string{"region"}, nil),
		prometheus.NewDesc("headwater_region_position", "Entry of a region's log up to which it is known to have applied all.", []string{"region"}, nil)})
	m.gauge("headwater_border_names", "Names that stand for data stores of other regions, or for global tables.", func() float64 { return float64(g.Names().Len()) })
	m.gauge("headwater_catalog_version", "Changes that the catalog has seen.", func() float64 {
		state, _ := g.Catalog.Now()
		return float64(state.Version())
	})
	m.gauge("headwater_catalog_leads", "Whether this gateway leads.", func() float64 {
		if g.Catalog.Leads() {
			return 1
		}
		return 0
	})
	return m
}

func newMetrics(s *server) *metrics {
	m := queryMetrics()
	counter, gauge := m.counter, m.gauge
	st, in := &s.node.Stats, &s.intake.Stats
	counter("headwater_events_accepted_total", "Events acknowledged over HTTP.", func() float64 { return float64(in.Accepted.Load()) })
	counter("headwater_events_rejected_total", "Events answered with 400.", func() float64 { return float64(in.Rejected.Load()) })
	counter("headwater_events_refused_total", "Requests refused for load or space.", func() float64 { return float64(in.Refused.Load() + st.Refused.Load()) })
	counter("headwater_event_times_clamped_total", "Event times that lay too far ahead.", func() float64 { return float64(in.Clamped.Load()) })
	counter("headwater_changes_total", "Deltas that changed the graph.", func() float64 { return float64(st.Changes.Load()) })
	counter("headwater_touches_total", "Deltas that changed nothing but what was last seen.", func() float64 { return float64(st.Touches.Load()) })
	counter("headwater_dead_letters_total", "Deltas set aside because they could not be planned.", func() float64 { return float64(st.Dead.Load()) })
	counter("headwater_batches_total", "Batches applied.", func() float64 { return float64(st.Batches.Load()) })
	counter("headwater_log_syncs_total", "Syncs of the log.", func() float64 { return float64(s.queue.Syncs()) })
	gauge("headwater_log_position", "Newest entry of the log.", func() float64 { return float64(s.node.Status().Last) })
	gauge("headwater_applied_position", "Entry of the log up to which all is applied.", func() float64 { return float64(s.node.Status().Mark.Position) })
	gauge("headwater_revision", "Changes that readers could see.", func() float64 { return float64(s.node.Status().Mark.Revision) })
	gauge("headwater_apply_lag_seconds", "How long the oldest entry has waited to be applied.", func() float64 { return s.node.Status().Lag.Seconds() })
	gauge("headwater_store_bytes", "Disk that the graph takes.", func() float64 { return float64(s.store.DiskBytes()) })
	m.kept(s.answers)
	counter("headwater_store_reads_total", "Rows, and scans of rows, that queries read of the graph's disk or its cache.", func() float64 { return float64(s.store.Reads()) })
	flows := func(value func(topology.Stats) float64) func() float64 {
		return func() float64 {
			st, _ := s.store.FlowStats() // zero where they are read from disk
			return value(st)
		}
	}
	gauge("headwater_flows_in_memory", "Whether flows are kept in memory; if not, they are read from the store.", func() float64 {
		if _, ok := s.store.FlowStats(); ok {
			return 1
		}
		return 0
	})
	gauge("headwater_flows", "Flows that are kept in memory.", flows(func(st topology.Stats) float64 { return float64(st.Flows) }))
	gauge("headwater_flow_memory_bytes", "Memory of flows and of the numbers of nodes.", flows(func(st topology.Stats) float64 { return float64(st.FlowBytes + st.NodeBytes) }))
	m.far(s.far)
	return m
}

// far adds what is asked of NebulaGraph.
func (m *metrics) far(s *nebula.Store) {
	if s == nil {
		return
	}
	m.counter("headwater_nebula_statements_total", "Statements sent to NebulaGraph, those among them that were sent again.", func() float64 { return float64(s.Counts().Statements) })
	m.counter("headwater_nebula_rows_read_total", "Rows that NebulaGraph answered.", func() float64 { return float64(s.Counts().Rows) })
	m.counter("headwater_nebula_cache_hits_total", "Lists of flows that were at hand and not asked of NebulaGraph; there is no need of them where flows are in memory.", func() float64 { return float64(s.Counts().Hits) })
	m.counter("headwater_nebula_cache_misses_total", "Lists of flows that were asked of NebulaGraph.", func() float64 { return float64(s.Counts().Misses) })
}

func (m *metrics) observe(field string, d time.Duration, err error) {
	m.queries.WithLabelValues(field).Observe(d.Seconds())
	if err != nil {
		m.failed.WithLabelValues(field).Inc()
	}
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
