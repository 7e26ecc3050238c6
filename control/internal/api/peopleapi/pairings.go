package peopleapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/keys"
	"github.com/shortline/shortline/control/internal/platform/auth"
)

// PairingPath is the page of the console on which a user confirms a program.
const PairingPath = "/login/pair"

// pairingInterval is the number of seconds between two questions of a program whether the user has confirmed it.
const pairingInterval = 3

// Pairing is what a program gets that asks for an API key.
type Pairing struct {
	DeviceCode string   `json:"deviceCode" doc:"The program's secret, with which it redeems the confirmation."`
	UserCode   string   `json:"userCode" doc:"What the user compares."`
	URL        string   `json:"url" doc:"The page on which the user confirms the code."`
	Interval   int      `json:"interval" doc:"Seconds to wait between two requests for the result."`
	ExpiresAt  kit.Time `json:"expiresAt"`
}

// WaitingProgram is a program that waits for a user to confirm it.
type WaitingProgram struct {
	UserCode  string   `json:"userCode"`
	Name      string   `json:"name" doc:"What the program calls itself."`
	IP        string   `json:"ip" doc:"The address of the program."`
	CreatedAt kit.Time `json:"createdAt"`
	ExpiresAt kit.Time `json:"expiresAt"`
}

// RedeemedPairing is the state of a pairing, with the API key once the user has approved it.
type RedeemedPairing struct {
	Status string  `json:"status" enum:"PENDING,APPROVED,REFUSED"`
	Key    *string `json:"key" nullable:"true" doc:"The API key, shown only in this response. Null unless the status is APPROVED."`
	APIKey *APIKey `json:"apiKey" doc:"Null unless the status is APPROVED."`
}

var pairingResource = kit.Resource{
	Tag: "Pairing", About: "An API key for a program without a browser, which a user confirms in the console.",
	Read: kit.Needs(kit.AnyRole, 0), Change: kit.Needs(kit.AnyRole, 0),
}

func (s *server) registerPairings() {
	declare := func(method, path, id, summary string) kit.Endpoint {
		return kit.Endpoint{Method: method, Path: "/api/auth/pairings" + path, ID: id, Summary: summary, Tag: "Pairing"}
	}
	begin := declare(http.MethodPost, "", "beginPairing", "Ask for an API key that a user confirms").
		About("The program shows the code and the address, and asks for the result every `interval` seconds. The code can be confirmed for " +
			"ten minutes.").
		Example(`{"name":"shortline on laptop"}`)
	begin.Need, begin.Limit = kit.Public, kit.LimitAPIKeys
	kit.Handle(s.Kit, begin, s.beginPairing)
	redeem := declare(http.MethodPost, "/redeem", "redeemPairing", "Get the API key that a user has confirmed").
		About("404 if the code is unknown, has expired, or was redeemed. The key is made with this request: 403 or 409 if its user may not "+
			"have one any more.").
		Example(`{"deviceCode":"nqcKzCzYvJpVtb3m6bZ9yZ2GmK1G9a6y2u2w0g4tVQk"}`).
		Fails(http.StatusNotFound, http.StatusConflict, http.StatusForbidden)
	redeem.Need, redeem.Status = kit.Public, http.StatusOK
	kit.Handle(s.Kit, redeem, s.redeemPairing)
	look := declare(http.MethodGet, "", "getPairing", "Get the program that waits with a code").
		About("What the page shows before a user confirms. 404 if the code is wrong, was answered, or has expired.").
		Fails(http.StatusNotFound)
	look.SessionOnly = true
	kit.Handle(s.Kit, look, s.getPairing)
	approve := declare(http.MethodPost, "/approve", "approvePairing", "Give a waiting program an API key").
		About("The program gets a key with these fields when it asks the next time. The key works in the workspace of this request, as one "+
			"that POST /api/api-keys creates.").
		Example(`{"code":"WDJB-MJHT","name":"shortline on laptop","scopes":["links:write","analytics:read"]}`).
		Fails(http.StatusNotFound, http.StatusConflict)
	approve.SessionOnly, approve.Status, approve.Role, approve.Limit = true, http.StatusNoContent, auth.WorkspaceAdmin, kit.LimitAPIKeys
	kit.Handle(s.Kit, approve, s.approvePairing)
	refuse := declare(http.MethodPost, "/refuse", "refusePairing", "Give a waiting program no API key").
		About("The program learns that it was refused when it asks the next time.").
		Example(`{"code":"WDJB-MJHT"}`).Fails(http.StatusNotFound)
	refuse.SessionOnly, refuse.Status = true, http.StatusNoContent
	kit.Handle(s.Kit, refuse, s.refusePairing)
	revoke := kit.Endpoint{
		Method: http.MethodPost, Path: "/api/auth/key/revoke", ID: "revokeOwnKey", Summary: "Delete the API key of this request", Tag: "Pairing",
		Scope: kit.AnyScope, Status: http.StatusNoContent,
	}.About("A program that signs out deletes its own key, and the keys that were made with it. `prefix` are the first ten characters of " +
		"the key, to show that this is meant; 404 if they are of another one, or if the request has a session.").
		Example(`{"prefix":"sl_0123456"}`).Fails(http.StatusNotFound)
	kit.Handle(s.Kit, revoke, s.revokeOwnKey)
}

type beginPairingIn struct {
	Body struct {
		Name string `json:"name" doc:"What the program calls itself; 1 to 100 characters."`
	}
}

func (s *server) beginPairing(ctx context.Context, in *beginPairingIn) (*kit.Body[Pairing], error) {
	p, err := s.Keys.BeginPairing(ctx, in.Body.Name, audit.OriginOf(ctx).IP)
	if err != nil {
		return nil, err
	}
	return kit.NewBody(Pairing{
		DeviceCode: p.DeviceCode, UserCode: p.UserCode, URL: s.ConsoleAddress() + PairingPath + "?code=" + p.UserCode,
		Interval: pairingInterval, ExpiresAt: kit.Time(p.ExpiresAt),
	}), nil
}

type redeemPairingIn struct {
	Body struct {
		DeviceCode string `json:"deviceCode" minLength:"1" maxLength:"100"`
	}
}

func (s *server) redeemPairing(ctx context.Context, in *redeemPairingIn) (*kit.Body[RedeemedPairing], error) {
	status, key, row, err := s.Keys.RedeemPairing(ctx, in.Body.DeviceCode)
	if err != nil {
		return nil, err
	}
	out := RedeemedPairing{Status: status}
	if key != "" {
		shown := keyOf(row)
		out.Key, out.APIKey = &key, &shown
	}
	return kit.NewBody(out), nil
}

type getPairingIn struct {
	Code string `query:"code" required:"true" maxLength:"20" doc:"As the program shows it."`
}

func (s *server) getPairing(ctx context.Context, in *getPairingIn) (*kit.Body[WaitingProgram], error) {
	p, err := s.Keys.Pairing(ctx, in.Code)
	if err != nil {
		return nil, err
	}
	return kit.NewBody(WaitingProgram{p.UserCode, p.Name, p.IP, kit.Time(p.CreatedAt), kit.Time(p.ExpiresAt)}), nil
}

type approvePairingIn struct {
	Body struct {
		Code      string            `json:"code" maxLength:"20"`
		Name      string            `json:"name" doc:"Of the API key: 1 to 100 characters."`
		ExpiresAt kit.Opt[kit.Time] `json:"expiresAt,omitempty" doc:"As for POST /api/api-keys."`
		Scopes    kit.Opt[[]string] `json:"scopes,omitempty" values:"keyScope" doc:"As for POST /api/api-keys."`
	}
}

func (s *server) approvePairing(ctx context.Context, in *approvePairingIn) (*struct{}, error) {
	b := in.Body
	return nil, s.Keys.ApprovePairing(ctx, kit.Principal(ctx), b.Code, keys.Input{
		Name: b.Name, ExpiresAt: (*int64)(b.ExpiresAt.Pointer()), Scopes: b.Scopes.Value,
	})
}

type refusePairingIn struct {
	Body struct {
		Code string `json:"code" maxLength:"20"`
	}
}

func (s *server) refusePairing(ctx context.Context, in *refusePairingIn) (*struct{}, error) {
	return nil, s.Keys.RefusePairing(ctx, kit.Principal(ctx), in.Body.Code)
}

type revokeOwnKeyIn struct {
	Body struct {
		Prefix string `json:"prefix" maxLength:"20"`
	}
}

func (s *server) revokeOwnKey(ctx context.Context, in *revokeOwnKeyIn) (*struct{}, error) {
	return nil, s.Keys.Revoke(ctx, kit.Principal(ctx), in.Body.Prefix)
}
