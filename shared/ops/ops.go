// Package ops is the operator's side of a process: the port with metrics, health and profiles, the logger, and the
// version of the build.
package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/shortline/shortline/shared/metric"
)

// These variables describe the build. deploy/dev/program sets them with -ldflags "-X …/shared/ops.Version=v1.2.3".
var (
	Version = "dev"
	Commit  = "" // the complete hash
	Date    = "" // of the commit, in RFC 3339, so that two builds of a commit are equal
)

// About describes the running build. Commit and Date are "" if the build was not told.
type About struct{ Version, Commit, Date, Go string }

// Running returns the description of this program.
func Running() About { return About{Version, Commit, Date, runtime.Version()} }

// Build returns the description in a line, for people.
func Build() string {
	a := Running()
	text := "shortline " + a.Version
	if a.Commit != "" {
		text += " " + a.Commit[:min(len(a.Commit), 12)]
	}
	if a.Date != "" {
		text += " of " + a.Date
	}
	return text + " (" + a.Go + ")"
}

// NewLogger returns the logger of the process. Format is json or text, level is debug, info, warn or error.
func NewLogger(w io.Writer, format, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("LOG_LEVEL: must be debug, info, warn or error")
	}
	opts := &slog.HandlerOptions{Level: l}
	switch strings.ToLower(format) {
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), nil
	}
	return nil, errors.New("LOG_FORMAT: must be json or text")
}

// Check is a condition of readiness. It returns nil if the condition holds.
type Check struct {
	Name  string
	Check func(context.Context) error
}

// Server is the operator's port: /metrics, /healthz (the process lives), /readyz (every check passes) and, if Profiles
// is set, /debug/pprof/. Its address must not be reachable from the Internet.
//
// It only answers requests whose host is an IP address, localhost, the name it listens on, or a name in Hosts. This
// prevents DNS rebinding: otherwise a web page could point its own name at the port and read the answers in an
// operator's browser.
type Server struct {
	Registry *prometheus.Registry

	// Hosts are further host names that requests may use, without ports. Set Hosts and Profiles before Run.
	Hosts    []string
	Profiles bool

	own    string // the host that it listens on, as configured
	log    *slog.Logger
	ln     net.Listener
	mu     sync.Mutex
	checks []Check
	extra  map[string]http.Handler
}

// Listen opens the port. If addr is "", the Server only holds the registry.
func Listen(addr string, log *slog.Logger) (*Server, error) {
	s := &Server{Registry: prometheus.NewRegistry(), log: log, extra: map[string]http.Handler{}}
	s.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	info := prometheus.NewGauge(prometheus.GaugeOpts{Name: "shortline_build_info",
		Help:        "Version, commit and Go version of the running build, as labels; always 1.",
		ConstLabels: prometheus.Labels{"version": Version, "commit": Commit, "goversion": runtime.Version()}})
	info.Set(1)
	s.Registry.MustRegister(info)
	s.Registry.MustRegister(metric.Gauge("shortline_memory_limit_bytes",
		"Memory that the process can use: the limit of its container or service, otherwise the memory of the host; 0 if it is unknown.",
		func() uint64 { return memoryLimit("/") }))
	if addr == "" {
		return s, nil
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on the operator's port: %w", err)
	}
	s.ln = ln
	s.own, _, _ = net.SplitHostPort(addr) // net.Listen has parsed it
	return s, nil
}

// Addr is the address that the Server listens on, or "".
func (s *Server) Addr() string {
	if s.ln == nil {
		return ""
	}
	return s.ln.Addr().String()
}

// AddCheck adds a condition for /readyz. Without any condition, the program is starting and not ready: requests may come before
// its parts have added theirs.
func (s *Server) AddCheck(name string, check func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checks = append(s.checks, Check{name, check})
}

// Handle adds a page. Call it before Run.
func (s *Server) Handle(path string, h http.Handler) { s.extra[path] = h }

// Run serves until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	if s.ln == nil {
		<-ctx.Done()
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(s.Registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	mux.HandleFunc("/readyz", s.ready)
	if s.Profiles {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	for path, h := range s.extra {
		mux.Handle(path, h)
	}
	srv := &http.Server{Handler: s.named(mux), ReadHeaderTimeout: 5 * time.Second,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn)}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(s.ln) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		srv.Close()
	}
	<-done
	return nil
}

// named refuses requests with a host name that is not allowed. See Server.
func (s *Server) named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		host = strings.TrimSuffix(strings.ToLower(host), ".")
		_, err := netip.ParseAddr(strings.Trim(host, "[]"))
		// Without a host in OPS_ADDR, the flag -healthy sends no host name. Browsers always send one.
		if err == nil || host == "" || host == "localhost" || strings.EqualFold(host, s.own) ||
			slices.ContainsFunc(s.Hosts, func(h string) bool {
				return strings.EqualFold(h, host)
			}) {
			next.ServeHTTP(w, r)
			return
		}
		http.Error(w, "use an IP address, localhost, or a name in OPS_HOSTS to reach this port", http.StatusMisdirectedRequest)
	})
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	s.mu.Lock()
	checks := append([]Check(nil), s.checks...)
	s.mu.Unlock()
	result, status := map[string]string{}, http.StatusOK
	if len(checks) == 0 {
		result["start"], status = "starting", http.StatusServiceUnavailable
	}
	for _, c := range checks {
		result[c.Name] = "ok"
		if err := c.Check(ctx); err != nil {
			result[c.Name], status = err.Error(), http.StatusServiceUnavailable
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(result)
}
