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
type target struct {
	webhook   string
	workspace uint64
	host      string
}

func targetOf(w store.DueWebhook) target {
	t := target{webhook: w.ID, workspace: w.Workspace}
	if u, err := url.Parse(w.URL); err == nil {
		t.host = u.Host
	}
	return t
}

type workspaceHost struct {
	workspace uint64
	host      string
}

// shares counts the attempts in flight. It divides the slots among workspaces, and the slots of a workspace among hosts,
// without fixed limits. A workspace can take a slot while it has fewer slots than are free. So n busy workspaces get
// 1/(n+1) of the slots each, and as many stay free for the next workspace. The same rule applies to the hosts of a
// workspace. Therefore a hanging receiver delays other hosts of the same workspace a little, and other workspaces not
// at all.
type shares struct {
	total      int
	webhooks   map[string]int
	workspaces map[uint64]int
	hosts      map[workspaceHost]int
}

func newShares() shares {
	return shares{webhooks: map[string]int{}, workspaces: map[uint64]int{}, hosts: map[workspaceHost]int{}}
}

// hasRoom reports whether another attempt may start.
func (s *shares) hasRoom(t target) bool {
	free, used := inAll-s.total, s.workspaces[t.workspace]
	// This also limits the workspace, because a host's count is never negative.
	return s.webhooks[t.webhook] < perWebhook && s.hosts[workspaceHost{t.workspace, t.host}] < free-used
}

// reserveAttempts counts as many attempts as may start, and returns their number.
func (s *shares) reserveAttempts(t target) (n int) {
	for s.hasRoom(t) {
		s.addAttempts(t, 1)
		n++
	}
	return n
}

// removeAttempts removes attempts that have ended or did not start.
func (s *shares) removeAttempts(t target, n int) { s.addAttempts(t, -n) }

func (s *shares) addAttempts(t target, n int) {
	s.total += n
	count(s.webhooks, t.webhook, n)
	count(s.workspaces, t.workspace, n)
	count(s.hosts, workspaceHost{t.workspace, t.host}, n)
}

func count[K comparable](m map[K]int, key K, n int) {
	if m[key] += n; m[key] == 0 {
		delete(m, key)
	}
}
