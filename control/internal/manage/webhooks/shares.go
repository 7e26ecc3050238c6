package webhooks

import (
	"net/url"

	"github.com/shortline/shortline/control/internal/store"
)

const (
	perWebhook = 4   // attempts in flight
	inAll      = 512 // attempts in flight
)

// target identifies where an attempt is counted.
type target struct{ webhook, user, host string }

func targetOf(w store.DueWebhook) target {
	t := target{webhook: w.ID, user: w.UserID}
	if u, err := url.Parse(w.URL); err == nil {
		t.host = u.Host
	}
	return t
}

type userHost struct{ user, host string }

// shares counts the attempts in flight. It divides the slots among users, and the slots of a user among hosts, without
// fixed limits. A user can take a slot while they have fewer slots than are free. So n busy users get 1/(n+1) of the
// slots each, and as many stay free for the next user. The same rule applies to the hosts of a user. Therefore a
// hanging receiver delays other hosts of the same user a little, and other users not at all.
type shares struct {
	total    int
	webhooks map[string]int
	users    map[string]int
	hosts    map[userHost]int
}

func newShares() shares {
	return shares{webhooks: map[string]int{}, users: map[string]int{}, hosts: map[userHost]int{}}
}

// open reports whether another attempt may start.
func (s *shares) open(t target) bool {
	free, user := inAll-s.total, s.users[t.user]
	// This also limits the user, because a host's count is never negative.
	return s.webhooks[t.webhook] < perWebhook && s.hosts[userHost{t.user, t.host}] < free-user
}

// take counts as many attempts as may start, and returns their number.
func (s *shares) take(t target) (n int) {
	for s.open(t) {
		s.add(t, 1)
		n++
	}
	return n
}

// leave removes attempts that have ended or did not start.
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
