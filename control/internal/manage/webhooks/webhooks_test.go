package webhooks_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func fieldsOf(err error) []string {
	var p *problem.Error
	var out []string
	if errors.As(err, &p) {
		for _, f := range p.Fields {
			out = append(out, f.Field)
		}
	}
	return out
}

func TestNew_reports_every_bad_setting(t *testing.T) {
	t.Parallel()
	_, err := webhooks.New(webhooks.Config{Settings: webhooks.Settings{Timeout: -1, MaxBacklog: -1, AllowCIDRs: "10.0.0.0/8, ten"}}, nil)
	for _, want := range []string{"WEBHOOK_TIMEOUT", "WEBHOOK_MAX_BACKLOG", `"ten"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in %v", want, err)
		}
	}
	if _, err := webhooks.New(webhooks.Config{EncryptionKeys: [][]byte{[]byte("short")}}, nil); err == nil {
		t.Error("a short key was accepted")
	}
}

func TestCreate_tells_all_that_is_wrong(t *testing.T) {
	w := small(t)
	events := &[]string{webhooks.URLCreated}
	ok := webhooks.Input{Name: ptr(" n "), URL: ptr("https://93.184.216.34/x"), Events: events}
	hook, secret, err := w.service.Create(t.Context(), w.ann, ok)
	testkit.Must(t, err)
	if hook.Name != "n" || !hook.Active || hook.Scope() != webhooks.ScopeOwn || !hook.HasSecret || !strings.HasPrefix(secret, "whsec_") ||
		hook.Headers == nil {
		t.Fatalf("defaults: %+v %q", hook, secret)
	}
	many := map[string]string{}
	for i := range 21 {
		many[fmt.Sprint("X-", i)] = ""
	}
	bad := map[string]string{}
	for _, name := range []string{"Host", "content-type", "Content-Length", "X-Webhook-Signature", "Webhook-Id", "User-Agent",
		"Transfer-Encoding", "Connection", "a b", "", "Proxy-Authorization"} {
		bad[name] = "x"
	}
	for name, c := range map[string]struct {
		change func(*webhooks.Input)
		want   []string
	}{
		"nothing": {func(in *webhooks.Input) { *in = webhooks.Input{} }, []string{"name", "url", "events"}},
		"empty": {func(in *webhooks.Input) { in.Name, in.URL, in.Events = ptr(" "), ptr(""), &[]string{} },
			[]string{"name", "url", "events"}},
		"long": {func(in *webhooks.Input) {
			in.Name, in.Secret = ptr(strings.Repeat("ü", 101)), ptr(strings.Repeat("ü", 256))
		}, []string{"name", "secret"}},
		"events": {func(in *webhooks.Input) { in.Events = &[]string{webhooks.URLCreated, "nope", "webhook.test"} },
			[]string{"events.1", "events.2"}},
		"scope":        {func(in *webhooks.Input) { in.Scope = ptr("some") }, []string{"scope"}},
		"http":         {func(in *webhooks.Input) { in.URL = ptr("http://example.com") }, []string{"url"}},
		"private":      {func(in *webhooks.Input) { in.URL = ptr("https://127.0.0.1") }, []string{"url"}},
		"many headers": {func(in *webhooks.Input) { in.Headers = &many }, []string{"headers"}},
		"big headers":  {func(in *webhooks.Input) { in.Headers = &map[string]string{"X": strings.Repeat("x", 4096)} }, []string{"headers"}},
		"line break":   {func(in *webhooks.Input) { in.Headers = &map[string]string{"X-A": "a\r\nX-B: b"} }, []string{"headers.X-A"}},
		"same header":  {func(in *webhooks.Input) { in.Headers = &map[string]string{"X-A": "", "x-a": ""} }, []string{"headers.x-a"}},
		"our headers": {func(in *webhooks.Input) { in.Headers = &bad }, func() (f []string) {
			for _, name := range slices.Sorted(maps.Keys(bad)) {
				f = append(f, "headers."+name)
			}
			return f
		}()},
	} {
		in := ok
		c.change(&in)
		_, _, err := w.service.Create(t.Context(), w.ann, in)
		if !problem.Is(err, problem.Invalid) || !slices.Equal(fieldsOf(err), c.want) {
			t.Errorf("%s: %v, want problems with %v", name, err, c.want)
		}
	}
	all := ok
	all.Scope = ptr(webhooks.ScopeAll)
	if _, _, err := w.service.Create(t.Context(), w.ann, all); !problem.Is(err, problem.Forbidden) {
		t.Errorf("a USER's webhook that sees all: %v", err)
	}
	if hook, _, err := w.service.Create(t.Context(), w.root, all); err != nil || hook.Scope() != webhooks.ScopeAll {
		t.Errorf("an ADMIN's webhook that sees all: %v", err)
	}
	// An ADMIN cannot extend another user's webhook beyond its owner's permissions.
	if _, err := w.service.Update(t.Context(), w.root, hook.ID, webhooks.Input{Scope: ptr(webhooks.ScopeAll)}); !problem.Is(err,
		problem.Forbidden) {
		t.Errorf("a USER's webhook made to see all: %v", err)
	}
	for range 99 {
		_, _, err = w.service.Create(t.Context(), w.ann, ok)
		testkit.Must(t, err)
	}
	if _, _, err = w.service.Create(t.Context(), w.ann, ok); !problem.Is(err, problem.Conflict) {
		t.Errorf("the 101st webhook: %v", err)
	}
}

func TestWebhooks_belong_to_their_owner(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		hook := w.add("/hook", webhooks.URLCreated)
		log, err := w.service.Test(ctx, w.ann, hook.ID)
		testkit.Must(t, err)
		bob := w.user("bob@example.com", auth.User)
		for name, call := range map[string]func() error{
			"get": func() error { _, err := w.service.Get(ctx, bob, hook.ID); return err },
			"update": func() error {
				_, err := w.service.Update(ctx, bob, hook.ID, webhooks.Input{Name: ptr("x")})
				return err
			},
			"delete": func() error { return w.service.Delete(ctx, bob, hook.ID) },
			"test":   func() error { _, err := w.service.Test(ctx, bob, hook.ID); return err },
			"logs":   func() error { _, _, err := w.service.Logs(ctx, bob, hook.ID, webhooks.LogFilter{}, 1, 0); return err },
			"repeat": func() error { _, err := w.service.RetryFailed(ctx, bob, hook.ID); return err },
			"retry":  func() error { _, err := w.service.Retry(ctx, bob, hook.ID, log.ID); return err },
		} {
			if err := call(); !problem.Is(err, problem.NotFound) {
				t.Errorf("%s by somebody else: %v", name, err)
			}
		}
		for _, c := range []struct {
			who  auth.Principal
			want int
		}{{w.ann, 1}, {bob, 0}, {w.root, 1}} {
			if list, total, err := w.service.List(ctx, c.who, "", 10, 0); err != nil || total != c.want || len(list) != c.want {
				t.Errorf("%s sees %d: %v", c.who.Email, total, err)
			}
		}
		testkit.Must(t, w.service.Delete(ctx, w.root, hook.ID))
		if _, err := w.service.Get(ctx, w.ann, hook.ID); !problem.Is(err, problem.NotFound) {
			t.Error(err)
		}
	})
}

func TestSecrets_are_sealed_at_rest_and_left_out_of_the_audit_log(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		hook, _, err := w.service.Create(ctx, w.ann, webhooks.Input{Name: ptr("n"), URL: ptr(w.URL), Events: &[]string{webhooks.URLCreated},
			Secret: ptr("hush-secret"), Headers: &map[string]string{"Authorization": "hush-header"}})
		testkit.Must(t, err)
		got, err := w.service.Get(ctx, w.ann, hook.ID)
		testkit.Must(t, err)
		if got.Headers["Authorization"] != "hush-header" || !got.HasSecret {
			t.Fatalf("%+v", got)
		}
		for _, in := range []webhooks.Input{
			{Secret: ptr("hush-again")}, {Headers: &map[string]string{"X-Key": "hush-header-2"}}, {Name: ptr("m")}, {Name: ptr("m")}, {},
			{Headers: &map[string]string{}},
		} {
			_, err := w.service.Update(ctx, w.ann, hook.ID, in)
			testkit.Must(t, err)
		}
		if got, err = w.service.Get(ctx, w.ann, hook.ID); err != nil || len(got.Headers) != 0 || got.Name != "m" {
			t.Fatalf("%+v %v", got, err)
		}
		testkit.Must(t, w.service.Delete(ctx, w.ann, hook.ID))
		var actions []string
		testkit.Must(t, w.store.EachAudit(ctx, func(r store.AuditRow) error {
			actions = append(actions, r.Action)
			if strings.Contains(fmt.Sprint(r), "hush") {
				t.Errorf("a secret is in the audit log: %+v", r)
			}
			return nil
		}))
		// The second renaming and the empty update changed nothing.
		if want := "[WEBHOOK_CREATED WEBHOOK_UPDATED WEBHOOK_UPDATED WEBHOOK_UPDATED WEBHOOK_UPDATED WEBHOOK_DELETED]"; fmt.Sprint(
			actions) != want {
			t.Fatalf("audit log: %v", actions)
		}
		_, _, err = w.service.Create(ctx, w.ann, webhooks.Input{Name: ptr("n"), URL: ptr(w.URL), Events: &[]string{webhooks.URLCreated},
			Secret: ptr("hush"), Headers: &map[string]string{"A": "hush"}})
		testkit.Must(t, err)
		var secret, headers string
		testkit.Must(t, w.store.Row(ctx, `SELECT secret, headers FROM webhooks`).Scan(&secret, &headers))
		if !strings.HasPrefix(secret, "v1.") || !strings.HasPrefix(headers, "v1.") || strings.Contains(secret+headers, "hush") {
			t.Fatalf("not sealed: %q %q", secret, headers)
		}
		if strings.Contains(w.logs.String(), "hush") {
			t.Fatalf("a secret is in the log: %s", w.logs)
		}
	})
}

func TestUnreadable_secret_fails_the_delivery_and_sends_nothing(t *testing.T) {
	w := small(t)
	hook := w.add("/hook", webhooks.URLCreated)
	w.cfg.EncryptionKeys, w.cfg.Registry = [][]byte{bytes.Repeat([]byte("x"), 32)}, nil
	other, err := webhooks.New(w.cfg, w.store)
	testkit.Must(t, err)
	log, err := other.Test(t.Context(), w.ann, hook.ID)
	testkit.Must(t, err)
	if log.Success || log.Error != "The webhook can't be used: its secret could not be decrypted." || len(w.at("")) != 0 {
		t.Fatalf("%+v", log)
	}
}

func TestTest_reports_what_came_of_it(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		hook := w.add("/hook", webhooks.URLCreated)
		_, err := w.service.Update(t.Context(), w.ann, hook.ID, webhooks.Input{Active: ptr(false)})
		testkit.Must(t, err)
		w.answers(func(out http.ResponseWriter, _ *http.Request) { out.WriteHeader(418); fmt.Fprint(out, "teapot") })
		log, err := w.service.Test(t.Context(), w.ann, hook.ID)
		testkit.Must(t, err)
		if log.Success || log.StatusCode != 418 || log.Response != "teapot" || log.Error == "" || log.Attempt != 1 ||
			log.Event != "webhook.test" {
			t.Fatalf("%+v", log)
		}
		if got := w.at("/hook")[0]; !strings.Contains(got.body, `{"event":"webhook.test","timestamp":"`) ||
			!strings.Contains(got.body, `"data":{"message":"`) ||
			!strings.Contains(got.body, `","webhookId":"`+hook.ID+`","webhookName":"hook"}}`) {
			t.Fatalf("%s", got.body)
		}
		if w.log(hook.ID)[0] != log || w.figures(hook.ID) != `1 sent, 0 succeeded, 1 failed, "The receiver answered 418 I'm a teapot."` ||
			w.backlog(hook.ID) != 0 {
			t.Fatalf("%s, %+v", w.figures(hook.ID), w.log(hook.ID))
		}
		w.Close()
		if log, err = w.service.Test(t.Context(), w.ann, hook.ID); err != nil || log.Success || log.StatusCode != 0 ||
			!strings.Contains(log.Error, "connection refused") {
			t.Fatalf("%+v %v", log, err)
		}
	})
}

func TestRetry_by_hand(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		hook := w.add("/hook", webhooks.URLCreated)
		w.status(500)
		w.emit(webhooks.URLCreated, "payload")
		w.run()
		testkit.Eventually(t, "a failed attempt", func() bool { return len(w.log(hook.ID)) == 1 })
		failed := w.log(hook.ID)[0]
		// The retry uses the present URL and secret.
		_, err := w.service.Update(ctx, w.ann, hook.ID, webhooks.Input{URL: ptr(w.URL + "/new"), Secret: ptr("new")})
		testkit.Must(t, err)
		again, err := w.service.Retry(ctx, w.ann, hook.ID, failed.ID)
		testkit.Must(t, err)
		if again.Success || again.Attempt != 2 || again.DeliveryID != failed.DeliveryID || again.Payload != failed.Payload ||
			again.ID == failed.ID || w.backlog(hook.ID) != 1 {
			t.Fatalf("%+v", again)
		}
		w.answers(nil)
		good, err := w.service.Retry(ctx, w.ann, hook.ID, again.ID)
		testkit.Must(t, err)
		got := w.at("/new")[1]
		if !good.Success || good.Attempt != 3 || got.body != failed.Payload ||
			got.header.Get("X-Webhook-Delivery-ID") != failed.DeliveryID {
			t.Fatalf("%+v", good)
		}
		if got.header.Get("X-Webhook-Signature") != fmt.Sprintf("sha256=%x", hmacOf([]byte("new"), got.body)) {
			t.Fatal("not signed with the new secret")
		}
		if w.figures(hook.ID) != `3 sent, 1 succeeded, 2 failed, ""` || w.backlog(hook.ID) != 0 {
			t.Fatalf("%s; the automatic retry must be off: %d", w.figures(hook.ID), w.backlog(hook.ID))
		}
		if _, err := w.service.Retry(ctx, w.ann, hook.ID, good.ID); !problem.Is(err, problem.Invalid) {
			t.Fatalf("retry of a success: %v", err)
		}
		if _, err := w.service.Retry(ctx, w.ann, hook.ID, "none"); !problem.Is(err, problem.NotFound) {
			t.Fatalf("retry of nothing: %v", err)
		}
		other := w.add("/other", webhooks.URLCreated)
		if _, err := w.service.Retry(ctx, w.ann, other.ID, failed.ID); !problem.Is(err, problem.NotFound) {
			t.Fatalf("retry of another webhook's attempt: %v", err)
		}
	})
}

// An address that was allowed when saved is checked again for each request.
func TestForbidden_addresses_get_nothing(t *testing.T) {
	t.Parallel()
	var accepts atomic.Int32
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepts.Add(1)
			c.Close()
		}
	}()
	w := newWorld(t, storetest.Open(t), nil)
	_, port, err := net.SplitHostPort(l.Addr().String())
	testkit.Must(t, err)
	events := &[]string{webhooks.URLCreated}
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "127.1", "0177.0.0.1",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "127.0.0.1.", "user@127.0.0.1"} {
		url := "https://" + host + ":" + port
		if _, _, err := w.service.Create(t.Context(), w.ann, webhooks.Input{Name: ptr("n"), URL: &url, Events: events}); err == nil &&
			host != "localhost" {
			t.Errorf("%s was accepted", url)
		}
		hook := w.add("/hook", webhooks.URLCreated)
		if _, err := w.service.Update(t.Context(), w.ann, hook.ID, webhooks.Input{URL: &url}); err == nil && host != "localhost" {
			t.Errorf("%s was accepted by an update", url)
		}
		// As if the name had resolved to another address when it was saved.
		testkit.Must(t, w.store.Tx(t.Context(), func(tx *store.Tx) error {
			row, err := tx.LockWebhook(t.Context(), hook.ID)
			testkit.Must(t, err)
			row.URL = url
			return tx.UpdateWebhook(t.Context(), &row)
		}))
		log, err := w.service.Test(t.Context(), w.ann, hook.ID)
		testkit.Must(t, err)
		again, err := w.service.Retry(t.Context(), w.ann, hook.ID, log.ID)
		testkit.Must(t, err)
		if log.Success || again.Success || log.Response != "" || again.Attempt != 2 {
			t.Errorf("%s: %+v", url, log)
		}
	}
	w.emit(webhooks.URLCreated, 1)
	w.run()
	testkit.Eventually(t, "an attempt at every webhook", func() bool {
		due, err := w.store.DueWebhooks(t.Context(), time.Now().UnixMilli())
		testkit.Must(t, err)
		return len(due) == 0
	})
	if n := accepts.Load(); n != 0 || len(w.at("")) != 0 {
		t.Fatalf("%d connections to a forbidden address", n)
	}
}

func TestAllowPrivate_lifts_the_checks(t *testing.T) {
	t.Parallel()
	var got atomic.Int32
	s := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) })}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	w := newWorld(t, storetest.Open(t), func(c *webhooks.Config) { c.AllowPrivate = true })
	hook, _, err := w.service.Create(t.Context(), w.ann, webhooks.Input{Name: ptr("n"), URL: ptr("http://" + l.Addr().String()),
		Events: &[]string{webhooks.URLCreated}})
	testkit.Must(t, err)
	if log, err := w.service.Test(t.Context(), w.ann, hook.ID); err != nil || !log.Success || got.Load() != 1 {
		t.Fatalf("%+v %v", log, err)
	}
}
