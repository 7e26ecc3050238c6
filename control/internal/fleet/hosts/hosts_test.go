package hosts_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/hosts"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// fleet is a publisher of a real database.
type fleet struct {
	*testing.T
	store *store.Store
	pub   *hosts.Publisher
	owner uint64 // number of a workspace
}

func eachFleet(t *testing.T, test func(f *fleet)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := &fleet{T: t, store: s, pub: hosts.New(s, hosts.Config{Hold: 300 * time.Millisecond})}
		f.owner = f.user("ann@example.com")
		test(f)
	})
}

func (f *fleet) tx(change func(ctx context.Context, tx *store.Tx) error) {
	f.Helper()
	testkit.Must(f, f.store.Tx(f.Context(), func(tx *store.Tx) error { return change(f.Context(), tx) }))
}

// user adds a user and returns the number of the personal workspace.
func (f *fleet) user(email string) (num uint64) {
	f.Helper()
	f.tx(func(ctx context.Context, tx *store.Tx) (err error) {
		num, err = tx.InsertUser(ctx, store.User{ID: store.NewID(), Email: email, Role: "USER", Active: true})
		return err
	})
	return num
}

// add adds a domain in a state.
func (f *fleet) add(name, status string) *store.Domain {
	f.Helper()
	d := &store.Domain{ID: store.NewID(), Workspace: f.owner, Hostname: name, Status: status, Token: "t"}
	f.tx(func(ctx context.Context, tx *store.Tx) error {
		if free, err := tx.InsertDomain(ctx, d); err != nil || !free {
			f.Errorf("%s: free %v", name, free)
			return err
		}
		return tx.TouchDomain(ctx, d)
	})
	return d
}

func (f *fleet) set(d *store.Domain, status string) {
	f.Helper()
	f.tx(func(ctx context.Context, tx *store.Tx) error {
		d.Status = status
		if err := tx.UpdateDomain(ctx, d); err != nil {
			return err
		}
		return tx.TouchDomain(ctx, d)
	})
}

func (f *fleet) ask(after snapshot.Cursor) (h snapshot.Hosts, ok bool) {
	f.Helper()
	wire, err := f.pub.Hosts(f.Context(), after)
	testkit.Must(f, err)
	if wire == nil {
		return h, false
	}
	if h, _, err = snapshot.DecodeHosts(wire, snapshot.Keys{}); err != nil {
		f.Fatal(err)
	}
	return h, true
}

func names(h snapshot.Hosts) string {
	var out []string
	for _, host := range h.Hosts {
		out = append(out, "+"+host.Name)
	}
	for _, name := range h.Gone {
		out = append(out, "-"+name)
	}
	for _, w := range h.Withdrawn {
		out = append(out, map[bool]string{true: "!", false: "?"}[w.Suspended]+w.Name)
	}
	return strings.Join(out, " ")
}

func TestHosts_tells_what_is_in_service(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		first, ok := f.ask(snapshot.Cursor{})
		if !ok || !first.Full || names(first) != "" || first.Withdrawn == nil {
			f.Fatalf("the first list: %+v", first)
		}
		one := f.add("one.example", store.DomainActive)
		f.add("waiting.example", store.DomainPending)
		next, ok := f.ask(first.Cursor)
		if !ok || next.Full || names(next) != "+one.example -waiting.example ?waiting.example" || next.Hosts[0].Domain != one.Num {
			f.Fatalf("after two domains: %+v", next)
		}
		f.set(one, store.DomainFailed)
		two := f.add("two.example", store.DomainActive)
		last, _ := f.ask(next.Cursor)
		if names(last) != "+two.example -one.example ?one.example" {
			f.Errorf("after a failure: %s", names(last))
		}
		if whole, _ := f.ask(snapshot.Cursor{}); !whole.Full || names(whole) != "+two.example ?one.example ?waiting.example" ||
			whole.Hosts[0].Domain != two.Num {
			f.Errorf("the whole list: %+v", whole)
		}
		f.set(one, store.DomainActive)
		if again, _ := f.ask(last.Cursor); names(again) != "+one.example" {
			f.Errorf("back in service: %s", names(again))
		}
	})
}

// A domain that failed must not take the name from the workspace that holds it by now.
func TestHosts_takeover(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		old := f.add("go.acme.com", store.DomainActive)
		f.set(old, store.DomainFailed)
		other := f.user("bob@example.com")
		heir := &store.Domain{ID: store.NewID(), Workspace: other, Hostname: "go.acme.com", Status: store.DomainActive, Token: "u"}
		f.tx(func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.InsertDomain(ctx, heir); err != nil {
				return err
			}
			return tx.TouchDomain(ctx, heir)
		})
		f.set(old, store.DomainFailed) // told again, later
		for _, after := range []snapshot.Cursor{{}, {Incarnation: f.incarnation(), Revision: 1}} {
			h, _ := f.ask(after)
			if names(h) != "+go.acme.com" || h.Hosts[0].Domain != heir.Num {
				f.Errorf("after %v: %s of %+v", after, names(h), h.Hosts)
			}
		}
		// And it can't come back while the other one is in service.
		held, _, err := f.store.HostnameHeld(f.Context(), "go.acme.com", old.Num, f.owner, store.Now())
		if err != nil || !held {
			f.Errorf("held %v, %v", held, err)
		}
	})
}

// Each state of a name, as edges that follow and edges that begin learn it.
func TestS3_S4_edges_know_names_out_of_service(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		const name = "go.acme.com"
		bob := f.user("bob@example.com")
		var d, rival *store.Domain
		add := func(workspace uint64) *store.Domain {
			d := &store.Domain{ID: store.NewID(), Workspace: workspace, Hostname: name, Status: store.DomainPending, Token: "t",
				Route: store.Found{OK: true}}
			f.tx(func(ctx context.Context, tx *store.Tx) error {
				if free, err := tx.InsertDomain(ctx, d); err != nil || !free {
					return errors.Join(err, fmt.Errorf("free %v", free))
				}
				return tx.TouchDomain(ctx, d)
			})
			return d
		}
		remove := func(d *store.Domain) {
			f.tx(func(ctx context.Context, tx *store.Tx) error { return tx.DeleteDomain(ctx, d) })
		}
		prove := func(d *store.Domain) { d.ProvedAt = 1; f.set(d, store.DomainActive) }
		at, _ := f.ask(snapshot.Cursor{})
		for _, step := range []struct {
			what, want string // want is the state of the name
			do         func()
		}{
			{"added", "?", func() { d = add(f.owner) }},
			{"deleted before it was proved", "", func() { remove(d) }},
			{"proved", "+", func() { d = add(f.owner); prove(d) }},
			{"wanted by another workspace", "+", func() { rival = add(bob) }},
			{"suspended", "!", func() { f.set(d, store.DomainSuspended) }},
			{"lifted", "+", func() { f.set(d, store.DomainActive) }},
			{"failed", "?", func() { f.set(d, store.DomainFailed) }},
			{"proved again", "+", func() { f.set(d, store.DomainActive) }},
			{"deleted", "?", func() { remove(d) }},
			{"not wanted any more by the other", "?", func() { remove(rival) }},
			{"added again", "?", func() { d = add(f.owner) }},
			{"proved a second time", "+", func() { prove(d) }},
			{"suspended again", "!", func() { f.set(d, store.DomainSuspended) }},
			{"deleted with its workspace", "?", func() {
				f.tx(func(ctx context.Context, tx *store.Tx) error { return tx.DeleteWorkspace(ctx, f.owner) })
			}},
			{"told when the reservation ends", "?", func() {
				f.tx(func(ctx context.Context, tx *store.Tx) error { return tx.LimitReservations(ctx, 1000) })
			}},
			{"free", "", func() {
				f.tx(func(ctx context.Context, tx *store.Tx) error {
					return tx.EndReservation(ctx, &store.Reservation{Hostname: name, Until: 1000})
				})
			}},
		} {
			step.do()
			whole, _ := f.ask(snapshot.Cursor{})
			change, ok := f.ask(at.Cursor)
			if got := names(whole); got != strings.TrimSpace(map[bool]string{true: step.want + name}[step.want != ""]) || !whole.Full {
				t.Errorf("%s: the full list has %q", step.what, got)
			}
			want := map[string]string{"": "-" + name, "+": "+" + name}[step.want]
			if want == "" {
				want = "-" + name + " " + step.want + name
			}
			if got := names(change); ok && got != want || !ok && step.what != "wanted by another workspace" {
				t.Errorf("%s: the change is %q, want %q", step.what, got, want)
			}
			at.Cursor = whole.Cursor
		}
		held, reserved, err := f.store.HostnameHeld(f.Context(), name, 0, bob, 2000)
		if held || reserved || err != nil {
			t.Errorf("a free name: held %v, reserved %v, %v", held, reserved, err)
		}
	})
}

func (f *fleet) incarnation() uint64 {
	n, err := f.store.Incarnation(f.Context())
	testkit.Must(f, err)
	return n
}

// Edges that wait are woken by a change of a host, not by changes of links, and get nothing when the hold ends.
func TestHosts_waits(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		first, _ := f.ask(snapshot.Cursor{})
		began := time.Now()
		if h, ok := f.ask(first.Cursor); ok || time.Since(began) < 300*time.Millisecond {
			f.Errorf("%+v after %v without a change", h, time.Since(began))
		}
		got := make(chan string, 1)
		slow := hosts.New(f.store, hosts.Config{Hold: time.Hour})
		go func() {
			wire, err := slow.Hosts(f.Context(), first.Cursor)
			h, _, bad := snapshot.DecodeHosts(wire, snapshot.Keys{})
			if err != nil || bad != nil {
				got <- "failed"
				return
			}
			got <- names(h)
		}()
		f.tx(func(ctx context.Context, tx *store.Tx) error { return tx.Touch(ctx, 12345, "a link") })
		revision, err := f.store.Revision(f.Context())
		if err == nil {
			_, err = f.store.WaitRevision(f.Context(), revision-1)
		}
		testkit.Must(f, err)
		select {
		case list := <-got:
			f.Fatalf("a changed link woke the edge: %q", list)
		default: // an answer that comes later lacks the host that follows
		}
		f.add("one.example", store.DomainActive)
		if list := <-got; list != "+one.example" {
			f.Errorf("woken by %q", list)
		}
	})
}

// Certificates, challenges and ticket keys reach edges with the hosts to which they belong.
func TestHosts_have_certificates(t *testing.T) {
	eachFleet(t, func(f *fleet) {
		d := f.add("go.acme.com", store.DomainActive)
		f.add("waits.acme.com", store.DomainPending)
		first, _ := f.ask(snapshot.Cursor{})
		if len(first.Hosts) != 1 || first.Hosts[0].Certificate != nil || first.Tickets != nil {
			t.Fatalf("before there is a certificate: %+v", first)
		}

		chain := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("leaf")})) +
			string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("issuer")}))
		f.tx(func(ctx context.Context, tx *store.Tx) error {
			for _, c := range []store.Certificate{
				{Domain: d.Num, Hostname: d.Hostname, Source: store.CertificateUploaded, Status: store.CertificateActive, Chain: chain,
					SealedKey: "sealed"},
				{Hostname: "sho.rt", Source: store.CertificateACME, Status: store.CertificatePending},
			} {
				if added, err := tx.InsertCertificate(ctx, &c); err != nil || !added {
					t.Errorf("%s: added %v, %v", c.Hostname, added, err)
				}
				if added, err := tx.InsertCertificate(ctx, &c); err != nil || added {
					t.Errorf("%s again: added %v, %v", c.Hostname, added, err)
				}
			}
			if err := tx.TouchHost(ctx, d.Hostname); err != nil {
				return err
			}
			return tx.PutChallenge(ctx, store.Challenge{Token: "t1", Hostname: "sho.rt", KeyAuthorization: "t1.x"})
		})
		changed, ok := f.ask(first.Cursor)
		if !ok || len(changed.Hosts) != 2 {
			t.Fatalf("after the certificate: %+v", changed)
		}
		c := changed.Hosts[0].Certificate
		if c == nil || len(c.Chain) != 2 || string(c.Chain[0]) != "leaf" || string(c.Chain[1]) != "issuer" || c.Key != "sealed" ||
			changed.Hosts[0].Domain != d.Num {
			t.Errorf("the domain: %+v, certificate %+v", changed.Hosts[0], c)
		}
		if own := changed.Hosts[1]; own.Name != "sho.rt" || own.Domain != 0 || own.Certificate != nil || len(own.Challenges) != 1 ||
			own.Challenges[0].KeyAuthorization != "t1.x" {
			t.Errorf("the service's own host: %+v", own)
		}

		for i, key := range []string{"k1", "k2", "k3", "k4"} {
			f.tx(func(ctx context.Context, tx *store.Tx) error {
				if added, err := tx.InsertTicketKey(ctx, key, int64(10*i+10), int64(10*i+5), 3); err != nil || !added {
					t.Errorf("%s: added %v, %v", key, added, err)
				}
				if added, err := tx.InsertTicketKey(ctx, "late", int64(10*i+10), int64(10*i+5), 3); err != nil || added {
					t.Errorf("a second key of the same time: added %v, %v", added, err)
				}
				return nil
			})
		}
		if keys, ok := f.ask(changed.Cursor); !ok || strings.Join(keys.Tickets, " ") != "k3 k4 k2" || len(keys.Hosts) != 0 {
			t.Errorf("ticket keys: %+v", keys)
		}
	})
}
