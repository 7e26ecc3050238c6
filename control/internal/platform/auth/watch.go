package auth

import (
	"context"
	"time"

	"github.com/shortline/shortline/control/internal/store"
)

// Intervals of the check of watched principals. A revocation is noticed within watchInterval and the time of one query.
const (
	watchInterval = 400 * time.Millisecond
	watchBlind    = 10 * time.Second // without a check for this long, access ends
)

// watch is a principal whose access is checked while a response is in progress.
type watch struct {
	p    Principal
	over chan struct{}
}

// credential returns the id of the session, or the SHA-256 of the API key.
func (w *watch) credential() string { return w.p.SessionID + w.p.keyLookup }

// member returns the membership on which the access depends. ok is false if it depends on none.
func (w *watch) member() (m store.MemberRef, ok bool) {
	return store.MemberRef{Workspace: w.p.Workspace.Num, UserID: w.p.UserID}, !w.p.Workspace.Personal && !w.p.IsAdmin()
}

// Watch checks the access of a principal during a long response. The channel is closed when the session or API key is
// no longer valid, when the user is deactivated or no longer an administrator, when the user's role in the workspace
// changes, or when the database cannot be asked for ten seconds. The caller must call stop. Run must run. The number of
// queries does not depend on the number of watched principals.
func (a *Authenticator) Watch(p Principal) (over <-chan struct{}, stop func()) {
	w := &watch{p, make(chan struct{})}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watches[w] = true
	return w.over, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.watches, w)
	}
}

// checkWatches checks all watched principals.
func (a *Authenticator) checkWatches(ctx context.Context) error {
	list := a.watched()
	if len(list) == 0 {
		a.checked = time.Now()
		return nil
	}
	have, err := a.accessOf(ctx, list)
	if err != nil && time.Since(a.checked) < watchBlind {
		return err // a database that is unavailable for a moment does not end the responses
	}
	if err == nil {
		a.checked = time.Now()
	}
	a.endWatches(list, have)
	return err
}

func (a *Authenticator) watched() (list []*watch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for w := range a.watches {
		list = append(list, w)
	}
	return list
}

// access is what the database says about watched principals. The zero value permits nothing.
type access struct {
	roles   map[string]string          // of users, by valid credential
	members map[store.MemberRef]string // roles in workspaces
}

func (a *Authenticator) accessOf(ctx context.Context, list []*watch) (out access, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var sessions, keys []string
	var members []store.MemberRef
	for _, w := range list {
		if w.p.KeyID != "" {
			keys = append(keys, w.p.keyLookup)
		} else {
			sessions = append(sessions, w.p.SessionID)
		}
		if m, ok := w.member(); ok {
			members = append(members, m)
		}
	}
	now := time.Now()
	if out.roles, err = a.store.ValidCredentials(ctx, store.Distinct(sessions), store.Distinct(keys), now.UnixMilli(),
		a.SeenAfter(now)); err != nil {
		return access{}, err
	}
	if out.members, err = a.store.MemberRoles(ctx, store.Distinct(members)); err != nil {
		return access{}, err
	}
	return out, nil
}

// permits reports whether a watched principal still has its access.
func (has access) permits(w *watch) bool {
	role := has.roles[w.credential()]
	if role == "" || w.p.IsAdmin() && role != string(Admin) {
		return false
	}
	m, ok := w.member()
	return !ok || has.members[m] == w.p.Workspace.Role.String()
}

// endWatches closes the channels of the watches that have lost their access.
func (a *Authenticator) endWatches(list []*watch, has access) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range list {
		if a.watches[w] && !has.permits(w) {
			delete(a.watches, w)
			close(w.over)
		}
	}
}
