package linkapi

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/api/kit"
)

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

var visitorResource = kit.Resource{
	Tag: kit.VisitorTag, About: "Short links as visitors use them. Edges serve these paths, without credentials.",
}

// documentVisitors adds the paths that edges serve to the OpenAPI document.
func (s *server) documentVisitors() {
	str := &huma.Schema{Type: huma.TypeString}
	location := map[string]*huma.Param{"Location": {Description: "The destination.", Schema: str}}
	slug := []*huma.Param{{Name: "slug", In: "path", Required: true, Description: "The link's slug. Case matters.", Schema: str}}
	describe := func(method, path, id, summary, about string, body *huma.RequestBody, ok map[string]*huma.Response, errors ...int) {
		for _, status := range append(errors, http.StatusNotFound, http.StatusGone) {
			ok[strconv.Itoa(status)] = s.Failure(status)
		}
		s.Describe(&huma.Operation{
			Method: method, Path: path, OperationID: id, Summary: summary, Description: about, Tags: []string{kit.VisitorTag},
			Parameters:  slug,
			RequestBody: body, Responses: ok,
		})
	}
	const redirect = "Redirect to the destination for this visitor, after rules, variants and UTM presets. The link's redirectCode selects the status."
	describe(http.MethodGet, "/{slug}", "followLink", "Follow a short link",
		"Served by edges. Active rules are evaluated by priority. If none matches, the A/B test chooses a variant; otherwise the default or "+
			"original URL is used. "+
			"The edge adds the link's UTM presets, passes the visitor's parameters on, and records one click. HEAD returns the same headers and "+
			"records nothing. Browsers get errors as a small HTML page.", nil, map[string]*huma.Response{
			"301": {Description: redirect, Headers: location},
			"302": {Description: redirect + " After a link has expired or had its maxClicks, this is the redirect to its expiredUrl.",
				Headers: location},
			"307": {Description: redirect, Headers: location},
			"308": {Description: redirect, Headers: location},
			"200": {Description: "The password form of a protected link, or the preview page for the crawler of a social network.",
				Content: map[string]*huma.MediaType{"text/html": {Schema: str}}},
		})
	describe(http.MethodGet, "/{slug}/info", "linkInfo", "Read what is public about a short link",
		"Served by edges. It never contains the destination of a link.", nil, map[string]*huma.Response{
			"200": {Description: "The link's public properties.",
				Content: map[string]*huma.MediaType{"application/json": {Schema: s.Schema(reflect.TypeFor[linkInfo]())}}},
		})
	password := s.Schema(reflect.TypeFor[linkPassword]())
	describe(http.MethodPost, "/{slug}/verify", "openLink", "Open a protected short link with its password",
		"Served by edges. The right password counts as a click. After five wrong passwords in ten minutes, a client is locked out of the link "+
			"for an increasing time (429).",
		&huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json":                  {Schema: password, Example: json.RawMessage(`{"password":"open sesame"}`)},
			"application/x-www-form-urlencoded": {Schema: password},
		}},
		map[string]*huma.Response{
			"200": {Description: "The password of a JSON request is right.",
				Content: map[string]*huma.MediaType{"application/json": {Schema: s.Schema(reflect.TypeFor[linkOpened]())}}},
			"302": {Description: "Response to a form for a link that has expired or had its maxClicks: redirect to its expiredUrl.",
				Headers: location},
			"303": {Description: "Response to a form: redirect to the destination, or back to the form with `?error=invalid_password`.",
				Headers: location},
		}, http.StatusUnauthorized)
	s.documentReports(describe)
}

// documentReports adds the form with which visitors report a link.
func (s *server) documentReports(describe func(method, path, id, summary, about string, body *huma.RequestBody,
	ok map[string]*huma.Response, errors ...int)) {
	str := &huma.Schema{Type: huma.TypeString}
	describe(http.MethodGet, "/{slug}/report", "reportForm", "Show the form for reports of a short link",
		"Served by edges, also for links that expired or were suspended. The form works without JavaScript.", nil,
		map[string]*huma.Response{
			"200": {Description: "The form.", Content: map[string]*huma.MediaType{"text/html": {Schema: str}}},
		})
	report := s.Schema(reflect.TypeFor[abuseForm]())
	describe(http.MethodPost, "/{slug}/report", "reportLink", "Report a short link to the administrators",
		"Served by edges. The report goes to the administrators' queue. 503: the control plane could not store it, so send it again. A client "+
			"can send five reports a minute and ten an hour (429). Requests from pages of other sites get 403.",
		&huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: report,
				Example: json.RawMessage(`{"reason":"PHISHING","text":"It asks for my password."}`)},
			"application/x-www-form-urlencoded": {Schema: report},
		}},
		map[string]*huma.Response{
			"202": {Description: "The control plane has stored the report of a JSON request.",
				Content: map[string]*huma.MediaType{"application/json": {Schema: s.Schema(reflect.TypeFor[abuseFormSent]())}}},
			"303": {Description: "Response to a form whose report was stored.",
				Headers: map[string]*huma.Param{"Location": {Description: "A page that says thank you.", Schema: str}}},
		}, http.StatusBadRequest, http.StatusForbidden, http.StatusServiceUnavailable)
}
