package webhooks

import (
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/store"
)

// These are the payloads of events: the field data in the body of a delivery. The OpenAPI document is generated from
// them. Some values have two names, for receivers that were written for other services.

// Change is a field before and after an action.
type Change struct {
	Old any `json:"old" doc:"The value before."`
	New any `json:"new" doc:"The value after."`
}

// Address is where visitors find a link. It is part of the payloads about links.
type Address struct {
	Domain   string `json:"domain" doc:"The host name of the link's address."`
	ShortURL string `json:"shortUrl" doc:"The link's address."`
}

// AddressOf returns the address of a link.
func AddressOf(c store.Conn, u *store.Link) (a Address) {
	a.Domain, a.ShortURL = c.Address(u)
	return a
}

// LinkCreated is the payload of url.created.
type LinkCreated struct {
	ID          string  `json:"id" doc:"The link's id."`
	Slug        string  `json:"slug" doc:"The link's slug."`
	OriginalURL string  `json:"originalUrl" doc:"Where the link leads."`
	Title       *string `json:"title" doc:"The link's title."`
	UserID      string  `json:"userId" doc:"The link's owner."`
	CreatedAt   string  `json:"createdAt" format:"date-time" doc:"When the link was created."`
	URLID       string  `json:"urlId" doc:"The same as id."`
	Address
}

// LinkUpdated is the payload of url.updated.
type LinkUpdated struct {
	ID          string            `json:"id" doc:"The link's id."`
	Slug        string            `json:"slug" doc:"The link's slug."`
	Changes     map[string]Change `json:"changes" doc:"What changed, by the field's name. Passwords are always ***."`
	URLID       string            `json:"urlId" doc:"The same as id."`
	OriginalURL string            `json:"originalUrl" doc:"Where the link leads now."`
	UserID      string            `json:"userId" doc:"The link's owner."`
	Address
}

// LinkDeleted is the payload of url.deleted.
type LinkDeleted struct {
	ID          string `json:"id" doc:"The link's id."`
	Slug        string `json:"slug" doc:"The link's slug."`
	OriginalURL string `json:"originalUrl" doc:"Where the link led."`
	UserID      string `json:"userId" doc:"The link's owner."`
	URLID       string `json:"urlId" doc:"The same as id."`
	Address
}

// LinkRestored is the payload of url.restored.
type LinkRestored struct {
	ID          string `json:"id" doc:"The link's id."`
	Slug        string `json:"slug" doc:"The link's slug, which may differ from the one before the deletion."`
	OriginalURL string `json:"originalUrl" doc:"Where the link leads."`
	UserID      string `json:"userId" doc:"The link's owner."`
	URLID       string `json:"urlId" doc:"The same as id."`
	Address
}

// LinkTimed is the payload of link.started, link.expired and link.exhausted.
type LinkTimed struct {
	URLID       string  `json:"urlId" doc:"The link's id."`
	Slug        string  `json:"slug" doc:"The link's slug."`
	OriginalURL string  `json:"originalUrl" doc:"Where the link leads."`
	Title       *string `json:"title" doc:"The link's title."`
	UserID      string  `json:"userId" doc:"The link's owner."`
	Status      string  `json:"status" doc:"The link's status now. It differs from the event if the link is also, for example, INACTIVE or SUSPENDED."`
	At          string  `json:"at" format:"date-time" doc:"When the link started, ended or was exhausted."`
	StartsAt    *string `json:"startsAt" format:"date-time" doc:"When the link starts to work; null if it has no start."`
	ExpiresAt   *string `json:"expiresAt" format:"date-time" doc:"When the link stops working; null if it has no end."`
	MaxClicks   *int64  `json:"maxClicks" doc:"Clicks by people after which the link is exhausted; null if it has no limit."`
	Address
}

// DestinationChanged is the payload of link.destination_broken and link.destination_recovered.
type DestinationChanged struct {
	URLID       string  `json:"urlId" doc:"The link's id."`
	Slug        string  `json:"slug" doc:"The link's slug."`
	Title       *string `json:"title" doc:"The link's title."`
	UserID      string  `json:"userId" doc:"The link's owner."`
	Destination string  `json:"destination" doc:"The address that is concerned, one of those to which the link leads."`
	Health      string  `json:"health" enum:"ok,redirected,broken,unknown" doc:"The health of the link from now on."`
	Reason      *string `json:"reason" doc:"Why, as a code such as not_found; null if the address works."`
	StatusCode  *int64  `json:"statusCode" doc:"The HTTP status of the last answer; null if there was none."`
	CheckedAt   *string `json:"checkedAt" format:"date-time" doc:"When the address was asked last; null: never."`
	Address
}

// AlertChanged is the payload of alert.fired and alert.resolved.
type AlertChanged struct {
	AlertID    string   `json:"alertId" doc:"The alert's id."`
	RuleID     string   `json:"ruleId" doc:"The id of the alert rule."`
	RuleName   string   `json:"ruleName" doc:"The name of the alert rule."`
	Kind       string   `json:"kind" enum:"clicks,destination,expiry,exhaustion,domain,webhook" doc:"What the alert is about."`
	Summary    string   `json:"summary" doc:"What has happened, as a sentence."`
	URLIDs     []string `json:"urlIds" doc:"Ids of the links that are concerned, at most ten."`
	URLCount   int64    `json:"urlCount" doc:"Number of links that are concerned."`
	FiredAt    string   `json:"firedAt" format:"date-time" doc:"When the alert fired."`
	ResolvedAt *string  `json:"resolvedAt" format:"date-time" doc:"When the alert was resolved; null: it is open."`
}

// RuleChanged is the payload of routing.rule_created, routing.rule_updated and routing.rule_deleted.
type RuleChanged struct {
	ID        string            `json:"id" doc:"The rule's id."`
	URLID     string            `json:"urlId" doc:"The link that the rule belongs to."`
	Name      string            `json:"name" doc:"The rule's name."`
	TargetURL string            `json:"targetUrl" doc:"Where the rule leads."`
	Priority  int               `json:"priority" doc:"Rules are tried from the highest priority on."`
	UserID    string            `json:"userId" doc:"The link's owner."`
	RuleID    string            `json:"ruleId" doc:"The same as id."`
	Changes   map[string]Change `json:"changes,omitempty" doc:"What changed of the link with the same action, such as isSmartRouting; missing if nothing did."`
}

// LinkClicked is the payload of url.clicked. Unknown values are null.
type LinkClicked struct {
	URLID       string              `json:"urlId" doc:"The link's id."`
	VariantID   *string             `json:"variantId" doc:"The variant that was drawn."`
	ClickData   analytics.ClickData `json:"clickData" doc:"Who clicked."`
	Slug        string              `json:"slug" doc:"The link's slug."`
	TargetURL   *string             `json:"targetUrl" doc:"Where the click led; null if that was a rule's or a variant's that has been deleted."`
	VariantName *string             `json:"variantName" doc:"The name of the variant that was drawn."`
	Address
}

// MatchedRule is the payload of routing.rule_matched.
type MatchedRule struct {
	URLID     string              `json:"urlId" doc:"The link's id."`
	RuleID    string              `json:"ruleId" doc:"The rule that matched."`
	RuleName  *string             `json:"ruleName" doc:"The rule's name."`
	TargetURL *string             `json:"targetUrl" doc:"Where the rule leads."`
	ClickData analytics.ClickData `json:"clickData" doc:"Who clicked."`
}

// ConversionMade is the payload of conversion.created.
type ConversionMade struct {
	ID         string  `json:"id" doc:"The conversion's id. A repeated delivery has the same."`
	URLID      string  `json:"urlId" doc:"The link's id."`
	Slug       string  `json:"slug" doc:"The link's slug."`
	Name       string  `json:"name" doc:"What the visitor did, such as purchase."`
	Value      float64 `json:"value" doc:"The value, 0 if there is none."`
	Currency   *string `json:"currency" doc:"The value's currency (ISO 4217)."`
	ExternalID *string `json:"externalId" doc:"The sender's own id."`
	OccurredAt string  `json:"occurredAt" format:"date-time" doc:"When it happened."`
	ClickedAt  string  `json:"clickedAt" format:"date-time" doc:"When the visitor followed the link."`
	VariantID  *string `json:"variantId" doc:"The variant that was drawn; null also if the click has not arrived yet."`
	RuleID     *string `json:"ruleId" doc:"The rule that matched; null also if the click has not arrived yet."`
	Address
}

// ExperimentOver is the payload of experiment.decided.
type ExperimentOver struct {
	URLID       string  `json:"urlId" doc:"The link's id."`
	Slug        string  `json:"slug" doc:"The link's slug."`
	Goal        string  `json:"goal" doc:"The name of the conversions that were compared."`
	Status      string  `json:"status" enum:"WINNER,NO_DIFFERENCE,INVALID" doc:"How the experiment ended."`
	VariantID   *string `json:"variantId" doc:"The winner; null if there is none."`
	VariantName *string `json:"variantName" doc:"The winner's name; null if there is none."`
	Promoted    bool    `json:"promoted" doc:"Whether the winner gets all visitors from now on."`
	Reason      string  `json:"reason" doc:"Why, with figures."`
	DecidedAt   string  `json:"decidedAt" format:"date-time" doc:"When the experiment ended."`
	Address
}

// DomainChanged is the payload of domain.verified and domain.failed.
type DomainChanged struct {
	ID       string `json:"id" doc:"The domain's id."`
	Hostname string `json:"hostname" doc:"The domain's host name, in ASCII."`
	Status   string `json:"status" doc:"The domain's status from now on."`
}

// DomainEvent returns the payload of domain.verified and domain.failed.
func DomainEvent(d *store.Domain) DomainChanged { return DomainChanged{d.ID, d.Hostname, d.Status} }

// CertificateChanged is the payload of domain.certificate.issued, domain.certificate.failed and domain.certificate.expiring.
type CertificateChanged struct {
	ID        string  `json:"id" doc:"The domain's id."`
	Hostname  string  `json:"hostname" doc:"The domain's host name, in ASCII."`
	Source    string  `json:"source" doc:"ACME if the service orders the certificate, UPLOADED if an owner has uploaded it."`
	Issuer    *string `json:"issuer" doc:"The name of the certificate authority; null if there is no certificate yet."`
	NotBefore *string `json:"notBefore" format:"date-time" doc:"When the certificate begins; null if there is none yet."`
	NotAfter  *string `json:"notAfter" format:"date-time" doc:"When the certificate ends; null if there is none yet."`
	LastError *string `json:"lastError" doc:"Why the last order failed; null if it succeeded."`
}

// CertificateEvent returns the payload of the events of a domain's certificate.
func CertificateEvent(d *store.Domain, c *store.Certificate) CertificateChanged {
	out := CertificateChanged{ID: d.ID, Hostname: d.Hostname, Source: c.Source}
	if c.NotAfter > 0 {
		from, to := instant(c.NotBefore), instant(c.NotAfter)
		out.Issuer, out.NotBefore, out.NotAfter = &c.Issuer, &from, &to
	}
	if c.LastError != "" {
		out.LastError = &c.LastError
	}
	return out
}

// Tested is the payload of webhook.test.
type Tested struct {
	Message string `json:"message" doc:"A sentence that says what this is."`
	ID      string `json:"webhookId" doc:"The webhook that is tested."`
	Name    string `json:"webhookName" doc:"Its name."`
}

// Payloads has an empty payload of every event, by the event's name, for the OpenAPI document.
var Payloads = map[string]any{
	URLCreated: LinkCreated{}, URLUpdated: LinkUpdated{}, URLDeleted: LinkDeleted{}, URLRestored: LinkRestored{}, URLClicked: LinkClicked{},
	LinkStarted: LinkTimed{}, LinkExpired: LinkTimed{}, LinkExhausted: LinkTimed{},
	DestinationBroken: DestinationChanged{}, DestinationRecovered: DestinationChanged{},
	AlertFired: AlertChanged{}, AlertResolved: AlertChanged{},
	RuleCreated: RuleChanged{}, RuleUpdated: RuleChanged{}, RuleDeleted: RuleChanged{}, RuleMatched: MatchedRule{},
	ConversionCreated: ConversionMade{}, ExperimentDecided: ExperimentOver{},
	DomainVerified: DomainChanged{}, DomainLost: DomainChanged{}, CertificateIssued: CertificateChanged{},
	CertificateFailed: CertificateChanged{}, CertificateExpiring: CertificateChanged{}, tested: Tested{},
}
