package peopleapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/accounts"
)

// Session is a session of the caller.
type Session struct {
	ID         string   `json:"id"`
	CreatedAt  kit.Time `json:"createdAt" doc:"When the user signed in."`
	LastSeenAt kit.Time `json:"lastSeenAt" doc:"The last request, with a precision of one minute."`
	IP         *string  `json:"ip" doc:"The address that signed in. Null means unknown."`
	UserAgent  *string  `json:"userAgent" doc:"The browser that signed in. Null means unknown."`
	IsCurrent  bool     `json:"isCurrent" doc:"Whether this request belongs to the session."`
}

func sessionOf(v accounts.Session) Session {
	return Session{v.Key, kit.Time(v.CreatedAt), kit.Time(v.LastSeenAt), kit.Text(v.IP), kit.Text(v.UserAgent), v.Current}
}

func (s *server) registerSessions() {
	declare := func(method, path, id, summary string) kit.Endpoint {
		return kit.Endpoint{Method: method, Path: "/api/auth/sessions" + path, ID: id, Summary: summary, Tag: "Account", SessionOnly: true}
	}
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listSessions", "List your sessions").
		About("A page of your valid sessions, newest first, each with the address and the user agent of the sign-in. Requires a session, not "+
			"an API key."), s.listSessions)
	kit.Handle(s.Kit, declare(http.MethodDelete, "", "endOtherSessions", "End all your other sessions").
		About("Ends all your sessions except for that of the request, on all replicas within a second. API keys stay valid."),
		s.endOtherSessions)
	kit.Handle(s.Kit, declare(http.MethodDelete, "/{id}", "endSession", "End one of your sessions").
		About("Ends one of your sessions on all replicas within a second, including streams in progress. Ending the session of the request "+
			"signs you out. Sessions of other users are not found (404)."), s.endSession)
}

func (s *server) listSessions(ctx context.Context, in *kit.Paging) (*kit.Body[kit.List[Session]], error) {
	return kit.RespondPage(*in, 20, sessionOf)(s.Accounts.Sessions(ctx, kit.Principal(ctx), in.Size(20), in.Offset(20)))
}

func (s *server) endOtherSessions(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return nil, s.Accounts.EndOtherSessions(ctx, kit.Principal(ctx))
}

func (s *server) endSession(ctx context.Context, in *kit.ByID) (*struct{}, error) {
	return nil, s.Accounts.EndSession(ctx, kit.Principal(ctx), in.ID)
}
