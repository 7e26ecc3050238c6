package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"strings"

	duck "github.com/duckdb/duckdb-go/v2"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/click"
)

// Insert implements analytics.Store. It checks whether ctx is cancelled before the transaction, but not during it.
func (s *Store) Insert(ctx context.Context, b analytics.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("insert clicks: the store is closed")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if s.marks == nil {
		if err := s.loadMarks(ctx); err != nil {
			return fmt.Errorf("insert clicks: %w", err)
		}
	}
	if err := s.insert(ctx, b); err != nil {
		s.marks = nil // the outcome may be unknown
		return fmt.Errorf("insert clicks: %w", err)
	}
	for _, m := range b.Marks {
		s.marks[m.Lane] = max(s.marks[m.Lane], m.Seq)
	}
	s.shorten(ctx)
	return nil
}

// shorten moves the log into the file if it has become too long. Data in the log is as safe as data in the file, so a
// failure does not fail the insert, and the next insert tries again.
func (s *Store) shorten(ctx context.Context) {
	log, err := os.Stat(s.path + ".wal")
	if err != nil || log.Size() < walMax {
		return
	}
	s.asked.Lock()
	defer s.asked.Unlock()
	_, _ = s.write.ExecContext(ctx, `CHECKPOINT`)
}

func (s *Store) insert(ctx context.Context, b analytics.Batch) (err error) {
	if _, err = s.write.ExecContext(ctx, `BEGIN TRANSACTION`); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = s.write.ExecContext(ctx, `ROLLBACK`) // the transaction may have ended already
		}
	}()
	stored, err := s.storedAlready(ctx, b)
	if err != nil {
		return err
	}
	if len(b.Rows) > len(stored) {
		s.rollup.touch(daysOf(b.Rows))
		err = s.write.Raw(func(conn any) error { return appendRows(conn.(driver.Conn), b.Rows, stored) })
		if err != nil {
			return err
		}
	}
	if len(b.Losses) > 0 {
		var text strings.Builder
		for i, l := range b.Losses {
			comma(&text, i)
			fmt.Fprintf(&text, "(%d,%d,%d,%d,%d,%d,%d)", l.Edge, l.Epoch, l.Lane.Lane, l.Seq, l.Time, l.From, l.To)
		}
		if _, err = s.write.ExecContext(ctx, `INSERT INTO losses (edge, epoch, lane, seq, ts, lost_from, lost_to) VALUES `+text.String()+
			` ON CONFLICT DO NOTHING`); err != nil {
			return err
		}
	}
	if marks := highest(b.Marks); len(marks) > 0 {
		var text strings.Builder
		n := 0
		for lane, seq := range marks {
			comma(&text, n)
			n++
			fmt.Fprintf(&text, "(%d,%d,%d,%d)", lane.Edge, lane.Epoch, lane.Lane, seq)
		}
		if _, err = s.write.ExecContext(ctx, `INSERT INTO lane_marks (edge, epoch, lane, seq) VALUES `+text.String()+
			` ON CONFLICT DO UPDATE SET seq = greatest(seq, excluded.seq)`); err != nil {
			return err
		}
	}
	_, err = s.write.ExecContext(ctx, `COMMIT`)
	return err
}

// storedAlready returns the rows of b that are stored. It looks up only rows that the marks do not prove to be new: a
// row above its lane's mark is new if the batch raises the mark over it.
func (s *Store) storedAlready(ctx context.Context, b analytics.Batch) (map[analytics.Identity]bool, error) {
	type span struct{ first, last uint64 }
	var doubtful map[click.Lane]span
	lifted := highest(b.Marks)
	for i := range b.Rows {
		id := &b.Rows[i].Identity
		if id.Seq > s.marks[id.Lane] && id.Seq <= lifted[id.Lane] {
			continue
		}
		if doubtful == nil {
			doubtful = map[click.Lane]span{}
		}
		sp, ok := doubtful[id.Lane]
		if !ok {
			sp.first = id.Seq
		}
		doubtful[id.Lane] = span{min(sp.first, id.Seq), max(sp.last, id.Seq)}
	}
	if doubtful == nil {
		return nil, nil
	}
	there := map[analytics.Identity]bool{}
	for lane, sp := range doubtful {
		rows, err := s.write.QueryContext(ctx,
			fmt.Sprintf(`SELECT seq FROM clicks WHERE edge = %d AND epoch = %d AND lane = %d AND seq BETWEEN %d AND %d`,
				lane.Edge, lane.Epoch, lane.Lane, sp.first, sp.last))
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			id := analytics.Identity{Lane: lane}
			if err = rows.Scan(&id.Seq); err != nil {
				break
			}
			there[id] = true
		}
		if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
			return nil, err
		}
	}
	stored := map[analytics.Identity]bool{}
	for i := range b.Rows {
		if id := b.Rows[i].Identity; there[id] {
			stored[id] = true
		}
	}
	return stored, nil
}

// rowColumns are the columns that appendRows fills. A later release may have added more.
var rowColumns = []string{"edge", "epoch", "lane", "seq", "ts", "link", "owner", "variant", "rule", "ip", "visitor", "country", "region",
	"city", "device", "os", "browser",
	"referer", "user_agent", "bot", "bot_name", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id",
	"utm_source_platform",
	"geo_version", "bot_list", "edge_name", "edge_region", "language", "participant"}

func appendRows(conn driver.Conn, rows []analytics.Row, skip map[analytics.Identity]bool) (err error) {
	a, err := duck.NewAppenderWithColumns(conn, "", "", "clicks", rowColumns)
	if err != nil {
		return err
	}
	defer func() { err = closeAppender(a, err) }()
	var ids analytics.IDText
	for i := range rows {
		r := &rows[i]
		if skip[r.Identity] {
			continue
		}
		err = a.AppendRow(rowValues(r, &ids)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// closeAppender writes the appended rows, or none of them after an error, which it returns.
func closeAppender(a *duck.Appender, err error) error {
	if err != nil {
		_ = a.Clear() // otherwise Close would write the rows appended so far
	}
	return errors.Join(err, a.Close())
}

func highest(marks []analytics.Mark) map[click.Lane]uint64 {
	m := make(map[click.Lane]uint64, len(marks))
	for _, mark := range marks {
		m[mark.Lane] = max(m[mark.Lane], mark.Seq)
	}
	return m
}

func comma(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
}

func (s *Store) loadMarks(ctx context.Context) error {
	list, err := s.Marks(ctx)
	if err != nil {
		return err
	}
	s.marks = highest(list)
	return nil
}

// rowValues returns the values of rowColumns.
func rowValues(r *analytics.Row, ids *analytics.IDText) []driver.Value {
	ip := ""
	if r.IP.IsValid() {
		ip = r.IP.Unmap().WithZone("").String()
	}
	return []driver.Value{
		r.Edge, r.Epoch, r.Lane.Lane, r.Seq, r.Time, int64(r.Link), int64(r.Owner), ids.Of(r.Variant), ids.Of(r.Rule), ip,
		analytics.Visitor(r.IP),
		analytics.Plain(r.Country), analytics.Plain(r.Region), analytics.Plain(r.City), analytics.Plain(r.Device), analytics.Plain(r.OS),
		analytics.Plain(r.Browser), analytics.Plain(r.Referer), analytics.Plain(r.UserAgent), r.Bot, analytics.Plain(r.BotName),
		analytics.Plain(r.UTM.Source), analytics.Plain(r.UTM.Medium), analytics.Plain(r.UTM.Campaign), analytics.Plain(r.UTM.Term),
		analytics.Plain(r.UTM.Content), analytics.Plain(r.UTM.ID), analytics.Plain(r.UTM.SourcePlatform), analytics.Plain(r.GeoVersion),
		analytics.Plain(r.BotList), analytics.Plain(r.EdgeName), analytics.Plain(r.EdgeRegion), analytics.Plain(r.Language), r.Visitor,
	}
}
