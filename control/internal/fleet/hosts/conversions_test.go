package hosts_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/hosts"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var secrets = [][]byte{[]byte("a secret of at least 32 bytes....."), []byte("the one before it, of 32 bytes....")}

// started runs publishers until the test ends.
func (f *fleet) started(list ...*hosts.Publisher) {
	for _, p := range list {
		testkit.Run(f, p.Run)
	}
}

// next waits for a change after a cursor.
func (f *fleet) next(after snapshot.Cursor) snapshot.Hosts {
	f.Helper()
	for range 50 {
		if h, ok := f.ask(after); ok {
			return h
		}
	}
	f.Fatal("edges were not told")
	return snapshot.Hosts{}
}

// Edges get the keys with the full list, and again when a period begins or the settings change.
func TestHosts_have_keys_of_click_ids(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		now := time.UnixMilli(1_795_000_000_000)
		config := hosts.Config{Hold: 100 * time.Millisecond, Secrets: secrets, Window: 24 * time.Hour, Now: func() time.Time { return now }}
		f.pub = hosts.New(f.store, config)
		first, _ := f.ask(snapshot.Cursor{})
		c := first.Conversions
		if c == nil || c.Window != 24*60*60*1000 || len(c.Sources) != 0 {
			f.Fatalf("the first list: %+v", c)
		}
		keys, err := conversion.NewKeys(c.Keys)
		testkit.Must(f, err)
		for _, at := range []time.Duration{0, -24 * time.Hour, conversion.KeyPeriod, 2 * conversion.KeyPeriod} {
			id := conversion.ClickID{Link: 1, Time: now.Add(at).UnixMilli()}
			if _, ok := id.Append(nil, keys); !ok {
				f.Errorf("no key for clicks %v from now", at)
			}
		}

		f.started(f.pub, hosts.New(f.store, config))
		told := f.next(first.Cursor)
		if told.Conversions == nil || len(told.Conversions.Keys) != len(c.Keys) || told.Full {
			f.Fatalf("after the start: %+v", told)
		}
		f.add("one.example", store.DomainActive)
		if other := f.next(told.Cursor); other.Conversions != nil || names(other) != "+one.example" {
			f.Errorf("the change of a host: %+v", other)
		}
		whole, _ := f.ask(snapshot.Cursor{})

		config.Now = func() time.Time { return now.Add(conversion.KeyPeriod) }
		f.pub = hosts.New(f.store, config)
		f.started(f.pub)
		later := f.next(whole.Cursor)
		if later.Conversions == nil ||
			later.Conversions.Keys[len(later.Conversions.Keys)-1].Period != conversion.Period(now.UnixMilli())+3 {
			f.Errorf("in the next period: %+v", later.Conversions)
		}

		whole, _ = f.ask(snapshot.Cursor{})
		config.Secrets = secrets[:1]
		f.pub = hosts.New(f.store, config)
		f.started(f.pub)
		if later := f.next(whole.Cursor); later.Conversions == nil || 2*len(later.Conversions.Keys) != len(whole.Conversions.Keys) {
			f.Errorf("after the secrets have changed: %+v", later.Conversions)
		}
	})
}

func TestHosts_have_sources_of_conversions(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		first, _ := f.ask(snapshot.Cursor{})
		put := func(hosts ...string) {
			f.tx(func(ctx context.Context, tx *store.Tx) error {
				return tx.PutConversionSource(ctx, &store.ConversionSource{Workspace: f.owner, Key: "slp_1", Hosts: hosts, UpdatedAt: 1})
			})
		}
		put("shop.example", "*.shop.example")
		next := f.next(first.Cursor)
		if next.Conversions == nil || len(next.Conversions.Sources) != 1 || next.Conversions.Sources[0].Workspace != f.owner ||
			strings.Join(next.Conversions.Sources[0].Hosts, " ") != "shop.example *.shop.example" {
			f.Fatalf("a source: %+v", next.Conversions)
		}
		put()
		if none := f.next(next.Cursor); none.Conversions == nil || len(none.Conversions.Sources) != 0 {
			f.Errorf("without hosts: %+v", none.Conversions)
		}
	})
}

// A publisher without a secret says so once.
func TestHosts_without_a_secret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		p := hosts.New(nil, hosts.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		if err := p.Run(ctx); err != nil || strings.Count(log.String(), "click ids disabled") != 1 {
			t.Errorf("%v, log %s", err, &log)
		}
	})
}
