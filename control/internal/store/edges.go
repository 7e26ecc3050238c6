package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/shortline/shortline/shared/click"
)

// EdgeReport is what an edge last said of itself.
type EdgeReport struct {
	Edge, Run string
	Status    string // JSON
	SeenAt    int64
	Since     int64  // when this run was first seen
	Twin      string // the run that was last refused because this one was alive, "" if none was
	TwinAt    int64  // 0: never
	Token     string // the identity of the token that reports came with, "" if that is not known
}

const edgeColumns = `edge, run, status, seen_at, since, twin, coalesce(twin_at, 0), token`

func scanEdge(row interface{ Scan(...any) error }) (r EdgeReport, err error) {
	return r, row.Scan(&r.Edge, &r.Run, &r.Status, &r.SeenAt, &r.Since, &r.Twin, &r.TwinAt, &r.Token)
}

// EdgeReports lists the reports of edges seen since a time, by their ids.
func (c Conn) EdgeReports(ctx context.Context, since int64) ([]EdgeReport, error) {
	return All(ctx, c, scanEdge, `SELECT `+edgeColumns+` FROM edge_reports WHERE seen_at >= ? ORDER BY edge`, since)
}

// Refusal says why a report was not taken.
type Refusal int

// The reasons.
const (
	Taken   Refusal = iota
	Twin            // another run of the same edge is alive
	Foreign         // the edge belongs to another token
)

// SaveEdgeReport keeps a report in the place of the edge's last one, unless that is of another run that was seen after
// deadline and that r doesn't follow on (before is the run it followed). Then the refusal is noted; other is the run
// that is alive. Of two reports at once one sees the other.
//
// An edge belongs to the token that its reports came with first. Another token is taken if the report follows on the
// last run, whose name only that edge knows, or if the first token is not in known any more; otherwise the report is
// foreign, and changes nothing. A report without a token comes from inside the process.
func (tx *Tx) SaveEdgeReport(ctx context.Context, r EdgeReport, before string, deadline int64, known []string) (refused Refusal, other EdgeReport, err error) {
	notKnown := `TRUE`
	if len(known) > 0 {
		notKnown = `edge_reports.token NOT IN (` + In(len(known)) + `)`
	}
	n, err := tx.Exec(ctx, `INSERT INTO edge_reports (edge, run, status, seen_at, since, twin, token) VALUES (?, ?, ?, ?, ?, '', ?)
		ON CONFLICT (edge) DO UPDATE SET
			since = CASE WHEN edge_reports.run = excluded.run THEN edge_reports.since ELSE excluded.since END,
			run = excluded.run, status = excluded.status, seen_at = excluded.seen_at, token = excluded.token
		WHERE (edge_reports.run = excluded.run OR edge_reports.run = ? OR edge_reports.seen_at < ?)
			AND (excluded.token = '' OR edge_reports.token = '' OR edge_reports.token = excluded.token OR (edge_reports.run <> '' AND edge_reports.run = ?) OR `+notKnown+`)`,
		append([]any{r.Edge, r.Run, r.Status, r.SeenAt, r.SeenAt, r.Token, before, deadline, before}, Args(known)...)...)
	if err != nil || n > 0 {
		return Taken, EdgeReport{}, err
	}
	other, err = scanEdge(tx.Row(ctx, `SELECT `+edgeColumns+` FROM edge_reports WHERE edge = ?`, r.Edge))
	if err != nil {
		return Twin, other, err
	}
	if r.Token != "" && other.Token != "" && other.Token != r.Token && (other.Run == "" || other.Run != before) && slices.Contains(known, other.Token) {
		return Foreign, other, nil
	}
	if _, err := tx.Exec(ctx, `UPDATE edge_reports SET twin = ?, twin_at = ? WHERE edge = ?`, r.Run, r.SeenAt, r.Edge); err != nil {
		return Twin, EdgeReport{}, err
	}
	other.Twin, other.TwinAt = r.Run, r.SeenAt
	return Twin, other, nil
}

// RefreshEdgeReport keeps a later report of the run that the edge's last one is of; that of another run is passed over.
func (tx *Tx) RefreshEdgeReport(ctx context.Context, r EdgeReport) error {
	_, err := tx.Exec(ctx, `UPDATE edge_reports SET status = ?, seen_at = ? WHERE edge = ? AND run = ? AND seen_at < ?`, r.Status, r.SeenAt, r.Edge, r.Run, r.SeenAt)
	return err
}

// ForgetEdges removes the reports of edges that were not seen since a time.
func (tx *Tx) ForgetEdges(ctx context.Context, since int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM edge_reports WHERE seen_at < ?`, since)
	return err
}

// ClickRange is a range of clicks of one edge. Edge is the id that the edge reports.
type ClickRange struct {
	Edge string
	click.Range
}

// ClickGap is a range of clicks that is missing.
type ClickGap struct {
	ClickRange
	FoundAt int64
	Asked   int           // how often the edge was asked for them
	Held    sql.NullInt64 // clicks that the edge still had, if it has said so
	Refused string        // why it could not ship all of them
}

const inRange = `edge = ? AND epoch = ? AND lane = ? AND seq_from = ? AND seq_to = ?`

func (r ClickRange) args(before ...any) []any {
	return append(before, r.Edge, int64(r.Epoch), int64(r.Lane), int64(r.From), int64(r.To))
}

// NoteGaps keeps what is missing now in the place of what was missing before: gaps that are gone are forgotten, and new
// ones are due a while after now.
func (tx *Tx) NoteGaps(ctx context.Context, now, due int64, gaps []ClickRange) error {
	for _, g := range gaps {
		if _, err := tx.Exec(ctx, `INSERT INTO click_gaps (edge, epoch, lane, seq_from, seq_to, found_at, seen_at, due_at, asked, refused) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, '')
			ON CONFLICT (edge, epoch, lane, seq_from, seq_to) DO UPDATE SET seen_at = excluded.seen_at`, append(g.args(), now, now, due)...); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `DELETE FROM click_gaps WHERE seen_at < ?`, now)
	return err
}

// ClickGaps lists what is missing, in order.
func (c Conn) ClickGaps(ctx context.Context) ([]ClickGap, error) {
	return All(ctx, c, scanGap, `SELECT edge, epoch, lane, seq_from, seq_to, found_at, asked, held, refused FROM click_gaps ORDER BY edge, epoch, lane, seq_from`)
}

func scanGap(row interface{ Scan(...any) error }) (g ClickGap, err error) {
	return g, row.Scan(&g.Edge, &g.Epoch, &g.Lane, &g.From, &g.To, &g.FoundAt, &g.Asked, &g.Held, &g.Refused)
}

// DueGaps lists what an edge is to be asked for by now, at most limit, and makes it due again at a later time in case no
// answer comes.
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

// HasDueGaps reports whether DueGaps would find any, without a transaction.
func (c Conn) HasDueGaps(ctx context.Context, edge string, now int64) (some bool, err error) {
	err = c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM click_gaps WHERE edge = ? AND due_at <= ?)`, edge, now).Scan(&some)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return some, err
}

// AnswerGap notes what an edge said about a range it was asked for. With a due time it is asked again then, with 0 not.
func (tx *Tx) AnswerGap(ctx context.Context, r ClickRange, held uint64, refused string, due int64) error {
	var at any
	if due != 0 {
		at = due
	}
	_, err := tx.Exec(ctx, `UPDATE click_gaps SET held = ?, refused = ?, due_at = ? WHERE `+inRange, r.args(int64(held), refused, at)...)
	return err
}
