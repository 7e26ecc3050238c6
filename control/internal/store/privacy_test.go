package store_test

import (
	"errors"
	"net/netip"
	"reflect"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Counts of expired clicks add up, once per period, although several processes write them.
func TestOps6_Expire_counts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		expire := func(from int64, e store.Expired) error {
			return s.Tx(t.Context(), func(tx *store.Tx) error { return tx.Expire(t.Context(), from, e) })
		}
		first := store.Expired{Through: 100, Links: []store.Counted{{Num: 1, Count: 5}, {Num: 1 << 62, Count: 2}},
			Variants: []store.Counted{{ID: "v", Count: 3}}, Rules: []store.Counted{{ID: "r", Count: 4, Last: 90}}}
		second := store.Expired{Through: 200, Links: []store.Counted{{Num: 1, Count: 1}},
			Rules: []store.Counted{{ID: "r", Count: 1, Last: 150}}}
		testkit.Must(t, errors.Join(expire(0, first), expire(100, second)))
		if err := expire(100, second); !errors.Is(err, store.ErrExpiredMeanwhile) {
			t.Errorf("the same period again: %v", err)
		}
		got, err := s.ExpiredTotals(t.Context())
		want := store.ExpiredTotals{
			Through: 200, Links: map[uint64]store.Counted{1: {Num: 1, Count: 6}, 1 << 62: {Num: 1 << 62, Count: 2}},
			Variants: map[string]store.Counted{"v": {ID: "v", Count: 3}},
			Rules:    map[string]store.Counted{"r": {ID: "r", Count: 5, Last: 150}},
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// An address is erased from waiting deliveries, from the delivery log and from link lockouts. An address that only has
// the same prefix stays.
func TestOps6_Erase_database(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		err := s.Tx(t.Context(), func(tx *store.Tx) error {
			for _, statement := range []string{
				`INSERT INTO users (id, email, email_key, role, created_at, updated_at) VALUES ('u', 'a@example.com', 'a@example.com', 'USER', 1, 1)`,
				`INSERT INTO webhooks (id, user_id, name, url, events, search_text, created_at, updated_at) VALUES ('w', 'u', 'n', ` +
					`'https://example.com', 'url.clicked', '', 1, 1)`,
				`INSERT INTO webhook_deliveries (id, webhook_id, event_id, event, payload, due_at, created_at) VALUES ('1', 'w', '1', ` +
					`'url.clicked', '{"ip":"203.0.113.7","x":1}', 1, 1), ('2', 'w', '2', 'url.clicked', '{"ip":"203.0.113.77","x":1}', 1, 1)`,
				`INSERT INTO webhook_logs (id, webhook_id, delivery_id, event, payload, success, duration, attempt, sent_at) VALUES ('1', 'w', '1', ` +
					`'url.clicked', '{"ip":"203.0.113.7"}', TRUE, 1, 1, 1), ('2', 'w', '2', 'url.clicked', '{"ip":"203.0.113.77"}', TRUE, 1, 1, 1)`,
				`INSERT INTO guesses (link, client, count, last_at, forget_at, mark) VALUES (1, '203.0.113.7', 1, 1, 1, 1), (1, '203.0.113.77', 1, ` +
					`1, 1, 2), (2, '2001:db8:1:2::', 1, 1, 1, 3)`,
			} {
				if _, err := tx.Exec(t.Context(), statement); err != nil {
					return err
				}
			}
			return nil
		})
		testkit.Must(t, err)
		erase := func(ip string) (e store.ErasedVisitor) {
			t.Helper()
			testkit.Must(t, s.Tx(t.Context(), func(tx *store.Tx) (err error) {
				e, err = tx.EraseVisitor(t.Context(), netip.MustParseAddr(ip))
				return err
			}))
			return e
		}
		if e := erase("203.0.113.7"); e != (store.ErasedVisitor{Deliveries: 1, Logs: 1, LinkLockouts: 1}) {
			t.Errorf("%+v", e)
		}
		if e := erase("2001:db8:1:2::99"); e != (store.ErasedVisitor{LinkLockouts: 1}) {
			t.Errorf("of IPv6: %+v", e)
		}
		var payloads string
		err = s.Row(t.Context(),
			`SELECT a.payload || b.payload FROM webhook_deliveries a, webhook_deliveries b WHERE a.id = '1' AND b.id = '2'`).
			Scan(&payloads)
		if err != nil || payloads != `{"ip":null,"x":1}{"ip":"203.0.113.77","x":1}` {
			t.Errorf("%s, %v", payloads, err)
		}
	})
}
