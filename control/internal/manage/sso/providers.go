package sso

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

const (
	maxName       = 100 // characters
	maxClient     = 255 // bytes of a client ID
	maxSecret     = 2048
	maxScopes     = 500
	maxDomains    = 50
	defaultScopes = "openid email profile"
)

var (
	slugForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,49}$`)
	// domainForm matches a domain name as in certificates, without wildcards.
	domainForm = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	scopeForm  = regexp.MustCompile(`^[!#-\[\]-~]+$`) // RFC 6749, section 3.3
)

// Input is the input of Create and Update. For a nil field, a new provider gets the default and an existing one keeps
// its value. An empty Scopes means the default.
type Input struct {
	Name, Slug, DiscoveryURL, ClientID, ClientSecret, Scopes *string
	Active, TrustEmail                                       *bool
	Domains                                                  *[]string
}

// Provider is an identity provider without its secret.
type Provider struct {
	store.OIDCProvider // ClientSecret is ""
	HasSecret          bool
	CallbackURL        string // must be registered at the provider
}

func (s *Service) shown(p store.OIDCProvider) Provider {
	has := p.ClientSecret != ""
	p.ClientSecret = ""
	return Provider{p, has, s.callback(p.Slug)}
}

// Providers returns all providers, by name.
func (s *Service) Providers(ctx context.Context, p auth.Principal) ([]Provider, error) {
	if err := auth.AdminOnly(p); err != nil {
		return nil, err
	}
	return s.list(ctx, false)
}

// Active returns the active providers, by name.
func (s *Service) Active(ctx context.Context) ([]Provider, error) { return s.list(ctx, true) }

func (s *Service) list(ctx context.Context, activeOnly bool) ([]Provider, error) {
	rows, err := s.store.OIDCProviders(ctx, activeOnly)
	if err != nil {
		return nil, fmt.Errorf("list identity providers: %w", err)
	}
	return each.Of(rows, s.shown), nil
}

// Provider returns a provider.
func (s *Service) Provider(ctx context.Context, p auth.Principal, slug string) (Provider, error) {
	if err := auth.AdminOnly(p); err != nil {
		return Provider{}, err
	}
	row, err := s.store.OIDCProviderBySlug(ctx, slug)
	return s.shown(row), auth.Missing("Identity provider", err)
}

// Create adds a provider. If the slug is in use, the error is a Conflict.
func (s *Service) Create(ctx context.Context, p auth.Principal, in Input) (Provider, error) {
	if err := auth.AdminOnly(p); err != nil {
		return Provider{}, err
	}
	row := store.OIDCProvider{ID: store.NewID(), Scopes: defaultScopes, Active: true}
	var v problem.Fields
	switch {
	case in.Slug == nil:
		v.Add("slug", "is required")
	case !slugForm.MatchString(*in.Slug):
		v.Add("slug", "must be 1 to 50 letters, digits, - and _, and begin with a letter or digit")
	default:
		row.Slug = *in.Slug
	}
	for name, field := range map[string]*string{"name": in.Name, "discoveryUrl": in.DiscoveryURL, "clientId": in.ClientID,
		"clientSecret": in.ClientSecret} {
		if field == nil {
			v.Add(name, "is required")
		}
	}
	s.applyInput(ctx, &v, in, &row)
	if err := v.Err(); err != nil {
		return Provider{}, err
	}
	row.CreatedAt = store.Now()
	row.UpdatedAt = row.CreatedAt
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.InsertOIDCProvider(ctx, row); err != nil {
			if _, taken := store.Unique(err); taken {
				return &problem.Error{Kind: problem.Conflict, Message: "An identity provider with this slug already exists.",
					Fields: []problem.Field{{Field: "slug", Message: "is in use"}}}
			}
			return fmt.Errorf("insert identity provider: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "OIDC_PROVIDER_CREATED", EntityType: "oidc_provider",
			EntityID: row.ID,
			New:      logged(row)})
	})
	return s.shown(row), err
}

// Update changes the given fields. The slug cannot change, because it is part of the registered callback URL.
func (s *Service) Update(ctx context.Context, p auth.Principal, slug string, in Input) (Provider, error) {
	if err := auth.AdminOnly(p); err != nil {
		return Provider{}, err
	}
	row, err := s.store.OIDCProviderBySlug(ctx, slug)
	if err != nil {
		return Provider{}, auth.Missing("Identity provider", err)
	}
	// Validate before the transaction, because DNS lookups take time.
	var v problem.Fields
	if in.Slug != nil && *in.Slug != slug {
		v.Add("slug", "cannot be changed")
	}
	s.applyInput(ctx, &v, in, &row)
	if err := v.Err(); err != nil {
		return Provider{}, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if row, err = tx.LockOIDCProvider(ctx, slug); err != nil {
			return auth.Missing("Identity provider", err)
		}
		old := logged(row)
		s.copyFields(in, &row)
		var v problem.Fields
		if checkTrust(&v, in, &row); v != nil { // another request may have changed the domains
			return v.Err()
		}
		row.UpdatedAt = store.Now()
		if err := tx.UpdateOIDCProvider(ctx, row); err != nil {
			return fmt.Errorf("update identity provider: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{
			UserID: p.UserID, Action: "OIDC_PROVIDER_UPDATED", EntityType: "oidc_provider", EntityID: row.ID, Old: old, New: logged(row),
			Metadata: map[string]any{"clientSecretChanged": in.ClientSecret != nil},
		})
	})
	return s.shown(row), err
}

// Delete removes a provider and its links to users. Users and their sessions stay.
func (s *Service) Delete(ctx context.Context, p auth.Principal, slug string) error {
	if err := auth.AdminOnly(p); err != nil {
		return err
	}
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		row, err := tx.LockOIDCProvider(ctx, slug)
		if err != nil {
			return auth.Missing("Identity provider", err)
		}
		accounts, err := tx.DeleteOIDCProvider(ctx, row.ID)
		if err != nil {
			return fmt.Errorf("delete identity provider: %w", err)
		}
		return audit.Append(ctx, tx, audit.Entry{
			UserID: p.UserID, Action: "OIDC_PROVIDER_DELETED", EntityType: "oidc_provider", EntityID: row.ID, Old: logged(row),
			Metadata: map[string]any{"unlinkedAccounts": accounts},
		})
	})
}

// applyInput validates the input, adds every problem to v and writes valid fields to the row.
func (s *Service) applyInput(ctx context.Context, v *problem.Fields, in Input, row *store.OIDCProvider) {
	s.copyFields(in, row)
	if in.Name != nil {
		checkText(v, "name", row.Name, utf8.RuneCountInString(row.Name), maxName, "characters")
	}
	if in.ClientID != nil {
		checkText(v, "clientId", row.ClientID, len(row.ClientID), maxClient, "bytes")
	}
	if in.ClientSecret != nil {
		checkText(v, "clientSecret", *in.ClientSecret, len(*in.ClientSecret), maxSecret, "bytes")
	}
	if in.DiscoveryURL != nil {
		if row.DiscoveryURL == "" {
			v.Add("discoveryUrl", "is required")
		} else if err := s.client.CheckURL(ctx, row.DiscoveryURL); err != nil {
			v.Add("discoveryUrl", "%s", err)
		} else if u, err := url.Parse(row.DiscoveryURL); err != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
			v.Add("discoveryUrl", "must have no query and no fragment")
		}
	}
	if in.Domains != nil {
		domains := strings.Fields(row.Domains)
		if len(domains) > maxDomains {
			v.Add("allowedDomains", "must have at most %d entries", maxDomains)
		}
		for i, d := range *in.Domains {
			if !domainForm.MatchString(cleanDomain(d)) || len(d) > 253 {
				v.Add(fmt.Sprintf("allowedDomains.%d", i), "must be a domain such as example.com")
			}
		}
	}
	checkTrust(v, in, row)
	if in.Scopes != nil {
		scopes := strings.Fields(row.Scopes)
		switch {
		case len(row.Scopes) > maxScopes:
			v.Add("scopes", "must have at most %d bytes", maxScopes)
		case slices.ContainsFunc(scopes, func(one string) bool { return !scopeForm.MatchString(one) }):
			v.Add("scopes", "must be names separated by spaces")
		case !slices.Contains(scopes, "openid"):
			v.Add("scopes", "must contain openid")
		}
	}
}

// checkTrust refuses a provider whose addresses are trusted without a limit to domains: it could vouch for anybody.
func checkTrust(v *problem.Fields, in Input, row *store.OIDCProvider) {
	switch {
	case !row.TrustEmail || row.Domains != "":
	case in.TrustEmail != nil:
		v.Add("trustEmail", "needs allowedDomains: without them, the provider could vouch for any address")
	default:
		v.Add("allowedDomains", "must not be empty while trustEmail is true")
	}
}

// copyFields copies the given fields.
func (s *Service) copyFields(in Input, row *store.OIDCProvider) {
	for to, from := range map[*string]*string{&row.Name: in.Name, &row.DiscoveryURL: in.DiscoveryURL, &row.ClientID: in.ClientID} {
		if from != nil {
			*to = strings.TrimSpace(*from)
		}
	}
	if in.Scopes != nil {
		if row.Scopes = strings.Join(strings.Fields(*in.Scopes), " "); row.Scopes == "" {
			row.Scopes = defaultScopes
		}
	}
	if in.Domains != nil {
		domains := each.Of(*in.Domains, cleanDomain)
		row.Domains = strings.Join(domains, " ")
	}
	if in.ClientSecret != nil {
		row.ClientSecret = s.secrets.Seal(secretPlace(row.ID), *in.ClientSecret)
	}
	if in.Active != nil {
		row.Active = *in.Active
	}
	if in.TrustEmail != nil {
		row.TrustEmail = *in.TrustEmail
	}
}

func cleanDomain(d string) string { return strings.ToLower(strings.TrimSpace(d)) }

// vouches reports whether an email belongs to the provider's allowed domains.
func vouches(p store.OIDCProvider, email string) bool {
	domain := strings.ToLower(email[strings.LastIndexByte(email, '@')+1:])
	return p.Domains == "" || slices.Contains(strings.Fields(p.Domains), domain)
}

func checkText(v *problem.Fields, field, text string, length, limit int, unit string) {
	switch {
	case text == "":
		v.Add(field, "is required")
	case length > limit:
		v.Add(field, "must have at most %d %s", limit, unit)
	case !printable(text):
		v.Add(field, "must not contain control characters")
	}
}

// logged returns the fields of a provider for the audit log.
func logged(p store.OIDCProvider) map[string]any {
	return map[string]any{"name": p.Name, "slug": p.Slug, "discoveryUrl": p.DiscoveryURL, "clientId": p.ClientID, "scopes": p.Scopes,
		"isActive": p.Active, "allowedDomains": strings.Fields(p.Domains), "trustEmail": p.TrustEmail}
}

// Reseal encrypts the client secrets that use an older encryption key with the present one, and returns their number.
func (s *Service) Reseal(ctx context.Context) (n int, err error) {
	all, err := s.store.OIDCProviders(ctx, false)
	if err != nil {
		return 0, fmt.Errorf("list identity providers: %w", err)
	}
	for _, one := range all {
		err := s.store.Tx(ctx, func(tx *store.Tx) error {
			row, err := tx.LockOIDCProvider(ctx, one.Slug)
			if errors.Is(err, store.ErrNotFound) || err == nil && s.secrets.Current(row.ClientSecret) {
				return nil
			}
			if err != nil {
				return err
			}
			secret, err := s.secrets.Open(secretPlace(row.ID), row.ClientSecret)
			if err != nil {
				return err
			}
			row.ClientSecret = s.secrets.Seal(secretPlace(row.ID), secret)
			n++
			return tx.UpdateOIDCProvider(ctx, row)
		})
		if err != nil {
			return n, fmt.Errorf("reseal client secret of identity provider %s: %w", one.Slug, err)
		}
	}
	return n, nil
}
