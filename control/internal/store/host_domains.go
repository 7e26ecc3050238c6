package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/shortline/shortline/shared/link"
)

// States of a domain.
const (
	DomainPending   = "PENDING"   // its records were never all found
	DomainActive    = "ACTIVE"    // edges serve its links
	DomainFailed    = "FAILED"    // it was active, and then its TXT record was missing for too long
	DomainSuspended = "SUSPENDED" // an ADMIN took it out of service
)

// Domain is a host name under which a workspace has links. Times are Unix milliseconds.
type Domain struct {
	Num         uint64 // dense, never reused; a part of the keys of its links (link.Key)
	ID          string
	Workspace   uint64
	Hostname    string // ASCII, lower case, without a trailing dot
	Status      string // one of the states above
	Token       string // value of the TXT record that proves control of the name
	RootURL     string // where visitors of / go; "": the page of the service
	NotFoundURL string // where visitors of unknown slugs go; "": 404
	ExpiredURL  string // where visitors of expired and exhausted links without their own address go; "": 410
	HSTS        int64  // max-age in seconds; 0: no header
	BrandName   string // on pages for visitors; "": the brand of the service
	BrandLogo   string // URL of a picture on pages for visitors; "": that of the service, or none if BrandName is set
	AppleApp    string // JSON for apps of iOS; "": none
	AssetLinks  string // JSON for apps of Android; "": none
	Slugs       link.SlugRules
	Default     bool   // new links of the workspace get this domain
	Suspended   string // why an ADMIN suspended the domain, for its owners; "" unless it is SUSPENDED
	Proof       Found  // the TXT record
	Route       Found  // the records that lead visitors to edges
	CheckedAt   int64  // when Proof and Route were last looked for; 0: never
	ProvedAt    int64  // when the TXT record was last there; 0: never
	Revision    uint64 // of the last change that edges have to know; written by TouchDomain only
	CreatedAt   int64
	UpdatedAt   int64
}

// Found says whether DNS records were found, and if not, what an owner has to know.
type Found struct {
	OK      bool
	Message string
}

const domainColumns = `num, id, workspace_num, hostname, status, token, root_url, not_found_url, expired_url, hsts, brand_name, brand_logo_url, apple_app_site, asset_links, case_sensitive, extended_slugs, min_slug_length, is_default, suspend_reason, proof_found, proof_message,
	route_found, route_message, checked_at, proved_at, revision, created_at, updated_at`

func scanDomain(row interface{ Scan(...any) error }) (d Domain, err error) {
	return d, row.Scan(&d.Num, &d.ID, &d.Workspace, &d.Hostname, &d.Status, &d.Token, orZero(&d.RootURL), orZero(&d.NotFoundURL),
		orZero(&d.ExpiredURL), &d.HSTS, orZero(&d.BrandName), orZero(&d.BrandLogo), orZero(&d.AppleApp), orZero(&d.AssetLinks),
		(*unfolded)(&d.Slugs.Fold), &d.Slugs.Extended,
		&d.Slugs.Min, &d.Default,
		orZero(&d.Suspended),
		&d.Proof.OK, &d.Proof.Message, &d.Route.OK, &d.Route.Message, &d.CheckedAt, &d.ProvedAt, &d.Revision, &d.CreatedAt, &d.UpdatedAt)
}

// values returns what statements write to the columns from status to updated_at, without token and created_at.
func (d *Domain) values() []any {
	return []any{d.Status, null(d.RootURL), null(d.NotFoundURL), null(d.ExpiredURL), d.HSTS, null(d.BrandName), null(d.BrandLogo),
		null(d.AppleApp), null(d.AssetLinks), !d.Slugs.Fold, d.Slugs.Extended, cmp.Or(d.Slugs.Min, link.MinSlug), d.Default,
		null(d.Suspended), d.Proof.OK, d.Proof.Message, d.Route.OK, d.Route.Message,
		d.CheckedAt, d.ProvedAt, d.UpdatedAt}
}

// DomainByID reads one domain, or returns ErrNotFound.
func (c Conn) DomainByID(ctx context.Context, id string) (Domain, error) {
	return scanDomain(c.Row(ctx, `SELECT `+domainColumns+` FROM domains WHERE id = ?`, id))
}

// DomainByNum reads one domain, or returns ErrNotFound.
func (c Conn) DomainByNum(ctx context.Context, num uint64) (Domain, error) {
	return scanDomain(c.Row(ctx, `SELECT `+domainColumns+` FROM domains WHERE num = ?`, num))
}

// DomainOf reads the domain of a workspace with a host name, or returns ErrNotFound.
func (c Conn) DomainOf(ctx context.Context, workspace uint64, hostname string) (Domain, error) {
	return scanDomain(c.Row(ctx, `SELECT `+domainColumns+` FROM domains WHERE workspace_num = ? AND hostname = ?`, workspace, hostname))
}

// DomainsNamed returns the numbers of the domains with one of the host names. Workspace 0 stands for all, each of which may
// have a domain with the same name.
func (c Conn) DomainsNamed(ctx context.Context, workspace uint64, hostnames []string) ([]uint64, error) {
	if len(hostnames) == 0 {
		return nil, nil
	}
	where, args := `hostname IN (`+In(len(hostnames))+`)`, Args(hostnames)
	if workspace != 0 {
		where, args = where+` AND workspace_num = ?`, append(args, workspace)
	}
	return All(ctx, c, column[uint64], `SELECT num FROM domains WHERE `+where+` ORDER BY num`, args...)
}

// Hostnames returns the host names of the custom domains in keys of links, by the domains' numbers.
func (c Conn) Hostnames(ctx context.Context, keys []string) (map[uint64]string, error) {
	var nums []uint64
	for _, key := range keys {
		if domain, _ := link.SplitKey(key); domain != 0 {
			nums = append(nums, domain)
		}
	}
	list, err := found(ctx, c, scanDomain, `SELECT `+domainColumns+` FROM domains WHERE num IN (keys)`, Distinct(nums),
		func(d *Domain) uint64 { return d.Num })
	names := make(map[uint64]string, len(list))
	for num, d := range list {
		names[num] = d.Hostname
	}
	return names, err
}

// DefaultDomain reads the domain of new links of a workspace, or returns ErrNotFound if that is the default one.
func (c Conn) DefaultDomain(ctx context.Context, workspace uint64) (Domain, error) {
	return scanDomain(c.Row(ctx, `SELECT `+domainColumns+` FROM domains WHERE workspace_num = ? AND is_default`, workspace))
}

// HoldDomain makes sure that a domain exists until the commit. It returns ErrNotFound if it does not.
func (tx *Tx) HoldDomain(ctx context.Context, num uint64) error {
	hold := ``
	if tx.pg {
		hold = ` FOR KEY SHARE`
	}
	return tx.Row(ctx, `SELECT num FROM domains WHERE num = ?`+hold, num).Scan(&num)
}

// Domains reads one page of domains, ordered by host name, and counts all of them. Workspace 0 stands for all. search is
// text in the host name.
func (c Conn) Domains(ctx context.Context, workspace uint64, search string, offset, limit int) (list []Domain, total int, err error) {
	var w conditions
	w.and(workspace != 0, `workspace_num = ?`, workspace)
	w.and(search != "", `hostname LIKE ? ESCAPE '\'`, LikeContains(search))
	return pageOf(ctx, c, scanDomain, domainColumns, `domains`+w.String(), `hostname, num`, w.args, limit, offset)
}

// CountLinksOf counts the links of a domain, but no more than most.
func (c Conn) CountLinksOf(ctx context.Context, domain uint64, most int) (int, error) {
	return c.countRows(ctx, most, `SELECT 1 FROM urls WHERE domain_num = ?`, []any{domain})
}

// DomainsToCheck reads domains whose records were last looked for before a time, the oldest first: with the proof found, or
// all others.
func (c Conn) DomainsToCheck(ctx context.Context, proved bool, before int64, limit int) ([]Domain, error) {
	cond := `status = 'ACTIVE' AND proof_found`
	if !proved {
		cond = `status <> 'SUSPENDED' AND NOT (` + cond + `)`
	}
	return All(ctx, c, scanDomain, `SELECT `+domainColumns+` FROM domains WHERE `+cond+` AND checked_at <= ? ORDER BY checked_at LIMIT ?`,
		before, limit)
}

// ClaimDomainCheck sets the time of the last check of a domain, and reports whether it had been as in d: another process
// may have begun the check.
func (tx *Tx) ClaimDomainCheck(ctx context.Context, d *Domain, now int64) (bool, error) {
	return tx.Changes(ctx, `UPDATE domains SET checked_at = ? WHERE num = ? AND checked_at = ?`, now, d.Num, d.CheckedAt)
}

// LockDomain reads a domain and locks it until the commit. It returns ErrNotFound if there is none.
func (tx *Tx) LockDomain(ctx context.Context, id string) (Domain, error) {
	return scanDomain(tx.Row(ctx, `SELECT `+domainColumns+` FROM domains WHERE id = ?`+tx.forUpdate(), id))
}

// onlyDefault takes the mark of the default from the other domains of a workspace, if d has it.
func (tx *Tx) onlyDefault(ctx context.Context, d *Domain) error {
	if !d.Default {
		return nil
	}
	return tx.Do(ctx, `UPDATE domains SET is_default = FALSE WHERE workspace_num = ? AND is_default AND num <> ?`, d.Workspace, d.Num)
}

// InsertDomain adds a domain and sets its Num. It reports whether the workspace had no domain with the host name, and
// nobody held it. If not, the transaction must be rolled back.
func (tx *Tx) InsertDomain(ctx context.Context, d *Domain) (bool, error) {
	if err := tx.onlyDefault(ctx, d); err != nil {
		return false, err
	}
	err := tx.Row(ctx, `INSERT INTO domains (id, workspace_num, hostname, token, created_at, status, root_url, not_found_url, expired_url,
		hsts, brand_name, brand_logo_url, apple_app_site, asset_links, case_sensitive, extended_slugs, min_slug_length, is_default, suspend_reason,
		proof_found, proof_message, route_found, route_message, checked_at, proved_at, updated_at, revision) VALUES (`+In(26)+`, 0) ON CONFLICT DO NOTHING RETURNING num`,
		append([]any{d.ID, d.Workspace, d.Hostname, d.Token, d.CreatedAt}, d.values()...)...).Scan(&d.Num)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// UpdateDomain writes a domain. The caller has locked it, and has made sure by HostnameHeld that it may be in service.
func (tx *Tx) UpdateDomain(ctx context.Context, d *Domain) error {
	if err := tx.onlyDefault(ctx, d); err != nil {
		return err
	}
	return tx.Do(ctx, `UPDATE domains SET status = ?, root_url = ?, not_found_url = ?, expired_url = ?, hsts = ?, brand_name = ?,
		brand_logo_url = ?, apple_app_site = ?, asset_links = ?, case_sensitive = ?, extended_slugs = ?, min_slug_length = ?, is_default = ?, suspend_reason = ?, proof_found = ?, proof_message = ?,
		route_found = ?, route_message = ?, checked_at = ?, proved_at = ?, updated_at = ? WHERE num = ?`, append(d.values(), d.Num)...)
}

// MoveDomains moves the domains of a workspace to another, which keeps its own default. It returns a host name that both
// have; nothing has moved then. A domain of the receiver with the same name that is not in service and has no links gives
// way.
func (tx *Tx) MoveDomains(ctx context.Context, from, to uint64) (both string, err error) {
	const twins = ` FROM domains WHERE workspace_num = ? AND hostname IN (SELECT hostname FROM domains WHERE workspace_num = ?)`
	if _, err := tx.Exec(ctx, `DELETE`+twins+
		` AND status NOT IN ('ACTIVE', 'SUSPENDED') AND NOT EXISTS (SELECT 1 FROM urls WHERE urls.domain_num = domains.num)`, to,
		from); err != nil {
		return "", fmt.Errorf("move domains: %w", err)
	}
	if err := tx.Row(ctx, `SELECT coalesce(min(hostname), '')`+twins, to, from).Scan(&both); err != nil || both != "" {
		return both, err
	}
	if _, err := tx.Exec(ctx, `UPDATE domains SET workspace_num = ?, is_default = FALSE, updated_at = ? WHERE workspace_num = ?`, to, Now(),
		from); err != nil {
		return "", fmt.Errorf("move domains: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE gone_hosts SET holder = ? WHERE holder = ?`, to, from); err != nil {
		return "", fmt.Errorf("move reserved names: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE link_domains SET workspace_num = ? WHERE workspace_num = ?`, to, from); err != nil {
		return "", fmt.Errorf("move domains: %w", err)
	}
	return "", nil
}
