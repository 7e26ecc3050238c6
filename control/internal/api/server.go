// Package api is the REST interface: it turns HTTP requests into calls of use cases, and their results into JSON. Every response under
// /api, also an error, has the documented body, and contains nothing internal. Use cases own the rules, the permissions and the audit
// log.
//
// Package kit has what all endpoints have in common. Each room is a package with the endpoints of related resources: linkapi, reportapi,
// peopleapi and systemapi. Its function Register adds them to the kit. A resource is one file: its requests and answers, what its
// endpoints need in common (a kit.Resource), and a method that declares the endpoints with kit.Handle, each with its limit, description
// and example, and its handlers. In a large resource, requests and answers are one file, and the rest is in another one, such as
// urls_handlers.go. Tags of requests validate their shape; the use case validates their meaning.
//
// Package mcpapi offers the same endpoints to MCP clients, as tools at /mcp.
package api

import (
	"log/slog"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/api/linkapi"
	"github.com/shortline/shortline/control/internal/api/mcpapi"
	"github.com/shortline/shortline/control/internal/api/peopleapi"
	"github.com/shortline/shortline/control/internal/api/reportapi"
	"github.com/shortline/shortline/control/internal/api/systemapi"
	"github.com/shortline/shortline/control/internal/archive"
	"github.com/shortline/shortline/control/internal/clicks/convert"
	"github.com/shortline/shortline/control/internal/clicks/live"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/experiments"
	"github.com/shortline/shortline/control/internal/explain"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/mailreports"
	"github.com/shortline/shortline/control/internal/manage/abuse"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/alerts"
	"github.com/shortline/shortline/control/internal/manage/annotations"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/conversions"
	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/manage/imports"
	"github.com/shortline/shortline/control/internal/manage/invitations"
	"github.com/shortline/shortline/control/internal/manage/keys"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/media"
	"github.com/shortline/shortline/control/internal/manage/pages"
	"github.com/shortline/shortline/control/internal/manage/passkeys"
	"github.com/shortline/shortline/control/internal/manage/privacy"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/manage/segments"
	"github.com/shortline/shortline/control/internal/manage/settings"
	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/manage/utmtemplates"
	"github.com/shortline/shortline/control/internal/manage/views"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/manage/workspaces"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/mail"
	"github.com/shortline/shortline/control/internal/sharedreports"
	"github.com/shortline/shortline/control/internal/store"
)

// Config and Limits are the settings of the API.
type (
	Config = kit.Config
	Limits = kit.Limits
)

// CheckConsoleURL validates CONSOLE_URL. "" is valid.
func CheckConsoleURL(address string) error { return kit.CheckConsoleURL(address) }

// Deps are the use cases that the API offers. Store and Auth are required. The endpoints of a use case that is nil do not
// exist.
type Deps struct {
	Store *store.Store
	Auth  *auth.Authenticator

	Accounts           *accounts.Service
	Keys               *keys.Service
	Passkeys           *passkeys.Service
	Settings           *settings.Service
	ConversionSettings *conversions.Service
	Conversions        *convert.Acceptor
	Experiments        *experiments.Service // needs Routing
	SSO                *sso.Service
	Workspaces         *workspaces.Service
	Invitations        *invitations.Service // needs Workspaces

	Links        *links.Service
	Routing      *routing.Service // needs Links
	Bundles      *bundles.Service // needs Links
	Media        *media.Service
	Pages        *pages.Service
	Tags         *tags.Service // needs Links
	UTMTemplates *utmtemplates.Service
	Views        *views.Service
	Archives     *archive.Service     // needs Links, Routing, Bundles, Tags, UTMTemplates, Domains and Webhooks
	Segments     *segments.Service    // needs Reports
	Annotations  *annotations.Service // needs Reports
	Imports      *imports.Service     // needs Links
	Domains      *domains.Service
	Explain      *explain.Service // needs Links

	Edges *presence.Positions // if nil, responses do not wait for edges

	Reports *report.Service
	Shared  *sharedreports.Service
	Live    *live.Feed
	Privacy *privacy.Service
	Abuse   *abuse.Service // needs Links

	MailReports *mailreports.Service // needs Reports
	Webhooks    *webhooks.Service
	Alerts      *alerts.Service
	Mail        *mail.Service // nil: no e-mail is sent
	// SharedPage sends the page of shared reports with a status; nil: there is none.
	SharedPage func(http.ResponseWriter, *http.Request, int)
}

// Server is the API, ready to serve. It is safe for concurrent use.
type Server struct{ kit *kit.Kit }

// New checks the settings and builds the API.
func New(cfg Config, deps Deps) (*Server, error) {
	k, err := kit.New(cfg, deps.Store, deps.Auth, deps.Edges)
	if err != nil {
		return nil, err
	}
	linkapi.Register(k, linkapi.Deps{
		Links: deps.Links, Routing: deps.Routing, Bundles: deps.Bundles, Media: deps.Media, Pages: deps.Pages, Tags: deps.Tags,
		UTMTemplates: deps.UTMTemplates, Views: deps.Views, Imports: deps.Imports, Domains: deps.Domains, Explain: deps.Explain,
		Abuse: deps.Abuse,
	})
	reportapi.Register(k, reportapi.Deps{
		Reports: deps.Reports, Live: deps.Live, ConversionSettings: deps.ConversionSettings, Conversions: deps.Conversions,
		Experiments: deps.Experiments, Abuse: deps.Abuse, Links: deps.Links, Segments: deps.Segments, Annotations: deps.Annotations,
		MailReports: deps.MailReports, Shared: deps.Shared, SharedPage: deps.SharedPage,
	})
	peopleapi.Register(k, peopleapi.Deps{
		Accounts: deps.Accounts, Keys: deps.Keys, Passkeys: deps.Passkeys, SSO: deps.SSO, Workspaces: deps.Workspaces,
		Invitations: deps.Invitations, Archives: deps.Archives,
	})
	systemapi.Register(k, systemapi.Deps{
		Settings: deps.Settings, Webhooks: deps.Webhooks, Alerts: deps.Alerts, Privacy: deps.Privacy, Reports: deps.Reports,
	})
	k.OrderTags( // in the document
		"Visitors", "Account", "Passkeys", "Single sign-on", "URLs", "Routing rules", "Variants", "Bundles", "Tags", "Imports",
		"Views", "UTM templates", "Domains", "Images", "Analytics", "Segments", "Annotations", "Mail reports",
		"Shared reports", "Conversions", "Experiments", "Conversion settings", "Webhooks", "Alerts",
		"Workspaces", "Archives", "Invitations", "API keys", "Pairing", "Abuse", "Users",
		"Identity providers", "System settings", "Audit", "Edges",
		"Privacy",
	)
	if !cfg.WithoutMCP {
		if err := mcpapi.Register(k); err != nil {
			return nil, err
		}
	}
	return &Server{k}, nil
}

// Document returns the OpenAPI document of an API with all use cases, as JSON. No use case runs: the document comes from the
// request and response structs alone.
func Document() ([]byte, error) {
	document, err := document()
	if err != nil {
		return nil, err
	}
	return document.MarshalJSON()
}

// EventSchemas returns the JSON schemas of the bodies of webhook events, by the names of the events.
func EventSchemas() (map[string][]byte, error) {
	document, err := document()
	if err != nil {
		return nil, err
	}
	return kit.EventSchemas(document)
}

func document() (*huma.OpenAPI, error) {
	deps := Deps{Store: new(store.Store), Auth: new(auth.Authenticator)}
	for _, field := range reflect.ValueOf(&deps).Elem().Fields() {
		if field.Kind() == reflect.Pointer && field.IsNil() {
			field.Set(reflect.New(field.Type().Elem()))
		}
	}
	s, err := New(Config{BaseURL: "https://sho.rt", Logger: slog.New(slog.DiscardHandler)}, deps)
	if err != nil {
		return nil, err
	}
	return s.kit.Document(), nil
}

// Handler serves everything under /api, and /mcp unless Config.WithoutMCP is set.
func (s *Server) Handler() http.Handler { return s.kit.Handler() }
