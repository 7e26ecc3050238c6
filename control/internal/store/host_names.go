package store

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// HostnameHeld reports whether a domain other than except has the host name in service or suspended, or the name is reserved for
// another workspace. now is in Unix milliseconds.
func (c Conn) HostnameHeld(ctx context.Context, hostname string, except, workspace uint64, now int64) (held, reserved bool, err error) {
	err = c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM domains WHERE hostname = ? AND num <> ? AND status IN ('ACTIVE', 'SUSPENDED')),
		EXISTS (SELECT 1 FROM gone_hosts WHERE hostname = ? AND holder <> ? AND (reserved_until IS NULL OR reserved_until > ?))`,
		hostname, except, hostname, workspace, now).Scan(&held, &reserved)
	return held, reserved, err
}

// ServedHosts returns which of the host names are custom domains in service.
func (c Conn) ServedHosts(ctx context.Context, hostnames []string) (map[string]bool, error) {
	served := map[string]bool{}
	for part := range slices.Chunk(hostnames, 500) {
		names, err := All(ctx, c, column[string], `SELECT hostname FROM domains WHERE status = 'ACTIVE' AND hostname IN (`+In(len(part))+`)`,
			Args(part)...)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			served[name] = true
		}
	}
	return served, nil
}

// TouchDomain tells edges at the commit whether a domain is in service, and its settings. The caller has locked the domain
// and written it.
func (tx *Tx) TouchDomain(ctx context.Context, d *Domain) error {
	if err := tx.reserve(ctx); err != nil {
		return err
	}
	d.Revision = tx.revision
	if d.Status == DomainActive {
		if _, err := tx.Exec(ctx, `UPDATE domains SET revision = ? WHERE num = ?`, d.Revision, d.Num); err != nil {
			return err
		}
		return tx.Do(ctx, `DELETE FROM gone_hosts WHERE hostname = ?`, d.Hostname)
	}
	return tx.Do(ctx, `INSERT INTO gone_hosts (hostname, revision, reserved_until)`+withdraw+`
		ON CONFLICT (hostname) DO UPDATE SET revision = excluded.revision`, d.Hostname, d.Revision, 0, d.Hostname)
}

// withdraw selects the values of a name that is not in service. It selects nothing if a workspace has the name in service by now.
const withdraw = ` SELECT CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT)
	WHERE NOT EXISTS (SELECT 1 FROM domains WHERE hostname = ? AND status = 'ACTIVE')`

// DeleteDomain removes a domain that has no links, and tells edges. If the workspace had proved the name, the name is reserved:
// visitors who still come must not reach links of others. Others may not add the name, unless the proof is lost.
func (tx *Tx) DeleteDomain(ctx context.Context, d *Domain) error {
	if _, err := tx.Exec(ctx, `DELETE FROM domains WHERE num = ?`, d.Num); err != nil {
		return err
	}
	gone := *d
	gone.Status = DomainFailed
	if err := tx.TouchDomain(ctx, &gone); err != nil || d.ProvedAt == 0 {
		return err
	}
	var holder any
	if d.Status == DomainActive || d.Status == DomainSuspended {
		holder = d.Workspace
	}
	lookedAt := int64(0)
	if !d.Route.OK {
		lookedAt = math.MaxInt64 // the name led here through a proxy, so DNS cannot tell when it does not any more
	}
	// A reservation that another workspace holds is kept. It began after this domain had lost its proof, so its holder proved the
	// name last.
	return tx.Do(ctx, `UPDATE gone_hosts SET reserved_until = NULL, holder = ?, looked_at = ?
		WHERE hostname = ? AND (holder IS NULL OR reserved_until = 0)`,
		holder, lookedAt, d.Hostname)
}

// deleteDomains deletes the domains of a workspace that is about to be deleted.
func (tx *Tx) deleteDomains(ctx context.Context, workspace uint64) error {
	const own = ` FROM domains WHERE workspace_num = ? ORDER BY num`
	list, err := All(ctx, tx.Conn, scanDomain, `SELECT `+domainColumns+own+tx.forUpdate(), workspace)
	if err != nil {
		return fmt.Errorf("read the domains of a workspace: %w", err)
	}
	for i := range list {
		if err := tx.DeleteDomain(ctx, &list[i]); err != nil {
			return fmt.Errorf("delete a domain: %w", err)
		}
	}
	return nil
}

// GoneHost is a name that is not in service.
type GoneHost struct {
	Hostname  string
	Withdrawn bool // a domain has the name, or it is reserved
	Suspended bool // a domain with the name is suspended
}

// HostsAfter reads the domains in service and the names that are not in service and have changed after a revision, both ordered
// by name. For full it reads all of them.
func (c Conn) HostsAfter(ctx context.Context, revision uint64, full bool) (served []Domain, gone []GoneHost, err error) {
	const newer = ` FROM domains WHERE status = 'ACTIVE' AND revision > ? ORDER BY hostname`
	served, err = All(ctx, c, scanDomain, `SELECT `+domainColumns+newer, revision)
	if err != nil {
		return nil, nil, err
	}
	gone, err = All(ctx, c, func(row interface{ Scan(...any) error }) (g GoneHost, err error) {
		return g, row.Scan(&g.Hostname, &g.Withdrawn, &g.Suspended)
	}, `SELECT hostname, reserved_until IS NULL OR reserved_until > 0 OR EXISTS (SELECT 1 FROM domains d WHERE d.hostname = g.hostname),
		EXISTS (SELECT 1 FROM domains d WHERE d.hostname = g.hostname AND d.status = 'SUSPENDED')
		FROM gone_hosts g WHERE revision > ? OR ? ORDER BY hostname`, revision, full)
	return served, gone, err
}

// HostsRevision returns the revision of the newest change of hosts, certificates, ticket keys and what edges know of
// conversions, 0 if there was none.
func (c Conn) HostsRevision(ctx context.Context) (uint64, error) {
	return column[uint64](c.Row(ctx, `SELECT coalesce(max(revision), 0) FROM (SELECT max(revision) AS revision FROM domains
		UNION ALL SELECT max(revision) FROM gone_hosts UNION ALL SELECT max(revision) FROM certificates WHERE domain_num IS NULL
		UNION ALL SELECT max(revision) FROM ticket_keys UNION ALL SELECT revision FROM base_host
		UNION ALL SELECT max(revision) FROM conversion_news) AS newest`))
}

// UnlimitedReservations reports whether there are reservations without an end.
func (c Conn) UnlimitedReservations(ctx context.Context) (bool, error) {
	return column[bool](c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM gone_hosts WHERE reserved_until IS NULL)`))
}

// LimitReservations sets the end of reservations that have none, and tells edges of these names. Edges may not know those that a
// program of the previous release has made.
func (tx *Tx) LimitReservations(ctx context.Context, until int64) error {
	if err := tx.reserve(ctx); err != nil {
		return err
	}
	return tx.Do(ctx, `UPDATE gone_hosts SET reserved_until = ?, revision = ? WHERE reserved_until IS NULL`, until, tx.revision)
}

// Reservation is a name that is reserved although no domain has it.
type Reservation struct {
	Hostname        string
	Until, LookedAt int64 // Unix milliseconds
}

// ReservationsToCheck reads reservations that are over, or were last looked at before a time, the oldest first.
func (c Conn) ReservationsToCheck(ctx context.Context, now, before int64, limit int) ([]Reservation, error) {
	return All(ctx, c, func(row interface{ Scan(...any) error }) (r Reservation, err error) {
		return r, row.Scan(&r.Hostname, &r.Until, &r.LookedAt)
	}, `SELECT hostname, reserved_until, looked_at FROM gone_hosts g WHERE reserved_until > 0 AND (reserved_until <= ? OR looked_at <= ?)
		AND NOT EXISTS (SELECT 1 FROM domains d WHERE d.hostname = g.hostname) ORDER BY looked_at, hostname LIMIT ?`, now, before, limit)
}

// ClaimReservation sets the time of the last look at a reservation, and reports whether it had been as in r: another process may
// have begun to look, or the name is in use again.
func (tx *Tx) ClaimReservation(ctx context.Context, r *Reservation, now int64) (bool, error) {
	return tx.Changes(ctx, `UPDATE gone_hosts SET looked_at = ? WHERE hostname = ? AND looked_at = ? AND reserved_until = ?`,
		now, r.Hostname, r.LookedAt, r.Until)
}

// EndReservation ends a reservation, unless the name was reserved again, and tells edges.
func (tx *Tx) EndReservation(ctx context.Context, r *Reservation) error {
	if err := tx.reserve(ctx); err != nil {
		return err
	}
	return tx.Do(ctx,
		`UPDATE gone_hosts SET reserved_until = 0, holder = NULL, revision = ? WHERE hostname = ? AND reserved_until = ?`,
		tx.revision, r.Hostname, r.Until)
}
