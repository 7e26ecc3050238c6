package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Sources of a certificate.
const (
	CertificateACME     = "ACME"     // ordered by the service, and renewed
	CertificateUploaded = "UPLOADED" // given by an owner, who replaces it
)

// States of a certificate.
const (
	CertificatePending = "PENDING" // the first order is in progress or will be placed
	CertificateActive  = "ACTIVE"  // edges have it
	CertificateFailed  = "FAILED"  // the last order failed; edges keep an earlier certificate
)

// Certificate is the certificate of a host name. Times are Unix milliseconds.
type Certificate struct {
	Num       uint64
	Domain    uint64 // number of the domain; 0: the host name is the service's own
	Hostname  string
	Source    string // one of the sources above
	Status    string // one of the states above
	Chain     string // PEM, the host's own certificate first; "": there is none yet
	SealedKey string // see snapshot.Certificate
	Issuer    string // name of the certificate authority
	NotBefore int64  // 0: there is no certificate
	NotAfter  int64
	LastError string // of the last order, in words for owners; "": it succeeded
	Failures  int    // orders that failed since the last one that succeeded
	NextAt    int64  // when to order, or to look whether it is time to renew
	Announced int64  // the last announcement of the expiry, in days before it; 0: none
	Revision  uint64 // of the last change that edges have to know, for a name of the service; written by TouchHost only
	CreatedAt int64
	UpdatedAt int64
}

const certificateColumns = `num, domain_num, hostname, source, status, chain, sealed_key, issuer, not_before, not_after, last_error, failures, next_at, announced, revision,
	created_at, updated_at`

func scanCertificate(row interface{ Scan(...any) error }) (c Certificate, err error) {
	return c, row.Scan(&c.Num, orZero(&c.Domain), &c.Hostname, &c.Source, &c.Status, orZero(&c.Chain), orZero(&c.SealedKey), orZero(&c.Issuer), &c.NotBefore, &c.NotAfter,
		orZero(&c.LastError), &c.Failures, &c.NextAt, &c.Announced, &c.Revision, &c.CreatedAt, &c.UpdatedAt)
}

// values returns what statements write to the columns from source to announced, and to updated_at.
func (c *Certificate) values() []any {
	return []any{c.Source, c.Status, null(c.Chain), null(c.SealedKey), null(c.Issuer), c.NotBefore, c.NotAfter, null(c.LastError), c.Failures, c.NextAt, c.Announced, c.UpdatedAt}
}

// CertificateOf reads the certificate of a domain, or returns ErrNotFound.
func (c Conn) CertificateOf(ctx context.Context, domain uint64) (Certificate, error) {
	return scanCertificate(c.Row(ctx, `SELECT `+certificateColumns+` FROM certificates WHERE domain_num = ?`, domain))
}

// CertificatesOf reads the certificates of domains. Domains without one are missing in the result.
func (c Conn) CertificatesOf(ctx context.Context, domains []uint64) (map[uint64]Certificate, error) {
	out := make(map[uint64]Certificate, len(domains))
	if len(domains) == 0 {
		return out, nil
	}
	args := make([]any, len(domains))
	for i, num := range domains {
		args[i] = num
	}
	list, err := All(ctx, c, scanCertificate, `SELECT `+certificateColumns+` FROM certificates WHERE domain_num IN (`+In(len(args))+`)`, args...)
	for i := range list {
		out[list[i].Domain] = list[i]
	}
	return out, err
}

// OwnCertificate reads the certificate of a host name of the service, or returns ErrNotFound.
func (c Conn) OwnCertificate(ctx context.Context, hostname string) (Certificate, error) {
	return scanCertificate(c.Row(ctx, `SELECT `+certificateColumns+` FROM certificates WHERE domain_num IS NULL AND hostname = ?`, hostname))
}

// CertificatesDue reads certificates whose NextAt has passed, the longest overdue first. A certificate of a domain that is
// not in service is never due.
func (c Conn) CertificatesDue(ctx context.Context, now int64, limit int) ([]Certificate, error) {
	return All(ctx, c, scanCertificate, `SELECT `+certificateColumns+` FROM certificates WHERE next_at <= ?
		AND (domain_num IS NULL OR EXISTS (SELECT 1 FROM domains WHERE domains.num = certificates.domain_num AND domains.status = 'ACTIVE'))
		ORDER BY next_at, num LIMIT ?`, now, limit)
}

// LockCertificate reads a certificate and locks it until the commit. It returns ErrNotFound if there is none.
func (tx *Tx) LockCertificate(ctx context.Context, num uint64) (Certificate, error) {
	return scanCertificate(tx.Row(ctx, `SELECT `+certificateColumns+` FROM certificates WHERE num = ?`+tx.forUpdate(), num))
}

// InsertCertificate adds a certificate and sets its Num. It reports whether the domain, or the service's host name, had
// none. If not, nothing has changed.
func (tx *Tx) InsertCertificate(ctx context.Context, c *Certificate) (bool, error) {
	var domain any
	if c.Domain != 0 {
		domain = c.Domain
	}
	err := tx.Row(ctx, `INSERT INTO certificates (domain_num, hostname, created_at, source, status, chain, sealed_key, issuer, not_before, not_after, last_error, failures, next_at,
		announced, updated_at, revision) VALUES (`+In(15)+`, 0) ON CONFLICT DO NOTHING RETURNING num`, append([]any{domain, c.Hostname, c.CreatedAt}, c.values()...)...).Scan(&c.Num)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// UpdateCertificate writes a certificate. If edges have to know, the caller also calls TouchHost.
func (tx *Tx) UpdateCertificate(ctx context.Context, c *Certificate) error {
	_, err := tx.Exec(ctx, `UPDATE certificates SET source = ?, status = ?, chain = ?, sealed_key = ?, issuer = ?, not_before = ?, not_after = ?, last_error = ?, failures = ?,
		next_at = ?, announced = ?, updated_at = ? WHERE num = ?`, append(c.values(), c.Num)...)
	return err
}

// DeleteCertificate removes a certificate.
func (tx *Tx) DeleteCertificate(ctx context.Context, num uint64) error {
	_, err := tx.Exec(ctx, `DELETE FROM certificates WHERE num = ?`, num)
	return err
}

// TouchHost tells edges at the commit about the certificate and the challenges of a host name. The name is that of a domain
// in service or one of the service; for other names nothing happens.
func (tx *Tx) TouchHost(ctx context.Context, hostname string) error {
	if err := tx.reserve(ctx); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE domains SET revision = ? WHERE hostname = ? AND status = 'ACTIVE'`, tx.revision, hostname); err != nil {
		return fmt.Errorf("touch a domain: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE certificates SET revision = ? WHERE hostname = ? AND domain_num IS NULL`, tx.revision, hostname); err != nil {
		return fmt.Errorf("touch a name of the service: %w", err)
	}
	return nil
}

// Challenge is a question of a certificate authority that edges answer at present.
type Challenge struct {
	Token, Hostname, KeyAuthorization string
	CreatedAt                         int64 // Unix milliseconds
}

// PutChallenge adds or replaces a challenge, and tells edges.
func (tx *Tx) PutChallenge(ctx context.Context, c Challenge) error {
	if _, err := tx.Exec(ctx, `INSERT INTO acme_challenges (token, hostname, key_authorization, created_at) VALUES (`+In(4)+`)
		ON CONFLICT (token) DO UPDATE SET hostname = excluded.hostname, key_authorization = excluded.key_authorization, created_at = excluded.created_at`,
		c.Token, c.Hostname, c.KeyAuthorization, c.CreatedAt); err != nil {
		return fmt.Errorf("store a challenge: %w", err)
	}
	return tx.TouchHost(ctx, c.Hostname)
}

// DeleteChallenges removes the challenge with a token, and all that were added before a time: control planes that were
// killed leave challenges. Edges learn of it with the next change of the host, because an answer to an old challenge harms
// nobody.
func (tx *Tx) DeleteChallenges(ctx context.Context, token string, before int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM acme_challenges WHERE token = ? OR created_at < ?`, token, before)
	return err
}

// Challenges reads all challenges, ordered by host name. There are as many as there are orders in progress.
func (c Conn) Challenges(ctx context.Context) ([]Challenge, error) {
	return All(ctx, c, func(row interface{ Scan(...any) error }) (h Challenge, err error) {
		return h, row.Scan(&h.Token, &h.Hostname, &h.KeyAuthorization, &h.CreatedAt)
	}, `SELECT token, hostname, key_authorization, created_at FROM acme_challenges ORDER BY hostname, token`)
}

// HostCertificates reads the certificates of the domains in service and of the service's names that have changed for edges
// after a revision.
func (c Conn) HostCertificates(ctx context.Context, revision uint64) ([]Certificate, error) {
	return All(ctx, c, scanCertificate, `SELECT `+certificateColumns+` FROM certificates WHERE domain_num IS NULL AND revision > ?
		OR domain_num IN (SELECT num FROM domains WHERE status = 'ACTIVE' AND revision > ?) ORDER BY hostname`, revision, revision)
}

// TicketKey is a key of TLS session tickets.
type TicketKey struct {
	Num       uint64
	Sealed    string // see snapshot.Hosts
	CreatedAt int64  // Unix milliseconds
	Revision  uint64
}

// TicketKeys reads the keys of session tickets, the newest first.
func (c Conn) TicketKeys(ctx context.Context) ([]TicketKey, error) {
	return All(ctx, c, func(row interface{ Scan(...any) error }) (k TicketKey, err error) {
		return k, row.Scan(&k.Num, &k.Sealed, &k.CreatedAt, &k.Revision)
	}, `SELECT num, sealed, created_at, revision FROM ticket_keys ORDER BY num DESC`)
}

// InsertTicketKey adds a key, removes all but the newest keep, and tells edges. It reports false, and changes nothing, if a
// key newer than the given time exists: another control plane was faster.
func (tx *Tx) InsertTicketKey(ctx context.Context, sealed string, now, newest int64, keep int) (bool, error) {
	if err := tx.reserve(ctx); err != nil { // the lock on the revision makes control planes take turns
		return false, err
	}
	var exists bool
	if err := tx.Row(ctx, `SELECT EXISTS (SELECT 1 FROM ticket_keys WHERE created_at > ?)`, newest).Scan(&exists); err != nil || exists {
		return false, err
	}
	if _, err := tx.Exec(ctx, `INSERT INTO ticket_keys (sealed, created_at, revision) VALUES (?, ?, ?)`, sealed, now, tx.revision); err != nil {
		return false, fmt.Errorf("store a ticket key: %w", err)
	}
	_, err := tx.Exec(ctx, `DELETE FROM ticket_keys WHERE num NOT IN (SELECT num FROM ticket_keys ORDER BY num DESC LIMIT ?)`, keep)
	return err == nil, err
}
