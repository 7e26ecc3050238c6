package audit

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Record is one row of the log. Optional fields are nil if the row has no value.
type Record struct {
	ID, Action, EntityType          string
	UserID, EntityID, IP, UserAgent *string
	Old, New, Metadata              json.RawMessage
	CreatedAt                       int64       // Unix milliseconds
	Name                            *string     // of the object: its present one, or else the one in the row; nil if it has none
	Exists                          bool        // whether the object is still there; false for objects without a name
	User                            *store.User // who did it; nil if nobody is known or the user was deleted
}

// Page reads one page of the log, and counts the rows that the filter selects like Conn.AuditLogs. An ADMIN reads all rows. In a workspace
// that the request names, its administrators read what concerns the workspace.
func Page(ctx context.Context, p auth.Principal, c store.Conn, f store.AuditFilter) (list []Record, total int, exact bool, err error) {
	if !p.IsAdmin() && !(p.Chosen && p.Workspace.Role >= auth.WorkspaceAdmin) {
		return nil, 0, false, problem.New(problem.Forbidden, "Only administrators may do this.")
	}
	f.Workspace = p.Scope()
	var v problem.Fields
	if f.Action != "" && !slices.Contains(Actions, f.Action) {
		v.Add("action", "must be one of %s", strings.Join(Actions, ", "))
	}
	if f.EntityType != "" && !slices.Contains(EntityTypes, f.EntityType) {
		v.Add("entityType", "must be one of %s", strings.Join(EntityTypes, ", "))
	}
	if _, ok := store.AuditSorts[f.SortBy]; f.SortBy != "" && !ok {
		v.Add("sortBy", "must be one of createdAt, action, entityType, userId")
	}
	if f.To > 0 && f.To <= f.From {
		v.Add("endDate", "must not be before startDate")
	}
	if err := v.Err(); err != nil {
		return nil, 0, false, err
	}
	rows, total, exact, err := c.AuditLogs(ctx, f)
	if err != nil {
		return nil, 0, false, fmt.Errorf("list the audit log: %w", err)
	}
	var ids []string
	asked := map[string]bool{}
	for _, r := range rows {
		if r.UserID.Valid && !asked[r.UserID.String] {
			asked[r.UserID.String] = true
			ids = append(ids, r.UserID.String)
		}
	}
	users, err := c.UsersByID(ctx, ids)
	if err != nil {
		return nil, 0, false, fmt.Errorf("list the users of the audit log: %w", err)
	}
	names, err := namesOf(ctx, c, f.Workspace, rows)
	if err != nil {
		return nil, 0, false, fmt.Errorf("name the objects of the audit log: %w", err)
	}
	out := make([]Record, len(rows))
	for i, r := range rows {
		out[i] = Record{
			ID: r.ID, Action: r.Action, EntityType: r.EntityType, CreatedAt: r.CreatedAt,
			UserID: pointer(r.UserID), EntityID: pointer(r.EntityID), IP: pointer(r.IP), UserAgent: pointer(r.UserAgent),
			Old: raw(r.Old), New: raw(r.New), Metadata: json.RawMessage(r.Metadata),
		}
		if u, ok := users[r.UserID.String]; ok {
			out[i].User = &u
		}
		if name, ok := names[[2]string{r.EntityType, r.EntityID.String}]; ok {
			out[i].Name, out[i].Exists = &name, true
		} else {
			out[i].Name = nameIn(out[i].New, out[i].Old, out[i].Metadata)
		}
	}
	return out, total, exact, nil
}

func pointer(s sql.NullString) *string {
	if !s.Valid {
		return nil
	}
	return &s.String
}

func raw(s sql.NullString) json.RawMessage {
	if !s.Valid {
		return nil
	}
	return json.RawMessage(s.String)
}

// namesOf returns the names of the objects that still exist, by type and id.
func namesOf(ctx context.Context, c store.Conn, workspace uint64, rows []store.AuditRow) (map[[2]string]string, error) {
	ids := map[string][]string{}
	for _, r := range rows {
		if id := r.EntityID.String; id != "" && !slices.Contains(ids[r.EntityType], id) {
			ids[r.EntityType] = append(ids[r.EntityType], id)
		}
	}
	out := map[[2]string]string{}
	for kind, list := range ids {
		found, err := c.AuditNames(ctx, kind, workspace, list)
		if err != nil {
			return nil, err
		}
		for id, name := range found {
			out[[2]string{kind, id}] = name
		}
	}
	return out, nil
}

// nameIn returns the name of an object as its values had it.
func nameIn(values ...json.RawMessage) *string {
	for _, raw := range values {
		var v struct{ Name, Hostname, Email, Key, Domain, Slug string }
		if json.Unmarshal(raw, &v) != nil { // a list, or nothing
			continue
		}
		if v.Slug != "" {
			v.Slug = v.Domain + "/" + v.Slug
		}
		if name := cmp.Or(v.Slug, v.Name, v.Hostname, v.Email, v.Key); name != "" {
			return &name
		}
	}
	return nil
}
