package webhooks_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// TestMain runs a process that only delivers, if an environment variable is set.
func TestMain(m *testing.M) {
	if url := os.Getenv("WEBHOOKS_TEST_STORE"); url != "" {
		fmt.Fprintln(os.Stderr, deliverForever(url, os.Getenv("WEBHOOKS_TEST_ROOT")))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func deliverForever(url, root string) error {
	ctx, roots := context.Background(), x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(root))
	st, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		return err
	}
	s, err := webhooks.New(webhooks.Config{
		Settings: webhooks.Settings{AllowCIDRs: "127.0.0.2/32"}, EncryptionKeys: [][]byte{bytes.Repeat([]byte("e"), 32)},
		TLS: &tls.Config{RootCAs: roots, ServerName: "example.com"},
	}, st)
	if err != nil {
		return err
	}
	return s.Run(ctx)
}

// Delivering processes are killed repeatedly. All deliveries arrive, each with one id and correctly signed.
func TestKill(t *testing.T) {
	t.Parallel()
	const events = 400
	kills := testkit.Size(3, 8)
	url := storetest.SQLiteURL(t)
	st, err := store.Open(t.Context(), store.Config{URL: url})
	testkit.Must(t, err)
	defer st.Close()
	w := newWorld(t, st, nil)
	pace := time.NewTicker(time.Millisecond) // so that the kills come before all is delivered
	defer pace.Stop()
	w.answers(func(_ http.ResponseWriter, _ *http.Request) { <-pace.C })
	hook := w.add("/hook", webhooks.URLCreated)
	data := make([]any, events)
	for i := range data {
		data[i] = i
	}
	w.emit(webhooks.URLCreated, data...)
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.Certificate().Raw})
	for range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "WEBHOOKS_TEST_STORE="+url, "WEBHOOKS_TEST_ROOT="+string(root))
		cmd.Stderr = os.Stderr
		testkit.Must(t, cmd.Start())
		before, more := len(w.at("")), rand.IntN(20)
		testkit.Eventually(t, "some deliveries by this process", func() bool {
			return len(w.at("")) > before+more || w.backlog(hook.ID) == 0
		})
		testkit.Must(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	w.run()
	testkit.Eventually(t, "all deliveries", func() bool { return w.backlog(hook.ID) == 0 })
	ids := map[int]string{}
	for _, q := range w.at("/hook") {
		var e struct{ Data int }
		testkit.Must(t, json.Unmarshal([]byte(q.body), &e))
		id := q.header.Get("X-Webhook-Delivery-ID")
		if was, ok := ids[e.Data]; ok && was != id {
			t.Errorf("event %d came as %s and as %s", e.Data, was, id)
		}
		ids[e.Data] = id
		if q.header.Get("X-Webhook-Signature") != fmt.Sprintf("sha256=%x", hmacOf([]byte("secret"), q.body)) {
			t.Errorf("event %d is not signed", e.Data)
		}
	}
	repeats := len(w.at("/hook")) - events
	t.Logf("%d events, %d kills, %d repeats", events, kills, repeats)
	if len(ids) != events || repeats > 4*kills {
		t.Fatalf("%d of %d events arrived, %d repeats", len(ids), events, repeats)
	}
}
