package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/shortline/shortline/shared/each"
)

// States of a case.
const (
	CaseOpen      = "OPEN"
	CaseDismissed = "DISMISSED"
	CaseActioned  = "ACTIONED"
)

// Sources of a case.
const (
	SourceVisitor   = "VISITOR"
	SourceBlocklist = "BLOCKLIST"
	SourceCheck     = "CHECK"
)

// AbuseCase is one link in the queue of administrators.
type AbuseCase struct {
	ID         string
	URLID      string
	Workspace  uint64
	Hostname   string // of the link's domain; "": the host of BASE_URL
	Slug       string
	Source     string
	Status     string
	Detail     string
	Reports    int64
	Reasons    map[string]int64
	Messages   []AbuseMessage
	CreatedAt  int64
	LastAt     int64
	ResolvedAt int64
	ResolvedBy string // id of a user; "": open, or resolved by the service

	Link *Link // nil: deleted; only Cases and Case set it
}

// AbuseMessage is the text of one report.
type AbuseMessage struct {
	Reason string `json:"reason"`
	Text   string `json:"text"`
	Email  string `json:"email"`
	At     int64  `json:"at"`
}

const caseColumns = `c.id, c.url_id, c.workspace_num, c.hostname, c.slug, c.source, c.status, c.detail, c.reports, c.reasons, c.messages, c.created_at, c.last_at, c.resolved_at, c.resolved_by`

func scanCase(row interface{ Scan(...any) error }) (c AbuseCase, err error) {
	var reasons, messages string
	if err := row.Scan(&c.ID, &c.URLID, &c.Workspace, orZero(&c.Hostname), &c.Slug, &c.Source, &c.Status, &c.Detail, &c.Reports,
		&reasons, &messages,
		&c.CreatedAt, &c.LastAt, orZero(&c.ResolvedAt), orZero(&c.ResolvedBy)); err != nil {
		return c, err
	}
	if err := json.Unmarshal([]byte(reasons), &c.Reasons); err != nil {
		return c, fmt.Errorf("read the reasons of a case: %w", err)
	}
	if err := json.Unmarshal([]byte(messages), &c.Messages); err != nil {
		return c, fmt.Errorf("read the messages of a case: %w", err)
	}
	return c, nil
}

// CaseFilter selects cases. Empty fields select all.
type CaseFilter struct {
	Status, Source, URLID string
	Offset, Limit         int
}

// Cases lists a page of cases with their links, the latest report first, and counts all.
func (c Conn) Cases(ctx context.Context, f CaseFilter) (list []AbuseCase, total int, err error) {
	var w conditions
	w.and(f.Status != "", `c.status = ?`, f.Status)
	w.and(f.Source != "", `c.source = ?`, f.Source)
	w.and(f.URLID != "", `c.url_id = ?`, f.URLID)
	list, total, err = pageOf(ctx, c, scanCase, caseColumns, `abuse_cases c`+w.String(), `c.last_at DESC, c.id DESC`, w.args, f.Limit,
		f.Offset)
	if err != nil {
		return nil, 0, err
	}
	return list, total, c.linksOfCases(ctx, list)
}

func (c Conn) linksOfCases(ctx context.Context, list []AbuseCase) error {
	ids := each.At(list, func(a *AbuseCase) string { return a.URLID })
	if len(ids) == 0 {
		return nil
	}
	ids = Distinct(ids)
	links, err := All(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls WHERE id IN (`+In(len(ids))+`)`, Args(ids)...)
	if err != nil {
		return err
	}
	for i := range list {
		for j := range links {
			if links[j].ID == list[i].URLID {
				list[i].Link = &links[j]
			}
		}
	}
	return nil
}

// Case reads one case with its link.
func (c Conn) Case(ctx context.Context, id string) (AbuseCase, error) {
	found, err := scanCase(c.Row(ctx, `SELECT `+caseColumns+` FROM abuse_cases c WHERE c.id = ?`, id))
	if err != nil {
		return found, err
	}
	list := []AbuseCase{found}
	err = c.linksOfCases(ctx, list)
	return list[0], err
}

// OpenCases lists the open cases of a link, and locks them.
func (tx *Tx) OpenCases(ctx context.Context, urlID string) ([]AbuseCase, error) {
	return All(ctx, tx.Conn, scanCase, `SELECT `+caseColumns+` FROM abuse_cases c WHERE c.url_id = ? AND c.status = 'OPEN' ORDER BY c.id`+
		tx.forUpdate(), urlID)
}

// LockCase reads one case without its link and locks it.
func (tx *Tx) LockCase(ctx context.Context, id string) (AbuseCase, error) {
	return scanCase(tx.Row(ctx, `SELECT `+caseColumns+` FROM abuse_cases c WHERE c.id = ?`+tx.forUpdate(), id))
}

// Excused reports whether an administrator dismissed a case of a link with the same source and detail.
func (c Conn) Excused(ctx context.Context, urlID, source, detail string) (bool, error) {
	return column[bool](c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM abuse_cases WHERE url_id = ? AND source = ? AND detail = ? AND status = 'DISMISSED' AND `+
		`resolved_by IS NOT NULL)`, urlID, source, detail))
}

// CountOpenCases counts the open cases of a source.
func (c Conn) CountOpenCases(ctx context.Context, source string) (int, error) {
	return column[int](c.Row(ctx, `SELECT count(*) FROM abuse_cases WHERE status = 'OPEN' AND source = ?`, source))
}

// SaveCase inserts a case, or replaces what can change of the one with its id.
func (tx *Tx) SaveCase(ctx context.Context, c AbuseCase) error {
	reasons, err := json.Marshal(c.Reasons)
	if err != nil {
		return err
	}
	messages, err := json.Marshal(c.Messages)
	if err != nil {
		return err
	}
	return tx.Do(ctx, `INSERT INTO abuse_cases (id, url_id, workspace_num, hostname, slug, source, status, detail, reports, reasons, messages, created_at, last_at, resolved_at, resolved_by) VALUES (`+In(15)+`)
		ON CONFLICT (id) DO UPDATE SET status = excluded.status, detail = excluded.detail, reports = excluded.reports, reasons = excluded.reasons,
		messages = excluded.messages,
			last_at = excluded.last_at, resolved_at = excluded.resolved_at, resolved_by = excluded.resolved_by`,
		c.ID, c.URLID, c.Workspace, null(c.Hostname), c.Slug, c.Source, c.Status, c.Detail, c.Reports, string(reasons), string(messages),
		c.CreatedAt, c.LastAt, null(c.ResolvedAt), null(c.ResolvedBy))
}

// ForgetCases deletes the cases that were resolved before a time, except those by which an administrator excused a link from
// a check: without them, the check would suspend the link again.
func (tx *Tx) ForgetCases(ctx context.Context, before int64) error {
	return tx.Do(ctx,
		`DELETE FROM abuse_cases WHERE status <> 'OPEN' AND resolved_at < ? AND (source = 'VISITOR' OR status = 'ACTIONED' OR resolved_by IS `+
			`NULL OR NOT EXISTS (SELECT 1 FROM urls u WHERE u.id = abuse_cases.url_id))`, before)
}

// LinkTargets are all addresses to which a link can lead.
type LinkTargets struct {
	Num       uint64
	ID        string
	Suspended bool
	URLs      []string
}

// TargetsAfter lists the addresses of at most limit links with higher numbers, in the order of the numbers.
func (c Conn) TargetsAfter(ctx context.Context, num uint64, limit int) ([]LinkTargets, error) {
	return c.targets(ctx, `num > ? ORDER BY num LIMIT ?`, num, limit)
}

// TargetsOf lists the addresses of links, at most as many as a statement has parameters, in the order of the numbers.
func (c Conn) TargetsOf(ctx context.Context, nums []uint64) ([]LinkTargets, error) {
	return c.targets(ctx, `num IN (`+In(len(nums))+`) ORDER BY num`, Args(nums)...)
}

func (c Conn) targets(ctx context.Context, which string, args ...any) ([]LinkTargets, error) {
	list, err := All(ctx, c, func(row interface{ Scan(...any) error }) (t LinkTargets, err error) {
		var texts [3]string
		var suspended int64
		err = row.Scan(&t.Num, &t.ID, &texts[0], orZero(&texts[1]), orZero(&texts[2]), orZero(&suspended))
		for _, text := range texts {
			if text != "" {
				t.URLs = append(t.URLs, text)
			}
		}
		t.Suspended = suspended != 0
		return t, err
	}, `SELECT num, id, original_url, default_url, expired_url, suspended_at FROM urls WHERE `+which, args...)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	at, ids := make(map[string]int, len(list)), make([]string, len(list))
	for i, t := range list {
		at[t.ID], ids[i] = i, t.ID
	}
	for _, table := range []string{"variants", "routing_rules"} {
		err := c.each(ctx, func(rows *sql.Rows) error {
			var id, target string
			if err := rows.Scan(&id, &target); err != nil {
				return err
			}
			list[at[id]].URLs = append(list[at[id]].URLs, target)
			return nil
		}, `SELECT url_id, target_url FROM `+table+` WHERE url_id IN (`+In(len(ids))+`) ORDER BY url_id`, Args(ids)...)
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}
