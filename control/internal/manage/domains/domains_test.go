package domains_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/manage/domains/dnscheck"
	"github.com/shortline/shortline/control/internal/manage/domains/dnstest"
	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// world is a service with a real database, a DNS server and a clock.
type world struct {
	*testing.T
	store *store.Store
	dns   *dnstest.Server
	clock atomic.Int64 // Unix milliseconds
	*domains.Service
}

func each(t *testing.T, test func(w *world)) {
	t.Parallel()
	storetest.EachInProof(t, func(t *testing.T, s *store.Store) {
		w := &world{T: t, store: s, dns: dnstest.New(t)}
		w.clock.Store(time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC).UnixMilli())
		w.Service = w.service()
		test(w)
	})
}

// service returns another service of the same database, as another control plane has.
func (w *world) service() *domains.Service {
	w.Helper()
	checker, err := dnscheck.New(dnscheck.Config{Resolvers: []string{w.dns.Addr}})
	testkit.Must(w, err)
	return domains.New(domains.Config{
		Checker: checker, Targets: dnscheck.Targets{Hostname: "edge.sho.rt"}, Names: hostname.Policy{Own: []string{"sho.rt"}}, Most: 5,
		Destinations: link.Policy{Hosts: []string{"sho.rt"}}, Now: func() time.Time { return time.UnixMilli(w.clock.Load()) },
	}, w.store)
}

func (w *world) pass(d time.Duration) { w.clock.Add(d.Milliseconds()) }

// user adds a user, who works in the personal workspace.
func (w *world) user(email string) auth.Principal {
	w.Helper()
	u := store.User{ID: store.NewID(), Email: email, Role: "USER", Active: true, CreatedAt: store.Now(), UpdatedAt: store.Now()}
	w.tx(func(ctx context.Context, tx *store.Tx) (err error) {
		u.Num, err = tx.InsertUser(ctx, u)
		return err
	})
	return auth.Principal{UserID: u.ID, UserNum: u.Num, Role: auth.User, Workspace: auth.Workspace{Num: u.Num}}
}

func (w *world) tx(f func(ctx context.Context, tx *store.Tx) error) {
	w.Helper()
	testkit.Must(w, w.store.Tx(w.Context(), func(tx *store.Tx) error { return f(w.Context(), tx) }))
}

func (w *world) create(p auth.Principal, name string) store.Domain {
	w.Helper()
	d, err := w.Create(w.Context(), p, name, domains.Input{})
	testkit.Must(w, err)
	return d
}

// prove sets the records of a domain.
func (w *world) prove(d *store.Domain) {
	w.Helper()
	w.dns.Set(w, "_shortline."+d.Hostname, `TXT "`+d.Token+`"`)
	w.dns.Set(w, d.Hostname, "CNAME edge.sho.rt.")
	w.dns.Set(w, "edge.sho.rt", "A 198.51.100.1")
}

func (w *world) verify(p auth.Principal, d *store.Domain) store.Domain {
	w.Helper()
	after, err := w.Verify(w.Context(), p, d.ID)
	testkit.Must(w, err)
	return after
}

// served returns the names that edges serve, with the numbers of their workspaces.
func (w *world) served() map[string]uint64 {
	w.Helper()
	list, _, err := w.store.HostsAfter(w.Context(), 0, true)
	testkit.Must(w, err)
	out := map[string]uint64{}
	for i := range list {
		out[list[i].Hostname] = list[i].Workspace
	}
	return out
}

func wantProblem(t *testing.T, err error, kind problem.Kind, text string) {
	t.Helper()
	if !problem.Is(err, kind) || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want kind %v with %q", err, kind, text)
	}
}

func TestDomain_from_creation_to_service(t *testing.T) {
	each(t, func(w *world) {
		ann := w.user("ann@example.com")
		d := w.create(ann, "Go.Acme.com")
		if d.Hostname != "go.acme.com" || d.Status != store.DomainPending || len(d.Token) < 40 {
			w.Fatalf("%+v", d)
		}
		after := w.verify(ann, &d)
		if after.Status != store.DomainPending || after.Proof.OK || after.Route.OK || !strings.Contains(after.Proof.Message,
			"_shortline.go.acme.com") || after.Route.Message == "" {
			w.Errorf("without records: %+v", after)
		}
		w.prove(&d)
		asked := w.dns.Questions()
		if again := w.verify(ann, &d); again.Status != store.DomainPending || w.dns.Questions() != asked {
			w.Errorf("a second check within seconds asked DNS %d times: %+v", w.dns.Questions()-asked, again)
		}
		w.pass(time.Minute)
		if after = w.verify(ann, &d); after.Status != store.DomainActive || !after.Proof.OK || !after.Route.OK ||
			after.ProvedAt != w.clock.Load() {
			w.Errorf("with all records: %+v", after)
		}
		if at := w.served(); at["go.acme.com"] != ann.Workspace.Num || len(at) != 1 {
			w.Errorf("served: %v", at)
		}
		testkit.Must(w, w.Delete(w.Context(), ann, d.ID))
		testkit.Equal(w, len(w.served()), 0, "names served after the deletion")
		_, gone, err := w.store.HostsAfter(w.Context(), 0, true)
		if err != nil || len(gone) != 1 {
			w.Errorf("gone: %v, %v", gone, err)
		}
	})
}

// Other workspaces can't have a name that is in service, can't see whose it is, and can't touch it.
func TestDomain_belongs_to_one_workspace(t *testing.T) {
	each(t, func(w *world) {
		ctx, ann, bob := w.Context(), w.user("ann@example.com"), w.user("bob@example.com")
		d := w.create(ann, "go.acme.com")
		_, err := w.Create(ctx, ann, "go.acme.com", domains.Input{})
		wantProblem(w.T, err, problem.Conflict, "the workspace has")

		rival := w.create(bob, "go.acme.com") // nobody has proved anything yet
		w.prove(&d)
		w.verify(ann, &d)
		w.pass(time.Minute)
		w.dns.Set(w, "_shortline.go.acme.com", `TXT "`+d.Token+`"`, `TXT "`+rival.Token+`"`)
		if after := w.verify(bob, &rival); after.Status != store.DomainPending || !strings.Contains(after.Proof.Message,
			"another workspace holds") {
			w.Errorf("a rival with the record: %+v", after)
		}
		testkit.Equal(w, w.served()["go.acme.com"], ann.Workspace.Num, "the workspace of the name")
		carl := w.user("carl@example.com")
		_, err = w.Create(ctx, carl, "go.acme.com", domains.Input{})
		wantProblem(w.T, err, problem.Conflict, "belongs to another workspace")
		_, err = w.Get(ctx, bob, d.ID)
		wantProblem(w.T, err, problem.NotFound, "Domain not found")
		_, err = w.Verify(ctx, bob, d.ID)
		wantProblem(w.T, err, problem.NotFound, "Domain not found")
		wantProblem(w.T, w.Delete(ctx, bob, d.ID), problem.NotFound, "Domain not found")
		url := "https://evil.example/"
		_, err = w.Update(ctx, bob, d.ID, domains.Input{RootURL: &url})
		wantProblem(w.T, err, problem.NotFound, "Domain not found")
		list, total, err := w.List(ctx, bob, "", 0, 10)
		if err != nil || total != 1 || list[0].ID != rival.ID {
			w.Errorf("the list of bob: %v, %d, %v", list, total, err)
		}
	})
}

// The record of an ACTIVE domain vanishes. Errors of DNS never count. After a week the domain leaves service, and the
// next owner who proves the name gets it, with links of its own.
func TestDomain_takeover_after_a_week(t *testing.T) {
	each(t, func(w *world) {
		ann, bob := w.user("ann@example.com"), w.user("bob@example.com")
		d := w.create(ann, "go.acme.com")
		w.prove(&d)
		w.verify(ann, &d)
		check := func() store.Domain {
			w.Helper()
			testkit.Must(w, w.CheckDue(w.Context()))
			now, err := w.store.DomainByID(w.Context(), d.ID)
			testkit.Must(w, err)
			return now
		}
		w.dns.Fail(dns.RcodeServerFailure)
		for range 20 {
			w.pass(25 * time.Hour)
			testkit.Equal(w, check().Status, store.DomainActive, "the status after errors of DNS")
		}
		w.dns.Fail(0)
		w.pass(25 * time.Hour)
		if now := check(); !now.Proof.OK || now.ProvedAt != w.clock.Load() {
			w.Fatalf("after the errors: %+v", now)
		}
		w.dns.Set(w, "_shortline.go.acme.com")
		for day := 1; day <= 6; day++ {
			w.pass(25 * time.Hour)
			if now := check(); now.Status != store.DomainActive || now.Proof.OK {
				w.Fatalf("day %d without the record: %+v", day, now)
			}
		}
		rival := w.user("carl@example.com")
		_, err := w.Create(w.Context(), rival, "go.acme.com", domains.Input{})
		wantProblem(w.T, err, problem.Conflict, "belongs to another workspace")
		w.pass(25 * time.Hour)
		if now := check(); now.Status != store.DomainFailed || len(w.served()) != 0 {
			w.Fatalf("after a week: %+v, served %v", now, w.served())
		}
		heir := w.create(bob, "go.acme.com")
		w.prove(&heir)
		if now := w.verify(bob, &heir); now.Status != store.DomainActive || now.Num == d.Num {
			w.Errorf("the heir: %+v", now)
		}
		testkit.Equal(w, w.served()["go.acme.com"], bob.Workspace.Num, "the workspace of the name")
		// The former owner proves the name again, but it is held.
		w.dns.Set(w, "_shortline.go.acme.com", `TXT "`+d.Token+`"`, `TXT "`+heir.Token+`"`)
		w.pass(time.Hour)
		testkit.Equal(w, w.verify(ann, &d).Status, store.DomainFailed, "the former owner")
	})
}

func TestDomain_fields(t *testing.T) {
	each(t, func(w *world) {
		ctx, ann := w.Context(), w.user("ann@example.com")
		text := func(s string) *string { return &s }
		number := func(n int64) *int64 { return &n }
		yes := true
		for in, want := range map[domains.Input]string{
			{RootURL: text("ftp://x")}:                         "rootUrl",
			{NotFoundURL: text("https://sho.rt/x")}:            "notFoundUrl",
			{ExpiredURL: text("https://go.acme.com/x")}:        "must not lead to the domain itself",
			{HSTS: number(-1)}:                                 "hsts",
			{HSTS: number(1 << 40)}:                            "hsts",
			{RootURL: text("http://10.0.0.1/"), Default: &yes}: "rootUrl",
		} {
			_, err := w.Create(ctx, ann, "go.acme.com", in)
			wantProblem(w.T, err, problem.Invalid, want)
		}
		_, err := w.Create(ctx, ann, "sho.rt", domains.Input{})
		wantProblem(w.T, err, problem.Invalid, "hostname")
		one, err := w.Create(ctx, ann, "one.example.com", domains.Input{RootURL: text("https://example.com"), Default: &yes})
		if err != nil || one.RootURL == "" || !one.Default {
			w.Fatalf("%+v, %v", one, err)
		}
		two, err := w.Create(ctx, ann, "two.example.com", domains.Input{Default: &yes})
		testkit.Must(w, err)
		if d, err := w.store.DefaultDomain(ctx, ann.Workspace.Num); err != nil || d.ID != two.ID {
			w.Errorf("the default is %+v, %v", d, err)
		}
		one, err = w.Update(ctx, ann, one.ID, domains.Input{RootURL: text(""), HSTS: number(300), Default: &yes})
		if err != nil || one.RootURL != "" || one.HSTS != 300 {
			w.Errorf("%+v, %v", one, err)
		}
		if d, err := w.store.DefaultDomain(ctx, ann.Workspace.Num); err != nil || d.ID != one.ID {
			w.Errorf("the default is %+v, %v", d, err)
		}
		for _, name := range []string{"3.example.com", "4.example.com", "5.example.com"} {
			w.create(ann, name)
		}
		_, err = w.Create(ctx, ann, "6.example.com", domains.Input{})
		wantProblem(w.T, err, problem.Conflict, "at most 5 domains")
	})
}

func TestDomain_with_links_stays(t *testing.T) {
	each(t, func(w *world) {
		ann := w.user("ann@example.com")
		d := w.create(ann, "go.acme.com")
		l := &store.Link{ID: store.NewID(), UserID: ann.UserID, Workspace: ann.Workspace.Num, Domain: d.Num, Slug: "spring",
			OriginalURL: "https://example.com/", Active: true}
		same := &store.Link{ID: store.NewID(), UserID: ann.UserID, Workspace: ann.Workspace.Num, Slug: "spring",
			OriginalURL: "https://example.com/", Active: true}
		w.tx(func(ctx context.Context, tx *store.Tx) error { return tx.InsertLinks(ctx, []*store.Link{l, same}) })
		if l.Num == 0 || same.Num == 0 {
			w.Fatal("two domains can't have the same slug")
		}
		wantProblem(w.T, w.Delete(w.Context(), ann, d.ID), problem.Conflict, "The domain has 1 links")
		w.tx(func(ctx context.Context, tx *store.Tx) error { return tx.DeleteLinks(ctx, []string{l.ID}) })
		if err := w.Delete(w.Context(), ann, d.ID); err != nil {
			w.Error(err)
		}
	})
}

// Several control planes check at the same time, and each domain is checked once.
func TestCheckDue_shares_the_work(t *testing.T) {
	each(t, func(w *world) {
		ann := w.user("ann@example.com")
		for _, name := range []string{"a.example.com", "b.example.com", "c.example.com", "d.example.com", "e.example.com"} {
			d := w.create(ann, name)
			w.dns.Set(w, "_shortline."+name, `TXT "`+d.Token+`"`)
		}
		before := w.dns.Questions()
		w.pass(2 * time.Minute)
		var group sync.WaitGroup
		for range 4 {
			s := w.service()
			group.Go(func() {
				if err := s.CheckDue(w.Context()); err != nil {
					w.Error(err)
				}
			})
		}
		group.Wait()
		testkit.Equal(w, len(w.served()), 5, "names served")
		once := w.dns.Questions() - before
		w.pass(25 * time.Hour)
		testkit.Must(w, w.CheckDue(w.Context()))
		if again := w.dns.Questions() - before - once; once > 2*again {
			w.Errorf("four control planes asked %d questions, one asks %d", once, again)
		}
	})
}
