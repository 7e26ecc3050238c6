package publish_test

import (
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// Documents and deltas are signed with the key for every edge.
func TestPublisher_signs(t *testing.T) {
	t.Parallel()
	key, err := snapshot.ParseSigningKey(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	testkit.Must(t, err)
	trusted, err := snapshot.ParseKeys(key.Public())
	testkit.Must(t, err)
	ctx := t.Context()
	st := storetest.Open(t)
	touch := func(slug string) {
		t.Helper()
		testkit.Must(t, st.Tx(ctx, func(tx *store.Tx) error { return tx.Touch(ctx, 1, slug) }))
	}
	touch("one")
	for _, c := range []struct {
		key  snapshot.SigningKey
		want error
	}{{key, nil}, {snapshot.SigningKey{}, snapshot.ErrUnsigned}} {
		p := publish.New(st, publish.Config{Dir: t.TempDir(), Key: c.key, Logger: slog.New(slog.DiscardHandler)})
		doc, err := p.Snapshot(ctx)
		testkit.Must(t, err)
		_, err = snapshot.DecodeSigned(doc, snapshot.Limits{}, trusted, func(*link.Record) error { return nil })
		if err2 := doc.Close(); !errors.Is(err, c.want) || err2 != nil {
			t.Errorf("a document: %v, %v", err, err2)
		}
		incarnation, head, err := st.Head(ctx)
		testkit.Must(t, err)
		touch("two")
		for range 2 { // the second is remembered
			wire, err := p.Changes(ctx, snapshot.Cursor{Incarnation: incarnation, Revision: head})
			testkit.Must(t, err)
			if d, err := snapshot.DecodeSignedDelta(wire, trusted); !errors.Is(err, c.want) {
				t.Errorf("a delta: %+v, %v", d, err)
			}
		}
	}
}
