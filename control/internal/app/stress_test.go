package app_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/app"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/service"
	"github.com/shortline/shortline/shared/service/servicetest"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The services of a control plane start and stop many times, sometimes in the middle of their start, half of the times with
// all roles. No goroutine is left.
func TestArch3_a_control_plane_starts_and_stops_many_times(t *testing.T) {
	servicetest.NoLeaks(t)
	dir := t.TempDir()
	quiet := slog.New(slog.DiscardHandler)
	for round := range testkit.Size(12, 100) { // a multiple of 3 and 4
		st, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + filepath.Join(dir, "links"), Logger: quiet})
		testkit.Must(t, err)
		secret := config.Secret(strings.Repeat("s", 32))
		cfg := app.Config{
			Settings: app.Settings{
				BaseURL: "https://sho.rt", JWTSecret: secret, EncryptionKey: secret, JWTTTL: time.Hour, AdminEmail: "admin@example.com",
				AdminPassword: "the-admin-of-this-test", RoutingTimezone: "UTC", Webhooks: webhooks.Settings{},
			},
			DataDir: dir,
		}
		control, err := start(t, round, cfg, app.Deps{Store: st, Registry: prometheus.NewRegistry(), Logger: quiet})
		testkit.Must(t, err)
		g := service.Group{Logger: quiet}
		control.AddTo(&g)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- g.Run(ctx) }()
		if round%3 > 0 {
			<-g.Ready()
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		control.Close()
		testkit.Must(t, st.Close())
	}
}

// control is a Standalone or a Fleet.
type control interface {
	AddTo(g *service.Group)
	Close()
}

// start makes a standalone, a process of a fleet with all roles, and one that only publishes, in turn.
func start(t *testing.T, round int, cfg app.Config, deps app.Deps) (control, error) {
	clicks := analytics.NewLate()
	objects, err := object.Open(object.S3Config{}, cfg.DataDir)
	if err != nil {
		return nil, err
	}
	if round%4 == 0 {
		return app.NewStandalone(t.Context(), cfg, deps, clicks, objects, 0, nil)
	}
	f, err := app.NewFleet(cfg, deps)
	if err != nil {
		return nil, err
	}
	_, publishErr := f.Publish(snapshot.SigningKey{})
	if round%2 == 1 {
		return f, publishErr
	}
	_, hooksErr := f.Webhooks()
	server, err := f.API(t.Context(), clicks, objects, nil)
	if err != nil {
		return nil, err
	}
	_, err = f.Ingest(app.Clicks{Store: clicks, Opened: clicks.Opened()}, 0, server)
	return f, errors.Join(publishErr, hooksErr, err)
}
