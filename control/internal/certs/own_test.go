package certs_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shortline/shortline/control/internal/certs"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The log has the reason, also for a name that is never ordered.
func TestA7_Run_logs_refused_names(t *testing.T) {
	t.Parallel()
	var log testkit.Buffer
	s, err := certs.New(certs.Config{
		Settings: certs.Settings{Key: key, Email: "operator@example.com"}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Refused: map[string]error{"sho.example": context.DeadlineExceeded},
	}, storetest.Open(t))
	testkit.Must(t, err)
	testkit.Run(t, s.Run)
	testkit.Eventually(t, "the reason in the log", func() bool {
		text := log.String()
		return strings.Contains(text, "sho.example") && strings.Contains(text, context.DeadlineExceeded.Error())
	})
}

// An installation that never gets a certificate shows in a metric, although no certificate ends.
func TestA7_missing_certificates_are_counted(t *testing.T) {
	t.Parallel()
	storetest.EachInProof(t, missingAreCounted)
}

func missingAreCounted(t *testing.T, st *store.Store) {
	w := newShifted(t, st, 0, func(c *certs.Config) {
		c.Names, c.Refused = []string{"sho.rt"}, map[string]error{"sho.example": context.DeadlineExceeded}
	})
	w.broken = func(string) bool { return true }
	w.domains("go%d.example.com", 2, true)
	w.domains("elsewhere%d.example.com", 3, false)
	missing := func(service, domain int) {
		t.Helper()
		w.do(w.Count)
		registry := prometheus.NewRegistry()
		testkit.Must(t, registry.Register(w.Service))
		want := fmt.Sprintf(`# HELP shortline_certificates_missing Host names without a certificate although orders are enabled: of the service, or of custom domains whose DNS records lead to edges.
# TYPE shortline_certificates_missing gauge
shortline_certificates_missing{of="domain"} %d
shortline_certificates_missing{of="service"} %d
`, domain, service)
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "shortline_certificates_missing"); err != nil {
			t.Error(err)
		}
	}
	missing(2, 2)
	w.do(w.Step)
	missing(2, 2)
	w.clock = w.clock.Add(48 * time.Hour)
	w.broken = func(string) bool { return false }
	w.do(w.Step)
	missing(1, 0)
}
