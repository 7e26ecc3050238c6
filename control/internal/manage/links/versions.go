package links

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
)

// Version returns the version of a link. Every change of the link, its rules and its variants makes a new one, because it
// reserves a revision in the log of changes. Counters are not part of it.
func Version(l *store.Link) string { return version.Number(l.Revision) }

// RecordChange completes a change of a link, of its rules or its variants: it logs the change for edges, sets the link's new
// revision and writes the history. before is the state that was read after the link was locked; action is that of the
// audit entry.
func RecordChange(ctx context.Context, tx *store.Tx, p auth.Principal, action string, after *store.Link, before store.LinkState) error {
	if err := tx.Touch(ctx, after.Num, after.Key()); err != nil {
		return err
	}
	after.Revision = tx.Revision()
	if err := tx.WriteHistory(ctx, p.UserID, action, []store.LinkState{before}); err != nil || action == ActionWeights ||
		len(before.Variants) == 0 && !after.ABTesting {
		return err
	}
	variants, err := tx.Variants(ctx, after.ID)
	if err != nil {
		return fmt.Errorf("read the variants of a link: %w", err)
	}
	return problem.Doing("keep the experiment of a link in step", tx.FollowVariants(ctx, after.Num, before.Variants, variants))
}

// ActionWeights is the action of weights that an experiment has set, and has written to its history itself.
const ActionWeights = "EXPERIMENT_WEIGHTS_SET"

// notInserted returns the reason why insert has left out a link.
func notInserted(ctx context.Context, tx *store.Tx, u *store.Link) error {
	if u.ExternalID != "" {
		taken, err := tx.ExternalIDs(ctx, u.Workspace, []string{u.ExternalID})
		if err != nil {
			return err
		}
		if len(taken) > 0 {
			return externalIDsTaken(taken)
		}
	}
	return slugTaken(u)
}

func externalIDsTaken(ids []string) error {
	e := problem.New(problem.Conflict, "Another link of the workspace has this externalId.")
	for _, id := range ids[:min(len(ids), 100)] {
		e.Fields = append(e.Fields, problem.Field{Field: "externalId", Message: fmt.Sprintf("%q is in use", problem.Clip(id))})
	}
	return e
}

// externalIDTaken replaces the error of a transaction that gave a link an external id of another link of its workspace.
func externalIDTaken(err error, id string) error {
	if constraint, broken := store.Unique(err); broken && strings.Contains(constraint, "external_id") {
		if id == "" {
			return &problem.Error{Kind: problem.Conflict, Message: "Another link of the workspace has this externalId.",
				Fields: []problem.Field{{Field: "externalId", Message: "is in use"}}}
		}
		return externalIDsTaken([]string{id})
	}
	return err
}

// fitExternalIDs returns a Conflict if a workspace that is to receive links has some of their external ids, or if several
// of the links have the same one.
func fitExternalIDs(ctx context.Context, tx *store.Tx, list []store.Link, to uint64) error {
	var ids, twice []string
	for i := range list {
		switch id := list[i].ExternalID; {
		case id == "":
		case len(list) <= maxBulk && slices.Contains(ids, id):
			twice = append(twice, id)
		default:
			ids = append(ids, id)
		}
	}
	taken, err := tx.ExternalIDs(ctx, to, ids)
	if err != nil {
		return fmt.Errorf("compare external ids: %w", err)
	}
	if taken = append(taken, twice...); len(taken) > 0 {
		return externalIDsTaken(taken)
	}
	return nil
}
