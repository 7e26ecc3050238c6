package app_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/app"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/service"
	"github.com/shortline/shortline/shared/service/servicetest"
)

// The parts of a control plane start and stop 100 times, at times in the middle of their start, half of the times with
// all roles. Nothing is left of any.
func TestArch3_a_control_plane_starts_and_stops_100_times(t *testing.T) {
	servicetest.NoLeaks(t)
	dir := t.TempDir()
	quiet := slog.New(slog.DiscardHandler)
	rounds := 100
	if testing.Short() { // under the race detector 100 take a minute
		rounds = 20
	}
	for round := range rounds {
		st, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + filepath.Join(dir, "links"), Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		roles := app.AllRoles
		if round%2 == 1 {
			roles = app.Roles{Publish: true}
		}
		clicks := analytics.NewLate()
		secret := config.Secret(strings.Repeat("s", 32))
		control, err := app.New(t.Context(), app.Config{
			Settings: app.Settings{
				BaseURL: "https://sho.rt", JWTSecret: secret, EncryptionKey: secret, JWTTTL: time.Hour, AdminEmail: "admin@example.com",
				AdminPassword: "the-admin-of-this-test", RoutingTimezone: "UTC", Webhooks: webhooks.Settings{},
			},
			Roles: roles, Direct: roles == app.AllRoles, DataDir: dir,
		}, app.Deps{Store: st, Clicks: clicks, Opened: clicks.Opened(), Registry: prometheus.NewRegistry(), Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
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
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
