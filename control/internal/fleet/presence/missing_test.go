package presence_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func (f *fleet) missing(most int) (list []store.Missing, total int) {
	f.Helper()
	today := presence.Day(f.now())
	list, total, err := f.store.MissingSlugs(f.Context(), 0, today-29, today, most, 0, most)
	testkit.Must(f, err)
	return list, total
}

func batch(seq uint64, counts ...any) *snapshot.Missing {
	m := &snapshot.Missing{Seq: seq}
	for i := 0; i < len(counts); i += 2 {
		m.Slugs = append(m.Slugs, snapshot.MissingSlug{Slug: counts[i].(string), Count: uint64(counts[i+1].(int))})
	}
	return m
}

// Batches of several edges add up. A batch that is sent again, at any replica, counts once, and so does one that was sent
// again after a later one. A restarted edge numbers its batches from 1 again.
func TestTracker_counts_missing_slugs_once(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		a, b := f.replica(), f.replica()
		send := func(to *presence.Tracker, edge, run, before string, m *snapshot.Missing, taken uint64) {
			t := f.T
			t.Helper()
			answer, err := to.Report(f.Context(), snapshot.Status{Edge: edge, Run: run, Before: before, Missing: m})
			if err != nil || answer.MissingTaken != taken {
				t.Fatalf("%d taken, want %d: %v", answer.MissingTaken, taken, err)
			}
		}
		send(a, "e1", "r1", "", batch(1, "summer", 5, "winter", 2), 1)
		send(b, "e1", "r1", "", batch(1, "summer", 5, "winter", 2), 1)
		send(b, "e1", "r1", "", batch(2, "summer", 1), 2)
		send(a, "e1", "r1", "", batch(1, "summer", 5, "winter", 2), 1)
		send(a, "e2", "x", "", batch(1, "summer", 10), 1)
		send(a, "e1", "r2", "r1", batch(1, "autumn", 7), 1)
		send(a, "e1", "r2", "r1", batch(1, "autumn", 7), 1)
		send(a, "e1", "r2", "r1", nil, 0)
		list, total := f.missing(1000)
		if got := fmt.Sprint(total, list); total != 3 || list[0].Slug != "summer" || list[0].Count != 16 || list[1].Slug != "autumn" ||
			list[1].Count != 7 || list[2].Count != 2 {
			f.Error(got)
		}
		// The duplicate of a live edge is refused, and its counts with it.
		if _, err := b.Report(f.Context(), snapshot.Status{Edge: "e2", Run: "y", Missing: batch(9, "autumn", 100)}); err == nil {
			f.Error("a twin was accepted")
		}
		if again, _ := f.missing(1000); fmt.Sprint(again) != fmt.Sprint(list) {
			f.Errorf("%v, then %v", list, again)
		}
	})
}

// The table keeps the most frequent slugs of a day and forgets old days.
func TestTracker_bounds_missing_slugs(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		to, seq := f.replica(), uint64(0)
		flood := func() {
			for range 3 {
				seq++
				m := batch(seq, "steady", 1000)
				for i := range 999 {
					m.Slugs = append(m.Slugs, snapshot.MissingSlug{Slug: fmt.Sprintf("x%d-%d", seq, i), Count: 1})
				}
				if answer, err := to.Report(f.Context(), snapshot.Status{Edge: "e1", Run: "r1", Missing: m}); err != nil ||
					answer.MissingTaken != seq {
					f.Fatal(answer, err)
				}
			}
		}
		rows := func() (n int) {
			testkit.Must(f, f.store.Row(f.Context(), `SELECT count(*) FROM missing_slugs`).Scan(&n))
			return n
		}
		flood()
		testkit.Must(f, presence.Prune(to, f.Context()))
		testkit.Equal(f, rows(), 2000, "rows left")
		if list, total := f.missing(1000); total != 1000 || len(list) != 1000 || list[0].Slug != "steady" || list[0].Count != 3000 {
			f.Errorf("%d, %+v", total, list[0])
		}
		f.pass(24 * time.Hour)
		flood()
		if list, _ := f.missing(1); list[0].Count != 6000 {
			f.Errorf("two days: %+v", list)
		}
		f.pass((presence.KeepMissing + 1) * 24 * time.Hour)
		testkit.Must(f, presence.Prune(to, f.Context()))
		testkit.Equal(f, rows(), 0, "old rows left")
	})
}

// A slug that became a link is no longer missing.
func TestMissing_leaves_out_links(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		status := snapshot.Status{Edge: "e1", Run: "r1", Missing: batch(1, "summer", 5, "winter", 2)}
		if _, err := f.replica().Report(f.Context(), status); err != nil {
			f.Fatal(err)
		}
		testkit.Must(f, f.store.Tx(f.Context(), func(tx *store.Tx) error {
			if _, err := tx.Exec(f.Context(),
				`INSERT INTO users (id, email, email_key, role, created_at, updated_at) VALUES ('u', 'a@example.com', 'a@example.com', `+
					`'USER', 1, 1)`); err != nil {
				return err
			}
			return tx.InsertLinks(f.Context(),
				[]*store.Link{{ID: "l", UserID: "u", Slug: "summer", OriginalURL: "https://example.com", Active: true,
					CreatedAt: 1, UpdatedAt: 1}})
		}))
		if list, total := f.missing(10); total != 1 || list[0].Slug != "winter" {
			f.Errorf("%d, %+v", total, list)
		}
	})
}

// The times of a missing slug are those of visits, also if the edge's clock is wrong and reports arrive in another order. Edges of the
// previous release send no times; then the time of the report counts.
func TestB5_missing_slugs_have_the_times_of_visits(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		a := f.replica()
		report := func(edge string, clock time.Duration, first, last time.Duration) {
			f.Helper()
			m := batch(1, "summer", 2)
			if first > 0 {
				at := f.now().Add(clock)
				m.At, m.Slugs[0].First, m.Slugs[0].Last = at.UnixMilli(), at.Add(-first).UnixMilli(), at.Add(-last).UnixMilli()
			}
			testkit.Must(f, m.Validate())
			_, err := a.Report(f.Context(), snapshot.Status{Edge: edge, Run: edge, Missing: m})
			testkit.Must(f, err)
		}
		want := func(first, last time.Duration) {
			f.Helper()
			list, _ := f.missing(10)
			ago := func(at int64) time.Duration { return f.now().Sub(time.UnixMilli(at)).Round(time.Second) }
			if len(list) != 1 || ago(list[0].FirstAt) != first || ago(list[0].LastAt) != last {
				f.Errorf("%+v: first %v ago, last %v", list, ago(list[0].FirstAt), ago(list[0].LastAt))
			}
		}
		report("e1", 0, 90*time.Second, 30*time.Second)
		want(90*time.Second, 30*time.Second)
		report("e2", -10*time.Minute, 300*time.Second, 60*time.Second)
		want(300*time.Second, 30*time.Second)
		report("e3", 10*time.Minute, 20*time.Second, 10*time.Second)
		want(300*time.Second, 10*time.Second)
		report("e4", 0, 0, 0)
		want(300*time.Second, 0)
	})
}
