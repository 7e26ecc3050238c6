package webhooks

import (
	"net/url"

	"github.com/shortline/shortline/control/internal/store"
)

const (
	perWebhook = 4   // attempts under way
	inAll      = 512 // attempts under way
)

// target is what an attempt is counted under.
type target struct{ webhook, user, host string }

func targetOf(w store.DueWebhook) target {
	t := target{webhook: w.ID, user: w.UserID}
	if u, err := url.Parse(w.URL); err == nil {
		t.host = u.Host
	}
	return t
}

type userHost struct{ user, host string }

// shares counts the attempts under way and divides the slots among users, and a user's among hosts. Nobody has a fixed
// limit. A user may take a slot while fewer are theirs than are free, so n users who all want more get 1/(n+1) of the
// slots each and as many stay free for the next one. The same holds for a user's hosts within what the user may have.
// Receivers that hang therefore delay other hosts of the same user little, and other users not at all.
type shares struct {
	total    int
	webhooks map[string]int
	users    map[string]int
	hosts    map[userHost]int
}

func newShares() shares {
	return shares{webhooks: map[string]int{}, users: map[string]int{}, hosts: map[userHost]int{}}
}

// open reports whether another attempt may begin.
func (s *shares) open(t target) bool {
	free, user := inAll-s.total, s.users[t.user]
	// As a host's count is never negative, this also keeps the user's below what is free.
	return s.webhooks[t.webhook] < perWebhook && s.hosts[userHost{t.user, t.host}] < free-user
}

// take counts as many attempts as may begin and returns how many that are.
func (s *shares) take(t target) (n int) {
	for s.open(t) {
		s.add(t, 1)
		n++
	}
	return n
}

// leave takes back attempts that have ended, or were not begun.
func (s *shares) leave(t target, n int) { s.add(t, -n) }

func (s *shares) add(t target, n int) {
	s.total += n
	count(s.webhooks, t.webhook, n)
	count(s.users, t.user, n)
	count(s.hosts, userHost{t.user, t.host}, n)
}

func count[K comparable](m map[K]int, key K, n int) {
	if m[key] += n; m[key] == 0 {
		delete(m, key)
	}
}
