package store

import "context"

// OIDCProvider is an identity provider that users can sign in with.
type OIDCProvider struct {
	ID           string
	Slug         string
	Name         string
	DiscoveryURL string
	ClientID     string
	ClientSecret string // encrypted
	Scopes       string // separated by spaces
	Active       bool
	Domains      string // email domains that the provider may vouch for, separated by spaces; "": any
	TrustEmail   bool   // an address without email_verified counts as verified, if it has one of Domains
	CreatedAt    int64
	UpdatedAt    int64
}

// OIDCAccount links an identity at a provider to a user.
type OIDCAccount struct {
	ID           string
	ProviderID   string
	ProviderSlug string // joined from the provider, like ProviderName
	ProviderName string
	UserID       string
	Issuer       string
	Subject      string
	Email        string // from the latest sign-in; "": not provided
	CreatedAt    int64
	LastLoginAt  int64
}

const providerColumns = `id, slug, name, discovery_url, client_id, client_secret, scopes, active, email_domains, trust_email, created_at, updated_at`

func scanProvider(row interface{ Scan(...any) error }) (p OIDCProvider, err error) {
	err = row.Scan(&p.ID, &p.Slug, &p.Name, &p.DiscoveryURL, &p.ClientID, &p.ClientSecret, &p.Scopes, &p.Active, &p.Domains,
		&p.TrustEmail, &p.CreatedAt, &p.UpdatedAt)
	return p, err
}

// InsertOIDCProvider inserts a provider. A slug in use violates the unique constraint on slug.
func (c Conn) InsertOIDCProvider(ctx context.Context, p OIDCProvider) error {
	return c.Do(ctx, `INSERT INTO oidc_providers (`+providerColumns+`) VALUES (`+In(12)+`)`,
		p.ID, p.Slug, p.Name, p.DiscoveryURL, p.ClientID, p.ClientSecret, p.Scopes, p.Active, p.Domains, p.TrustEmail, p.CreatedAt,
		p.UpdatedAt)
}

// UpdateOIDCProvider writes every field except id and slug, which never change.
func (c Conn) UpdateOIDCProvider(ctx context.Context, p OIDCProvider) error {
	return c.change(ctx,
		`UPDATE oidc_providers SET name = ?, discovery_url = ?, client_id = ?, client_secret = ?, scopes = ?, active = ?, email_domains = ?, `+
			`trust_email = ?, updated_at = ? WHERE id = ?`,
		p.Name, p.DiscoveryURL, p.ClientID, p.ClientSecret, p.Scopes, p.Active, p.Domains, p.TrustEmail, p.UpdatedAt, p.ID)
}

// DeleteOIDCProvider removes a provider with its accounts and returns the number of accounts.
func (tx *Tx) DeleteOIDCProvider(ctx context.Context, id string) (accounts int64, err error) {
	if accounts, err = tx.Exec(ctx, `DELETE FROM oidc_accounts WHERE provider_id = ?`, id); err != nil {
		return 0, err
	}
	return accounts, tx.change(ctx, `DELETE FROM oidc_providers WHERE id = ?`, id)
}

// OIDCProviders lists the providers by name, either all or only the active ones.
func (c Conn) OIDCProviders(ctx context.Context, activeOnly bool) ([]OIDCProvider, error) {
	where := ""
	if activeOnly {
		where = ` WHERE active`
	}
	return All(ctx, c, scanProvider, `SELECT `+providerColumns+` FROM oidc_providers`+where+` ORDER BY LOWER(name), slug`)
}

// OIDCProviderBySlug finds a provider.
func (c Conn) OIDCProviderBySlug(ctx context.Context, slug string) (OIDCProvider, error) {
	return scanProvider(c.Row(ctx, `SELECT `+providerColumns+` FROM oidc_providers WHERE slug = ?`, slug))
}

// LockOIDCProvider is OIDCProviderBySlug and locks the row until the transaction ends.
func (tx *Tx) LockOIDCProvider(ctx context.Context, slug string) (OIDCProvider, error) {
	return scanProvider(tx.Row(ctx, `SELECT `+providerColumns+` FROM oidc_providers WHERE slug = ?`+tx.forUpdate(), slug))
}

// AnyActiveOIDCProvider reports whether users can sign in with any provider.
func (c Conn) AnyActiveOIDCProvider(ctx context.Context) (bool, error) {
	return column[bool](c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM oidc_providers WHERE active)`))
}

const accountSelect = `SELECT a.id, a.provider_id, p.slug, p.name, a.user_id, a.issuer, a.subject, a.email, a.created_at, a.last_login_at
	FROM oidc_accounts a JOIN oidc_providers p ON p.id = a.provider_id`

func scanAccount(row interface{ Scan(...any) error }) (a OIDCAccount, err error) {
	err = row.Scan(&a.ID, &a.ProviderID, &a.ProviderSlug, &a.ProviderName, &a.UserID, &a.Issuer, &a.Subject, &a.Email, &a.CreatedAt,
		&a.LastLoginAt)
	return a, err
}

// OIDCAccountBySubject finds an account by the identity at a provider.
func (c Conn) OIDCAccountBySubject(ctx context.Context, providerID, issuer, subject string) (OIDCAccount, error) {
	return scanAccount(c.Row(ctx, accountSelect+` WHERE a.provider_id = ? AND a.issuer = ? AND a.subject = ?`, providerID, issuer, subject))
}

// OIDCAccounts lists a user's accounts, oldest first.
func (c Conn) OIDCAccounts(ctx context.Context, userID string) ([]OIDCAccount, error) {
	return All(ctx, c, scanAccount, accountSelect+` WHERE a.user_id = ? ORDER BY a.created_at, a.id`, userID)
}

// InsertOIDCAccount links an identity at a provider to a user. An identity that is already linked violates the unique
// constraint on subject.
func (c Conn) InsertOIDCAccount(ctx context.Context, a OIDCAccount) error {
	return c.Do(ctx,
		`INSERT INTO oidc_accounts (id, provider_id, user_id, issuer, subject, email, created_at, last_login_at) VALUES (`+
			In(8)+`)`,
		a.ID, a.ProviderID, a.UserID, a.Issuer, a.Subject, a.Email, a.CreatedAt, a.LastLoginAt)
}

// NoteOIDCLogin stores the time of a sign-in and the email that the provider sent.
func (c Conn) NoteOIDCLogin(ctx context.Context, id, email string, at int64) error {
	return c.Do(ctx, `UPDATE oidc_accounts SET email = ?, last_login_at = ? WHERE id = ?`, email, at, id)
}

// DeleteOIDCAccount removes a user's account and returns it, or ErrNotFound.
func (tx *Tx) DeleteOIDCAccount(ctx context.Context, userID, id string) (OIDCAccount, error) {
	a, err := scanAccount(tx.Row(ctx, accountSelect+` WHERE a.id = ? AND a.user_id = ?`, id, userID))
	if err != nil {
		return a, err
	}
	return a, tx.change(ctx, `DELETE FROM oidc_accounts WHERE id = ?`, id) // it may have been deleted concurrently
}
