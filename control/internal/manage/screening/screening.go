// Package screening decides whether links may lead to a destination: it keeps the list of blocked hosts, and asks the
// operator's check service.
//
// The list is read from a file or an address and stays in use when a later reading fails. Until it was read for the first
// time, no host is blocked. The check service gets one request per destination. While it cannot be reached, destinations
// are allowed, unless the settings require the check.
//
// Package links applies both when a link is created or changed. Package abuse applies them to all links later.
package screening

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/metric"
)

// Settings of the service.
type Settings struct {
	Blocked  string        `env:"BLOCKED_DESTINATIONS" help:"file or http(s) address of a list of hosts, one per line, to which links must not lead, nor to their subdomains; read again when it changes"`
	CheckURL string        `env:"DESTINATION_CHECK_URL" help:"address of a service that is asked about every destination of a link, when it is set and once a day"`
	Token    config.Secret `env:"DESTINATION_CHECK_TOKEN" help:"bearer token that is sent to DESTINATION_CHECK_URL; empty sends none"`
	Required bool          `env:"DESTINATION_CHECK_REQUIRED" envDefault:"false" help:"refuse destinations with 503 while DESTINATION_CHECK_URL gives no answer; false allows them"`
	Timeout  time.Duration `env:"DESTINATION_CHECK_TIMEOUT" envDefault:"2s" help:"how long to wait for an answer of DESTINATION_CHECK_URL, at most 8s"`
	Rate     int           `env:"DESTINATION_CHECK_RATE" envDefault:"20" help:"destinations per second for which the daily check asks DESTINATION_CHECK_URL"`
}

// maxTimeout leaves time to answer a request within the API's own limit.
const maxTimeout = 8 * time.Second

// Validate reports every problem.
func (s *Settings) Validate() error {
	var problems []error
	if strings.Contains(s.Blocked, "://") && !isAddress(s.Blocked) {
		problems = append(problems, errors.New("BLOCKED_DESTINATIONS: must be a file or an http(s) address"))
	}
	if s.CheckURL != "" && !isAddress(s.CheckURL) {
		problems = append(problems, errors.New("DESTINATION_CHECK_URL: must be an http(s) address"))
	}
	if strings.ContainsAny(s.Token.Reveal(), " \t\r\n") {
		problems = append(problems, errors.New("DESTINATION_CHECK_TOKEN: must not contain spaces"))
	}
	if s.Required && s.CheckURL == "" {
		problems = append(problems, errors.New("DESTINATION_CHECK_REQUIRED: needs DESTINATION_CHECK_URL"))
	}
	if s.Timeout < 0 || s.Timeout > maxTimeout {
		problems = append(problems, fmt.Errorf("DESTINATION_CHECK_TIMEOUT: must be at most %v", maxTimeout))
	}
	if s.Rate < 0 || s.Rate > 10_000 {
		problems = append(problems, errors.New("DESTINATION_CHECK_RATE: must be 1 to 10000"))
	}
	return errors.Join(problems...)
}

func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// Config configures New.
type Config struct {
	Settings
	// Logger is nil for slog.Default().
	Logger *slog.Logger
	// Every is how often a list at an address is read again; 0 means 5 minutes. A file is looked at 30 times as often.
	Every time.Duration
}

// Service is safe for concurrent use. Its list is empty until Run or Reload has read it.
type Service struct {
	job.Group
	metric.Set // makes it a prometheus.Collector

	cfg   Config
	http  *outbound.Client // for the check service
	lists *outbound.Client // for the list
	hosts atomic.Pointer[Hosts]

	loading sync.Mutex
	seen    seen

	answers [3]atomic.Uint64 // of the check service, by Verdict

	broken broken
}

// New returns a Service. It reads nothing yet. Addresses are set by the operator, so they may be private.
func New(cfg Config) *Service {
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	cfg.Timeout = cmp.Or(cfg.Timeout, 2*time.Second)
	cfg.Rate = cmp.Or(cfg.Rate, 20)
	cfg.Every = cmp.Or(cfg.Every, 5*time.Minute)
	s := &Service{
		cfg:   cfg,
		http:  outbound.New(outbound.Policy{AllowPrivate: true, Timeout: cfg.Timeout}),
		lists: outbound.New(outbound.Policy{AllowPrivate: true, Timeout: time.Minute, MaxBody: maxListBytes + 1}),
	}
	s.Set = metric.Set{
		metric.Total("shortline_destination_checks_total", "Answers of the destination check service, by verdict.", s.answers[Allowed].Load,
			"verdict", "allow"),
		metric.Total("shortline_destination_checks_total", "Answers of the destination check service, by verdict.", s.answers[Blocked].Load,
			"verdict", "block"),
		metric.Total("shortline_destination_checks_total", "Answers of the destination check service, by verdict.", s.answers[Unknown].Load,
			"verdict", "error"),
	}
	if cfg.Blocked != "" {
		every := cfg.Every
		if !isAddress(cfg.Blocked) {
			every /= 30
		}
		s.Group = job.Group{{Name: "blocked_destinations", Every: every, Do: s.Reload, Logger: cfg.Logger}}
	}
	return s
}

// Hosts returns the present list; nil if none is set or it was not read yet.
func (s *Service) Hosts() *Hosts { return s.hosts.Load() }

// ListKnown reports whether Hosts is what the operator wants: the list was read, or there is none.
func (s *Service) ListKnown() bool { return s.cfg.Blocked == "" || s.Hosts() != nil }

// Asks reports whether there is a check service.
func (s *Service) Asks() bool { return s.cfg.CheckURL != "" }

// Rate is the number of questions per second to the check service for the check of all destinations.
func (s *Service) Rate() int { return s.cfg.Rate }

// Blocks reports whether the list blocks a host, for link.Policy.
func (s *Service) Blocks(host string) bool { return s.Hosts().Match(host) != "" }

// Run keeps the list up to date until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	defer s.http.HTTP().CloseIdleConnections()
	return s.Group.Run(ctx)
}
