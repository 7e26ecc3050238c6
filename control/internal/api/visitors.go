package api

import (
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// visitorTag groups the paths that edges serve. The control plane does not serve them. They are in the document for
// developers who embed or script short links.
const visitorTag = "Visitors"

// linkInfo is the response of GET /{slug}/info. The edge implements it (edge/internal/redirect/info.go).
type linkInfo struct {
	Slug             string  `json:"slug" doc:"The slug as the owner wrote it."`
	Title            *string `json:"title" doc:"The link's title."`
	RequiresPassword bool    `json:"requiresPassword" doc:"Whether visitors must send a password to /{slug}/verify."`
	ExpiresAt        *string `json:"expiresAt" format:"date-time" doc:"When the link stops working."`
	CreatedAt        *string `json:"createdAt" format:"date-time" doc:"When the link was created."`
	OGTitle          *string `json:"ogTitle" doc:"Title of the preview in social networks."`
	OGDescription    *string `json:"ogDescription" doc:"Description of the preview in social networks."`
	OGImageURL       *string `json:"ogImageUrl" doc:"Image of the preview in social networks."`
}

// linkPassword is the request of POST /{slug}/verify, as JSON or as a form.
type linkPassword struct {
	Password string `json:"password" minLength:"1" maxLength:"72" doc:"The link's password; at most 72 bytes."`
}

// abuseForm is the request of POST /{slug}/report, as JSON or as a form.
type abuseForm struct {
	Reason string `json:"reason" enum:"PHISHING,MALWARE,SPAM,ILLEGAL,OTHER"`
	Text   string `json:"text,omitempty" maxLength:"1000" doc:"Details, as plain text."`
	Email  string `json:"email,omitempty" maxLength:"254" doc:"Where the administrators can reach you."`
}

// abuseFormSent is the JSON response to a report.
type abuseFormSent struct {
	Success bool `json:"success" doc:"Always true."`
}

// linkOpened is the JSON response to the right password.
type linkOpened struct {
	Success     bool   `json:"success" doc:"Always true."`
	OriginalURL string `json:"originalUrl" doc:"The destination that rules and variants chose for this visitor."`
	RedirectURL string `json:"redirectUrl" doc:"The same address."`
}

// documentVisitors adds the paths that edges serve to the OpenAPI document.
func (s *Server) documentVisitors() {
	schema := func(t reflect.Type) *huma.Schema {
		return s.huma.OpenAPI().Components.Schemas.Schema(t, true, "")
	}
	str := &huma.Schema{Type: huma.TypeString}
	location := map[string]*huma.Param{"Location": {Description: "The destination.", Schema: str}}
	slug := []*huma.Param{{Name: "slug", In: "path", Required: true, Description: "The link's slug. Case matters.", Schema: str}}
	describe := func(method, path, id, summary string, body *huma.RequestBody, ok map[string]*huma.Response, errors ...int) {
		for _, status := range append(errors, http.StatusNotFound, http.StatusGone) {
			ok[strconv.Itoa(status)] = s.failure(status)
		}
		s.describe(&huma.Operation{
			Method: method, Path: path, OperationID: id, Summary: summary, Tags: []string{visitorTag}, Parameters: slug, RequestBody: body, Responses: ok,
		})
	}
	const redirect = "Redirect to the destination for this visitor, after rules, variants and UTM presets. The link's redirectCode selects the status."
	describe(http.MethodGet, "/{slug}", "followLink", "Follow a short link", nil, map[string]*huma.Response{
		"301": {Description: redirect, Headers: location},
		"302": {Description: redirect + " After a link has expired or had its maxClicks, this is the redirect to its expiredUrl.", Headers: location},
		"307": {Description: redirect, Headers: location},
		"308": {Description: redirect, Headers: location},
		"200": {Description: "The password form of a protected link, or the preview page for the crawler of a social network.", Content: map[string]*huma.MediaType{"text/html": {Schema: str}}},
	})
	describe(http.MethodGet, "/{slug}/info", "linkInfo", "Read what is public about a short link", nil, map[string]*huma.Response{
		"200": {Description: "The link's public properties.", Content: map[string]*huma.MediaType{"application/json": {Schema: schema(reflect.TypeFor[linkInfo]())}}},
	})
	password := schema(reflect.TypeFor[linkPassword]())
	describe(http.MethodPost, "/{slug}/verify", "openLink", "Open a protected short link with its password",
		&huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: password}, "application/x-www-form-urlencoded": {Schema: password},
		}},
		map[string]*huma.Response{
			"200": {Description: "The password of a JSON request is right.", Content: map[string]*huma.MediaType{"application/json": {Schema: schema(reflect.TypeFor[linkOpened]())}}},
			"302": {Description: "Response to a form for a link that has expired or had its maxClicks: redirect to its expiredUrl.", Headers: location},
			"303": {Description: "Response to a form: redirect to the destination, or back to the form with `?error=invalid_password`.", Headers: location},
		}, http.StatusUnauthorized)
	s.documentReports(describe, schema)
	s.documentBrowserConversions()
}

// documentReports adds the form with which visitors report a link.
func (s *Server) documentReports(describe func(method, path, id, summary string, body *huma.RequestBody, ok map[string]*huma.Response, errors ...int), schema func(reflect.Type) *huma.Schema) {
	str := &huma.Schema{Type: huma.TypeString}
	describe(http.MethodGet, "/{slug}/report", "reportForm", "Show the form for reports of a short link", nil, map[string]*huma.Response{
		"200": {Description: "The form.", Content: map[string]*huma.MediaType{"text/html": {Schema: str}}},
	})
	report := schema(reflect.TypeFor[abuseForm]())
	describe(http.MethodPost, "/{slug}/report", "reportLink", "Report a short link to the administrators",
		&huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: report}, "application/x-www-form-urlencoded": {Schema: report},
		}},
		map[string]*huma.Response{
			"202": {Description: "The control plane has stored the report of a JSON request.", Content: map[string]*huma.MediaType{"application/json": {Schema: schema(reflect.TypeFor[abuseFormSent]())}}},
			"303": {Description: "Response to a form whose report was stored.", Headers: map[string]*huma.Param{"Location": {Description: "A page that says thank you.", Schema: str}}},
		}, http.StatusBadRequest, http.StatusForbidden, http.StatusServiceUnavailable)
}

// browserConversion is one conversion in the request of POST /c (edge/internal/redirect/convert.go).
type browserConversion struct {
	Key        string  `json:"key,omitempty" doc:"The workspace's publishable key. Required here or as the parameter key of the query."`
	ClickID    string  `json:"clickId" doc:"The value of the click parameter that the page received."`
	Name       string  `json:"name" doc:"What happened, such as purchase."`
	Value      float64 `json:"value,omitempty" doc:"An amount of money."`
	Currency   string  `json:"currency,omitempty" doc:"ISO 4217 code of the value's currency."`
	ExternalID string  `json:"externalId,omitempty" doc:"Your id of the conversion, such as an order number."`
	OccurredAt string  `json:"occurredAt,omitempty" format:"date-time" doc:"When it happened; without it, now."`
	Repeatable bool    `json:"repeatable,omitempty" doc:"Whether one click can convert more than once. Requires externalId."`
}

// documentBrowserConversions adds what edges serve to the pages of web sites, at every host.
func (s *Server) documentBrowserConversions() {
	schema := func(t reflect.Type) *huma.Schema {
		return s.huma.OpenAPI().Components.Schemas.Schema(t, true, "")
	}
	str := &huma.Schema{Type: huma.TypeString}
	with := func(ok map[string]*huma.Response, errors ...int) map[string]*huma.Response {
		for _, status := range errors {
			ok[strconv.Itoa(status)] = s.failure(status)
		}
		return ok
	}
	body := schema(reflect.TypeFor[browserConversion]())
	s.describe(&huma.Operation{
		Method: http.MethodPost, Path: "/c", OperationID: "sendBrowserConversion", Summary: "Send conversions from a web page", Tags: []string{visitorTag},
		Parameters:  []*huma.Param{{Name: "key", In: "query", Description: "The workspace's publishable key, if the body has none.", Schema: str}},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: body}, "text/plain": {Schema: body}}},
		Responses: with(map[string]*huma.Response{
			"202": {Description: "What became of each conversion.", Content: map[string]*huma.MediaType{"application/json": {Schema: schema(reflect.TypeFor[ConversionsSent]())}}},
		}, http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusTooManyRequests, http.StatusServiceUnavailable),
	})
	s.describe(&huma.Operation{
		Method: http.MethodGet, Path: "/sl.js", OperationID: "conversionScript", Summary: "Load the script that sends conversions", Tags: []string{visitorTag},
		Responses: with(map[string]*huma.Response{
			"200": {Description: "The script.", Content: map[string]*huma.MediaType{"text/javascript": {Schema: str}}},
			"304": {Description: "The script has the ETag of the request."},
		}, http.StatusTooManyRequests),
	})
}

// tagGroups are the groups of the OpenAPI document, in their order.
var tagGroups = []*huma.Tag{
	{Name: visitorTag, Description: "Short links as visitors use them. Edges serve these paths, without credentials."},
	{Name: "Account", Description: "Sign-in, sign-out, your profile, password and second factor."},
	{Name: "Passkeys", Description: "Sign-in without a user name, with a passkey (WebAuthn)."},
	{Name: "Single sign-on", Description: "Sign-in through an identity provider (OpenID Connect)."},
	{Name: "URLs", Description: "Create, find, update and delete short links, one at a time or in bulk."},
	{Name: "Routing rules", Description: "Conditions that send some of a link's visitors to other destinations."},
	{Name: "Variants", Description: "A/B tests: destinations among which a link's visitors are split by weight."},
	{Name: "Bundles", Description: "Ordered groups of links with combined statistics."},
	{Name: "Tags", Description: "Coloured labels of links."},
	{Name: "Imports", Description: "Links from CSV files: upload, dry run, import."},
	{Name: "Views", Description: "Saved queries of the console's lists and reports."},
	{Name: "UTM templates", Description: "Named sets of campaign fields to copy into links."},
	{Name: "Domains", Description: "Host names under which a workspace has links of its own."},
	{Name: "Images", Description: "Images for previews in social networks."},
	{Name: "Analytics", Description: "Reports, exports and a live stream of clicks."},
	{Name: "Conversions", Description: "What visitors do after a click, such as a purchase."},
	{Name: "Experiments", Description: "Which variant of a link converts best, and weights that follow from it."},
	{Name: "Conversion settings", Description: "The click id in destinations, and web sites whose pages send conversions."},
	{Name: "Webhooks", Description: "HTTP callbacks for events, with delivery log and retries. The section `webhooks` of this document describes the payloads."},
	{Name: "Workspaces", Description: "Teams that own links together, and their members."},
	{Name: "Invitations", Description: "Links with which new members join a workspace."},
	{Name: "API keys", Description: "Credentials for scripts and integrations."},
	{Name: "Abuse", Description: "Reported links, and suspending links. Administrators only."},
	{Name: "Users", Description: "Manage users. Administrators only."},
	{Name: "Identity providers", Description: "Manage OpenID Connect providers. Administrators only."},
	{Name: "System settings", Description: "Settings of the installation. Administrators only."},
	{Name: "Audit", Description: "Who changed what, and when. Administrators only."},
	{Name: "Edges", Description: "The last reported state of each edge. Administrators only."},
}
