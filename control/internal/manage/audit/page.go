package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Record is one row of the log, and who did it: nil where nobody is known or the user is no more.
type Record struct {
	store.AuditRow
	User *store.User
}

// Page reads one page of the log for an ADMIN, and how many rows the filter selects in all.
func Page(ctx context.Context, p auth.Principal, c store.Conn, f store.AuditFilter) ([]Record, int, error) {
	if !p.IsAdmin() {
		return nil, 0, problem.New(problem.Forbidden, "Only administrators may do this.")
	}
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
		return nil, 0, err
	}
	rows, total, err := c.AuditLogs(ctx, f)
	if err != nil {
		return nil, 0, fmt.Errorf("list the audit log: %w", err)
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
		return nil, 0, fmt.Errorf("list the users of the audit log: %w", err)
	}
	out := make([]Record, len(rows))
	for i, r := range rows {
		out[i].AuditRow = r
		if u, ok := users[r.UserID.String]; ok {
			out[i].User = &u
		}
	}
	return out, total, nil
}
