package store

import (
	"context"
	"strings"
)

// auditNamed says where the names of audited objects are, by their type, and which of them belong to a workspace. Users belong to none.
var auditNamed = map[string]struct{ column, within string }{
	"api_key": {"api_keys.name", "workspace_num = ?"}, "bundle": {"bundles.name", "workspace_num = ?"},
	"domain": {"domains.hostname", "workspace_num = ?"},
	"import": {"imports.name", "workspace_num = ?"}, "invitation": {"invitations.email", "workspace_num = ?"},
	"segment":       {"segments.name", "workspace_num = ?"},
	"mail_report":   {"mail_reports.name", "workspace_num = ?"},
	"shared_report": {"shared_reports.name", "workspace_num = ?"},
	"tag":           {"tags.name", "workspace_num = ?"},
	"utm_template":  {"utm_templates.name", "workspace_num = ?"}, "view": {"saved_views.name", "workspace_num = ?"},
	"webhook":   {"webhooks.name", "workspace_num = ?"},
	"workspace": {"workspaces.name", "num = ?"}, "routing_rule": {"routing_rules.name", linkWithin},
	"variant": {"variants.name", linkWithin},
	"member":  {"users.email", ""}, "user": {"users.email", ""}, "passkey": {"passkeys.name", ""},
	"oidc_provider":  {"oidc_providers.name", ""},
	"system_setting": {"system_settings.key", ""},
}

const linkWithin = "url_id IN (SELECT id FROM urls WHERE workspace_num = ?)"

// AuditNames returns the present names of the objects of a type that still exist, by their ids. The name of a link is its host name, a
// slash and its slug; links of the service itself have no host name. With a workspace it leaves out what does not belong to it
// any more. The type is one of an AuditRow.
func (c Conn) AuditNames(ctx context.Context, entityType string, workspace uint64, ids []string) (map[string]string, error) {
	out := map[string]string{}
	if len(ids) == 0 {
		return out, nil
	}
	args := Args(ids)
	if entityType == "url" || entityType == "experiment" {
		list, err := All(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls WHERE id IN (`+In(len(ids))+`)`, args...)
		for i := range list {
			if l := &list[i]; workspace == 0 || l.Workspace == workspace {
				out[l.ID] = l.Hostname + "/" + l.Slug
			}
		}
		return out, err
	}
	place := auditNamed[entityType]
	table, _, ok := strings.Cut(place.column, ".")
	if !ok || workspace != 0 && place.within == "" {
		return out, nil
	}
	where := ``
	if workspace != 0 {
		where, args = ` AND `+place.within, append(args, workspace)
	}
	list, err := All(ctx, c, func(row interface{ Scan(...any) error }) (pair [2]string, err error) {
		return pair, row.Scan(&pair[0], &pair[1])
	}, `SELECT id, `+place.column+` FROM `+table+` WHERE id IN (`+In(len(ids))+`)`+where, args...)
	for _, one := range list {
		out[one[0]] = one[1]
	}
	return out, err
}
