package links

import (
	"context"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// Create creates a link. A slug or an external id that is taken is a Conflict, and so is the slug of a deleted link that was
// suspended, except for administrators.
func (s *Service) Create(ctx context.Context, p auth.Principal, in Creation) (store.Link, error) {
	u, err := s.checked(ctx, p, &in)
	if err != nil {
		return store.Link{}, err
	}
	if u.PasswordHash, err = s.hash(ctx, p, in.Password); err != nil {
		return store.Link{}, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if err := holdDomains(ctx, tx, []*store.Link{&u}); err != nil {
			return err
		}
		if p.IsAdmin() && in.CustomSlug != "" {
			if err := tx.ReleaseSlug(ctx, &u); err != nil {
				return fmt.Errorf("release a slug: %w", err)
			}
		}
		if err := insert(ctx, tx, []*store.Link{&u}, func(*store.Link) bool { return in.CustomSlug != "" }); err != nil {
			return err
		}
		if u.Num == 0 {
			return notInserted(ctx, tx, &u)
		}
		if err := setTags(ctx, tx, map[*store.Link][]string{&u: in.tags()}); err != nil {
			return err
		}
		bundled, err := bundles.Put(ctx, tx, p, bundleField, bundles.Placement{BundleIDs: in.bundleIDs(), URLs: []store.Link{u}})
		if err != nil {
			return err
		}
		if err := tx.Touch(ctx, u.Num, u.Key()); err != nil {
			return err
		}
		u.Revision = tx.Revision()
		if err := webhooks.Emit(ctx, tx, createdEvent(tx.Conn, &u)); err != nil {
			return err
		}
		created := audit.Entry{UserID: p.UserID, Action: "URL_CREATED", EntityType: "url", EntityID: u.ID, Workspace: u.Workspace,
			New: Fields(&u)}
		return audit.Append(ctx, tx, append([]audit.Entry{created}, bundled...)...)
	})
	return u, problem.Doing("create link", err)
}

// checked is draft with the checks that need the store or the operator's check service.
func (s *Service) checked(ctx context.Context, p auth.Principal, in *Creation) (store.Link, error) {
	u, err := s.draft(p, in)
	if err != nil {
		return store.Link{}, err
	}
	if err := s.putOnDomain(ctx, &u, in.Domain); err != nil {
		return store.Link{}, err
	}
	if err := bundles.CheckVisible(ctx, s.store.Conn, p, bundleField, in.bundleIDs()); err != nil {
		return store.Link{}, err
	}
	return u, s.screen(ctx, &in.Input, &store.Link{})
}

func slugTaken(u *store.Link) error {
	return &problem.Error{Kind: problem.Conflict, Message: "This slug is already taken.",
		Fields: []problem.Field{{Field: "customSlug", Message: fmt.Sprintf("%q is already taken", u.Name())}}}
}

// draft validates a creation and builds the link without password and number.
func (s *Service) draft(p auth.Principal, in *Creation) (store.Link, error) {
	now := store.Now()
	u := store.Link{ID: store.NewID(), UserID: p.UserID, Workspace: p.Workspace.Num, Slug: in.CustomSlug, Active: true, CreatedAt: now,
		UpdatedAt: now}
	if in.Past.Apply(&u.ID, &u.CreatedAt, &u.UpdatedAt); in.Past != (store.Past{}) {
		in.past = true
	}
	var v problem.Fields
	s.applyInput(&in.Input, &u, &v, now)
	if in.CustomSlug != "" {
		checkAnySlug("customSlug", in.CustomSlug, &v)
	} else {
		u.Slug = link.NewSlug()
	}
	return u, v.Err()
}

// hash hashes a password; "" stays "". It takes a tenth of a second, so do not call it inside a transaction.
func (s *Service) hash(ctx context.Context, p auth.Principal, password *string) (string, error) {
	if password == nil || *password == "" {
		return "", nil
	}
	slot, err := s.cfg.Computing.Enter(ctx, p.UserID)
	if err != nil {
		return "", err
	}
	defer slot.Leave()
	h, err := s.passwords.Hash(ctx, *password)
	return h, problem.Doing("hash a link's password", err)
}

// insert inserts links. It draws a new slug for a link whose generated slug is taken. A link whose chosen slug or external
// id is taken is not inserted and keeps Num 0.
func insert(ctx context.Context, tx *store.Tx, urls []*store.Link, chosen func(*store.Link) bool) error {
	for range generatedTries {
		if err := tx.InsertLinks(ctx, urls); err != nil {
			return err
		}
		var again []*store.Link
		for _, u := range urls {
			if u.Num != 0 || chosen(u) {
				continue
			}
			if u.ExternalID != "" {
				taken, err := tx.ExternalIDs(ctx, u.Workspace, []string{u.ExternalID})
				if err != nil {
					return err
				}
				if len(taken) > 0 {
					continue
				}
			}
			u.Slug = link.NewSlug()
			again = append(again, u)
		}
		if len(again) == 0 {
			return nil
		}
		urls = again
	}
	return fmt.Errorf("no free slug found in %d tries", generatedTries)
}

// Update changes the fields that the input sets.
func (s *Service) Update(ctx context.Context, p auth.Principal, id string, in Input) (store.Link, error) {
	now, err := s.Get(ctx, p, id)
	if err != nil {
		return store.Link{}, err
	}
	// Validate before the transaction, because hashing a password is slow. Checks that depend on the row are repeated
	// inside.
	if _, err := s.edited(ctx, &in, now); err != nil {
		return store.Link{}, err
	}
	hash, err := s.hash(ctx, p, in.Password)
	if err != nil {
		return store.Link{}, err
	}
	var after store.Link
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		before, err := Visible(p)(tx.LockLink(ctx, id))
		if err != nil {
			return err
		}
		if err := version.Check(ctx, Version(&before), before); err != nil {
			return err
		}
		after = before
		var v problem.Fields
		s.applyInput(&in, &after, &v, 0)
		if in.Password != nil {
			after.PasswordHash = hash
		}
		if err := v.Err(); err != nil {
			return err
		}
		if in.ABTesting != nil && *in.ABTesting {
			active, err := tx.ActiveVariants(ctx, id)
			if err != nil {
				return err
			}
			if err := needsVariant(&in, active); err != nil {
				return err
			}
		}
		if in.Tags != nil {
			if err := setTags(ctx, tx, map[*store.Link][]string{&after: in.tags()}); err != nil {
				return err
			}
		}
		var bundled []audit.Entry
		if in.BundleIDs != nil {
			if bundled, err = bundles.Replace(ctx, tx, p, bundleField, *in.BundleIDs, &after); err != nil {
				return err
			}
		}
		return save(ctx, tx, p, &before, &after, bundled...)
	})
	if err != nil {
		return store.Link{}, fmt.Errorf("update link: %w", externalIDTaken(err, after.ExternalID))
	}
	return after, nil
}

// edited returns a stored link with the changes of an input, which it checks. It leaves the password as it is.
func (s *Service) edited(ctx context.Context, in *Input, stored store.Link) (store.Link, error) {
	u := stored
	var v problem.Fields
	s.applyInput(in, &u, &v, 0)
	if err := v.Err(); err != nil {
		return store.Link{}, err
	}
	return u, s.screen(ctx, in, &stored)
}

// save writes a link that was locked in tx, with its change-log entry, its webhook event and its audit entry, followed
// by more entries. It does not write a link that has not changed. It must be the last call in a transaction.
func save(ctx context.Context, tx *store.Tx, p auth.Principal, before, after *store.Link, more ...audit.Entry) error {
	changes := Changes(before, after)
	if len(changes) == 0 {
		return audit.Append(ctx, tx, more...)
	}
	state, err := tx.StateOf(ctx, *before)
	if err != nil {
		return err
	}
	after.UpdatedAt = store.Now()
	if err := tx.UpdateLink(ctx, after); err != nil {
		return err
	}
	if err := exhaust(ctx, tx, after); err != nil { // a lower limit may be reached already
		return err
	}
	if err := RecordChange(ctx, tx, p, "URL_UPDATED", after, state); err != nil {
		return err
	}
	if err := webhooks.Emit(ctx, tx, Updated(tx.Conn, after, changes)); err != nil {
		return err
	}
	was, is := sides(changes)
	updated := audit.Entry{UserID: p.UserID, Action: "URL_UPDATED", EntityType: "url", EntityID: after.ID, Workspace: after.Workspace,
		Old: was, New: is}
	return audit.Append(ctx, tx, append([]audit.Entry{updated}, more...)...)
}

// bundleField is the field for a link's bundles in requests.
const bundleField = "bundleIds"
