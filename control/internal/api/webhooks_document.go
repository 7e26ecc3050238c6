package api

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
)

// eventWords describes when each event is sent.
var eventWords = map[string]string{
	webhooks.URLCreated: "A link was created.", webhooks.URLUpdated: "A link was changed.", webhooks.URLDeleted: "A link was deleted.", webhooks.URLRestored: "A link was restored from the trash.",
	webhooks.URLClicked: "Somebody followed a link.", webhooks.RuleCreated: "A routing rule was created.", webhooks.RuleUpdated: "A routing rule was changed.",
	webhooks.RuleDeleted: "A routing rule was deleted.", webhooks.RuleMatched: "A routing rule decided where a visitor went.",
	webhooks.ConversionCreated: "A visitor of a link did something, such as a purchase.",
	webhooks.ExperimentDecided: "The experiment of a link is over.",
	webhooks.DomainVerified:    "A domain came into service.", webhooks.DomainLost: "A domain left service, because its TXT record was missing for a week.",
	webhooks.CertificateIssued: "A domain has a new certificate.", webhooks.CertificateFailed: "Several orders of a certificate in a row failed.",
	webhooks.CertificateExpiring: "A certificate ends soon, or has ended, and nothing has replaced it.",
	"webhook.test":               "Somebody asked for a test delivery.",
}

// documentWebhooks adds the section webhooks to the OpenAPI document: the requests to receivers.
func (s *Server) documentWebhooks() {
	doc := s.huma.OpenAPI()
	doc.Webhooks = map[string]*huma.PathItem{}
	str := &huma.Schema{Type: huma.TypeString}
	header := func(name, about string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Required: true, Description: about, Schema: str}
	}
	for event, payload := range webhooks.Payloads {
		body := &huma.Schema{
			Type: huma.TypeObject, Required: []string{"event", "timestamp", "data"},
			Properties: map[string]*huma.Schema{
				"event": {Type: huma.TypeString, Enum: []any{event}}, "timestamp": {Type: huma.TypeString, Format: "date-time"},
				"data": doc.Components.Schemas.Schema(reflect.TypeOf(payload), true, ""),
			},
		}
		doc.Webhooks[event] = &huma.PathItem{Post: &huma.Operation{
			OperationID: event, Summary: eventWords[event], Tags: []string{"Webhooks"},
			Description: "Sent to every active webhook of the workspace that subscribes to the event. See the guide on webhooks for signatures and retries.",
			Parameters: []*huma.Param{
				header("X-Webhook-Event", "The event's name."), header("X-Webhook-Delivery-Id", "The delivery's id; retries carry the same."),
				header("X-Webhook-Timestamp", "When this attempt was sent, in Unix seconds."), header("X-Webhook-Attempt", "1 for the first attempt."),
				header("X-Webhook-Signature", "sha256= and the HMAC-SHA256 of the body in hexadecimal, keyed with the webhook's secret."),
			},
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: body}}},
			Responses:   map[string]*huma.Response{"2XX": {Description: http.StatusText(http.StatusOK) + " or any other 2xx: the delivery succeeded."}},
		}}
	}
}
