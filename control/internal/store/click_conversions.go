package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// ConversionSource is a workspace whose web sites may send conversions from browsers.
type ConversionSource struct {
	Workspace uint64
	Key       string   // publishable: pages contain it
	Hosts     []string // ASCII, lower case; "*.example.com" is every name below example.com
	UpdatedAt int64    // Unix milliseconds
}

func scanConversionSource(row interface{ Scan(...any) error }) (s ConversionSource, err error) {
	var hosts string
	if err := row.Scan(&s.Workspace, &s.Key, &hosts, &s.UpdatedAt); err != nil {
		return s, err
	}
	if err := json.Unmarshal([]byte(hosts), &s.Hosts); err != nil {
		return s, fmt.Errorf("hosts of the conversion source of workspace %d: %w", s.Workspace, err)
	}
	return s, nil
}

const conversionSourceColumns = `workspace_num, publishable_key, hosts, updated_at`

// ConversionSources reads the sources of all workspaces that have hosts, ordered by workspace.
func (c Conn) ConversionSources(ctx context.Context) ([]ConversionSource, error) {
	return All(ctx, c, scanConversionSource, `SELECT `+conversionSourceColumns+
		` FROM conversion_sources WHERE hosts <> '[]' ORDER BY workspace_num`)
}

// ConversionSource reads the source of a workspace, or returns ErrNotFound.
func (c Conn) ConversionSource(ctx context.Context, workspace uint64) (ConversionSource, error) {
	return scanConversionSource(c.Row(ctx, `SELECT `+conversionSourceColumns+` FROM conversion_sources WHERE workspace_num = ?`, workspace))
}

// PutConversionSource writes the source of a workspace and tells edges at the commit.
func (tx *Tx) PutConversionSource(ctx context.Context, s *ConversionSource) error {
	hosts, err := json.Marshal(append([]string{}, s.Hosts...))
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `INSERT INTO conversion_sources (workspace_num, publishable_key, hosts, updated_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (workspace_num) DO UPDATE SET publishable_key = excluded.publishable_key, hosts = excluded.hosts,
		updated_at = excluded.updated_at`,
		s.Workspace, s.Key, string(hosts), s.UpdatedAt); err != nil {
		return err
	}
	return tx.AnnounceConversions(ctx, conversionSources)
}

// conversionSources is the name of the news that sources have changed.
const conversionSources = "sources"

// AnnounceConversions tells edges at the commit that what they know of conversions has changed. The name says what; there is one
// row for each.
func (tx *Tx) AnnounceConversions(ctx context.Context, name string) error {
	if err := tx.reserve(ctx); err != nil {
		return err
	}
	return tx.Do(ctx,
		`INSERT INTO conversion_news (name, revision) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET revision = excluded.revision`, name,
		tx.revision)
}

// AnnounceConversionsOnce is AnnounceConversions, but changes nothing if the name was announced before, also by a concurrent transaction.
func (tx *Tx) AnnounceConversionsOnce(ctx context.Context, name string) error {
	if err := tx.reserve(ctx); err != nil { // the lock on the revision makes control planes take turns
		return err
	}
	return tx.Do(ctx, `INSERT INTO conversion_news (name, revision) VALUES (?, ?) ON CONFLICT DO NOTHING`, name, tx.revision)
}

// ConversionsAnnounced reports whether the change with this name was announced to edges.
func (c Conn) ConversionsAnnounced(ctx context.Context, name string) (bool, error) {
	return column[bool](c.Row(ctx, `SELECT EXISTS (SELECT 1 FROM conversion_news WHERE name = ?)`, name))
}

// ConversionsRevision returns the revision of the newest change of what edges know of conversions, 0 if there was none.
func (c Conn) ConversionsRevision(ctx context.Context) (uint64, error) {
	return column[uint64](c.Row(ctx, `SELECT coalesce(max(revision), 0) FROM conversion_news`))
}

// ClickParameter reads the name of the query parameter with the click id of a workspace's links, "" for the default.
func (c Conn) ClickParameter(ctx context.Context, workspace uint64) (string, error) {
	return column[string](c.Row(ctx, `SELECT coalesce(click_parameter, '') FROM workspaces WHERE num = ?`, workspace))
}

// SetClickParameter writes the name of the query parameter with the click id, "" for the default. Call TouchTracking
// afterwards, so that edges learn it.
func (tx *Tx) SetClickParameter(ctx context.Context, workspace uint64, name string) error {
	return tx.Do(ctx, `UPDATE workspaces SET click_parameter = ? WHERE num = ?`, null(name), workspace)
}

// TouchTracking touches the links of a workspace that track conversions and whose newest change is older than a revision;
// 0 stands for all.
func (tx *Tx) TouchTracking(ctx context.Context, workspace, before uint64) error {
	where, args := `workspace_num = ? AND track_conversions`, []any{workspace}
	if before != 0 {
		where, args = where+` AND revision < ?`, append(args, before)
	}
	refs, err := All(ctx, tx.Conn, func(row interface{ Scan(...any) error }) (r LinkRef, err error) { return r, row.Scan(&r.Num, &r.Key) },
		`SELECT num, slug FROM urls WHERE `+where+` ORDER BY num`+tx.forUpdate(), args...)
	if err != nil {
		return err
	}
	return tx.TouchAll(ctx, refs)
}
