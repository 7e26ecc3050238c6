package store

import (
	"context"
	"strings"
	"time"
)

// Progress is what one process with the role ingest has last told about a source.
type Progress struct {
	Source string
	Region string        // name of the Kafka cluster; "" if there is only one
	Behind time.Duration // age of the oldest message that was not stored then
	Ago    time.Duration // since the process told it, by the clock of the database
}

// forgetProgress is the age at which what a process told is deleted, unless it is the newest of its source and region.
const forgetProgress = time.Hour

// progressKey is the value of the column source.
func progressKey(source, region string) string {
	if region == "" {
		return source
	}
	return source + "@" + region
}

// NoteProgress stores how far a process is with a source in a region.
func (tx *Tx) NoteProgress(ctx context.Context, process, source, region string, behind time.Duration) error {
	return tx.Do(ctx, `INSERT INTO ingest_progress (process, source, behind_ms, at) VALUES (?, ?, ?, `+tx.clock()+`)
		ON CONFLICT (process, source) DO UPDATE SET behind_ms = excluded.behind_ms, at = excluded.at`,
		process, progressKey(source, region), behind.Milliseconds())
}

// ForgetProgress deletes what processes that are gone have told. The newest word about each of the given sources stays,
// however old it is: it tells how far a region reaches that nobody can read at present. Only Source and Region are used.
func (tx *Tx) ForgetProgress(ctx context.Context, keep []Progress) error {
	args := []any{forgetProgress.Milliseconds()}
	for _, p := range keep {
		args = append(args, progressKey(p.Source, p.Region))
	}
	known := `FALSE`
	if len(keep) > 0 {
		known = `source IN (?` + strings.Repeat(", ?", len(keep)-1) + `)`
	}
	return tx.Do(ctx, `DELETE FROM ingest_progress WHERE at < `+tx.clock()+` - CAST(? AS BIGINT) AND NOT (`+known+`
		AND NOT EXISTS (SELECT 1 FROM ingest_progress newer WHERE newer.source = ingest_progress.source AND newer.at > ingest_progress.at))`,
		args...)
}

// IngestProgress lists what processes with the role ingest have told, oldest first.
func (c Conn) IngestProgress(ctx context.Context) ([]Progress, error) {
	scan := func(row interface{ Scan(...any) error }) (p Progress, err error) {
		var behind, ago int64
		err = row.Scan(&p.Source, &behind, &ago)
		p.Source, p.Region, _ = strings.Cut(p.Source, "@")
		p.Behind, p.Ago = time.Duration(behind)*time.Millisecond, time.Duration(max(0, ago))*time.Millisecond
		return p, err
	}
	return All(ctx, c, scan, `SELECT source, behind_ms, `+c.clock()+` - at FROM ingest_progress ORDER BY at`)
}
