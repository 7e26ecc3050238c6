package domains_test

import (
	"context"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// withdrawn reports whether edges refuse a name.
func (w *world) withdrawn(name string) bool {
	w.Helper()
	_, gone, err := w.store.HostsAfter(w.Context(), 0, true)
	testkit.Must(w, err)
	for _, g := range gone {
		if g.Hostname == name {
			return g.Withdrawn
		}
	}
	return false
}

// A deleted name stays reserved for its workspace while it leads to edges, for 30 days. Errors of DNS free nothing.
func TestS4_deleted_names_stay_reserved(t *testing.T) {
	each(t, func(w *world) {
		const name = "go.acme.com"
		ctx, ann, bob := w.Context(), w.user("ann@example.com"), w.user("bob@example.com")
		rival := w.create(bob, name)
		d := w.create(ann, name)
		testkit.Equal(w, w.withdrawn(name), true, "a name without proof is refused")
		remove := func() {
			w.Helper()
			w.pass(time.Minute)
			w.prove(&d)
			testkit.Equal(w, w.verify(ann, &d).Status, store.DomainActive, "the status with proof")
			testkit.Must(w, w.Delete(ctx, ann, d.ID))
			w.dns.Set(w, "_shortline."+name, `TXT "`+rival.Token+`"`)
			testkit.Must(w, w.CheckReserved(ctx))
		}
		remove()
		check := func(what string, reserved bool) {
			w.Helper()
			testkit.Must(w, w.CheckReserved(ctx))
			_, err := w.Create(ctx, w.user(what+"@example.com"), name, domains.Input{})
			if reserved {
				wantProblem(w.T, err, problem.Conflict, "was deleted by another workspace")
			} else if err != nil {
				w.Errorf("%s: %v", what, err)
			}
			testkit.Equal(w, w.withdrawn(name), true, "%s: refused by edges", what)
		}
		check("at-once", true)
		w.pass(time.Minute)
		if after := w.verify(bob, &rival); after.Status != store.DomainPending {
			w.Errorf("a rival who was there before, and has the record: %+v", after)
		}
		testkit.Must(w, w.Delete(ctx, bob, rival.ID)) // frees nothing
		check("after-a-rival", true)
		w.dns.Fail(dns.RcodeServerFailure)
		w.pass(time.Hour)
		check("without-dns", true)
		w.dns.Fail(0)
		w.dns.Set(w, name, "A 192.0.2.1", "A 198.51.100.1") // one of two addresses
		w.pass(time.Hour)
		check("half-of-visitors", true)
		w.pass(29 * 24 * time.Hour)
		check("after-29-days", true)

		// Its own workspace may add it, and the time begins again.
		d = w.create(ann, name)
		remove()
		w.pass(29 * 24 * time.Hour)
		check("after-29-more-days", true)
		w.dns.Set(w, name, "A 192.0.2.1")
		w.pass(time.Hour)
		testkit.Must(w, w.CheckReserved(ctx))
		testkit.Equal(w, w.withdrawn(name), false, "a name that leads elsewhere is refused")
		check("elsewhere", false)
	})
}

// A name behind a proxy leads here although DNS does not say so. It is free after 30 days, and so is one that still leads here.
func TestS4_reservations_end(t *testing.T) {
	each(t, func(w *world) {
		ctx, ann := w.Context(), w.user("ann@example.com")
		for _, behindProxy := range []bool{true, false} {
			d := w.create(ann, "go.acme.com")
			w.prove(&d)
			if behindProxy {
				w.dns.Set(w, d.Hostname, "A 192.0.2.1")
			}
			w.pass(time.Minute)
			testkit.Equal(w, w.verify(ann, &d).Route.OK, !behindProxy, "the route")
			testkit.Must(w, w.Delete(ctx, ann, d.ID))
			for _, days := range []int{0, 15, 14} {
				w.pass(time.Duration(days) * 24 * time.Hour)
				testkit.Must(w, w.CheckReserved(ctx))
				testkit.Equal(w, w.withdrawn(d.Hostname), true, "refused %d days later", days)
			}
			w.pass(25 * time.Hour)
			testkit.Must(w, w.CheckReserved(ctx))
			testkit.Equal(w, w.withdrawn(d.Hostname), false, "refused after 30 days")
		}
	})
}

// Names of deleted workspaces are reserved too. A suspended one is not free for its owner's next workspace.
func TestS3_deleted_workspaces_free_no_names(t *testing.T) {
	each(t, func(w *world) {
		ctx, ann := w.Context(), w.user("ann@example.com")
		root := ann
		root.Role = auth.Admin
		d := w.create(ann, "go.acme.com")
		w.prove(&d)
		w.verify(ann, &d)
		_, err := w.Suspend(ctx, root, d.ID, "Phishing")
		testkit.Must(w, err)
		pending := w.create(ann, "new.acme.com")
		w.tx(func(ctx context.Context, tx *store.Tx) error { return tx.DeleteWorkspace(ctx, ann.Workspace.Num) })
		testkit.Must(w, w.CheckReserved(ctx))
		_, err = w.Create(ctx, w.user("next@example.com"), d.Hostname, domains.Input{})
		wantProblem(w.T, err, problem.Conflict, "was deleted by another workspace")
		testkit.Equal(w, w.withdrawn(d.Hostname), true, "the suspended name is refused")
		testkit.Equal(w, w.withdrawn(pending.Hostname), false, "a name that was never proved is refused")
	})
}
