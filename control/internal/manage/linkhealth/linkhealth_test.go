package linkhealth_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/linkhealth"
	"github.com/shortline/shortline/control/internal/manage/webhooks/webhooktest"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// world has links of one workspace, and a webhook for events of destinations.
type world struct {
	*testing.T
	store *store.Store
	user  store.User
	mu    sync.Mutex
	time  time.Time
}

func newWorld(t *testing.T, st *store.Store) *world {
	t.Helper()
	webhooktest.CheckAll(t, st)
	w := &world{T: t, store: st, time: time.Now(), user: store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER",
		Active: true}}
	w.tx(func(tx *store.Tx) (err error) {
		if w.user.Num, err = tx.InsertUser(t.Context(), w.user); err != nil {
			return err
		}
		return tx.InsertWebhook(t.Context(), &store.Webhook{ID: store.NewID(), UserID: w.user.ID, Workspace: w.user.Num, Name: "h",
			URL: "https://example.com/", Events: []string{"link.destination_broken", "link.destination_recovered"}, Active: true})
	})
	return w
}

func (w *world) tx(f func(tx *store.Tx) error) {
	w.Helper()
	testkit.Must(w, w.store.Tx(w.Context(), f))
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.time
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.time = w.time.Add(d)
}

// service asks any address, or only public ones.
func (w *world) service(private bool) *linkhealth.Service {
	s := linkhealth.New(linkhealth.Config{Settings: linkhealth.Settings{Enabled: true, AllowPrivate: private}, BaseURL: "https://sho.rt",
		Spacing: 5 * time.Millisecond, Now: w.now}, w.store)
	w.Cleanup(s.Close)
	return s
}

// work lets a service do all that is due.
func (w *world) work(s *linkhealth.Service) {
	w.Helper()
	for {
		err := s.Work(w.Context())
		if err == nil {
			return
		}
		if !errors.Is(err, job.ErrMore) {
			w.Fatal(err)
		}
	}
}

// link makes a link.
func (w *world) link(slug, to string, change ...func(*store.Link)) *store.Link {
	w.Helper()
	u := &store.Link{ID: store.NewID(), UserID: w.user.ID, Workspace: w.user.Num, Slug: slug, OriginalURL: to, Active: true,
		CreatedAt: 1, UpdatedAt: 1}
	for _, f := range change {
		f(u)
	}
	w.tx(func(tx *store.Tx) error {
		if err := tx.InsertLinks(w.Context(), []*store.Link{u}); err != nil {
			return err
		}
		return tx.Touch(w.Context(), u.Num, u.Key())
	})
	return u
}

// health returns the health of links by their slugs, with the reasons.
func (w *world) health(links ...*store.Link) string {
	w.Helper()
	var nums []uint64
	for _, u := range links {
		nums = append(nums, u.Num)
	}
	found, err := w.store.LinkHealths(w.Context(), nums)
	testkit.Must(w, err)
	var out []string
	for _, u := range links {
		h, ok := found[u.Num]
		text := u.Slug + " " + h.Health
		if !ok {
			text = u.Slug + " none"
		}
		if h.Reason != "" {
			text += " " + h.Reason
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// events returns the events that the webhook has got, sorted.
func (w *world) events() string {
	w.Helper()
	list, err := store.All(w.Context(), w.store.Conn, func(row interface{ Scan(...any) error }) (s string, err error) {
		var event, payload string
		err = row.Scan(&event, &payload)
		_, slug, _ := strings.Cut(payload, `"slug":"`)
		slug, _, _ = strings.Cut(slug, `"`)
		return strings.TrimPrefix(event, "link.destination_") + " " + slug, err
	}, `SELECT event, payload FROM webhook_deliveries`)
	testkit.Must(w, err)
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// host is a server on a loopback address of its own.
func host(t *testing.T, last int, h http.HandlerFunc) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.%d:0", last))
	testkit.Must(t, err)
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// each runs a test with both databases.
func each(t *testing.T, f func(w *world)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) { f(newWorld(t, st)) })
}

// Answers of hosts become the health of links, with the reason. A link with several addresses has the worst of them.
func TestWork_answers(t *testing.T) {
	each(t, func(w *world) {
		var mu sync.Mutex
		seen := map[string][]string{}
		at := host(w.T, 11, func(out http.ResponseWriter, r *http.Request) {
			mu.Lock()
			seen[r.URL.Path] = append(seen[r.URL.Path], r.Method)
			mu.Unlock()
			if !strings.Contains(r.UserAgent(), "ShortlineBot") || !strings.Contains(r.UserAgent(), "https://sho.rt") {
				w.Errorf("User-Agent %q", r.UserAgent())
			}
			switch r.URL.Path {
			case "/get":
				if r.Method == http.MethodHead {
					out.WriteHeader(http.StatusMethodNotAllowed)
				}
			case "/moved":
				http.Redirect(out, r, "/ok", http.StatusMovedPermanently)
			case "/elsewhere":
				http.Redirect(out, r, "/ok", http.StatusFound)
			case "/loop":
				http.Redirect(out, r, "/loop", http.StatusFound)
			case "/missing":
				http.NotFound(out, r)
			case "/robots":
				out.WriteHeader(http.StatusForbidden)
			case "/inside":
				http.Redirect(out, r, "ftp://127.0.0.1/", http.StatusFound)
			}
		})
		var links []*store.Link
		for _, path := range []string{"ok", "get", "moved", "elsewhere", "loop", "missing", "robots", "inside"} {
			links = append(links, w.link(path, at+"/"+path))
		}
		links = append(links, w.link("mixed", at+"/ok", func(u *store.Link) { u.ExpiredURL = at + "/missing" }),
			w.link("dead", "http://127.0.0.12:1/"), w.link("other", "mailto:ann@example.com"))
		s := w.service(true)
		w.work(s)
		testkit.Equal(w, w.health(links[0]), "ok none", "health before the first question")
		for range 20 { // three failures, and a slot of the host for each address
			w.pass(45 * time.Minute)
			w.work(s)
		}
		testkit.Equal(w, w.health(links...), "ok ok, get ok, moved redirected moved, elsewhere ok, loop broken redirect_loop, "+
			"missing broken not_found, robots unknown restricted, inside unknown restricted, mixed broken not_found, "+
			"dead broken unreachable, other none", "health")
		testkit.Equal(w, w.events(), "broken dead, broken loop, broken missing, broken mixed", "events")
		mu.Lock()
		testkit.Equal(w, fmt.Sprint(seen["/get"]), "[HEAD GET]", "requests where only GET works")
		mu.Unlock()
		for _, c := range []struct{ health, want string }{{"broken", "dead loop missing mixed"}, {"redirected", "moved"},
			{"ok", "elsewhere get ok"}, {"unknown", "inside other robots"}} {
			list, total, _, err := w.store.Links(w.Context(), store.LinkFilter{Workspace: w.user.Num, Health: c.health, SortBy: "slug",
				Ascending: true, Limit: 20})
			testkit.Must(w, err)
			var slugs []string
			for _, u := range list {
				slugs = append(slugs, u.Slug)
			}
			testkit.Equal(w, strings.Join(slugs, " "), c.want, "links with the health %s", c.health)
			testkit.Equal(w, total, len(list), "links with the health %s", c.health)
		}
	})
}

// A failure that passes is no event. A broken destination recovers with its first good answer, also if its owner has changed it.
func TestWork_breaks_and_recovers(t *testing.T) {
	each(t, func(w *world) {
		var mu sync.Mutex
		status := http.StatusOK
		set := func(code int) { mu.Lock(); status = code; mu.Unlock() }
		at := host(w.T, 21, func(out http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			out.WriteHeader(status)
		})
		a, b := w.link("aaa", at+"/page"), w.link("bbb", at+"/page")
		s := w.service(true)
		w.work(s)
		ask := func(d time.Duration) {
			w.Helper()
			w.pass(d)
			w.work(s)
		}
		ask(time.Hour)
		testkit.Equal(w, w.health(a, b), "aaa ok, bbb ok", "health at first")
		set(http.StatusInternalServerError)
		ask(25 * time.Hour)
		ask(time.Hour)
		testkit.Equal(w, w.health(a, b), "aaa ok, bbb ok", "health after two failures")
		set(http.StatusOK)
		ask(3 * time.Hour)
		set(http.StatusInternalServerError)
		ask(25 * time.Hour)
		ask(time.Hour)
		testkit.Equal(w, w.events(), "", "events after a blip")
		ask(3 * time.Hour)
		ask(7 * time.Hour)
		testkit.Equal(w, w.health(a, b), "aaa broken server_error, bbb broken server_error", "health after many failures")
		testkit.Equal(w, w.events(), "broken aaa, broken bbb", "events after many failures")
		w.tx(func(tx *store.Tx) error {
			if err := tx.Do(w.Context(), `UPDATE urls SET original_url = ? WHERE num = ?`, at+"/new", a.Num); err != nil {
				return err
			}
			return tx.Touch(w.Context(), a.Num, a.Key())
		})
		ask(time.Second)
		testkit.Equal(w, w.events(), "broken aaa, broken bbb, recovered aaa", "events after the owner has changed one")
		set(http.StatusOK)
		ask(7 * time.Hour)
		ask(7 * time.Hour)
		testkit.Equal(w, w.health(a, b), "aaa ok, bbb ok", "health in the end")
		testkit.Equal(w, w.events(), "broken aaa, broken bbb, recovered aaa, recovered bbb", "events in the end")
	})
}

// A host is asked one question at a time, not before the time that it names, and about once a day. Many hosts do not wait for it.
func TestWork_is_polite(t *testing.T) {
	each(t, func(w *world) {
		var mu sync.Mutex
		asked, open, busy := 0, 0, false
		at := host(w.T, 31, func(out http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			asked++
			if open++; open > 1 {
				w.Error("two questions at a time")
			}
			open--
			if busy {
				out.Header().Set("Retry-After", "7200")
				out.WriteHeader(http.StatusTooManyRequests)
			}
		})
		const many = 40
		for i := range many {
			w.link(fmt.Sprintf("page%02d", i), fmt.Sprintf("%s/%d", at, i))
		}
		s := w.service(true)
		count := func() int { mu.Lock(); defer mu.Unlock(); return asked }
		w.work(s)
		w.pass(6 * time.Minute)
		w.work(s)
		testkit.Equal(w, count(), 1, "questions at once: others get a time of their own")
		var tight int
		testkit.Must(w, w.store.Row(w.Context(), `SELECT count(*) FROM destinations a JOIN destinations b ON b.num <> a.num
			AND abs(b.due_at - a.due_at) < 5 WHERE a.reserved AND b.reserved`).Scan(&tight))
		testkit.Equal(w, tight, 0, "questions that are planned closer together than 5 ms")
		for range 10 {
			w.pass(time.Minute)
			w.work(s)
		}
		testkit.Equal(w, count(), many, "questions on the first day")
		for range 24 {
			w.pass(time.Hour)
			w.work(s)
		}
		for range 10 {
			w.pass(time.Minute)
			w.work(s)
		}
		if n := count(); n < 2*many || n > 3*many {
			w.Errorf("%d questions on two days about %d addresses", n, many)
		}
		mu.Lock()
		busy = true
		mu.Unlock()
		w.pass(30 * time.Hour)
		w.work(s)
		n := count()
		for range 10 {
			w.pass(11 * time.Minute)
			w.work(s)
		}
		testkit.Equal(w, count(), n, "questions while the host is busy")
		w.pass(time.Hour)
		w.work(s)
		if count() == n {
			w.Error("the host is not asked again")
		}
	})
}

// Private addresses are never asked, neither directly nor by a redirect.
func TestWork_asks_no_private_address(t *testing.T) {
	each(t, func(w *world) {
		at := host(w.T, 41, func(http.ResponseWriter, *http.Request) { w.Error("a private address was asked") })
		u, v := w.link("private", at+"/"), w.link("metadata", "http://169.254.169.254/latest")
		s := w.service(false)
		w.work(s)
		w.pass(time.Hour)
		w.work(s)
		testkit.Equal(w, w.health(u, v), "private unknown private_address, metadata unknown private_address", "health")
	})
}

// If nobody answers, the own network is down, and no destination is at fault.
func TestWork_without_a_network(t *testing.T) {
	each(t, func(w *world) {
		var links []*store.Link
		for i := range 4 {
			links = append(links, w.link(fmt.Sprintf("link%d", i), fmt.Sprintf("http://127.0.0.%d:1/", 51+i)))
		}
		s := w.service(true)
		w.work(s)
		for range 10 {
			w.pass(2 * time.Hour)
			w.work(s)
		}
		testkit.Equal(w, w.health(links...), "link0 none, link1 none, link2 none, link3 none", "health")
		testkit.Equal(w, w.events(), "", "events")
	})
}

// Several processes work at the same time, and are interrupted again and again. Each event is told once, none is missing, and what
// was deleted is forgotten.
func TestWork_by_many_that_are_interrupted(t *testing.T) {
	each(t, func(w *world) {
		const many = 30
		at := host(w.T, 61, func(out http.ResponseWriter, r *http.Request) { http.NotFound(out, r) })
		for i := range many { // half of them lead to one address
			w.link(fmt.Sprintf("link%02d", i), fmt.Sprintf("%s/%d", at, max(0, i-many/2)))
		}
		services := []*linkhealth.Service{w.service(true), w.service(true), w.service(true)}
		for round := range 40 {
			var all sync.WaitGroup
			for i, s := range services {
				all.Go(func() {
					ctx, cancel := context.WithTimeout(w.Context(), time.Duration(1+(round*7+i*13)%60)*time.Millisecond)
					defer cancel()
					_ = s.Work(ctx) // may fail: it is interrupted
				})
			}
			all.Wait()
			w.pass(10 * time.Minute)
		}
		for range 40 {
			w.pass(20 * time.Minute)
			w.work(services[0])
		}
		events := strings.Split(w.events(), ", ")
		testkit.Equal(w, len(events), many, "events")
		testkit.Equal(w, len(store.Distinct(events)), many, "different events")
		w.tx(func(tx *store.Tx) error { return tx.Do(w.Context(), `DELETE FROM urls`) })
		for range 10 {
			w.pass(3 * time.Hour)
			w.work(services[0])
		}
		left := 0
		testkit.Must(w, w.store.Row(w.Context(), `SELECT count(*) FROM destinations`).Scan(&left))
		testkit.Equal(w, left, 0, "destinations without links")
	})
}
