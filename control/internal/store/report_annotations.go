package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/shortline/shortline/shared/link"
)

// Annotation is a note at a time on the charts of reports.
type Annotation struct {
	Num       uint64 // dense, assigned by the database
	ID        string
	Workspace uint64 // number of the workspace that owns it
	Link      uint64 // number of the link that it is about; 0: the whole workspace
	LinkID    string // of Link
	LinkName  string // host name, slash and slug of Link; links of the service itself have no host name
	UserID    string // who wrote it; "": a deleted user
	At        int64  // Unix milliseconds
	Text      string
	CreatedAt int64
	UpdatedAt int64
}

const annotationColumns = `a.num, a.id, a.workspace_num, a.link_num, u.id, d.hostname, u.slug, a.user_id, a.at, a.text, a.created_at, a.updated_at`

// annotations joins the link of each note, if the link exists and is still in the workspace of the note.
const annotations = `annotations a LEFT JOIN urls u ON u.num = a.link_num AND u.workspace_num = a.workspace_num
	LEFT JOIN domains d ON d.num = u.domain_num`

func scanAnnotation(row interface{ Scan(...any) error }) (a Annotation, err error) {
	var host, key string
	err = row.Scan(&a.Num, &a.ID, &a.Workspace, orZero(&a.Link), orZero(&a.LinkID), orZero(&host), orZero(&key), orZero(&a.UserID), &a.At,
		&a.Text, &a.CreatedAt, &a.UpdatedAt)
	if a.LinkID != "" {
		_, slug := link.SplitKey(key)
		a.LinkName = host + "/" + slug
	}
	return a, err
}

// Annotations reads the newest notes of a workspace from one time to another, at most limit. Workspace 0 stands for all. With a
// link it reads those of the link and of the whole workspace. It leaves out notes whose link was deleted or moved.
func (c Conn) Annotations(ctx context.Context, workspace, link uint64, from, to int64, limit int) ([]Annotation, error) {
	var w conditions
	w.and(workspace != 0, `a.workspace_num = ?`, workspace)
	w.and(true, `a.at >= ? AND a.at < ?`, from, to)
	w.and(link == 0, `(a.link_num IS NULL OR u.num IS NOT NULL)`)
	w.and(link != 0, `(a.link_num IS NULL OR u.num = ?)`, link)
	return All(ctx, c, scanAnnotation, `SELECT `+annotationColumns+` FROM `+annotations+w.String()+` ORDER BY a.at DESC, a.num DESC LIMIT ?`,
		append(w.args, limit)...)
}

// LockAnnotation reads a note and locks it until the commit. It returns ErrNotFound if there is none.
func (tx *Tx) LockAnnotation(ctx context.Context, id string) (Annotation, error) {
	if tx.pg { // a join that may have no row on one side cannot be locked
		if _, err := tx.Exec(ctx, `SELECT num FROM annotations WHERE id = ? FOR UPDATE`, id); err != nil {
			return Annotation{}, err
		}
	}
	return scanAnnotation(tx.Row(ctx, `SELECT `+annotationColumns+` FROM `+annotations+` WHERE a.id = ?`, id))
}

// InsertAnnotation adds a note.
func (tx *Tx) InsertAnnotation(ctx context.Context, a *Annotation) error {
	return tx.Row(ctx, `INSERT INTO annotations (id, workspace_num, link_num, user_id, at, text, created_at, updated_at) VALUES (`+In(8)+`)
		RETURNING num`, a.ID, a.Workspace, null(a.Link), null(a.UserID), a.At, a.Text, a.CreatedAt, a.UpdatedAt).Scan(&a.Num)
}

// UpdateAnnotation writes a note, which the caller has locked.
func (tx *Tx) UpdateAnnotation(ctx context.Context, a *Annotation) error {
	return tx.Do(ctx, `UPDATE annotations SET at = ?, text = ?, updated_at = ? WHERE num = ?`, a.At, a.Text, a.UpdatedAt, a.Num)
}

// DeleteAnnotation removes a note.
func (tx *Tx) DeleteAnnotation(ctx context.Context, num uint64) error {
	return tx.Do(ctx, `DELETE FROM annotations WHERE num = ?`, num)
}

// LinkEvent is a change of a link that may explain a change of its figures.
type LinkEvent struct {
	ID     string // of the audit entry
	Action string
	LinkID string // "": of several links
	Links  int    // how many
	UserID string // "": the system
	At     int64
	Rules  bool // a rollback has changed rules
	Target bool // the destination has changed
}

// LinkEvents reads the newest changes of destinations and rules and starts and decisions of experiments in a workspace, at most limit, from
// one time to another. Workspace 0 stands for all. With the id of a link it reads those of the link.
func (c Conn) LinkEvents(ctx context.Context, workspace uint64, linkID string, from, to int64, limit int) ([]LinkEvent, error) {
	// Names of members in JSON are followed by a colon. In a text, the quote before it would be escaped.
	const target, rules, ofLink = `%"originalUrl":%`, `%"routingRules":%`, `"urlId":"`
	var w conditions
	w.and(workspace != 0, `workspace_num = ?`, workspace)
	w.and(true, `created_at >= ? AND created_at < ?`, from, to)
	w.and(true, `(action IN ('ROUTING_RULE_CREATED', 'ROUTING_RULE_UPDATED', 'ROUTING_RULE_DELETED',
			'EXPERIMENT_CREATED', 'EXPERIMENT_RESTARTED', 'EXPERIMENT_DECIDED')
		OR action IN ('URL_UPDATED', 'URL_BULK_UPDATED', 'URL_ROLLED_BACK') AND new_value LIKE ?
		OR action = 'URL_ROLLED_BACK' AND metadata LIKE ?)`, target, rules)
	w.and(linkID != "", `(entity_id = ? OR metadata LIKE ? OR action = 'URL_BULK_UPDATED' AND new_value LIKE ?)`, linkID,
		`%`+ofLink+linkID+`"%`, `%"`+linkID+`":%`)
	list, err := All(ctx, c, func(row interface{ Scan(...any) error }) (e LinkEvent, err error) {
		var entityType, metadata, entity, changed string
		if err := row.Scan(&e.ID, &e.Action, &entityType, orZero(&entity), orZero(&e.UserID), &metadata, &e.At, &e.Target,
			&e.Rules, &changed); err != nil {
			return e, err
		}
		e.Links = 1
		if e.Action == "URL_BULK_UPDATED" {
			return e, e.redirected(changed, linkID)
		}
		if e.LinkID = entity; entityType != "url" && entityType != "experiment" {
			e.LinkID = valueAfter(metadata, ofLink)
		}
		return e, nil
	}, `SELECT id, action, entity_type, entity_id, user_id, metadata, created_at,
		coalesce(new_value, '') LIKE '`+target+`', metadata LIKE '`+rules+`',
		CASE WHEN action = 'URL_BULK_UPDATED' THEN new_value ELSE '' END FROM audit_logs`+w.String()+
		` ORDER BY created_at DESC, seq DESC LIMIT ?`, append(w.args, limit)...)
	return slices.DeleteFunc(list, func(e LinkEvent) bool { return e.Links == 0 }), err
}

// redirected sets the links of a bulk change that got another destination, from what the change has set by link. With the id of a
// link, only this link counts.
func (e *LinkEvent) redirected(changed, linkID string) error {
	var links map[string]map[string]json.RawMessage
	if err := json.Unmarshal([]byte(changed), &links); err != nil {
		return fmt.Errorf("read audit entry %s: %w", e.ID, err)
	}
	e.Links = 0
	for id, fields := range links {
		if _, target := fields["originalUrl"]; target && (linkID == "" || linkID == id) {
			e.LinkID = id
			e.Links++
		}
	}
	if e.Links > 1 {
		e.LinkID = ""
	}
	return nil
}

// valueAfter returns the 36 characters of an id that follow a text, or "".
func valueAfter(in, text string) string {
	const id = 36
	for i := 0; i+len(text)+id <= len(in); i++ {
		if in[i:i+len(text)] == text {
			return in[i+len(text) : i+len(text)+id]
		}
	}
	return ""
}
