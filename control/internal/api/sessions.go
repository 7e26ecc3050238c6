package api

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/manage/accounts"
)

// Session is a session of the caller.
type Session struct {
	ID         string  `json:"id"`
	CreatedAt  Time    `json:"createdAt" doc:"When the user signed in."`
	LastSeenAt Time    `json:"lastSeenAt" doc:"The last request, with a precision of one minute."`
	IP         *string `json:"ip" doc:"The address that signed in. Null means unknown."`
	UserAgent  *string `json:"userAgent" doc:"The browser that signed in. Null means unknown."`
	IsCurrent  bool    `json:"isCurrent" doc:"Whether this request belongs to the session."`
}

func sessionOf(v accounts.Session) Session {
	return Session{v.Key, Time(v.CreatedAt), Time(v.LastSeenAt), text(v.IP), text(v.UserAgent), v.Current}
}

func (s *Server) registerSessions() {
	declare := func(method, path, id, summary string) endpoint {
		return endpoint{Method: method, Path: "/api/auth/sessions" + path, ID: id, Summary: summary, Tag: "Account", SessionOnly: true}
	}
	handle(s, declare(http.MethodGet, "", "listSessions", "List your sessions"), s.listSessions)
	handle(s, declare(http.MethodDelete, "", "endOtherSessions", "End all your other sessions"), s.endOtherSessions)
	handle(s, declare(http.MethodDelete, "/{id}", "endSession", "End one of your sessions"), s.endSession)
}

func (s *Server) listSessions(ctx context.Context, in *Paging) (*body[List[Session]], error) {
	return respondPage(*in, 20, sessionOf)(s.Accounts.Sessions(ctx, principal(ctx), in.size(20), in.offset(20)))
}

func (s *Server) endOtherSessions(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return nil, s.Accounts.EndOtherSessions(ctx, principal(ctx))
}

func (s *Server) endSession(ctx context.Context, in *ByID) (*struct{}, error) {
	return nil, s.Accounts.EndSession(ctx, principal(ctx), in.ID)
}
