package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
)

// cookieName is the cookie that holds a browser's access token.
const cookieName = "access_token"

// admit authenticates the caller and applies access rules and rate limits.
func (s *Server) admit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, e := c.Request(), s.endpointOf(c)
		caller := addressKey(c.RealIP())
		if e == nil || e.Need == public || e.Need == anyone && !hasCredential(r) {
			return s.admitAnyone(c, e, next)
		}
		p, byCookie, err := s.authenticate(c)
		if e.Need == anyone && byCookie && problem.Is(err, problem.Unauthorized) {
			return s.admitAnyone(c, e, next) // the browser kept the cookie of a session that has ended
		}
		if err != nil {
			var refused *problem.Error
			if !errors.As(err, &refused) {
				return err
			}
			if err := s.take(c, caller, limitDefault); err != nil {
				return err
			}
			if byCookie && refused.Kind == problem.Unauthorized {
				cookie := s.clearSession() // otherwise the browser would keep sending it
				c.SetCookie(&cookie)
			}
			return err
		}
		n := requestLogOf(r.Context())
		n.userID, n.keyID = p.UserID, p.KeyID
		if p.KeyID != "" {
			r = r.WithContext(audit.WithKey(r.Context(), p.KeyID))
		}
		p, chosen := s.choose(c, e, p)
		if err := s.takeOf(c, p, e.Limit); err != nil {
			return err
		}
		if byCookie {
			if err := s.ours(r); err != nil {
				return err
			}
		}
		if p.MustEnrol && !e.Enrolment {
			return problem.New(problem.NoFactor, "This installation requires a second factor. Set up an authenticator app or a passkey first.")
		}
		if chosen != nil {
			return chosen
		}
		if err := s.permit(p, e); err != nil {
			return err
		}
		if err := checkAddress(r); err != nil {
			return err
		}
		s.revisionHeader(c)
		ctx, err := expected(context.WithValue(r.Context(), principalKey{}, p), e, r.Header)
		if err != nil {
			return err
		}
		c.SetRequest(r.WithContext(ctx))
		return next(c)
	}
}

// admitAnyone applies the rate limits of a caller without a credential. e is nil for an unknown path.
func (s *Server) admitAnyone(c echo.Context, e *endpoint, next echo.HandlerFunc) error {
	r, limit := c.Request(), limitDefault
	if e != nil {
		limit = e.Limit
	}
	if e != nil && e.SignsIn {
		if err := s.ours(r); err != nil { // another site must not sign its visitors in to an account of its own
			return err
		}
	}
	if err := s.take(c, addressKey(c.RealIP()), limit); err != nil {
		return err
	}
	if err := checkAddress(r); err != nil {
		return err
	}
	if limit != noLimit && e != nil {
		ctx, cancel := context.WithTimeout(r.Context(), s.cfg.LookUpTimeout)
		defer cancel()
		if err := s.Store.Ping(ctx); err != nil {
			return fmt.Errorf("reach the database: %w", err)
		}
	}
	s.revisionHeader(c)
	return next(c)
}

// hasCredential reports whether authenticate finds a credential, which may be invalid.
func hasCredential(r *http.Request) bool {
	cookie, err := r.Cookie(cookieName)
	return len(r.Header.Values("X-API-Key")) > 0 || r.Header.Get("Authorization") != "" || err == nil && cookie.Value != ""
}

// choose lets the caller work in the workspace that the request names, if it names one.
func (s *Server) choose(c echo.Context, e *endpoint, p auth.Principal) (auth.Principal, error) {
	choice := strings.TrimSpace(c.Request().Header.Get(workspaceHeader))
	if e.OfPath {
		choice = c.Param("id")
	}
	if choice == "" {
		return p, nil
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), s.cfg.LookUpTimeout)
	defer cancel()
	return s.Auth.Choose(ctx, p, choice)
}

// teamsFactor is how many times a rate limit a user has in the workspaces of all teams together.
const teamsFactor = 3

// takeOf counts a request of a user. Each workspace of a user is counted apart, so that work in one workspace does not stop the
// work in another. A second, larger count limits the workspaces of teams together, because a user can have many.
func (s *Server) takeOf(c echo.Context, p auth.Principal, name limitName) error {
	if p.Workspace.Num == p.UserNum {
		return s.take(c, p.UserID, name)
	}
	if err := s.take(c, p.UserID+" "+p.Workspace.ID, name); err != nil {
		return err
	}
	return s.takeOne(c, p.UserID+" teams", name, teamsFactor)
}

// authenticate checks the first credential of the request. It never skips an invalid one.
func (s *Server) authenticate(c echo.Context) (p auth.Principal, byCookie bool, err error) {
	r := c.Request()
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.LookUpTimeout)
	defer cancel()
	if keys := r.Header.Values("X-API-Key"); len(keys) > 0 {
		p, err = s.Auth.Key(ctx, strings.TrimSpace(keys[0]), c.RealIP())
		return p, false, err
	}
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, credential, _ := strings.Cut(header, " ")
		credential = strings.TrimSpace(credential)
		switch {
		case !strings.EqualFold(scheme, "Bearer"):
			return p, false, problem.New(problem.Unauthorized, "Authorization must be a Bearer token or an API key.")
		case strings.HasPrefix(credential, auth.KeyPrefix):
			p, err = s.Auth.Key(ctx, credential, c.RealIP())
		default:
			p, err = s.Auth.Token(ctx, credential)
		}
		return p, false, err
	}
	cookie, err := r.Cookie(cookieName)
	if err != nil || cookie.Value == "" {
		return p, false, problem.New(problem.Unauthorized, "Sign in, or send an API key.")
	}
	p, err = s.Auth.Token(ctx, cookie.Value)
	return p, true, err
}

// setSession returns the cookie of a browser session.
func (s *Server) setSession(token string, expires time.Time) http.Cookie {
	return http.Cookie{
		Name: cookieName, Value: token, Path: "/", Expires: expires, MaxAge: int(time.Until(expires).Seconds()),
		HttpOnly: true, SameSite: s.sameSite, Secure: s.secure,
	}
}

// clearSession returns the cookie that deletes it.
func (s *Server) clearSession() http.Cookie {
	return http.Cookie{Name: cookieName, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: s.sameSite, Secure: s.secure}
}

// addressKey returns the key under which rate limits count an anonymous caller.
func addressKey(ip string) string { return "ip:" + auth.ClientOf(ip) }
