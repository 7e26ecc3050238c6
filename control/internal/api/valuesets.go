package api

import (
	"maps"
	"slices"

	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/views"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/visitor"
)

// valueSets are the closed sets of values that fields and parameters name with the tag values, for the OpenAPI document. Use
// cases check values against the same tables.
var valueSets = map[string][]any{
	"direction":       set("asc", "desc"), // asc and desc are also accepted in upper case
	"linkSort":        set(slices.Sorted(maps.Keys(store.TrashSorts))...),
	"auditSort":       set(slices.Sorted(maps.Keys(store.AuditSorts))...),
	"linkSwitch":      set(store.StatusActive, store.StatusInactive),
	"linkStatus":      set(store.LinkStatuses...),
	"anyLinkStatus":   set(append(slices.Clone(store.LinkStatuses), links.StatusDeleted)...),
	"redirectCode":    set(links.RedirectCodes...),
	"stickiness":      set(link.Stickinesses()...),
	"twitterCard":     set(links.TwitterCards...),
	"utmField":        set(utmFields()...),
	"importConflicts": set(links.AllConflicts...),
	"bundleStatus":    set(bundles.StatusActive, bundles.StatusArchived),
	"viewScreen":      set(views.Screens...),
	"routingTemplate": set(templateKeys()...),
	"conditionType":   set(conditionTypes()...),
	"webhookEvent":    set(webhooks.Names...),
	"deliveredEvent":  set(slices.Sorted(maps.Keys(webhooks.Payloads))...),
	"deliveryStatus":  set("success", "failed"),
	"device":          set(visitor.Mobile, visitor.Tablet, visitor.Desktop),
	"webhookPause":    set(store.PauseReasons...),
	"webhookScope":    set(webhooks.ScopeOwn, webhooks.ScopeAll),
	"keyScope":        set(auth.ScopeNames()...),
	"auditAction":     set(audit.Actions...),
	"changeAction":    set(append(slices.Clone(audit.Actions), links.ActionEarlier)...),
	"entityType":      set(audit.EntityTypes...),
	"caseStatus":      set(caseStatuses...),
	"caseSource":      set(caseSources...),
	"reportInterval":  set(report.Intervals()...),
	"reportRange":     set(report.RangeNames()...),
	"reportCompare":   set(report.Comparisons...),
	"reportGroup":     set(report.GroupedBy...),
	"chosenBy":        set("RULE", "VARIANT", "DEFAULT", "ORIGINAL"),
}

func set[T any](list ...T) []any {
	values := make([]any, len(list))
	for i, v := range list {
		values[i] = v
	}
	return values
}

func valuesOf(name string) []any {
	list := valueSets[name]
	if list == nil {
		panic("BUG: no set of values " + name)
	}
	return list
}

// utmFields returns the names of a link's campaign fields.
func utmFields() (names []string) {
	for _, f := range store.LinkTexts {
		if f.UTM {
			names = append(names, f.Name)
		}
	}
	return names
}

func templateKeys() (keys []string) {
	for _, t := range rule.Templates() {
		keys = append(keys, t.Key)
	}
	return keys
}
