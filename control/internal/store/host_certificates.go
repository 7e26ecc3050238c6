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
	return c, row.Scan(&c.Num, orZero(&c.Domain), &c.Hostname, &c.Source, &c.Status, orZero(&c.Chain), orZero(&c.SealedKey),
		orZero(&c.Issuer),
		&c.NotBefore, &c.NotAfter,
		orZero(&c.LastError), &c.Failures, &c.NextAt, &c.Announced, &c.Revision, &c.CreatedAt, &c.UpdatedAt)
}

// values returns what statements write to the columns from source to announced, and to updated_at.
func (c *Certificate) values() []any {
	return []any{c.Source, c.Status, null(c.Chain), null(c.SealedKey), null(c.Issuer), c.NotBefore, c.NotAfter,
		null(c.LastError), c.Failures,
		c.NextAt, c.Announced, c.UpdatedAt}
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
	list, err := All(ctx, c, scanCertificate, `SELECT `+certificateColumns+` FROM certificates WHERE domain_num IN (`+In(len(domains))+`)`,
		Args(domains)...)
	for i := range list {
		out[list[i].Domain] = list[i]
	}
	return out, err
}

// OwnCertificate reads the certificate of a host name of the service, or returns ErrNotFound.
func (c Conn) OwnCertificate(ctx context.Context, hostname string) (Certificate, error) {
	return scanCertificate(c.Row(ctx, `SELECT `+certificateColumns+` FROM certificates WHERE domain_num IS NULL AND hostname = ?`,
		hostname))
}

// CertificatesDue reads certificates whose NextAt has passed, the longest overdue first: those whose next order is likely to
// fail, or all others. An order is likely to fail if the last one did, and an order for a new domain if its name does not lead
// to edges, or if the last orders of at least doubt other domains of its workspace failed. A certificate of a domain that is
// not in service is never due.
func (c Conn) CertificatesDue(ctx context.Context, doubtful bool, doubt int, now int64, limit int) ([]Certificate, error) {
	cond := ` AND failures = 0 AND (domain_num IS NULL OR not_after > 0 OR EXISTS (SELECT 1 FROM domains d
		WHERE d.num = certificates.domain_num AND d.route_found
		AND d.workspace_num NOT IN (SELECT workspace_num FROM troubled)))`
	if doubtful {
		cond = ` AND NOT (TRUE` + cond + `)`
	}
	return All(ctx, c, scanCertificate, `WITH troubled AS (SELECT domains.workspace_num FROM certificates
		JOIN domains ON domains.num = certificates.domain_num
		WHERE certificates.failures > 0 GROUP BY domains.workspace_num HAVING count(*) >= ?)
		SELECT `+certificateColumns+` FROM certificates WHERE next_at <= ?`+cond+inService+` ORDER BY next_at, num LIMIT ?`,
		doubt, now, limit)
}

// inService is the condition that edges serve the host name of a certificate.
const inService = ` AND (domain_num IS NULL OR EXISTS (SELECT 1 FROM domains WHERE domains.num = certificates.domain_num AND domains.status = 'ACTIVE'))`

// CertificatesEnding reads certificates in use that end before a time, the earliest first.
func (c Conn) CertificatesEnding(ctx context.Context, before int64, limit int) ([]Certificate, error) {
	return All(ctx, c, scanCertificate, `SELECT `+certificateColumns+` FROM certificates WHERE not_after > 0 AND not_after <= ?`+inService+
		` ORDER BY not_after, num LIMIT ?`, before, limit)
}

// CertificateNums returns the numbers of all certificates.
func (c Conn) CertificateNums(ctx context.Context) ([]uint64, error) {
	return All(ctx, c, column[uint64], `SELECT num FROM certificates ORDER BY num`)
}

// CertificateHosts returns the host names of all certificates.
func (c Conn) CertificateHosts(ctx context.Context) ([]string, error) {
	return All(ctx, c, column[string], `SELECT DISTINCT hostname FROM certificates`)
}

// CertificateState counts the certificates in service in one state.
type CertificateState struct {
	Status   string
	Count    int
	NotAfter int64 // the earliest end of those that exist; 0: none exists
	Overdue  int   // certificates that end within a third of their life, so that a renewal should have happened
	// MissingOwn are host names of the service that have never had a certificate. MissingDomains are likewise custom domains;
	// those whose DNS records do not lead to edges are left out, because only their owners can help.
	MissingOwn, MissingDomains int
}

// CertificateStates counts the certificates in service by state.
func (c Conn) CertificateStates(ctx context.Context, now int64) ([]CertificateState, error) {
	return All(ctx, c, func(row interface{ Scan(...any) error }) (s CertificateState, err error) {
		return s, row.Scan(&s.Status, &s.Count, &s.NotAfter, &s.Overdue, &s.MissingOwn, &s.MissingDomains)
	}, `SELECT c.status, count(*), coalesce(min(c.not_after) FILTER (WHERE c.not_after > 0), 0),
		count(*) FILTER (WHERE c.not_after > 0 AND c.source = 'ACME' AND c.not_after - CAST(? AS BIGINT) < (c.not_after - c.not_before) / 4),
		count(*) FILTER (WHERE c.not_after = 0 AND c.domain_num IS NULL), count(*) FILTER (WHERE c.not_after = 0 AND d.route_found)
		FROM certificates c LEFT JOIN domains d ON d.num = c.domain_num WHERE c.domain_num IS NULL OR d.status = 'ACTIVE' GROUP BY c.status`, now)
}

// MissingCertificates returns the domains in service without a certificate, at most limit.
func (c Conn) MissingCertificates(ctx context.Context, limit int) ([]Domain, error) {
	return All(ctx, c, scanDomain, `SELECT `+domainColumns+` FROM domains WHERE status = 'ACTIVE'
		AND NOT EXISTS (SELECT 1 FROM certificates WHERE certificates.domain_num = domains.num) ORDER BY num LIMIT ?`, limit)
}

// ClaimCertificate moves NextAt of a certificate, and reports whether it was as given: another process may have claimed it.
func (tx *Tx) ClaimCertificate(ctx context.Context, num uint64, from, to int64) (bool, error) {
	return tx.Changes(ctx, `UPDATE certificates SET next_at = ? WHERE num = ? AND next_at = ?`, to, num, from)
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
	err := tx.Row(ctx, `INSERT INTO certificates (domain_num, hostname, created_at, source, status, chain, sealed_key, issuer, not_before,
		not_after, last_error, failures, next_at,
		announced, updated_at, revision) VALUES (`+In(15)+`,
		0) ON CONFLICT DO NOTHING RETURNING num`, append([]any{domain, c.Hostname, c.CreatedAt}, c.values()...)...).Scan(&c.Num)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// UpdateCertificate writes a certificate. If edges have to know, the caller also calls TouchHost.
func (tx *Tx) UpdateCertificate(ctx context.Context, c *Certificate) error {
	return tx.Do(ctx, `UPDATE certificates SET source = ?, status = ?, chain = ?, sealed_key = ?, issuer = ?, not_before = ?,
		not_after = ?, last_error = ?, failures = ?,
		next_at = ?, announced = ?, updated_at = ? WHERE num = ?`, append(c.values(), c.Num)...)
}

// DeleteCertificate removes a certificate.
func (tx *Tx) DeleteCertificate(ctx context.Context, num uint64) error {
	return tx.Do(ctx, `DELETE FROM certificates WHERE num = ?`, num)
}

// TouchHost tells edges at the commit about the certificate and the challenges of a host name. The name is that of a domain
// in service or one of the service; for other names nothing happens.
func (tx *Tx) TouchHost(ctx context.Context, hostname string) error {
	if err := tx.reserve(ctx); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE domains SET revision = ? WHERE hostname = ? AND status = 'ACTIVE'`, tx.revision,
		hostname); err != nil {
		return fmt.Errorf("touch a domain: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE certificates SET revision = ? WHERE hostname = ? AND domain_num IS NULL`, tx.revision,
		hostname); err != nil {
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
		ON CONFLICT (token) DO UPDATE SET hostname = excluded.hostname, key_authorization = excluded.key_authorization,
		created_at = excluded.created_at`,
		c.Token, c.Hostname, c.KeyAuthorization, c.CreatedAt); err != nil {
		return fmt.Errorf("store a challenge: %w", err)
	}
	return tx.TouchHost(ctx, c.Hostname)
}

// DeleteChallenges removes the challenge with a token, and all that were added before a time: control planes that were
// killed leave challenges. Edges learn of it with the next change of the host, because an answer to an old challenge harms
// nobody.
func (tx *Tx) DeleteChallenges(ctx context.Context, token string, before int64) error {
	return tx.Do(ctx, `DELETE FROM acme_challenges WHERE token = ? OR created_at < ?`, token, before)
}

// Challenges reads all challenges, ordered by host name and then by age: edges answer tls-alpn-01 with the newest one, because
// a control plane that was killed may have left others. There are as many as there are orders in progress.
func (c Conn) Challenges(ctx context.Context) ([]Challenge, error) {
	return All(ctx, c, func(row interface{ Scan(...any) error }) (h Challenge, err error) {
		return h, row.Scan(&h.Token, &h.Hostname, &h.KeyAuthorization, &h.CreatedAt)
	}, `SELECT token, hostname, key_authorization, created_at FROM acme_challenges ORDER BY hostname, created_at, token`)
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

// ReplaceTicketKey writes a key that was sealed again, and tells edges. It does nothing if the key has changed or is gone.
func (tx *Tx) ReplaceTicketKey(ctx context.Context, num uint64, from, to string) error {
	if err := tx.reserve(ctx); err != nil {
		return err
	}
	return tx.Do(ctx, `UPDATE ticket_keys SET sealed = ?, revision = ? WHERE num = ? AND sealed = ?`, to, tx.revision, num, from)
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
	if _, err := tx.Exec(ctx, `INSERT INTO ticket_keys (sealed, created_at, revision) VALUES (?, ?, ?)`, sealed, now,
		tx.revision); err != nil {
		return false, fmt.Errorf("store a ticket key: %w", err)
	}
	_, err := tx.Exec(ctx, `DELETE FROM ticket_keys WHERE num NOT IN (SELECT num FROM ticket_keys ORDER BY num DESC LIMIT ?)`, keep)
	return err == nil, err
}
