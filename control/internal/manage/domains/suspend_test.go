package domains_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A suspended domain leaves service but keeps its name, whatever its owners and others try.
func TestDomain_suspended(t *testing.T) {
	each(t, func(w *world) {
		ctx, ann, bob := w.Context(), w.user("ann@example.com"), w.user("bob@example.com")
		root := ann
		root.Role = auth.Admin
		d := w.create(ann, "go.acme.com")
		_, err := w.Suspend(ctx, root, d.ID, "Phishing")
		wantProblem(w.T, err, problem.Conflict, "This one is PENDING")
		w.prove(&d)
		w.verify(ann, &d)
		for _, reason := range []string{"", "  ", strings.Repeat("x", 501)} {
			_, err = w.Suspend(ctx, root, d.ID, reason)
			wantProblem(w.T, err, problem.Invalid, "reason")
		}
		after, err := w.Suspend(ctx, root, d.ID, " Phishing ")
		if err != nil || after.Status != store.DomainSuspended || after.Suspended != "Phishing" {
			w.Fatalf("%+v, %v", after, err)
		}
		testkit.Equal(w, len(w.served()), 0, "names served while suspended")

		w.pass(8 * 24 * time.Hour)
		if err := w.CheckDue(ctx); err != nil {
			w.Error(err)
		}
		if after = w.verify(ann, &d); after.Status != store.DomainSuspended {
			w.Errorf("its owner verified it: %+v", after)
		}
		wantProblem(w.T, w.Delete(ctx, ann, d.ID), problem.Conflict, "suspended")
		_, err = w.Create(ctx, bob, "go.acme.com", domains.Input{})
		wantProblem(w.T, err, problem.Conflict, "another workspace")

		for range 2 { // the second time nothing changes
			if after, err = w.Lift(ctx, root, d.ID); err != nil || after.Status != store.DomainActive || after.Suspended != "" {
				w.Errorf("lifted: %+v, %v", after, err)
			}
		}
		testkit.Equal(w, w.served()["go.acme.com"], ann.Workspace.Num, "the workspace of the name after the suspension")
		w.dns.Set(w, "_shortline.go.acme.com")
		w.pass(time.Minute)
		if after = w.verify(ann, &d); after.Status != store.DomainActive {
			w.Errorf("without the record, a minute after the suspension: %+v", after)
		}
		w.pass(8 * 24 * time.Hour)
		if after = w.verify(ann, &d); after.Status != store.DomainFailed {
			w.Errorf("without the record for a week: %+v", after)
		}
	})
}
