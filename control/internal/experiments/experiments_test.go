package experiments_test

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/experiments"
	"github.com/shortline/shortline/control/internal/experiments/stats"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

type world struct {
	*testing.T
	store    *store.Store
	clicks   analytics.Store
	service  *experiments.Service
	routing  *routing.Service
	ann      auth.Principal
	link     store.Link
	variants []store.Variant
	seq      uint64
}

// each runs a test with both databases, and with the click store that goes with each.
func each(t *testing.T, f func(w *world)) {
	t.Parallel()
	storetest.EachInProof(t, func(t *testing.T, s *store.Store) {
		w := &world{T: t, store: s}
		var err error
		if s.Shared() {
			w.clicks, err = clickhouse.Open(t.Context(), clickhouse.Config{URL: clickhousetest.Database(t)})
		} else {
			w.clicks, err = duckdb.Open(t.Context(), duckdb.Config{Path: filepath.Join(t.TempDir(), "clicks"), Threads: 1})
		}
		w.ok(err)
		t.Cleanup(func() { _ = w.clicks.Close() })
		w.service, w.routing = w.plane(0), routing.New(link.Policy{}, s)
		user := store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER", Active: true}
		u := &store.Link{ID: store.NewID(), UserID: user.ID, Slug: "launch", OriginalURL: "https://example.com", Active: true,
			ABTesting: true,
			CreatedAt: 1, UpdatedAt: 1}
		w.ok(s.Tx(t.Context(), func(tx *store.Tx) (err error) {
			if user.Num, err = tx.InsertUser(t.Context(), user); err != nil {
				return err
			}
			u.Workspace = user.Num
			if err := tx.InsertLinks(t.Context(), []*store.Link{u}); err != nil {
				return err
			}
			for i, name := range []string{"Blue", "Green"} {
				v := store.Variant{ID: store.NewID(), URLID: u.ID, Name: name, TargetURL: "https://example.com/" + name, Weight: 50,
					Active:    true,
					CreatedAt: int64(i + 1), UpdatedAt: 1}
				if err := tx.InsertVariant(t.Context(), &v); err != nil {
					return err
				}
			}
			hook := store.Webhook{ID: store.NewID(), UserID: user.ID, Workspace: user.Num, Name: "x", URL: "https://hook.example",
				Events: []string{webhooks.ExperimentDecided}, Active: true}
			return tx.InsertWebhook(t.Context(), &hook)
		}))
		w.ann, w.link = auth.PrincipalOf(user), *u
		w.read()
		f(w)
	})
}

// plane is another control plane, whose clock is ahead.
func (w *world) plane(ahead time.Duration) *experiments.Service {
	return experiments.New(experiments.Config{Every: time.Millisecond, Now: func() time.Time { return time.Now().Add(ahead) }},
		w.store, w.clicks)
}

func (w *world) ok(err error) {
	w.Helper()
	testkit.Must(w, err)
}

func (w *world) read() {
	w.Helper()
	var err error
	w.variants, err = w.store.Variants(w.Context(), w.link.ID)
	w.ok(err)
}

func (w *world) put(optimize, onWinner string) {
	w.Helper()
	goal := "purchase"
	w.ok(w.service.Put(w.Context(), w.ann, w.link.ID, experiments.Input{Goal: &goal, Optimize: &optimize, OnWinner: &onWinner}))
	// As if the experiment had begun yesterday, so that there is time for visitors.
	w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) error {
		ago := time.Now().Add(-24 * time.Hour).UnixMilli()
		if _, err := tx.Exec(w.Context(), `UPDATE experiments SET started_at = ?`, ago); err != nil {
			return err
		}
		_, err := tx.Exec(w.Context(), `UPDATE experiment_weights SET at = ?`, ago)
		return err
	}))
}

// visit stores visitors of a variant in the last hour, of whom some convert.
func (w *world) visit(variant, visitors, conversions int) {
	w.Helper()
	var rows []analytics.Row
	var list []analytics.Conversion
	for i := range visitors {
		w.seq++
		at := time.Now().Add(-time.Duration(i%30+1) * time.Minute).UnixMilli()
		r := analytics.Row{Identity: analytics.Identity{Lane: click.Lane{Edge: 7, Epoch: 1}, Seq: w.seq}, Time: at, Link: w.link.Num,
			Owner: w.link.Workspace, Variant: link.ID(uuid.MustParse(w.variants[variant].ID))}
		rows = append(rows, r)
		if i < conversions {
			c := conversion.Conversion{Click: conversion.ClickID{Link: r.Link, Time: at, Tag: conversion.TagOf(r.Lane, r.Seq)},
				Workspace: r.Owner,
				Name:      "purchase", Value: 10 * conversion.ValueScale, Currency: "EUR", OccurredAt: at, ReceivedAt: at}
			list = append(list, analytics.Conversion{Conversion: c, Row: r, Attributed: true})
		}
	}
	w.ok(w.clicks.Insert(w.Context(), analytics.Batch{Rows: rows}))
	w.ok(w.clicks.InsertConversions(w.Context(), list))
}

func (w *world) check(s *experiments.Service) {
	w.Helper()
	testkit.Eventually(w, "an experiment is due", func() bool {
		more, err := s.Next(w.Context())
		w.ok(err)
		return more
	})
}

func (w *world) experiment() store.Experiment {
	w.Helper()
	e, err := w.store.Experiment(w.Context(), w.link.Num)
	w.ok(err)
	return e
}

func (w *world) count(table string) (n int) {
	w.Helper()
	w.ok(w.store.Row(w.Context(), `SELECT count(*) FROM `+table).Scan(&n))
	return n
}

func (w *world) weights(want ...int) {
	w.Helper()
	w.read()
	for i, v := range w.variants {
		testkit.Equal(w, v.Weight, want[i], "the weight of %s", v.Name)
	}
}

// A clear difference is decided once, promoted and announced once, whatever number of control planes looks.
func TestAutopilot_decides_once(t *testing.T) {
	each(t, func(w *world) {
		w.put(experiments.Off, experiments.Promote)
		w.check(w.service)
		testkit.Equal(t, w.experiment().Status, store.ExperimentRunning, "without visitors")
		w.visit(0, 4000, 200)
		w.visit(1, 4000, 400)
		var planes sync.WaitGroup
		var decided atomic.Bool
		for range 4 {
			s := w.plane(0)
			planes.Go(func() {
				for range 5 {
					if _, err := s.Next(w.Context()); err != nil {
						w.Error(err)
					}
				}
				for !decided.Load() {
					if _, err := s.Next(w.Context()); err != nil {
						w.Error(err)
					}
				}
			})
		}
		testkit.Eventually(w, "a decision", func() bool { return w.experiment().Status != store.ExperimentRunning })
		decided.Store(true)
		planes.Wait()
		e := w.experiment()
		if e.Status != store.ExperimentWinner || e.Variant != w.variants[1].ID || e.DecidedAt == 0 {
			t.Errorf("%+v", e)
		}
		w.weights(0, 100)
		testkit.Equal(t, w.count("webhook_deliveries"), 1, "deliveries")
		testkit.Equal(t, w.count("audit_logs WHERE action = 'EXPERIMENT_DECIDED'"), 1, "audit entries")
		f, err := w.service.Report(w.Context(), w.ann, w.link.ID, "")
		w.ok(err)
		if f.Decision.Status != "WINNER" || len(f.Arms) != 2 || f.Arms[1].Visitors != 4000 || f.Arms[1].Converted != 400 ||
			f.Arms[1].Revenue != 4000 || f.Currency != "EUR" || !f.RatioOK {
			t.Errorf("%+v", f)
		}
	})
}

// A control plane that is killed after it has claimed an experiment leaves it to others, and nothing is half done.
func TestAutopilot_survives_kills(t *testing.T) {
	each(t, func(w *world) {
		w.put(experiments.Off, experiments.Promote)
		w.visit(0, 4000, 200)
		w.visit(1, 4000, 400)
		w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) error {
			_, err := tx.ClaimExperiment(w.Context(), time.Millisecond) // by a plane that is killed now
			return err
		}))
		slow := experiments.New(experiments.Config{Every: time.Hour}, w.store, w.clicks)
		if more, err := slow.Next(w.Context()); more || err != nil {
			t.Errorf("checked a claimed experiment: %v", err)
		}
		ctx, kill := context.WithTimeout(w.Context(), 2*time.Millisecond)
		defer kill()
		_, _ = w.service.Next(ctx) // may be interrupted anywhere
		w.finish()
		if w.count("webhook_deliveries") != 1 || w.count("experiment_weights WHERE source = 'PROMOTION'") != 1 {
			t.Errorf("%d deliveries", w.count("webhook_deliveries"))
		}
		w.weights(0, 100)
	})
}

// finish checks until the experiment is decided.
func (w *world) finish() {
	w.Helper()
	testkit.Eventually(w, "a decision", func() bool {
		_, err := w.service.Next(w.Context())
		w.ok(err)
		return w.experiment().Status != store.ExperimentRunning
	})
}

// Equal variants go on, and the bandit gives the better one more visitors, with a floor for the other.
func TestAutopilot_draws_weights(t *testing.T) {
	each(t, func(w *world) {
		w.put(experiments.Bandit, experiments.Notify)
		w.visit(0, 500, 25)
		w.visit(1, 500, 25)
		w.check(w.service)
		w.weights(50, 50)
		w.visit(1, 0, 0)
		w.visit(0, 100, 0)
		w.visit(1, 100, 12)
		w.check(w.service)
		w.read()
		e := w.experiment()
		if low := w.variants[0].Weight; e.Status != store.ExperimentRunning || e.Step != 1 || low < 5 || low > 25 ||
			low+w.variants[1].Weight != 100 {
			t.Errorf("weights %d and %d, %+v", low, w.variants[1].Weight, e)
		}
		list, total, err := w.service.Weights(w.Context(), w.ann, w.link.ID, 10, 0)
		w.ok(err)
		if total != 2 || list[0].Source != store.WeightsByAutopilot || list[0].Weights[w.variants[0].ID] != w.variants[0].Weight {
			t.Errorf("%d %+v", total, list)
		}
		step := e.Step
		w.check(w.service) // the same data give the same weights
		if e := w.experiment(); e.Step != step {
			t.Errorf("step %d after %d", e.Step, step)
		}
	})
}

// A mismatch of weights and visitors ends the experiment without a winner.
func TestAutopilot_finds_invalid(t *testing.T) {
	each(t, func(w *world) {
		w.put(experiments.Bandit, experiments.Promote)
		w.visit(0, 3000, 100)
		w.visit(1, 2000, 200)
		w.check(w.service)
		if e := w.experiment(); e.Status != store.ExperimentInvalid || e.Variant != "" {
			t.Errorf("%+v", e)
		}
		w.weights(50, 50)
		testkit.Equal(t, w.count("webhook_deliveries"), 1, "deliveries")
	})
}

// The autopilot decides nothing while clicks or conversions are late or the click store is down, and says so.
func TestAutopilot_waits_for_data(t *testing.T) {
	each(t, func(w *world) {
		behind := func(d time.Duration) {
			w.Helper()
			w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) error { return tx.NoteProgress(w.Context(), "a", ingest.Conversions, "", d) }))
		}
		s := experiments.New(experiments.Config{Every: time.Millisecond, Behind: func(ctx context.Context) (string, error) {
			return ingest.OutOfDate(ctx, w.store, ingest.Conversions)
		}}, w.store, w.clicks)
		w.put(experiments.Bandit, experiments.Promote)
		w.visit(0, 4000, 200)
		w.visit(1, 4000, 400)
		waits := func(reason string) {
			w.Helper()
			if e := w.experiment(); e.Paused != reason || e.Status != store.ExperimentRunning || e.Step != 0 {
				w.Errorf("%+v", e)
			}
			w.weights(50, 50)
		}
		w.check(s)
		waits("No process stores conversions at present.")
		behind(2 * time.Hour)
		w.check(s)
		waits("Some conversions have not been stored for more than five minutes.")

		down := analytics.NewLate()
		d := experiments.New(experiments.Config{Every: time.Millisecond}, w.store, down)
		testkit.Eventually(w, "an experiment whose click store is down", func() bool {
			ctx, cancel := context.WithTimeout(w.Context(), time.Second)
			defer cancel()
			_, err := d.Next(ctx)
			return err != nil && w.experiment().Paused == "The figures of the experiment could not be read."
		})
		waits("The figures of the experiment could not be read.")

		testkit.Eventually(w, "the metrics", func() bool { return testutil.CollectAndCount(experiments.Overview(w.store)) == 3 })
		if s, err := w.store.ExperimentState(w.Context()); err != nil || s.Running != 1 || s.Paused != 1 || s.Unchecked > time.Minute {
			w.Errorf("%+v, %v", s, err)
		}
		w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(w.Context(), `UPDATE experiments SET checked_at = checked_at - 3600000`)
			return err
		}))
		if s, err := w.store.ExperimentState(w.Context()); err != nil || s.Unchecked < time.Hour || s.Unchecked > 2*time.Hour {
			w.Errorf("%+v, %v", s, err)
		}
		behind(time.Second)
		w.check(s)
		if s, err := w.store.ExperimentState(w.Context()); err != nil || s != (store.ExperimentState{}) {
			w.Errorf("%+v, %v", s, err)
		}
		if e := w.experiment(); e.Paused != "" || e.Status != store.ExperimentWinner {
			w.Errorf("%+v", e)
		}
	})
}

// The autopilot waits while the link is inactive, and while no clicks arrive.
func TestAutopilot_pauses(t *testing.T) {
	each(t, func(w *world) {
		w.put(experiments.Bandit, experiments.Promote)
		w.visit(0, 4000, 200)
		w.visit(1, 4000, 400)
		w.check(w.plane(3 * time.Hour))
		if e := w.experiment(); e.Paused == "" || e.Status != store.ExperimentRunning {
			t.Errorf("%+v", e)
		}
		off := false
		_, err := w.routing.UpdateVariant(w.Context(), w.ann, w.link.ID, w.variants[0].ID, routing.VariantInput{Active: &off})
		w.ok(err)
		w.check(w.service)
		testkit.Equal(t, w.experiment().Paused, "Fewer than two active variants have a weight.", "why the experiment is paused")
	})
}

// An owner's change of the variants restarts the experiment; a change of weights is a new period.
func TestOwner_changes_variants(t *testing.T) {
	each(t, func(w *world) {
		w.put(experiments.Off, experiments.Notify)
		began := w.experiment().StartedAt
		weight, url := 20, "https://example.com/other"
		_, err := w.routing.UpdateVariant(w.Context(), w.ann, w.link.ID, w.variants[0].ID, routing.VariantInput{Weight: &weight})
		w.ok(err)
		if e := w.experiment(); e.StartedAt != began || w.count("experiment_weights") != 2 {
			t.Errorf("%+v, %d sets of weights", e, w.count("experiment_weights"))
		}
		_, err = w.routing.UpdateVariant(w.Context(), w.ann, w.link.ID, w.variants[0].ID, routing.VariantInput{TargetURL: &url})
		w.ok(err)
		if e := w.experiment(); e.StartedAt == began || e.Revision != 2 {
			t.Errorf("%+v", e)
		}
		w.ok(w.service.Promote(w.Context(), w.ann, w.link.ID, w.variants[0].ID))
		w.weights(100, 0)
		w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) error { return tx.DeleteLinks(context.Background(), []string{w.link.ID}) }))
		testkit.Equal(t, w.count("experiments")+w.count("experiment_weights"), 0, "rows of the experiment of a deleted link")
	})
}

func TestPut_says_what_is_missing(t *testing.T) {
	each(t, func(w *world) {
		if err := w.service.Put(w.Context(), w.ann, w.link.ID, experiments.Input{}); !problem.Is(err, problem.Invalid) {
			t.Error(err)
		}
		goal := "purchase"
		w.ok(w.routing.DeleteVariant(w.Context(), w.ann, w.link.ID, w.variants[0].ID))
		if err := w.service.Put(w.Context(), w.ann, w.link.ID, experiments.Input{Goal: &goal}); !problem.Is(err, problem.Conflict) {
			t.Error(err)
		}
		if err := w.service.Delete(w.Context(), w.ann, w.link.ID); !problem.Is(err, problem.NotFound) {
			t.Error(err)
		}
	})
}

// The code of a reason comes from the figures, also if another release has stored its sentence in other words.
func TestF6_stored_reasons_have_codes(t *testing.T) {
	each(t, func(w *world) {
		w.put(experiments.Off, experiments.Notify)
		for sentence, want := range map[string]string{
			"The experiment has just started.": "STARTED", "Zu früh, said an older release.": stats.FewVisitors,
			store.ReasonVariants: "VARIANTS_CHANGED",
		} {
			w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) error {
				_, err := tx.Exec(w.Context(), `UPDATE experiments SET reason = ?`, sentence)
				return err
			}))
			f, err := w.service.Report(w.Context(), w.ann, w.link.ID, "")
			w.ok(err)
			testkit.Equal(w, f.Reason.Code, want, "the code of %q", sentence)
		}
		if code := experiments.PauseCode("Some clicks have not been stored for more than five minutes."); code != "LATE" {
			w.Errorf("the code of a pause is %s", code)
		}
	})
}
