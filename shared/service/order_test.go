package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shortline/shortline/shared/service"
	"github.com/shortline/shortline/shared/service/servicetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// slow is a service that becomes ready some time after its start. It records when it starts, is ready, and stops.
func (j *journal) slow(name string, takes time.Duration) (service.Func, <-chan struct{}) {
	ready := make(chan struct{})
	return func(ctx context.Context) error {
		j.note("start " + name)
		select {
		case <-time.After(takes):
			j.note("ready " + name)
			close(ready)
		case <-ctx.Done():
		}
		<-ctx.Done()
		j.note("stop " + name)
		return nil
	}, ready
}

func (j *journal) now() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

// Earlier services need longer to become ready, so they become ready in reverse order unless the group waits for each.
func TestArch3_parts_start_in_order(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		var g service.Group
		var want []string
		for i := range 10 {
			name := fmt.Sprint(i)
			s, ready := j.slow(name, time.Duration(10-i)*time.Second)
			g.AddReady(name, s, ready)
			want = append(want, "start "+name, "ready "+name)
		}
		for i := range 10 {
			want = append(want, fmt.Sprint("stop ", 9-i))
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- g.Run(ctx) }()
		<-g.Ready()
		if got := j.now(); len(got) != 20 {
			t.Errorf("the group is ready after %v", got)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := j.now(); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// If a service fails or the group is stopped during the start, running services stop and later ones never start.
func TestArch3_a_start_that_is_cut_short(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		for name, second := range map[string]service.Func{
			"a failure": func(context.Context) error { return boom },
			"a stop":    func(ctx context.Context) error { <-ctx.Done(); return nil },
			"a panic":   func(context.Context) error { panic(boom) },
		} {
			var j journal
			var out bytes.Buffer
			g := service.Group{Logger: slog.New(slog.NewTextHandler(&out, nil))}
			first, ready := j.slow("first", time.Second)
			g.AddReady("first", first, ready)
			g.AddReady("second", second, make(chan struct{}))
			g.Add("third", service.Func(func(ctx context.Context) error { j.note("start third"); <-ctx.Done(); return nil }))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			err := g.Run(ctx)
			cancel()
			if (err == nil) != (name == "a stop") || err != nil && !strings.Contains(err.Error(), "second: ") {
				t.Errorf("%s: %v", name, err)
			}
			if got := j.now(); !slices.Equal(got, []string{"start first", "ready first", "stop first"}) {
				t.Errorf("%s: %v", name, got)
			}
			select {
			case <-g.Ready():
				t.Errorf("%s: the group reports that it is ready", name)
			default:
			}
			if (name == "a panic") != strings.Contains(out.String(), "service=second panic=boom") {
				t.Errorf("%s: the group's own logger got %q", name, out.String())
			}
		}
	})
}

// Many groups of servers start and stop, sometimes in the middle of their start. No goroutine is left.
func TestArch3_start_and_stop_stress(t *testing.T) {
	servicetest.NoLeaks(t)
	for round := range testkit.Size(20, 100) {
		g := service.Group{Logger: slog.New(slog.DiscardHandler)}
		var addrs []string
		for i := range 8 {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			testkit.Must(t, err)
			defer ln.Close() // servers that never start do not close their listeners
			addrs = append(addrs, ln.Addr().String())
			ready := make(chan struct{})
			g.AddReady(fmt.Sprint("server ", i), service.Func(func(ctx context.Context) error {
				srv := &http.Server{Handler: http.NotFoundHandler()}
				failed := make(chan error, 1)
				go func() { failed <- srv.Serve(ln) }()
				close(ready)
				<-ctx.Done()
				err := srv.Close()
				<-failed
				return err
			}), ready)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- g.Run(ctx) }()
		if round%2 == 0 {
			<-g.Ready()
			for _, addr := range addrs {
				c, err := net.Dial("tcp", addr)
				if err != nil {
					t.Error(err)
					continue
				}
				c.Close()
			}
		}
		cancel()
		testkit.Must(t, <-ended)
	}
}
