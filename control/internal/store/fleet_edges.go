package store

import (
	"context"
	"database/sql"
	"slices"

	"github.com/shortline/shortline/shared/click"
)

// EdgeReport is the last report of an edge.
type EdgeReport struct {
	Edge, Run string
	Status    string // JSON
	SeenAt    int64
	Since     int64  // first report of this run
	Twin      string // run that was last refused because this run was alive; "": none
	TwinAt    int64  // 0: never
	Token     string // identity of the token that sent the reports; "": unknown
}

const edgeColumns = `edge, run, status, seen_at, since, twin, coalesce(twin_at, 0), token`

func scanEdge(row interface{ Scan(...any) error }) (r EdgeReport, err error) {
	return r, row.Scan(&r.Edge, &r.Run, &r.Status, &r.SeenAt, &r.Since, &r.Twin, &r.TwinAt, &r.Token)
}

// EdgeReports lists the reports of edges seen since a time, ordered by edge.
func (c Conn) EdgeReports(ctx context.Context, since int64) ([]EdgeReport, error) {
	return All(ctx, c, scanEdge, `SELECT `+edgeColumns+` FROM edge_reports WHERE seen_at >= ? ORDER BY edge`, since)
}

// Refusal is the reason why a report was refused.
type Refusal int

// Reasons for a refusal.
const (
	Taken   Refusal = iota
	Twin            // another run of the same edge is alive
	Foreign         // the edge belongs to another token
)

// SaveEdgeReport replaces the edge's last report. It refuses r if the stored report is from another run that was seen
// after deadline, unless r follows that run (before names it). A refusal is recorded; other is then the live run. Of
// two concurrent reports, the second sees the first.
//
// An edge belongs to the token of its first report. Another token is accepted if the report follows the last run,
// whose name only that edge knows, or if the first token is no longer in known. Otherwise the report is foreign and
// changes nothing. A report without a token comes from inside the process.
func (tx *Tx) SaveEdgeReport(ctx context.Context, r EdgeReport, before string, deadline int64, known []string) (refused Refusal,
	other EdgeReport, err error) {
	notKnown := `TRUE`
	if len(known) > 0 {
		notKnown = `edge_reports.token NOT IN (` + In(len(known)) + `)`
	}
	n, err := tx.Exec(ctx, `INSERT INTO edge_reports (edge, run, status, seen_at, since, twin, token) VALUES (?, ?, ?, ?, ?, '', ?)
		ON CONFLICT (edge) DO UPDATE SET
			since = CASE WHEN edge_reports.run = excluded.run THEN edge_reports.since ELSE excluded.since END,
			run = excluded.run, status = excluded.status, seen_at = excluded.seen_at, token = excluded.token
		WHERE (edge_reports.run = excluded.run OR edge_reports.run = ? OR edge_reports.seen_at < ?)
			AND (excluded.token = '' OR edge_reports.token = '' OR edge_reports.token = excluded.token OR (edge_reports.run <> ''
			AND edge_reports.run = ?) OR `+notKnown+`)`,
		append([]any{r.Edge, r.Run, r.Status, r.SeenAt, r.SeenAt, r.Token, before, deadline, before}, Args(known)...)...)
	if err != nil || n > 0 {
		return Taken, EdgeReport{}, err
	}
	other, err = scanEdge(tx.Row(ctx, `SELECT `+edgeColumns+` FROM edge_reports WHERE edge = ?`, r.Edge))
	if err != nil {
		return Twin, other, err
	}
	if r.Token != "" && other.Token != "" && other.Token != r.Token && (other.Run == "" || other.Run != before) &&
		slices.Contains(known, other.Token) {
		return Foreign, other, nil
	}
	if _, err := tx.Exec(ctx, `UPDATE edge_reports SET twin = ?, twin_at = ? WHERE edge = ?`, r.Run, r.SeenAt, r.Edge); err != nil {
		return Twin, EdgeReport{}, err
	}
	other.Twin, other.TwinAt = r.Run, r.SeenAt
	return Twin, other, nil
}

// RefreshEdgeReport stores a later report of the edge's current run. It ignores reports of other runs.
func (tx *Tx) RefreshEdgeReport(ctx context.Context, r EdgeReport) error {
	return tx.Do(ctx, `UPDATE edge_reports SET status = ?, seen_at = ? WHERE edge = ? AND run = ? AND seen_at <= ?`, r.Status, r.SeenAt,
		r.Edge, r.Run, r.SeenAt)
}

// ForgetEdges deletes the reports of edges not seen since a time.
func (tx *Tx) ForgetEdges(ctx context.Context, since int64) error {
	return tx.Do(ctx, `DELETE FROM edge_reports WHERE seen_at < ?`, since)
}

// ClickRange is a range of clicks of one edge. Edge is the id that the edge reports.
type ClickRange struct {
	Edge string
	click.Range
}

// ClickGap is a range of missing clicks.
type ClickGap struct {
	ClickRange
	FoundAt int64
	Asked   int           // number of requests sent to the edge
	Held    sql.NullInt64 // clicks that the edge still had; NULL: no answer yet
	Refused string        // why the edge could not ship the whole range
}

const inRange = `edge = ? AND epoch = ? AND lane = ? AND seq_from = ? AND seq_to = ?`

func (r ClickRange) args(before ...any) []any {
	return append(before, r.Edge, int64(r.Epoch), int64(r.Lane), int64(r.From), int64(r.To))
}

// NoteGaps replaces the known gaps. It deletes gaps that are gone, keeps gaps that are still missing, and adds new
// ones, due at due.
func (tx *Tx) NoteGaps(ctx context.Context, now, due int64, gaps []ClickRange) error {
	for _, g := range gaps {
		if _, err := tx.Exec(ctx, `INSERT INTO click_gaps (edge, epoch, lane, seq_from, seq_to, found_at, seen_at, due_at, asked, refused)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, '')
			ON CONFLICT (edge, epoch, lane, seq_from, seq_to) DO UPDATE SET seen_at = excluded.seen_at`,
			append(g.args(), now, now, due)...); err != nil {
			return err
		}
	}
	return tx.Do(ctx, `DELETE FROM click_gaps WHERE seen_at < ?`, now)
}

// ClickGaps lists the missing ranges in order.
func (c Conn) ClickGaps(ctx context.Context) ([]ClickGap, error) {
	return All(ctx, c, scanGap,
		`SELECT edge, epoch, lane, seq_from, seq_to, found_at, asked, held, refused FROM click_gaps ORDER BY edge, epoch, lane, seq_from`)
}

func scanGap(row interface{ Scan(...any) error }) (g ClickGap, err error) {
	return g, row.Scan(&g.Edge, &g.Epoch, &g.Lane, &g.From, &g.To, &g.FoundAt, &g.Asked, &g.Held, &g.Refused)
}

// DueGaps lists at most limit ranges to request from an edge by now. It makes them due again at a later time, in case
// no answer arrives.
func (tx *Tx) DueGaps(ctx context.Context, edge string, now, again int64, limit int) ([]ClickGap, error) {
	list, err := All(ctx, tx.Conn, scanGap, `SELECT edge, epoch, lane, seq_from, seq_to, found_at, asked, held, refused FROM click_gaps
		WHERE edge = ? AND due_at <= ? ORDER BY due_at, epoch, lane, seq_from LIMIT ?`, edge, now, limit)
	if err != nil {
		return nil, err
	}
	for _, g := range list {
		if _, err := tx.Exec(ctx, `UPDATE click_gaps SET due_at = ?, asked = asked + 1 WHERE `+inRange, g.args(again)...); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// HasDueGaps reports whether DueGaps would return any. It needs no transaction.
func (c Conn) HasDueGaps(ctx context.Context, edge string, now int64) (bool, error) {
	return column[bool](c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM click_gaps WHERE edge = ? AND due_at <= ?)`, edge, now))
}

// AnswerGap records an edge's answer about a range. The range is requested again at due; 0 means never.
func (tx *Tx) AnswerGap(ctx context.Context, r ClickRange, held uint64, refused string, due int64) error {
	var at any
	if due != 0 {
		at = due
	}
	return tx.Do(ctx, `UPDATE click_gaps SET held = ?, refused = ?, due_at = ? WHERE `+inRange, r.args(int64(held), refused, at)...)
}
