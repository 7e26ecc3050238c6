package api_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
)

// hookWorld is a world with webhooks and a receiver that responds with a configurable status.
type hookWorld struct {
	*world
	url     string
	status  *atomic.Int32
	headers *atomic.Pointer[http.Header] // headers of the latest delivery
}

func withHooks(t *testing.T, st *store.Store, configure func(*world, *api.Config, *api.Deps)) hookWorld {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("needs a second loopback address: %v", err)
	}
	h := hookWorld{status: &atomic.Int32{}, headers: &atomic.Pointer[http.Header]{}}
	h.status.Store(200)
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		h.headers.Store(&r.Header)
		w.WriteHeader(int(h.status.Load()))
		fmt.Fprint(w, "got it")
	}))
	receiver.Listener.Close()
	receiver.Listener = l
	receiver.StartTLS()
	t.Cleanup(receiver.Close)
	h.url = receiver.URL
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	h.world = newWorld(t, st, func(w *world, cfg *api.Config, deps *api.Deps) {
		deps.Webhooks, err = webhooks.New(webhooks.Config{
			Settings:       webhooks.Settings{AllowCIDRs: "127.0.0.2/32", Timeout: 5 * time.Second},
			EncryptionKeys: [][]byte{bytes.Repeat([]byte("e"), 32)},
			TLS:            &tls.Config{RootCAs: roots, ServerName: "example.com"}, Now: w.clock.now,
		}, w.store)
		w.ok(err)
		if configure != nil {
			configure(w, cfg, deps)
		}
	})
	return h
}

var webhookNames = []string{"id", "userId", "name", "url", "events", "headers", "scope", "isActive", "pauseReason", "hasSecret", "oldSecretUntil", "longRetries",
	"totalSent", "totalSuccess",
	"totalFailed", "lastSentAt", "lastError", "failureStreak", "failingSince", "waiting", "nextAttemptAt", "createdAt", "updatedAt"}

var webhookLogNames = []string{"id", "webhookId", "event", "deliveryId", "payload", "status", "statusCode", "response", "responseBody",
	"error", "duration", "attempt",
	"isSuccess", "createdAt", "sentAt"}

func TestWebhooks(t *testing.T) {
	w := withHooks(t, usual(t), nil)
	ann := as(w.ann)
	hook := w.do("POST", "/api/webhooks", `{"name":"mine","url":"`+w.url+`","events":["url.created"],"headers":{"X-A":"b"}}`,
		ann).want(201).
		has("", append([]string{"secret"}, webhookNames...)...)
	id := hook.str("id")
	if !strings.HasPrefix(hook.str("secret"), "whsec_") || hook.at("isActive") != true || hook.str("scope") != "own" ||
		hook.at("lastSentAt") != nil || hook.str("userId") != w.annID {
		t.Fatalf("%s", hook.text)
	}
	one := "/api/webhooks/" + id
	w.do("GET", one, "", ann).want(200).has("", webhookNames...).shows("headers.X-A", "***", "hasSecret", true, "events.0", "url.created")
	w.do("GET", "/api/webhooks?search=MINE", "", ann).want(200).has("", "data", "total", "page", "pageSize", "totalPages").
		has("data.0", webhookNames...).
		shows("total", 1, "pageSize", 10)
	w.do("GET", "/api/webhooks?search=other&limit=5", "", ann).want(200).shows("total", 0, "pageSize", 5)
	w.do("GET", "/api/webhooks", "", as(w.bob)).want(200).shows("total", 0)
	w.do("GET", "/api/webhooks", "", as(w.root)).want(200).shows("total", 1)

	got := w.do("PUT", one, `{"name":"renamed","isActive":false,"events":["url.deleted","url.deleted"],"headers":null,"secret":""}`,
		ann).want(200).
		has("", webhookNames...)
	if got.str("name") != "renamed" || got.at("isActive") != false || len(got.at("events").([]any)) != 1 ||
		len(got.at("headers").(map[string]any)) != 0 || got.at("hasSecret") != false {
		t.Fatalf("%s", got.text)
	}

	w.do("POST", one+"/test", "", ann).want(201).has("", "success", "statusCode", "response", "error", "duration").
		shows("success", true, "statusCode", 200, "response", "got it", "error", nil)
	w.status.Store(500)
	if test := w.do("POST", one+"/test", "{}", ann).want(201); test.at("success") != false || test.num("statusCode") != 500 ||
		test.str("error") == "" {
		t.Fatalf("%s", test.text)
	}
	w.do("GET", one+"/logs", "", ann).want(200).has("", "logs", "data", "total", "page", "pageSize", "totalPages").
		has("logs.0", webhookLogNames...).
		shows("total", 2, "pageSize", 20, "data.0.status", "failed", "logs.1.status", "success", "logs.0.payload.event", "webhook.test")
	logs := w.do("GET", one+"/logs?page=2&pageSize=1", "", ann).want(200)
	if logs.str("logs.0.status") != "success" {
		t.Fatalf("%s", logs.text)
	}
	good := logs.str("logs.0.id")
	if logs = w.do("GET", one+"/logs?status=failed&event=webhook.test", "", ann).want(200); logs.num("total") != 1 ||
		logs.str("logs.0.status") != "failed" {
		t.Fatalf("%s", logs.text)
	}
	w.do("GET", one+"/logs?status=ok&event=url.broken", "", ann).wantField("status", "event")
	if got = w.do("GET", one, "", ann).want(200); got.num("failureStreak") != 1 || got.str("failingSince") == "" ||
		got.num("waiting") != 0 ||
		got.at("nextAttemptAt") != nil {
		t.Fatalf("%s", got.text)
	}
	w.do("POST", one+"/logs/retry", "", ann).want(409) // it is disabled
	w.do("PUT", one, `{"isActive":true}`, ann).want(200)
	w.do("POST", one+"/logs/retry", "", ann).want(200).has("", "queued").shows("queued", 0) // tests are not repeated
	failed := w.do("GET", one+"/logs", "", ann).str("logs.0.id")

	w.do("POST", one+"/logs/"+failed+"/retry", "", ann).want(200).has("", webhookLogNames...).
		shows("isSuccess", false, "attempt", 2, "status", "failed")
	w.status.Store(204)
	if again := w.do("POST", one+"/logs/"+failed+"/retry", "", ann).want(200); again.at("isSuccess") != true || again.num("attempt") != 3 {
		t.Fatalf("%s", again.text)
	}
	w.do("POST", one+"/logs/"+good+"/retry", "", ann).want(400)
	w.do("POST", one+"/logs/none/retry", "", ann).want(404)
	w.do("POST", "/api/webhooks/none/logs/"+failed+"/retry", "", ann).want(404)
	got = w.do("GET", one, "", ann).want(200)
	if got.num("totalSent") != 4 || got.num("totalSuccess") != 2 || got.num("totalFailed") != 2 || got.str("lastSentAt") == "" {
		t.Fatalf("%s", got.text)
	}

	w.do("DELETE", one, "", ann).want(204)
	w.do("DELETE", one, "", ann).want(404)
}

func TestWebhooks_refuse_with_reasons(t *testing.T) {
	t.Parallel()
	w := withHooks(t, storetest.Open(t), nil)
	ann := as(w.ann)
	w.do("POST", "/api/webhooks", `{"name":null,"url":"","events":null}`, ann).wantField("name", "url", "events")
	w.do("POST", "/api/webhooks", `{"name":"n","url":"`+w.url+`","events":["url.created"],"colour":1}`, ann).wantField("colour")
	w.do("POST", "/api/webhooks", `{"name":1,"url":2,"events":"url.created","headers":{"X":1},"isActive":"yes"}`, ann).
		wantField("name", "url",
			"events", "headers.X", "isActive")
	w.do("POST", "/api/webhooks", `{"name":"n","url":"`+w.url+`","events":["url.created"],"scope":"all","secret":"given"}`,
		as(w.root)).want(201).shows("scope", "all", "secret", "given")
}

func TestWebhooks_limits(t *testing.T) {
	t.Parallel()
	w := withHooks(t, storetest.Open(t), func(_ *world, cfg *api.Config, _ *api.Deps) {
		cfg.Limits.Webhooks, cfg.Limits.WebhookRetry = 5, 5
	})
	ann := as(w.ann)
	id := w.do("POST", "/api/webhooks", `{"name":"n","url":"`+w.url+`","events":["url.created"]}`, ann).want(201).str("id")
	w.status.Store(500)
	w.do("POST", "/api/webhooks/"+id+"/test", "", ann).want(201)
	for range 3 {
		w.do("PUT", "/api/webhooks/"+id, `{}`, ann).want(200)
	}
	if r := w.do("DELETE", "/api/webhooks/"+id, "", ann).want(429); r.Header.Get("Retry-After") == "" {
		t.Fatal("no Retry-After")
	}
	failed := w.do("GET", "/api/webhooks/"+id+"/logs", "", ann).want(200).str("logs.0.id")
	for range 5 {
		w.do("POST", "/api/webhooks/"+id+"/logs/"+failed+"/retry", "", ann).want(200)
	}
	w.do("POST", "/api/webhooks/"+id+"/logs/"+failed+"/retry", "", ann).want(429)
}

// Custom headers contain credentials. A response shows their names, but never their values.
func TestLow_WebhookHeadersAreWriteOnly(t *testing.T) {
	st := usual(t)
	const canary = "Bearer c4n4ry"
	w := withHooks(t, st, nil)
	ann := as(w.ann)
	key := with("X-API-Key", w.do("POST", "/api/api-keys", `{"name":"k"}`, ann).want(201).str("key"))
	responses := []*reply{w.do("POST", "/api/webhooks", `{"name":"mine","url":"`+w.url+
		`","events":["url.created"],"headers":{"Authorization":"`+canary+`","X-Team":"growth"}}`, ann).want(201)}
	one := "/api/webhooks/" + responses[0].str("id")
	received := func(want map[string]string) {
		t.Helper()
		if r := w.do("POST", one+"/test", "", ann).want(201); r.at("success") != true {
			t.Fatal(r.text)
		}
		got := *w.headers.Load()
		for name, value := range want {
			if got.Get(name) != value {
				t.Errorf("the receiver got %s: %q, want %q", name, got.Get(name), value)
			}
		}
	}
	put := func(headers string, status int) *reply {
		r := w.do("PUT", one, `{"headers":`+headers+`}`, ann).want(status)
		responses = append(responses, r)
		return r
	}
	for _, who := range []option{ann, key, as(w.root)} {
		responses = append(responses, w.do("GET", one, "", who).want(200), w.do("GET", "/api/webhooks", "", who).want(200),
			w.do("PUT", one, `{"name":"same"}`, who).want(200))
	}
	received(map[string]string{"Authorization": canary, "X-Team": "growth"})

	// An update with the headers from a response keeps the values, regardless of the letter case of the names.
	put(`{"authorization":"***","X-Team":"sales","X-New":"n"}`, 200).has("headers", "authorization", "X-Team", "X-New").
		shows("headers.authorization", "***", "headers.X-New", "***")
	received(map[string]string{"Authorization": canary, "X-Team": "sales", "X-New": "n"})
	put(`{"X-Other":"***","X-Team":"lost"}`, 400).wantField("headers.X-Other")
	received(map[string]string{"Authorization": canary, "X-Team": "sales"})
	put(`{"Authorization":"***"}`, 200)
	received(map[string]string{"Authorization": canary, "X-Team": ""})
	put(`{}`, 200).has("headers")
	received(map[string]string{"Authorization": ""})
	w.do("POST", "/api/webhooks", `{"name":"n","url":"`+w.url+`","events":["url.created"],"headers":{"X-A":"***"}}`, ann).
		wantField("headers.X-A")

	responses = append(responses, w.do("GET", one+"/logs", "", ann).want(200), w.do("GET", "/api/audit-logs", "", as(w.root)).want(200))
	for _, r := range responses {
		r.omits("c4n4ry")
	}
	put(`{"Authorization":"`+canary+`"}`, 200)
	var stored string
	w.ok(st.Row(t.Context(), `SELECT headers FROM webhooks`).Scan(&stored))
	if strings.Contains(stored, "c4n4ry") || strings.Contains(stored, "Authorization") {
		t.Error("the headers are stored in plain text")
	}
}
