package report_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// stores opens an empty store of each kind.
func stores(t *testing.T) map[string]analytics.Store {
	duck, err := duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks")})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = duck.Close() })
	house, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: clickhousetest.Database(t)})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = house.Close() })
	return map[string]analytics.Store{"duckdb": duck, "clickhouse": house}
}

// load inserts clicks and builds the rollup of all but the last months, so that reports also read clicks.
func load(ctx context.Context, s analytics.Store, rows []analytics.Row) error {
	for part := range slices.Chunk(rows, 20_000) {
		marks := []analytics.Mark{{Lane: part[0].Lane, Seq: part[len(part)-1].Seq}}
		if err := s.Insert(ctx, analytics.Batch{Rows: part, Marks: marks}); err != nil {
			return err
		}
	}
	if built, ok := s.(interface {
		Rebuild(ctx context.Context, before time.Time) error
	}); ok {
		return built.Rebuild(ctx, time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC))
	}
	return fmt.Errorf("%T has no rollup", s)
}

// bundleOf returns the id of a user's bundle.
func bundleOf(user int, name string) string {
	return fmt.Sprintf("03000000-0000-4000-8000-%02d%x", user, []byte(name)[:5])
}

// grouped returns a database with the links of the generated clicks, in their groupings.
func grouped(t *testing.T) *store.Store {
	st := storetest.Open(t)
	testkit.Must(t, st.Tx(t.Context(), func(tx *store.Tx) error {
		var users [3]store.User
		for i := range users {
			users[i] = store.User{ID: store.NewID(), Email: fmt.Sprintf("user%d@example.com", i), Role: "USER", Active: true}
			num, err := tx.InsertUser(t.Context(), users[i])
			if err != nil {
				return err
			}
			if num != uint64(i+1) {
				return fmt.Errorf("user %d has the number %d", i+1, num)
			}
		}
		numbers := map[string]uint64{}
		for i := range users {
			for _, name := range domains {
				d := store.Domain{ID: store.NewID(), Workspace: uint64(i + 1), Hostname: name, Status: store.DomainPending, Token: "x"}
				if _, err := tx.InsertDomain(t.Context(), &d); err != nil {
					return err
				}
				numbers[fmt.Sprint(i, name)] = d.Num
			}
		}
		list := make([]*store.Link, links)
		for i := range list {
			list[i] = &store.Link{ID: linkID(i + 1), UserID: users[(i+1)%3].ID, Workspace: uint64(1 + (i+1)%3),
				Domain: numbers[fmt.Sprint((i+1)%3, domainOf(i+1))], Slug: fmt.Sprint("link", i+1), OriginalURL: "https://example.com",
				Active: true}
		}
		if err := tx.InsertLinks(t.Context(), list); err != nil {
			return err
		}
		for i, u := range users {
			of := func(in func(int) bool) (ids []string, nums []uint64) {
				for n, l := range list {
					if (n+1)%3 == i && in(n+1) {
						ids, nums = append(ids, l.ID), append(nums, l.Num)
					}
				}
				return ids, nums
			}
			tags := map[uint64][]string{}
			for name, in := range groupings["tag"] {
				_, nums := of(in)
				for _, n := range nums {
					tags[n] = append(tags[n], name)
				}
			}
			if err := tx.SetTags(t.Context(), uint64(i+1), tags); err != nil {
				return err
			}
			for name, in := range groupings["bundle"] {
				b := &store.Bundle{ID: bundleOf(i, name), UserID: u.ID, Workspace: uint64(i + 1), Name: name, Color: "#3B82F6",
					Icon:      "folder",
					CreatedAt: store.Now(), UpdatedAt: store.Now()}
				if err := tx.InsertBundle(t.Context(), b); err != nil {
					return err
				}
				ids, _ := of(in)
				if _, err := tx.AddToBundle(t.Context(), b.ID, ids); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	return st
}
