package systemapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/alerts"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
)

// AlertChannel is where alerts are sent.
type AlertChannel struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Kind        string    `json:"kind" values:"alertChannelKind"`
	Email       *string   `json:"email" doc:"Address of a channel of the kind mail."`
	Host        *string   `json:"host" doc:"Host of the address of a chat. The address itself is never returned: whoever knows it can post there."`
	QuietFrom   *string   `json:"quietFrom" doc:"Beginning of the quiet hours. Messages wait until their end." example:"22:00"`
	QuietTo     *string   `json:"quietTo" example:"07:00"`
	TimeZone    string    `json:"timeZone" doc:"IANA time zone of the quiet hours." example:"Europe/Berlin"`
	IsActive    bool      `json:"isActive"`
	LastError   *string   `json:"lastError" doc:"Why the last message was not accepted; null if it was."`
	kit.Wording           // of LastError
	LastSentAt  *kit.Time `json:"lastSentAt" doc:"When a message was last sent, or tried to be sent."`
	CreatedAt   kit.Time  `json:"createdAt"`
	UpdatedAt   kit.Time  `json:"updatedAt"`
}

func alertChannelOf(c alerts.Channel) AlertChannel {
	out := AlertChannel{ID: c.ID, Name: c.Name, Kind: c.Kind, Host: kit.Text(c.Host()), QuietFrom: kit.Text(alerts.Clock(c.QuietFrom)),
		QuietTo: kit.Text(alerts.Clock(c.QuietTo)), TimeZone: c.Zone, IsActive: c.Active, LastError: kit.Text(c.LastError),
		Wording:    kit.WordingOf(c.LastError),
		LastSentAt: kit.Instant(c.LastSent), CreatedAt: kit.Time(c.CreatedAt), UpdatedAt: kit.Time(c.UpdatedAt)}
	if c.Kind == alerts.Mail {
		out.Email = kit.Text(c.Target)
	}
	return out
}

// AlertRule is what a workspace wants to be told.
type AlertRule struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Causes      []string `json:"causes" values:"alertCause"`
	URLID       *string  `json:"urlId" doc:"Only this link; null: all links of the workspace. Unusual clicks are then looked for in the 100 links with the most clicks."`
	Tags        []string `json:"tags" doc:"Names of tags. Only links with one of them, unless the list is empty."`
	Days        int64    `json:"days" doc:"How many days before the end of a link the cause expiry holds."`
	Exhaustion  int64    `json:"exhaustionPercent" doc:"After which share of the clicks that a link may have the cause exhaustion holds."`
	Sensitivity string   `json:"sensitivity" values:"alertSensitivity" doc:"How improbable clicks must be to be unusual: a chance below 1 in 10,000,000 (low), 100,000 (normal) or 10,000 (high)."`
	Direction   string   `json:"direction" values:"alertDirection" doc:"Whether clicks above the expected ones, below them or both are unusual."`
	MinRise     int64    `json:"minRisePercent" doc:"How far above the expected clicks unusual ones are at least: 100 is twice as many."`
	MinFall     int64    `json:"minFallPercent" doc:"How far below the expected clicks unusual ones are at least: 100 is none."`
	MinClicks   int64    `json:"minClicks" doc:"By how many clicks unusual ones differ from the expected ones at least."`
	ChannelIDs  []string `json:"channelIds"`
	IsActive    bool     `json:"isActive"`
	CreatedAt   kit.Time `json:"createdAt"`
	UpdatedAt   kit.Time `json:"updatedAt"`
}

func alertRuleOf(r store.AlertRule) AlertRule {
	u := &r.Unusual
	return AlertRule{ID: r.ID, Name: r.Name, Causes: r.Causes, URLID: kit.Text(r.LinkID), Tags: append([]string{}, r.Tags...), Days: r.Days,
		Exhaustion: r.Exhaustion, Sensitivity: u.Sensitivity, Direction: u.Direction, MinRise: u.MinRise, MinFall: u.MinFall,
		MinClicks: u.MinClicks, ChannelIDs: r.Channels, IsActive: r.Active, CreatedAt: kit.Time(r.CreatedAt),
		UpdatedAt: kit.Time(r.UpdatedAt)}
}

// Alert is one cause at one time.
type Alert struct {
	ID          string    `json:"id"`
	RuleID      string    `json:"ruleId"`
	RuleName    string    `json:"ruleName"`
	Kind        string    `json:"kind" values:"alertCause"`
	Status      string    `json:"status" values:"alertStatus"`
	Summary     string    `json:"summary" doc:"What has happened, as a sentence."`
	kit.Wording           // of Summary
	URLIDs      []string  `json:"urlIds" doc:"Ids of the links that are concerned, at most ten."`
	URLCount    int64     `json:"urlCount" doc:"Number of links that are concerned."`
	FiredAt     kit.Time  `json:"firedAt"`
	ResolvedAt  *kit.Time `json:"resolvedAt"`
}

func alertOf(a store.Alert) Alert {
	out := Alert{a.ID, a.RuleID, a.RuleName, a.Kind, alerts.Open, a.Summary, kit.WordingOf(a.Summary), a.Links, a.LinkCount,
		kit.Time(a.FiredAt),
		kit.Instant(a.ResolvedAt)}
	if a.ResolvedAt != 0 {
		out.Status = alerts.Resolved
	}
	return out
}

const alertPage = 20

var alertResource = kit.Resource{
	Tag:   "Alerts",
	About: "Rules that tell a workspace of unusual clicks, broken destinations, links that end soon, domains in trouble and failing webhooks.",
	Read:  kit.Needs(auth.WorkspaceAdmin, auth.WebhooksScope), Change: kit.Needs(auth.WorkspaceAdmin, auth.WebhooksScope),
	Values: map[string][]any{"alertChannelKind": kit.Enum(alerts.Kinds...), "alertCause": kit.Enum(alerts.Causes...),
		"alertStatus": kit.Enum(alerts.Open, alerts.Resolved), "alertSensitivity": kit.Enum(alerts.Sensitivities...),
		"alertDirection": kit.Enum(alerts.Directions...)},
}

// AlertChannelFields has the fields of both requests.
type AlertChannelFields struct {
	QuietFrom kit.Opt[string] `json:"quietFrom,omitempty" doc:"Beginning of the quiet hours; null removes them together with quietTo." example:"22:00"`
	QuietTo   kit.Opt[string] `json:"quietTo,omitempty" example:"07:00"`
	TimeZone  kit.Opt[string] `json:"timeZone,omitempty" doc:"IANA time zone of the quiet hours; UTC if it is left out." example:"Europe/Berlin"`
	IsActive  kit.Opt[bool]   `json:"isActive,omitempty" doc:"The default is true."`
}

func (f *AlertChannelFields) channelInput(name, kind, target kit.Opt[string]) alerts.ChannelInput {
	return alerts.ChannelInput{Name: kit.Given(name, ""), Kind: kit.Given(kind, ""), Target: kit.Given(target, ""),
		QuietFrom: kit.Given(f.QuietFrom, ""), QuietTo: kit.Given(f.QuietTo, ""), Zone: kit.Given(f.TimeZone, "UTC"),
		Active: kit.Given(f.IsActive, true)}
}

// AlertUnusualFields say which clicks are unusual.
type AlertUnusualFields struct {
	Sensitivity kit.Opt[string] `json:"sensitivity,omitempty" values:"alertSensitivity" doc:"The default is normal."`
	Direction   kit.Opt[string] `json:"direction,omitempty" values:"alertDirection" doc:"The default is both."`
	MinRise     kit.Opt[int64]  `json:"minRisePercent,omitempty" doc:"10 to 10,000; 100 if it is left out: twice the expected clicks."`
	MinFall     kit.Opt[int64]  `json:"minFallPercent,omitempty" doc:"10 to 100; 50 if it is left out: half of the expected clicks."`
	MinClicks   kit.Opt[int64]  `json:"minClicks,omitempty" doc:"At least 1; 20 if it is left out."`
}

// AlertRuleFields has the fields of both requests.
type AlertRuleFields struct {
	AlertUnusualFields
	URLID      kit.Opt[string]   `json:"urlId,omitempty" doc:"Only this link; null: all links of the workspace."`
	Tags       kit.Opt[[]string] `json:"tags,omitempty" doc:"Names of at most 20 tags: only links with one of them. It must be empty together with urlId."`
	Days       kit.Opt[int64]    `json:"days,omitempty" doc:"1 to 90; 7 if it is left out."`
	Exhaustion kit.Opt[int64]    `json:"exhaustionPercent,omitempty" doc:"1 to 99; 90 if it is left out."`
	ChannelIDs kit.Opt[[]string] `json:"channelIds,omitempty" doc:"At most 20. Webhooks need no channel: they subscribe to alert.fired and alert.resolved."`
	IsActive   kit.Opt[bool]     `json:"isActive,omitempty" doc:"The default is true. Open alerts of a rule that is turned off are resolved without messages."`
}

func (f *AlertRuleFields) ruleInput(name kit.Opt[string], causes kit.Opt[[]string]) alerts.RuleInput {
	u := alerts.DefaultUnusual
	return alerts.RuleInput{Name: kit.Given(name, ""), Causes: kit.Given(causes, nil), LinkID: kit.Given(f.URLID, ""),
		Tags: kit.Given(f.Tags, nil), Days: kit.Given(f.Days, int64(alerts.DefaultDays)),
		Exhaustion: kit.Given(f.Exhaustion, int64(alerts.DefaultExhaustion)), Sensitivity: kit.Given(f.Sensitivity, u.Sensitivity),
		Direction: kit.Given(f.Direction, u.Direction), MinRise: kit.Given(f.MinRise, u.MinRise), MinFall: kit.Given(f.MinFall, u.MinFall),
		MinClicks: kit.Given(f.MinClicks, u.MinClicks), Channels: kit.Given(f.ChannelIDs, nil), Active: kit.Given(f.IsActive, true)}
}

func (s *server) registerAlerts() {
	s.registerAlertChannels()
	declare := kit.Under("/api/alert-rules", "Alerts")
	changes := func(method, path, id, summary string) kit.Endpoint {
		e := declare(method, path, id, summary)
		e.Limit = kit.LimitWebhooks
		return e
	}
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listAlertRules", "List alert rules").
		About("A page of the workspace's alert rules, the newest first."), func(ctx context.Context, in *struct{ kit.Paging }) (
		*kit.Body[kit.List[AlertRule]], error) {
		return kit.RespondPage(in.Paging, alertPage, alertRuleOf)(s.Alerts.ListRules(ctx, kit.Principal(ctx), in.Offset(alertPage),
			in.Size(alertPage)))
	})
	kit.Handle(s.Kit, changes(http.MethodPost, "", "createAlertRule", "Create an alert rule").
		About("Fires an alert when one of the causes begins to hold, and resolves it when the cause no longer holds. A workspace can have 100 "+
			"rules (409).").
		Example(`{"name":"Our campaign","causes":["clicks","destination"],"channelIds":[]}`).Fails(http.StatusConflict),
		func(ctx context.Context, in *struct {
			Body struct {
				Name   kit.Opt[string]   `json:"name" required:"true" doc:"1 to 100 characters."`
				Causes kit.Opt[[]string] `json:"causes" required:"true" values:"alertCause" doc:"At least one."`
				AlertRuleFields
			}
		}) (*kit.Body[AlertRule], error) {
			return kit.Respond(alertRuleOf)(s.Alerts.CreateRule(ctx, kit.Principal(ctx), in.Body.ruleInput(in.Body.Name, in.Body.Causes)))
		})
	kit.Handle(s.Kit, changes(http.MethodPut, "/{id}", "updateAlertRule", "Update the given fields of an alert rule").
		About("Changes the given fields.").Example(`{"days":3}`), func(ctx context.Context, in *struct {
		kit.ByID
		Body struct {
			Name   kit.Opt[string]   `json:"name,omitempty"`
			Causes kit.Opt[[]string] `json:"causes,omitempty" values:"alertCause"`
			AlertRuleFields
		}
	}) (*kit.Body[AlertRule], error) {
		return kit.Respond(alertRuleOf)(s.Alerts.UpdateRule(ctx, kit.Principal(ctx), in.ID, in.Body.ruleInput(in.Body.Name,
			in.Body.Causes)))
	})
	kit.Handle(s.Kit, changes(http.MethodDelete, "/{id}", "deleteAlertRule", "Delete an alert rule").
		About("Deletes the rule and its alerts."), kit.Delete(s.Alerts.DeleteRule))
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/alerts", ID: "listAlerts", Summary: "List alerts", Tag: "Alerts",
		Scope: auth.AnalyticsRead}. // a summary has figures
		About("A page of the workspace's alerts, the newest first. Resolved alerts are kept for 180 days.").Fails(http.StatusBadRequest),
		func(ctx context.Context, in *struct {
			kit.Paging
			Status string `query:"status" values:"alertStatus" doc:"Both if left out."`
			Kind   string `query:"kind" values:"alertCause" doc:"All if left out."`
			RuleID string `query:"ruleId" doc:"Only alerts of this rule."`
		}) (*kit.Body[kit.List[Alert]], error) {
			return kit.RespondPage(in.Paging, alertPage, alertOf)(s.Alerts.List(ctx, kit.Principal(ctx), alerts.Query{Status: in.Status,
				RuleID: in.RuleID, Kind: in.Kind, Offset: in.Offset(alertPage), Limit: in.Size(alertPage)}))
		})
}

func (s *server) registerAlertChannels() {
	declare := kit.Under("/api/alert-channels", "Alerts")
	changes := func(method, path, id, summary string) kit.Endpoint {
		e := declare(method, path, id, summary)
		e.Limit = kit.LimitWebhooks
		return e
	}
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listAlertChannels", "List alert channels").
		About("A page of the workspace's alert channels, the newest first. Addresses of chats are never returned."),
		func(ctx context.Context, in *struct{ kit.Paging }) (*kit.Body[kit.List[AlertChannel]], error) {
			return kit.RespondPage(in.Paging, alertPage, alertChannelOf)(s.Alerts.ListChannels(ctx, kit.Principal(ctx),
				in.Offset(alertPage),
				in.Size(alertPage)))
		})
	kit.Handle(s.Kit, changes(http.MethodPost, "", "createAlertChannel", "Create an alert channel").
		About("Adds an e-mail address of a member, or the address of an incoming webhook of Slack, Microsoft Teams or Discord: a public https "+
			"address. A workspace can have 100 channels (409).").
		Example(`{"name":"Marketing","kind":"slack","target":"https://hooks.slack.com/services/T0/B0/x","quietFrom":"22:00","quietTo":"07:00",`+
			`"timeZone":"Europe/Berlin"}`).Fails(http.StatusConflict),
		func(ctx context.Context, in *struct {
			Body struct {
				Name   kit.Opt[string] `json:"name" required:"true" doc:"1 to 100 characters."`
				Kind   kit.Opt[string] `json:"kind" required:"true" values:"alertChannelKind"`
				Target kit.Opt[string] `json:"target" required:"true" doc:"E-mail address of a member, or a public https address."`
				AlertChannelFields
			}
		}) (*kit.Body[AlertChannel], error) {
			return kit.Respond(alertChannelOf)(s.Alerts.CreateChannel(ctx, kit.Principal(ctx), in.Body.channelInput(in.Body.Name,
				in.Body.Kind,
				in.Body.Target)))
		})
	kit.Handle(s.Kit, changes(http.MethodPut, "/{id}", "updateAlertChannel", "Update the given fields of an alert channel").
		About("Changes the given fields. The kind of a channel cannot change.").Example(`{"isActive":false}`),
		func(ctx context.Context, in *struct {
			kit.ByID
			Body struct {
				Name   kit.Opt[string] `json:"name,omitempty"`
				Target kit.Opt[string] `json:"target,omitempty"`
				AlertChannelFields
			}
		}) (*kit.Body[AlertChannel], error) {
			return kit.Respond(alertChannelOf)(s.Alerts.UpdateChannel(ctx, kit.Principal(ctx), in.ID,
				in.Body.channelInput(in.Body.Name, kit.Opt[string]{}, in.Body.Target)))
		})
	kit.Handle(s.Kit, changes(http.MethodDelete, "/{id}", "deleteAlertChannel", "Delete an alert channel").
		About("Deletes the channel and its messages. Rules keep their other channels."), kit.Delete(s.Alerts.DeleteChannel))
}
