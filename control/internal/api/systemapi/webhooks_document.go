package systemapi

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
)

// eventWords describes when each event is sent.
var eventWords = map[string]string{
	webhooks.URLCreated: "A link was created.", webhooks.URLUpdated: "A link was changed.", webhooks.URLDeleted: "A link was deleted.",
	webhooks.URLRestored: "A link was restored from the trash.",
	webhooks.URLClicked:  "Somebody followed a link.", webhooks.RuleCreated: "A routing rule was created.",
	webhooks.RuleUpdated: "A routing rule was changed.",
	webhooks.RuleDeleted: "A routing rule was deleted.", webhooks.RuleMatched: "A routing rule decided where a visitor went.",
	webhooks.LinkStarted:          "The start of a link has come.",
	webhooks.LinkExpired:          "The end of a link has come.",
	webhooks.LinkExhausted:        "A link has had all its clicks.",
	webhooks.DestinationBroken:    "An address to which a link leads failed several checks in a row.",
	webhooks.DestinationRecovered: "A link leads to no broken address any more.",
	webhooks.AlertFired:           "An alert has fired.",
	webhooks.AlertResolved:        "An alert was resolved.",
	webhooks.ConversionCreated:    "A visitor of a link did something, such as a purchase.",
	webhooks.ExperimentDecided:    "The experiment of a link is over.",
	webhooks.DomainVerified:       "A domain came into service.",
	webhooks.DomainLost:           "A domain left service, because its TXT record was missing for a week.",
	webhooks.CertificateIssued:    "A domain has a new certificate.",
	webhooks.CertificateFailed:    "Several orders of a certificate in a row failed.",
	webhooks.CertificateExpiring:  "A certificate ends soon, or has ended, and nothing has replaced it.",
	"webhook.test":                "Somebody asked for a test delivery.",
}

// documentWebhooks adds the section webhooks to the OpenAPI document: the requests to receivers. Their bodies are also schemas of
// the API, as payloads in the log: generators drop schemas that only webhooks use.
func (s *server) documentWebhooks() {
	doc := s.OpenAPI()
	doc.Webhooks = map[string]*huma.PathItem{}
	schemas := doc.Components.Schemas
	every := &huma.Schema{Description: "The body of a delivery.", Discriminator: &huma.Discriminator{PropertyName: "event",
		Mapping: map[string]string{}}}
	for _, event := range slices.Sorted(maps.Keys(webhooks.Payloads)) {
		name := eventSchema(event)
		body := &huma.Schema{Ref: kit.SchemaPrefix + name}
		schemas.Map()[name] = &huma.Schema{
			Type: huma.TypeObject, Required: []string{"event", "timestamp", "data"},
			Properties: map[string]*huma.Schema{
				"event": {Type: huma.TypeString, Enum: kit.Enum(event)}, "timestamp": {Type: huma.TypeString, Format: "date-time"},
				"data": schemas.Schema(reflect.TypeOf(webhooks.Payloads[event]), true, ""),
			},
		}
		every.OneOf, every.Discriminator.Mapping[event] = append(every.OneOf, body), body.Ref
		doc.Webhooks[event] = &huma.PathItem{Post: &huma.Operation{
			OperationID: event, Summary: eventWords[event], Tags: []string{"Webhooks"},
			Description: "Sent to every active webhook of the workspace that subscribes to the event. See the guide on webhooks for signatures " +
				"and retries.",
			Security: []map[string][]string{}, Parameters: deliveryHeaders(),
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: body}}},
			Responses: map[string]*huma.Response{
				"2XX": {Description: http.StatusText(http.StatusOK) + " or any other 2xx: the delivery succeeded."}},
		}}
	}
	schemas.Map()["WebhookEvent"] = every
}

// deliveryHeaders documents the headers of every delivery.
func deliveryHeaders() (list []*huma.Param) {
	for _, h := range []struct {
		name, about string
		signed      bool
	}{
		{"X-Webhook-Event", "The event's name.", false},
		{"X-Webhook-Delivery-Id", "The delivery's id; retries carry the same.", false},
		{"X-Webhook-Timestamp", "When this attempt was sent, in Unix seconds.", false},
		{"X-Webhook-Attempt", "1 for the first attempt.", false},
		{"X-Webhook-Signature",
			"sha256= and the HMAC-SHA256 of the body in hexadecimal, keyed with the webhook's secret. Missing without a secret.", true},
		{"webhook-id", "The delivery's id, as Standard Webhooks names it.", false},
		{"webhook-timestamp", "When this attempt was sent, in Unix seconds, as Standard Webhooks names it.", false},
		{"webhook-signature",
			"The signature of Standard Webhooks: v1, and the HMAC-SHA256 of id.timestamp.body in base64. Missing without a secret.", true},
	} {
		list = append(list, &huma.Param{Name: h.name, In: "header", Required: !h.signed, Description: h.about,
			Schema: &huma.Schema{Type: huma.TypeString}})
	}
	return list
}

// eventSchema returns the name of the schema of an event: UrlCreatedEvent for url.created.
func eventSchema(event string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(event, func(r rune) bool { return r == '.' || r == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "Event"
}
