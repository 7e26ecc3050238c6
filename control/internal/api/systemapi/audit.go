package systemapi

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// AuditLog is one entry of the audit log.
type AuditLog struct {
	ID         string          `json:"id"`
	UserID     *string         `json:"userId"`
	User       *AuditUser      `json:"user" doc:"Null if the user is unknown or was deleted."`
	Action     string          `json:"action" values:"auditAction" example:"URL_CREATED"`
	EntityType string          `json:"entityType" values:"entityType" example:"url"`
	EntityID   *string         `json:"entityId"`
	EntityName *string         `json:"entityName" doc:"The present name of the object, such as go.acme.com/spring, or the one that it had when it was deleted. Null if it has none." example:"go.acme.com/spring"`
	Exists     bool            `json:"entityExists" doc:"Whether an object with a name is still there."`
	OldValue   json.RawMessage `json:"oldValue" doc:"JSON or null."`
	NewValue   json.RawMessage `json:"newValue" doc:"JSON or null."`
	IPAddress  *string         `json:"ipAddress"`
	UserAgent  *string         `json:"userAgent"`
	Metadata   json.RawMessage `json:"metadata" doc:"Contains requestId, method and path."`
	CreatedAt  kit.Time        `json:"createdAt"`
}

// AuditUser is the user who made a change.
type AuditUser struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

// AuditLogs is one page of the audit log. The fields logs and data contain the same rows.
type AuditLogs struct {
	Logs []AuditLog `json:"logs"`
	kit.List[AuditLog]
	TotalIsExact bool `json:"totalIsExact" doc:"False if the parameters select more than 10,000 entries; total is 10000 then."`
}

func auditLogOf(r audit.Record) AuditLog {
	out := AuditLog{
		ID: r.ID, UserID: r.UserID, Action: r.Action, EntityType: r.EntityType, EntityID: r.EntityID, EntityName: r.Name, Exists: r.Exists,
		OldValue: r.Old, NewValue: r.New, IPAddress: r.IP, UserAgent: r.UserAgent, Metadata: r.Metadata, CreatedAt: kit.Time(r.CreatedAt),
	}
	if r.User != nil {
		out.User = &AuditUser{r.User.ID, r.User.Email, r.User.Name}
	}
	return out
}

const auditPage = 20

type listAuditLogsIn struct {
	kit.Paging
	SortBy string `query:"sortBy" values:"auditSort" doc:"The field to sort by; createdAt by default."`
	kit.Sorting
	Action     string `query:"action" values:"auditAction" doc:"Only entries with this action."`
	EntityType string `query:"entityType" values:"entityType" doc:"Only entries about this type of object."`
	EntityID   string `query:"entityId" doc:"Id of the changed entity."`
	UserID     string `query:"userId" doc:"Id of the user who made the change."`
	StartDate  string `query:"startDate" doc:"A date or time in ISO 8601."`
	EndDate    string `query:"endDate" doc:"A date or time in ISO 8601; a date includes the whole day."`
}

var auditResource = kit.Resource{
	Tag: "Audit", About: "Who changed what, and when. Administrators only.",
	Read: kit.Needs(auth.WorkspaceAdmin, 0), Change: kit.Needs(auth.WorkspaceAdmin, 0),
	Values: map[string][]any{
		"auditSort":   kit.Enum(slices.Sorted(maps.Keys(store.AuditSorts))...),
		"auditAction": kit.Enum(audit.Actions...),
		"entityType":  kit.Enum(audit.EntityTypes...),
	},
}

func (s *server) registerAudit() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/audit-logs", ID: "listAuditLogs", Summary: "List the audit log",
		Tag: "Audit", OfChoice: true}.
		About("Every change, sign-in and failed sign-in, newest first. Entries are append-only and never contain passwords or keys."),
		s.listAuditLogs)
}

func (s *server) listAuditLogs(ctx context.Context, in *listAuditLogsIn) (*kit.Body[AuditLogs], error) {
	f := store.AuditFilter{
		Action: in.Action, EntityType: in.EntityType, EntityID: in.EntityID, UserID: in.UserID,
		SortBy: in.SortBy, Ascending: in.Ascending(), Offset: in.Offset(auditPage), Limit: in.Size(auditPage),
	}
	var v problem.Fields
	if from, ok := kit.ParseDateOrTime(in.StartDate); !ok {
		v.Add("startDate", "must be a date or a time in ISO 8601")
	} else {
		f.From = from
	}
	if to, ok := kit.ParseDateOrTime(in.EndDate); !ok {
		v.Add("endDate", "must be a date or a time in ISO 8601")
	} else if in.EndDate != "" {
		f.To = to + 1
		if len(in.EndDate) == len("2027-01-31") {
			f.To = to + 24*60*60*1000
		}
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	records, total, exact, err := audit.Page(ctx, kit.Principal(ctx), s.Store.Conn, f)
	if err != nil {
		return nil, err
	}
	page := kit.ListOf(kit.EachOf(auditLogOf)(records), total, in.Paging, auditPage)
	return kit.NewBody(AuditLogs{page.Data, page, exact}), nil
}
