package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"slices"

	"github.com/shortline/shortline/shared/each"
)

// The health of a destination, and of a link: the worst of its destinations.
const (
	HealthOK         = "ok"
	HealthRedirected = "redirected"
	HealthBroken     = "broken"
	HealthUnknown    = "unknown"
)

// Healths lists the states, the best first. A link with several destinations has the worst.
var Healths = []string{HealthOK, HealthRedirected, HealthUnknown, HealthBroken}

// Destination is an address to which links lead, and what its host answered. Times are Unix milliseconds.
type Destination struct {
	Num       uint64
	URL, Host string
	Health    string
	Reason    string // code; "": it works, or was never asked
	Status    int64  // HTTP status of the last answer; 0: there was none
	Failures  int64  // in a row
	Since     int64  // of Health; 0: it was never asked
	CheckedAt int64  // 0: never
	DueAt     int64
	Reserved  bool // the host expects the question at DueAt
}

const destinationColumns = `d.num, d.url, d.host, d.health, d.reason, d.status, d.failures, d.since, d.checked_at, d.due_at, d.reserved`

func (d *Destination) scanTargets() []any {
	return []any{&d.Num, &d.URL, &d.Host, &d.Health, &d.Reason, &d.Status, &d.Failures, &d.Since, &d.CheckedAt, &d.DueAt, &d.Reserved}
}

func scanDestination(row interface{ Scan(...any) error }) (d Destination, err error) {
	return d, row.Scan(d.scanTargets()...)
}

// DestinationWork says what the checks of destinations have to do.
type DestinationWork struct{ Due, Unspread bool }

// DestinationWork reads whether destinations are due, or links do not know the health of theirs.
func (c Conn) DestinationWork(ctx context.Context, now int64) (w DestinationWork, err error) {
	err = c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM destinations WHERE due_at <= ?), EXISTS (SELECT 1 FROM destinations WHERE spread IS NOT NULL)`,
		now).Scan(&w.Due, &w.Unspread)
	return w, err
}

// ChangedLinks lists the links that changed after a revision, about limit of them, and the revision up to which they are complete.
func (c Conn) ChangedLinks(ctx context.Context, revision uint64, limit int) (nums []uint64, through uint64, err error) {
	through = revision
	err = c.each(ctx, func(rows *sql.Rows) error {
		var num uint64
		err := rows.Scan(&through, &num)
		nums = append(nums, num)
		return err
	}, `SELECT revision, num FROM link_changes WHERE revision > ? AND revision <= coalesce(
		(SELECT revision FROM link_changes WHERE revision > ? ORDER BY revision LIMIT 1 OFFSET ?), 9223372036854775807) ORDER BY revision`,
		revision, revision, limit-1)
	return Distinct(nums), through, err
}

func hashOf(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:])
}

// pair connects a link with a destination.
type pair struct{ Link, Destination uint64 }

func scanPair(row interface{ Scan(...any) error }) (p pair, err error) {
	return p, row.Scan(&p.Link, &p.Destination)
}

// LeadTo stores to which addresses links lead, and returns the links for which that has changed. hosts has the hosts of all
// addresses. New addresses are due at a time.
func (tx *Tx) LeadTo(ctx context.Context, links []LinkTargets, hosts map[string]string, due int64) (changed []uint64, err error) {
	nums, err := tx.destinationNums(ctx, links, hosts, due)
	if err != nil {
		return nil, err
	}
	of := each.Of(links, func(t LinkTargets) uint64 { return t.Num })
	stored, err := All(ctx, tx.Conn, scanPair, `SELECT link_num, destination_num FROM link_destinations WHERE link_num IN (`+In(len(of))+`)`,
		Args(of)...)
	if err != nil {
		return nil, err
	}
	known := make(map[pair]bool, len(stored))
	for _, p := range stored {
		known[p] = true
	}
	var added []pair
	for _, t := range links {
		for _, url := range Distinct(t.URLs) {
			p := pair{t.Num, nums[url]}
			if p.Destination == 0 {
				continue
			}
			if !known[p] {
				added, changed = append(added, p), append(changed, t.Num)
			}
			delete(known, p)
		}
	}
	gone := make([]pair, 0, len(known))
	for p := range known {
		gone, changed = append(gone, p), append(changed, p.Link)
	}
	for part := range slices.Chunk(gone, batch) {
		if err := tx.Do(ctx, `DELETE FROM link_destinations WHERE (link_num, destination_num) IN (VALUES `+
			values(len(part), "(CAST(? AS BIGINT),CAST(? AS BIGINT))")+`)`, pairArgs(part)...); err != nil {
			return nil, err
		}
	}
	for part := range slices.Chunk(added, batch) {
		if err := tx.Do(ctx, `INSERT INTO link_destinations (link_num, destination_num) VALUES `+values(len(part), "(?,?)")+
			` ON CONFLICT DO NOTHING`, pairArgs(part)...); err != nil {
			return nil, err
		}
	}
	return Distinct(changed), nil
}

func pairArgs(list []pair) (args []any) {
	for _, p := range list {
		args = append(args, p.Link, p.Destination)
	}
	return args
}

// destinationNums returns the numbers of addresses, and inserts those that are new.
func (tx *Tx) destinationNums(ctx context.Context, links []LinkTargets, hosts map[string]string, due int64) (map[string]uint64, error) {
	var urls []string
	for _, t := range links {
		urls = append(urls, t.URLs...)
	}
	urls = slices.DeleteFunc(Distinct(urls), func(url string) bool { return hosts[url] == "" })
	nums, byHash := make(map[string]uint64, len(urls)), make(map[string]string, len(urls))
	for _, url := range urls {
		byHash[hashOf(url)] = url
	}
	read := func(rows *sql.Rows) error {
		var num uint64
		var hash string
		err := rows.Scan(&num, &hash)
		nums[byHash[hash]] = num
		return err
	}
	for part := range slices.Chunk(urls, batch) {
		if err := tx.each(ctx, read, `SELECT num, hash FROM destinations WHERE hash IN (`+In(len(part))+`)`,
			Args(each.Of(part, hashOf))...); err != nil {
			return nil, err
		}
	}
	missing := slices.DeleteFunc(urls, func(url string) bool { return nums[url] != 0 })
	for part := range slices.Chunk(missing, batch) {
		var args []any
		for _, url := range part {
			args = append(args, hashOf(url), url, hosts[url], due)
		}
		if err := tx.each(ctx, read, `INSERT INTO destinations (hash, url, host, due_at) VALUES `+values(len(part), "(?,?,?,?)")+
			` ON CONFLICT (hash) DO UPDATE SET due_at = destinations.due_at RETURNING num, hash`, args...); err != nil {
			return nil, err
		}
	}
	return nums, nil
}

// DestinationHost is when a host may be asked.
type DestinationHost struct {
	Host      string
	FreeAt    int64 // when the next question that has no time may come
	ShutUntil int64 // until then the host wants no question
}

func scanDestinationHost(row interface{ Scan(...any) error }) (h DestinationHost, err error) {
	return h, row.Scan(&h.Host, &h.FreeAt, &h.ShutUntil)
}

// DestinationsDue lists destinations that are due, the oldest first, and their hosts as far as they are known. Destinations to which
// no link leads any more are deleted instead.
func (tx *Tx) DestinationsDue(ctx context.Context, now int64, limit int) (list []Destination, hosts map[string]DestinationHost, err error) {
	if err := tx.Do(ctx, `DELETE FROM destinations WHERE num IN (SELECT d.num FROM (SELECT num FROM destinations WHERE due_at <= ?
		ORDER BY due_at LIMIT ?) d WHERE NOT EXISTS (SELECT 1 FROM link_destinations l WHERE l.destination_num = d.num))`,
		now, limit); err != nil {
		return nil, nil, err
	}
	list, err = All(ctx, tx.Conn, scanDestination, `SELECT `+destinationColumns+` FROM destinations d WHERE d.due_at <= ? ORDER BY d.due_at LIMIT ?`+
		tx.skipLocked(), now, limit)
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	names := Distinct(each.Of(list, func(d Destination) string { return d.Host }))
	found, err := All(ctx, tx.Conn, scanDestinationHost,
		`SELECT host, free_at, shut_until FROM destination_hosts WHERE host IN (`+In(len(names))+`)`, Args(names)...)
	hosts = make(map[string]DestinationHost, len(found))
	for _, h := range found {
		hosts[h.Host] = h
	}
	return list, hosts, err
}

// MoveDestination writes when a destination is due, and whether its host expects the question then.
func (tx *Tx) MoveDestination(ctx context.Context, d *Destination) error {
	return tx.Do(ctx, `UPDATE destinations SET due_at = ?, reserved = ? WHERE num = ?`, d.DueAt, d.Reserved, d.Num)
}

// SaveDestinationHost writes when a host may be asked, unless later times are stored already.
func (tx *Tx) SaveDestinationHost(ctx context.Context, h DestinationHost) error {
	return tx.Do(ctx, `INSERT INTO destination_hosts (host, free_at, shut_until) VALUES (?,?,?)
		ON CONFLICT (host) DO UPDATE SET
		free_at = CASE WHEN excluded.free_at > destination_hosts.free_at THEN excluded.free_at ELSE destination_hosts.free_at END,
		shut_until = CASE WHEN excluded.shut_until > destination_hosts.shut_until THEN excluded.shut_until
			ELSE destination_hosts.shut_until END`, h.Host, h.FreeAt, h.ShutUntil)
}

// ForgetDestinationHosts deletes the hosts that may be asked at any time.
func (tx *Tx) ForgetDestinationHosts(ctx context.Context, before int64) error {
	return tx.Do(ctx, `DELETE FROM destination_hosts WHERE free_at < ? AND shut_until < ?`, before, before)
}

// LockDestination reads a destination and locks it, or returns ErrNotFound.
func (tx *Tx) LockDestination(ctx context.Context, num uint64) (Destination, error) {
	return scanDestination(tx.Row(ctx, `SELECT `+destinationColumns+` FROM destinations d WHERE d.num = ?`+tx.forUpdate(), num))
}

// SaveDestination writes what a check has found. If spread is set, its links get to know it.
func (tx *Tx) SaveDestination(ctx context.Context, d *Destination, spread bool) error {
	set, args := `health = ?, reason = ?, status = ?, failures = ?, since = ?, checked_at = ?, due_at = ?, reserved = ?`,
		[]any{d.Health, d.Reason, d.Status, d.Failures, d.Since, d.CheckedAt, d.DueAt, d.Reserved}
	if spread {
		set += `, spread = 0`
	}
	return tx.Do(ctx, `UPDATE destinations SET `+set+` WHERE num = ?`, append(args, d.Num)...)
}

// UnspreadDestination locks a destination whose links do not all know its health, and returns the next of these links, at most limit.
// It returns ErrNotFound if there is none.
func (tx *Tx) UnspreadDestination(ctx context.Context, limit int) (num uint64, links []uint64, err error) {
	var after uint64
	if err := tx.Row(ctx, `SELECT num, spread FROM destinations WHERE spread IS NOT NULL ORDER BY num LIMIT 1`+tx.skipLocked()).
		Scan(&num, &after); err != nil {
		return 0, nil, err
	}
	links, err = All(ctx, tx.Conn, column[uint64],
		`SELECT link_num FROM link_destinations WHERE destination_num = ? AND link_num > ? ORDER BY link_num LIMIT ?`, num, after, limit)
	if err != nil {
		return num, nil, err
	}
	next := any(nil)
	if len(links) == limit {
		next = links[len(links)-1]
	}
	return num, links, tx.Do(ctx, `UPDATE destinations SET spread = ? WHERE num = ?`, next, num)
}

// worse orders destinations of a link: the worst first, then the oldest.
func worse(a, b *Destination) int {
	return cmp.Or(slices.Index(Healths, b.Health)-slices.Index(Healths, a.Health), cmp.Compare(a.Num, b.Num))
}
