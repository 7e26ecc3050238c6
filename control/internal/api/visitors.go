package api

import (
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// visitorTag groups the paths that edges answer. The control plane does not serve them; they are in the document
// because whoever embeds or scripts a short link needs their shape as much as that of /api.
const visitorTag = "Visitors"

// linkInfo is the answer of GET /{slug}/info. The edge owns the real one (edge/internal/redirect/info.go).
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

// linkOpened is the answer to the right password in JSON.
type linkOpened struct {
	Success     bool   `json:"success" doc:"Always true."`
	OriginalURL string `json:"originalUrl" doc:"The destination that rules and variants chose for this visitor."`
	RedirectURL string `json:"redirectUrl" doc:"The same address."`
}

// documentVisitors adds the paths that edges answer to the OpenAPI document.
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
	describe(http.MethodGet, "/{slug}", "followLink", "Follow a short link", nil, map[string]*huma.Response{
		"302": {Description: "The redirect to the destination that rules, variants and UTM presets give for this visitor.", Headers: location},
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
			"303": {Description: "The answer to a form: to the destination, or back to the form with `?error=invalid_password`.", Headers: location},
		}, http.StatusUnauthorized)
}

// tags are the groups of the OpenAPI document, in the order in which a reader meets them.
var tags = []*huma.Tag{
	{Name: visitorTag, Description: "What visitors of short links use. Edges answer these paths, without credentials."},
	{Name: "Account", Description: "Signing in and out, one's own profile, password and second factor."},
	{Name: "Single sign-on", Description: "Signing in through an identity provider (OpenID Connect)."},
	{Name: "URLs", Description: "Short links: creating, finding, changing and deleting them, alone or in bulk."},
	{Name: "Routing rules", Description: "Conditions that send some of a link's visitors to other destinations."},
	{Name: "Variants", Description: "A/B tests: destinations that share a link's visitors by weight."},
	{Name: "Bundles", Description: "Ordered groups of links with figures of their own."},
	{Name: "Images", Description: "Images for previews in social networks."},
	{Name: "Analytics", Description: "Reports, exports and a live stream of clicks."},
	{Name: "Webhooks", Description: "HTTP callbacks for events, their log and their retries. The section `webhooks` of this document describes the payloads."},
	{Name: "API keys", Description: "Credentials for scripts and integrations."},
	{Name: "Users", Description: "Managing users. Administrators only."},
	{Name: "Identity providers", Description: "Managing OpenID Connect providers. Administrators only."},
	{Name: "System settings", Description: "Settings of the whole installation. Administrators only."},
	{Name: "Audit", Description: "Who changed what, and when. Administrators only."},
	{Name: "Edges", Description: "The state of the edges as they last reported it. Administrators only."},
}
