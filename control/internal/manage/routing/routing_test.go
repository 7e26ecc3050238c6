package routing_test

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

type world struct {
	*testing.T
	store   *store.Store
	routing *routing.Service
	ann     auth.Principal
	url     string
}

func each(t *testing.T, f func(w *world)) {
	t.Parallel()
	storetest.EachInProof(t, func(t *testing.T, s *store.Store) {
		w := &world{T: t, store: s, routing: routing.New(link.Policy{}, s), url: store.NewID()}
		u := store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER", Active: true}
		w.ok(s.Tx(t.Context(), func(tx *store.Tx) (err error) {
			if u.Num, err = tx.InsertUser(t.Context(), u); err != nil {
				return err
			}
			return tx.InsertLinks(t.Context(),
				[]*store.Link{{ID: w.url, UserID: u.ID, Slug: "abc", OriginalURL: "https://example.com", Active: true,
					CreatedAt: 1, UpdatedAt: 1}})
		}))
		w.ann = auth.PrincipalOf(u)
		f(w)
	})
}

func (w *world) ok(err error) {
	w.Helper()
	testkit.Must(w, err)
}

func (w *world) link() store.Link {
	w.Helper()
	u, err := w.store.LinkByID(w.Context(), w.url)
	w.ok(err)
	return u
}

// all runs f n times concurrently.
func all(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

var (
	name       = "x"
	target     = "https://x.example"
	conditions = json.RawMessage(`{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}`)
)

// For every interleaving of creations and deletions of variants, A/B testing is off when no variant is left.
func TestVariants_switch_at_once(t *testing.T) {
	each(t, func(w *world) {
		ids := make([]string, 6)
		all(len(ids), func(i int) {
			v, err := w.routing.CreateVariant(w.Context(), w.ann, w.url, routing.VariantInput{Name: &name, TargetURL: &target})
			if err != nil {
				w.Error(err)
			}
			ids[i] = v.ID
		})
		if !w.link().ABTesting {
			w.Error("A/B testing is off with six variants")
		}
		off := false
		all(len(ids), func(i int) {
			var err error
			if i%2 == 0 {
				_, err = w.routing.UpdateVariant(w.Context(), w.ann, w.url, ids[i], routing.VariantInput{Active: &off})
			} else {
				err = w.routing.DeleteVariant(w.Context(), w.ann, w.url, ids[i])
			}
			if err != nil {
				w.Error(err)
			}
		})
		if w.link().ABTesting {
			w.Error("A/B testing is on without an active variant")
		}
	})
}

// The limit on rules holds under concurrency, and deleting the last rule turns smart routing off.
func TestRules_bound_at_once(t *testing.T) {
	each(t, func(w *world) {
		w.ok(w.store.Tx(w.Context(), func(tx *store.Tx) error {
			for range 97 {
				r := store.Rule{ID: store.NewID(), URLID: w.url, Name: "x", TargetURL: target, Conditions: string(conditions)}
				if err := tx.InsertRule(w.Context(), &r); err != nil {
					return err
				}
			}
			return nil
		}))
		var made, refused atomic.Int32
		all(8, func(int) {
			switch _, err := w.routing.CreateRule(w.Context(), w.ann, w.url, routing.RuleInput{Name: &name, TargetURL: &target,
				Conditions: conditions}); {
			case err == nil:
				made.Add(1)
			case problem.Is(err, problem.Invalid):
				refused.Add(1)
			default:
				w.Error(err)
			}
		})
		if made.Load() != 3 || refused.Load() != 5 {
			w.Errorf("%d made beside 97, %d refused", made.Load(), refused.Load())
		}
		on := true
		_, err := w.routing.Configure(w.Context(), w.ann, w.url, routing.Settings{SmartRouting: &on})
		w.ok(err)
		list, err := w.routing.Rules(w.Context(), w.ann, w.url)
		w.ok(err)
		all(len(list.Rules), func(i int) {
			if err := w.routing.DeleteRule(w.Context(), w.ann, w.url, list.Rules[i].ID); err != nil {
				w.Error(err)
			}
		})
		if w.link().SmartRouting {
			w.Error("smart routing is on without a rule")
		}
	})
}

// The total size of a link's conditions is limited, because every edge keeps them.
func TestRules_conditions_are_bounded_together(t *testing.T) {
	each(t, func(w *world) {
		values := strings.Repeat(`"`+strings.Repeat("x", 500)+`",`, 299) + `"x"`
		leaf := `{"type":"city","operator":"in","value":[` + values + `]}`
		large := json.RawMessage(`{"operator":"AND","conditions":[` + strings.Repeat(leaf+",", 2) + leaf + `]}`) // 450 kB
		input := routing.RuleInput{Name: &name, TargetURL: &target, Conditions: large}
		first, err := w.routing.CreateRule(w.Context(), w.ann, w.url, input)
		w.ok(err)
		_, err = w.routing.CreateRule(w.Context(), w.ann, w.url, input)
		w.ok(err)
		if _, err := w.routing.CreateRule(w.Context(), w.ann, w.url, input); !problem.Is(err, problem.Invalid) {
			w.Errorf("a third: %v", err)
		}
		third, err := w.routing.CreateRule(w.Context(), w.ann, w.url, routing.RuleInput{Name: &name, TargetURL: &target,
			Conditions: conditions})
		w.ok(err)
		if _, err := w.routing.UpdateRule(w.Context(), w.ann, w.url, third.ID, routing.RuleInput{Conditions: large}); !problem.Is(err,
			problem.Invalid) {
			w.Errorf("the small one made large: %v", err)
		}
		_, err = w.routing.UpdateRule(w.Context(), w.ann, w.url, first.ID, routing.RuleInput{Conditions: conditions})
		w.ok(err)
		_, err = w.routing.UpdateRule(w.Context(), w.ann, w.url, third.ID, routing.RuleInput{Conditions: large})
		w.ok(err)
	})
}
