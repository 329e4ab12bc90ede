package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"opcycle/bench"
	"opcycle/run"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
)

// metrics serves a run under way to Prometheus. It lives in the conductor, on the
// housekeeping CPUs, and answers from the copy that the conductor makes once a second: a
// scrape never reaches into what is measured.
type metrics struct {
	server *http.Server
	last   atomic.Pointer[bench.Live]
}

// metricsFlag declares --metrics.
func metricsFlag(cmd *cobra.Command) *string {
	at := cmd.Flags().String("metrics", "", "serve the run under way to Prometheus at [host]:port/metrics, from a housekeeping CPU; alone: "+metricsPort+", on every address")
	cmd.Flags().Lookup("metrics").NoOptDefVal = metricsPort
	return at
}

// metricsPort is in the range that Prometheus' exporters use by custom.
const metricsPort = ":9464"

// listenMetrics serves at addr until close, and says where; nil with an empty one.
func listenMetrics(addr string, plan bench.Plan, stderr io.Writer) (*metrics, error) {
	if addr == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--metrics %q: %w; write host:port or :port of a free port, as :9464", addr, err)
	}
	fmt.Fprintf(stderr, "metrics  http://%s/metrics\n", l.Addr())
	m := &metrics{}
	registry := prometheus.NewRegistry()
	registry.MustRegister(newExposition(plan, m.last.Load))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 5 * time.Second}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "opcycle: metrics of the run under way are at /metrics\n")
	})
	m.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go func() { _ = m.server.Serve(l) }() // returns when close is called
	return m, nil
}

// watch is what the metrics want to see of a run; nil without metrics.
func (m *metrics) watch(plan bench.Plan) *run.Watch {
	if m == nil {
		return nil
	}
	return &run.Watch{Series: exposedSeries(), Bounds: exposedBounds(int64(plan.Task.Interval)), See: m.last.Store}
}

// close lets scrapes under way end, for a second at most.
func (m *metrics) close() {
	if m == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if m.server.Shutdown(ctx) != nil {
		_ = m.server.Close() // the process ends, and its sockets with it
	}
}
