package service

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are what a service counts and measures, for Prometheus. A label has the
// values that it was made with and takes no others, so none can name a user.
type Metrics struct {
	prefix   string
	registry *prometheus.Registry
}

// NewMetrics returns an empty set whose names all begin with the prefix.
func NewMetrics(prefix string) *Metrics { return &Metrics{prefix + "_", prometheus.NewRegistry()} }

// WithProcess adds what the Go runtime and the operating system say of the process: memory
// and processor time. They tell how much a process has to do, so that they are not for one
// that reads private data.
func (m *Metrics) WithProcess() *Metrics {
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Counter adds a number that grows.
func (m *Metrics) Counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: m.prefix + name, Help: help})
	m.registry.MustRegister(c)
	return c
}

// Counters adds a number for each value of a label. Asking the result for another
// value gives nil.
func (m *Metrics) Counters(name, help, label string, values ...string) map[string]prometheus.Counter {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.prefix + name, Help: help}, []string{label})
	m.registry.MustRegister(v)
	out := map[string]prometheus.Counter{}
	for _, value := range values {
		out[value] = v.WithLabelValues(value)
	}
	return out
}

// Gauge adds a number that goes up and down.
func (m *Metrics) Gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: m.prefix + name, Help: help})
	m.registry.MustRegister(g)
	return g
}

// GaugeFunc adds a number that is asked for when somebody reads it.
func (m *Metrics) GaugeFunc(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.prefix + name, Help: help}, value))
}

// GaugeOf is GaugeFunc, of one value of each label; all of a name have the same labels.
func (m *Metrics) GaugeOf(name, help string, labels map[string]string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.prefix + name, Help: help, ConstLabels: labels}, value))
}

// Histogram adds a distribution with the upper ends of its buckets.
func (m *Metrics) Histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: m.prefix + name, Help: help, Buckets: buckets})
	m.registry.MustRegister(h)
	return h
}

// Handler serves them as text.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
