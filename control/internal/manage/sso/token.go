package sso

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

const maxSubject = 255 // characters (OpenID Connect Core 1.0, section 2)

// person is the person at the browser, as identified by a provider.
type person struct {
	issuer, subject string
	email           string // "" if the provider gave none
	verified        bool   // the provider has verified the email
	name            string
}

// known returns our client configuration at a provider.
func (s *Service) known(p store.OIDCProvider, m metadata, secret string) *oauth2.Config {
	// Choose the authentication method here: the library tries one after the other, and the first try consumes the
	// code.
	style := oauth2.AuthStyleInHeader
	if len(m.TokenAuth) > 0 && !slices.Contains(m.TokenAuth, "client_secret_basic") && slices.Contains(m.TokenAuth, "client_secret_post") {
		style = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: secret, RedirectURL: s.callback(p.Slug), Scopes: strings.Fields(p.Scopes),
		Endpoint: oauth2.Endpoint{AuthURL: m.Authorization, TokenURL: m.Token, AuthStyle: style},
	}
}

// redeem exchanges a code for a verified token and returns the person. Its errors are failures without text of a token.
func (s *Service) redeem(ctx context.Context, p store.OIDCProvider, m metadata, code string, pending pending) (who person, err error) {
	secret, err := s.secrets.Open(secretPlace(p.ID), p.ClientSecret)
	if err != nil {
		return who, fmt.Errorf("decrypt client secret of identity provider %s: %w", p.Slug, err)
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, s.client.HTTP())
	token, err := s.known(p, m, secret).Exchange(ctx, code, oauth2.VerifierOption(pending.Verifier))
	if err != nil {
		return who, exchangeFailure(err)
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return who, failed(CodeInvalidToken, errors.New("the provider returned no id_token"))
	}
	keys := &keySet{service: s, provider: p, metadata: m}
	verified, err := oidc.NewVerifier(m.Issuer, keys, &oidc.Config{ClientID: p.ClientID, SupportedSigningAlgs: m.Algorithms,
		Now: s.cfg.Now}).
		Verify(ctx, raw)
	if keys.down != nil {
		return who, failed(CodeUnavailable, keys.down)
	}
	if err != nil {
		return who, failed(CodeInvalidToken, err)
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(pending.Nonce)) != 1 {
		return who, failed(CodeInvalidToken, errors.New("the token has another nonce"))
	}
	var c claims
	if err := verified.Claims(&c); err != nil {
		return who, failed(CodeInvalidToken, err)
	}
	// OpenID Connect Core, section 3.1.3.7, items 4 and 5: a token with several audiences must name us as authorized
	// party.
	if c.Party != "" && c.Party != p.ClientID || len(verified.Audience) > 1 && c.Party == "" {
		return who, failed(CodeInvalidToken, errors.New("the token was issued to another client"))
	}
	if sub := verified.Subject; sub == "" || utf8.RuneCountInString(sub) > maxSubject || !printable(sub) {
		return who, failed(CodeInvalidToken, errors.New("the token has no valid subject"))
	}
	if m.UserInfo != "" && (c.Email == "" || c.Verified == nil) {
		// Some providers return the email only at the user info endpoint.
		var more claims
		if err := s.directory.fetch(ctx, m.UserInfo, token.AccessToken, &more); err != nil {
			return who, failed(CodeUnavailable, fmt.Errorf("user info: %w", err))
		}
		if more.Subject != verified.Subject {
			return who, failed(CodeInvalidToken, errors.New("user info has another subject"))
		}
		if c.Email == "" {
			c.Email, c.Verified = more.Email, more.Verified
		} else if c.Email == more.Email {
			c.Verified = more.Verified
		}
		c.Name = cmp.Or(c.Name, more.Name)
	}
	who = person{issuer: m.Issuer, subject: verified.Subject, name: cleanName(c.Name)}
	if usableEmail(c.Email) {
		who.email, who.verified = c.Email, c.Verified == true || c.Verified == "true"
		// A provider that says false is believed. userOf checks the domain; a provider without domains is trusted for none.
		who.verified = who.verified || c.Verified == nil && p.TrustEmail && p.Domains != ""
	}
	return who, nil
}

type claims struct {
	Subject  string `json:"sub"`
	Party    string `json:"azp"`
	Email    string `json:"email"`
	Verified any    `json:"email_verified"` // a bool; some providers say "true"
	Name     string `json:"name"`
}

// exchangeFailure distinguishes a provider that rejected the code from one that was unavailable. It omits the response
// body, which may repeat the request's secrets.
func exchangeFailure(err error) error {
	var answered *oauth2.RetrieveError
	switch {
	case !errors.As(err, &answered):
		return failed(CodeUnavailable, fmt.Errorf("token: %w", err))
	case answered.Response != nil && answered.Response.StatusCode >= http.StatusInternalServerError:
		return failed(CodeUnavailable, fmt.Errorf("token: the provider responded with status %d", answered.Response.StatusCode))
	}
	return failed(CodeProviderError, fmt.Errorf("token: the provider responded with the error %.50q", answered.ErrorCode))
}

// keySet verifies signatures with a provider's published keys.
type keySet struct {
	service  *Service
	provider store.OIDCProvider
	metadata metadata
	down     error // error of fetching the keys
}

// VerifySignature implements oidc.KeySet. The verifier has checked the algorithm.
func (k *keySet) VerifySignature(ctx context.Context, raw string) ([]byte, error) {
	algorithms := each.Of(k.metadata.Algorithms, func(a string) jose.SignatureAlgorithm { return jose.SignatureAlgorithm(a) })
	jws, err := jose.ParseSignedCompact(raw, algorithms)
	if err != nil {
		return nil, err
	}
	header := jws.Signatures[0].Header
	for _, again := range []bool{false, true} {
		keys, err := k.service.directory.keys(ctx, k.provider.DiscoveryURL, k.metadata.Keys, again)
		if err != nil {
			k.down = err
			return nil, err
		}
		known := false
		for _, key := range keys {
			if header.KeyID != "" && key.KeyID != header.KeyID || key.Algorithm != "" && key.Algorithm != header.Algorithm {
				continue
			}
			known = header.KeyID != ""
			if payload, err := jws.Verify(key.Key); err == nil {
				return payload, nil
			}
		}
		if known {
			return nil, errors.New("the signature does not match the named key")
		}
	}
	return nil, errors.New("no published key of the provider matches the signature")
}
