package kit

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
func (k *Kit) admit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, e := c.Request(), k.endpointOf(c)
		caller := addressKey(c.RealIP())
		if e == nil || e.Need == Public || e.Need == Anyone && !hasCredential(r) {
			return k.admitAnyone(c, e, next)
		}
		p, byCookie, err := k.authenticate(c)
		if e.Need == Anyone && byCookie && problem.Is(err, problem.Unauthorized) {
			return k.admitAnyone(c, e, next) // the browser kept the cookie of a session that has ended
		}
		if err != nil {
			var refused *problem.Error
			if !errors.As(err, &refused) {
				return err
			}
			if err := k.chargeLimit(c, caller, LimitDefault); err != nil {
				return err
			}
			if byCookie && refused.Kind == problem.Unauthorized {
				cookie := k.ClearSessionCookie() // otherwise the browser would keep sending it
				c.SetCookie(&cookie)
			}
			return err
		}
		n := RequestLogOf(r.Context())
		n.UserID, n.keyID = p.UserID, p.KeyID
		if p.KeyID != "" {
			r = r.WithContext(audit.WithKey(r.Context(), p.KeyID))
		}
		p, chosen := k.choose(c, e, p)
		if err := k.takeOf(c, p, e.Limit); err != nil {
			return err
		}
		if byCookie {
			if err := k.checkOrigin(r); err != nil {
				return err
			}
		}
		if p.MustEnrol && !e.Enrolment {
			return problem.New(problem.NoFactor,
				"This installation requires a second factor. Set up an authenticator app or a passkey first.")
		}
		if chosen != nil {
			return chosen
		}
		if err := k.permit(p, e); err != nil {
			return err
		}
		if err := checkAddress(r); err != nil {
			return err
		}
		k.revisionHeader(c)
		ctx, err := expected(context.WithValue(r.Context(), principalKey{}, p), e, r.Header)
		if err != nil {
			return err
		}
		c.SetRequest(r.WithContext(ctx))
		return next(c)
	}
}

// admitAnyone applies the rate limits of a caller without a credential. e is nil for an unknown path.
func (k *Kit) admitAnyone(c echo.Context, e *Endpoint, next echo.HandlerFunc) error {
	r, limit := c.Request(), LimitDefault
	if e != nil {
		limit = e.Limit
	}
	if e != nil && e.SignsIn {
		if err := k.checkOrigin(r); err != nil { // another site must not sign its visitors in to an account of its own
			return err
		}
	}
	if err := k.chargeLimit(c, addressKey(c.RealIP()), limit); err != nil {
		return err
	}
	if err := checkAddress(r); err != nil {
		return err
	}
	if limit != NoLimit && e != nil {
		ctx, cancel := context.WithTimeout(r.Context(), k.cfg.LookUpTimeout)
		defer cancel()
		if err := k.Store.Ping(ctx); err != nil {
			return fmt.Errorf("reach the database: %w", err)
		}
	}
	k.revisionHeader(c)
	return next(c)
}

// hasCredential reports whether authenticate finds a credential, which may be invalid.
func hasCredential(r *http.Request) bool {
	cookie, err := r.Cookie(cookieName)
	return len(r.Header.Values("X-API-Key")) > 0 || r.Header.Get("Authorization") != "" || err == nil && cookie.Value != ""
}

// choose lets the caller work in the workspace that the request names, if it names one.
func (k *Kit) choose(c echo.Context, e *Endpoint, p auth.Principal) (auth.Principal, error) {
	choice := strings.TrimSpace(c.Request().Header.Get(workspaceHeader))
	if e.OfPath {
		choice = c.Param("id")
	}
	if choice == "" {
		return p, nil
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), k.cfg.LookUpTimeout)
	defer cancel()
	return k.Auth.Choose(ctx, p, choice)
}

// teamsFactor is how many times a rate limit a user has in the workspaces of all teams together.
const teamsFactor = 3

// takeOf counts a request of a user. Each workspace of a user is counted apart, so that work in one workspace does not stop the
// work in another. A second, larger count limits the workspaces of teams together, because a user can have many.
func (k *Kit) takeOf(c echo.Context, p auth.Principal, name LimitName) error {
	if p.Workspace.Num == p.UserNum {
		return k.chargeLimit(c, p.UserID, name)
	}
	if err := k.chargeLimit(c, p.UserID+" "+p.Workspace.ID, name); err != nil {
		return err
	}
	return k.takeOne(c, p.UserID+" teams", name, teamsFactor)
}

// authenticate checks the first credential of the request. It never skips an invalid one.
func (k *Kit) authenticate(c echo.Context) (p auth.Principal, byCookie bool, err error) {
	r := c.Request()
	ctx, cancel := context.WithTimeout(r.Context(), k.cfg.LookUpTimeout)
	defer cancel()
	if keys := r.Header.Values("X-API-Key"); len(keys) > 0 {
		p, err = k.Auth.Key(ctx, strings.TrimSpace(keys[0]), c.RealIP())
		return p, false, err
	}
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, credential, _ := strings.Cut(header, " ")
		credential = strings.TrimSpace(credential)
		switch {
		case !strings.EqualFold(scheme, "Bearer"):
			return p, false, problem.New(problem.Unauthorized, "Authorization must be a Bearer token or an API key.")
		case strings.HasPrefix(credential, auth.KeyPrefix):
			p, err = k.Auth.Key(ctx, credential, c.RealIP())
		default:
			p, err = k.Auth.Token(ctx, credential)
		}
		return p, false, err
	}
	cookie, err := r.Cookie(cookieName)
	if err != nil || cookie.Value == "" {
		return p, false, problem.New(problem.Unauthorized, "Sign in, or send an API key.")
	}
	p, err = k.Auth.Token(ctx, cookie.Value)
	return p, true, err
}

// SessionCookie returns the cookie of a browser session.
func (k *Kit) SessionCookie(token string, expires time.Time) http.Cookie {
	return http.Cookie{
		Name: cookieName, Value: token, Path: "/", Expires: expires, MaxAge: int(time.Until(expires).Seconds()),
		HttpOnly: true, SameSite: k.SameSite, Secure: k.Secure,
	}
}

// ClearSessionCookie returns the cookie that deletes it.
func (k *Kit) ClearSessionCookie() http.Cookie {
	return http.Cookie{Name: cookieName, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: k.SameSite, Secure: k.Secure}
}

// addressKey returns the key under which rate limits count an anonymous caller.
func addressKey(ip string) string { return "ip:" + auth.ClientOf(ip) }
