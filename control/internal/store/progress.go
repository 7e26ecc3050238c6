package store

import (
	"context"
	"time"
)

// Progress is what one process with the role ingest has last told about a source.
type Progress struct {
	Source string
	Behind time.Duration // age of the oldest message that was not stored then
	Ago    time.Duration // since the process told it, by the clock of the database
}

// forgetProgress is the age at which what a process told is deleted.
const forgetProgress = time.Hour

// NoteProgress stores how far a process is with a source, and forgets processes that are gone.
func (tx *Tx) NoteProgress(ctx context.Context, process, source string, behind time.Duration) error {
	if _, err := tx.Exec(ctx, `INSERT INTO ingest_progress (process, source, behind_ms, at) VALUES (?, ?, ?, `+tx.clock()+`)
		ON CONFLICT (process, source) DO UPDATE SET behind_ms = excluded.behind_ms, at = excluded.at`, process, source, behind.Milliseconds()); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `DELETE FROM ingest_progress WHERE at < `+tx.clock()+` - CAST(? AS BIGINT)`, forgetProgress.Milliseconds())
	return err
}

// IngestProgress lists what processes with the role ingest have told within a time.
func (c Conn) IngestProgress(ctx context.Context, within time.Duration) ([]Progress, error) {
	scan := func(row interface{ Scan(...any) error }) (p Progress, err error) {
		var behind, ago int64
		err = row.Scan(&p.Source, &behind, &ago)
		p.Behind, p.Ago = time.Duration(behind)*time.Millisecond, time.Duration(ago)*time.Millisecond
		return p, err
	}
	return All(ctx, c, scan, `SELECT source, behind_ms, `+c.clock()+` - at FROM ingest_progress WHERE at >= `+c.clock()+` - CAST(? AS BIGINT)`, within.Milliseconds())
}
