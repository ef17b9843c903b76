package main

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"headwater/graph/topology"
)

// metrics is what /metrics shows.
type metrics struct {
	registry *prometheus.Registry
	queries  *prometheus.HistogramVec
	failed   *prometheus.CounterVec
}

func newMetrics(s *server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		queries: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "headwater_query_seconds", Help: "How long fields of Query took to answer.",
			Buckets: prometheus.ExponentialBuckets(0.00002, 2.5, 16)}, []string{"field"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "headwater_query_errors_total", Help: "Fields of Query that answered an error."}, []string{"field"}),
	}
	counter := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
	}
	gauge := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	m.registry.MustRegister(m.queries, m.failed, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
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
	if a := s.answers; a != nil {
		counter("headwater_answers_given_again_total", "GraphQL answers that were kept and still held.", func() float64 { return float64(a.Hits.Load()) })
		counter("headwater_answers_outdated_total", "GraphQL answers that were kept and did not hold any more.", func() float64 { return float64(a.Stale.Load()) })
		counter("headwater_answers_not_kept_total", "GraphQL requests of which no answer was kept.", func() float64 { return float64(a.Misses.Load()) })
	}
	counter("headwater_store_reads_total", "Rows, and scans of rows, that queries read of the graph's disk or its cache.", func() float64 { return float64(s.store.Reads()) })
	flows := func(value func(topology.Stats) float64) func() float64 {
		return func() float64 {
			st, _ := s.store.FlowStats() // zero where they are read from disk
			return value(st)
		}
	}
	gauge("headwater_flows", "Flows that are kept in memory.", flows(func(st topology.Stats) float64 { return float64(st.Flows) }))
	gauge("headwater_flow_memory_bytes", "Memory of flows and of the numbers of nodes.", flows(func(st topology.Stats) float64 { return float64(st.FlowBytes + st.NodeBytes) }))
	return m
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
