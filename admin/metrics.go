package admin

import (
	"log/slog"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tiergrid/tiergrid/membership/users"
)

// Bounds of /metrics.
const (
	maxScrapes    = 4
	scrapeTimeout = 20 * time.Second
)

// NewRegistry returns a registry with the metrics of the Go runtime and of the
// process (go_…, process_…) and the version of the build. The parts register
// collectors of their own, named tiergrid_….
func NewRegistry(version string) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "tiergrid_build_info",
			Help:        "Always 1; the labels tell the build.",
			ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
		}, func() float64 { return 1 }),
	)
	return r
}

// counts are the server's own metrics.
type counts struct {
	requests      *prometheus.CounterVec
	refusedLogins prometheus.Counter
	panics        prometheus.Counter
	front         []prometheus.Collector
}

func newCounts(f *front) *counts {
	return &counts{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tiergrid_http_requests_total", Help: "HTTP requests answered.",
		}, []string{"route", "code"}),
		refusedLogins: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tiergrid_http_refused_logins_total", Help: "HTTP requests refused for a missing or wrong login.",
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tiergrid_http_panics_total", Help: "Panics survived in HTTP requests.",
		}),
		front: frontMetrics(f),
	}
}

func frontMetrics(f *front) []prometheus.Collector {
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	counter := func(name, help string, value interface{ Load() int64 }) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(value.Load()) })
	}
	return []prometheus.Collector{
		gauge("tiergrid_http_connections", "HTTP connections open.", func() float64 { return float64(f.httpOpen.Load()) }),
		gauge("tiergrid_http_connections_max", "Limit of tiergrid_http_connections.", func() float64 { return float64(f.limits.Connections) }),
		gauge("tiergrid_http_undecided_connections", "Connections to the HTTP port that have said nothing yet.", func() float64 { return float64(f.undecidedLen()) }),
		gauge("tiergrid_http_undecided_connections_max", "Limit of tiergrid_http_undecided_connections.", func() float64 { return float64(f.limits.Undecided) }),
		counter("tiergrid_http_refused_connections_total", "Connections to the HTTP port closed because a limit was reached.", &f.refused),
		counter("tiergrid_http_silent_connections_total", "Connections to the HTTP port that ended without a first byte.", &f.silent),
		counter("tiergrid_http_resp_connections_total", "Connections to the HTTP port that turned out to be RESP.", &f.respTotal),
	}
}

func (c *counts) request(route string, status int) {
	c.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
}

func (c *counts) all() []prometheus.Collector {
	return append([]prometheus.Collector{c.requests, c.refusedLogins, c.panics}, c.front...)
}

// Describe makes the server a collector of its own metrics.
func (s *Server) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range s.counts.all() {
		c.Describe(ch)
	}
}

// Collect sends the server's own metrics.
func (s *Server) Collect(ch chan<- prometheus.Metric) {
	for _, c := range s.counts.all() {
		c.Collect(ch)
	}
}

// newScrape returns the handler of /metrics.
func newScrape(from prometheus.Gatherer, log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(from, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
		Timeout:             scrapeTimeout,
	})
}

func (s *Server) getMetrics(w http.ResponseWriter, r *http.Request, _ *users.User) error {
	s.scrape.ServeHTTP(w, r)
	return nil
}
