package api

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/api/reportapi"
	"github.com/shortline/shortline/control/internal/platform/work"
)

// Endpoints returns every served route, such as "GET /api/urls/{id}", for tests.
func (s *Server) Endpoints() []string {
	var list []string
	for e := range s.kit.Declared() {
		list = append(list, e.Method+" "+strings.ReplaceAll(e.Path, "*", "{key}"))
	}
	return list
}

// TakeTurns takes slots for large bodies, one for each user, and returns a function that releases them, for tests.
func (s *Server) TakeTurns(users ...string) (release func()) {
	return takeAll(s.kit.Large, users)
}

// TakeComputing is TakeTurns for computations.
func (s *Server) TakeComputing(users ...string) (release func()) {
	return takeAll(s.kit.Queue(kit.Computing), users)
}

// TakeReports is TakeTurns for reports and exports, of which one user has as many slots as here.
func (s *Server) TakeReports(user string) (release func()) {
	reports, exports := takeAll(s.kit.Queue(kit.Reporting), []string{user, user, user, user}),
		takeAll(s.kit.Queue(kit.Exporting), []string{user, user})
	return func() { reports(); exports() }
}

func takeAll(q *work.Queue, users []string) (release func()) {
	var slots []*work.Slot
	for _, user := range users {
		slot, err := q.Enter(context.Background(), user)
		if err != nil {
			panic(err)
		}
		slots = append(slots, slot)
	}
	return func() {
		for _, slot := range slots {
			slot.Leave()
		}
	}
}

// The numbers of slots for large bodies: of all users, and of one.
const (
	LargeBodies  = kit.LargeBodies
	LargePerUser = kit.LargePerUser
)

// Time is the form of times in JSON.
type Time = kit.Time

// LivePath is where clicks stream.
const LivePath = reportapi.LivePath

// PermissionRow is what an endpoint needs, in the words of the page of permissions.
type PermissionRow struct{ Tag, Endpoint, Caller, Role, Keys string }

// Permissions returns what every endpoint needs, in the order of the page of permissions.
func (s *Server) Permissions() (list []PermissionRow) {
	for e := range s.kit.Declared() {
		p := PermissionRow{Tag: e.Tag, Endpoint: e.Method + " " + strings.ReplaceAll(e.Path, "*", "{key}"), Caller: "user", Role: "–",
			Keys: "–"}
		switch {
		case e.Need == kit.Public:
			p.Caller = "everybody"
		case e.Need == kit.Admin:
			p.Caller = "administrator"
		}
		if e.Need == kit.Anyone {
			p.Caller = "everybody, or session"
			list = append(list, p)
			continue
		}
		if e.Need != kit.Public && e.Role != kit.AnyRole {
			p.Role = e.Role.String()
		}
		session := e.SessionOnly || e.Escalates
		switch {
		case session && e.Need == kit.Admin:
			p.Caller = "administrator's session"
		case session:
			p.Caller = "session"
		case e.Need == kit.Public:
		case e.Scope == kit.AnyScope:
			p.Keys = "any"
		case e.Scope == 0:
			p.Keys = "no scopes"
		default:
			p.Keys = "`" + strings.Join(e.Scope.Names(), "` or `") + "`"
		}
		if e.OfChoice {
			p.Caller = "administrator, or user with `X-Workspace`"
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b PermissionRow) int {
		path := func(p PermissionRow) string { _, path, _ := strings.Cut(p.Endpoint, " "); return path }
		return cmp.Or(cmp.Compare(a.Tag, b.Tag), cmp.Compare(path(a), path(b)), cmp.Compare(a.Endpoint, b.Endpoint))
	})
	return list
}
