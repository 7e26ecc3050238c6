// Package kit has what the endpoints of all resources have in common: their declaration, who may call them, rate limits, reading requests,
// answers and errors, the log line and the metrics of a request, and the OpenAPI document. It knows no resource: rooms of the API add
// theirs with Resources, Handle, HandleRaw and Presents.
package kit

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/work"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/seal"
	"github.com/shortline/shortline/shared/visitor"
)

// documentVersion is the version of the OpenAPI document. A change that can break a client raises the first number, an addition
// the second; see docs/users/api-versions.md. make check compares the document with the last released one.
const documentVersion = "1.1.0"

// Config of the API.
type Config struct {
	// BaseURL is the public address of the service, such as "https://sho.rt". Required.
	BaseURL string
	// ConsoleURL is the address of the console, to which single sign-on returns; "" means BaseURL. Its origin is allowed as
	// if CORSOrigins contained it.
	ConsoleURL string
	// CORSOrigins are the origins of other sites whose pages may call the API with credentials.
	CORSOrigins []string
	// KeysAdminister allows API keys to create API keys, and API keys of administrators to change users and identity
	// providers. With these rights the thief of a key can keep access after the key was deleted.
	KeysAdminister bool
	// WithoutMCP leaves out /mcp.
	WithoutMCP bool
	// TrustedProxies are the networks of proxies whose X-Forwarded-For header is trusted.
	TrustedProxies []netip.Prefix
	// ClientIPHeader is the header in which they say where a client comes from.
	ClientIPHeader visitor.Source
	// Limits are the rate limits; the zero value means no limits.
	Limits Limits
	// Timeout is the timeout of requests whose endpoint has no longer one; 0 means 10 s.
	Timeout time.Duration
	// LookUpTimeout is the timeout of the database queries before the endpoint's own, such as authentication; 0 means 1.5 s.
	// If the database does not respond, callers get a 503 after this time.
	LookUpTimeout time.Duration
	// CountTimeout is the timeout of counting a request against a rate limit in the database; 0 means 250 ms. Later, the request counts
	// in memory.
	CountTimeout time.Duration
	// OwnEdge is how long the response to a change waits until the edge in the same process has applied it; 0 means that
	// there is no such edge. It needs Deps.Edges.
	OwnEdge time.Duration
	// Replies encrypts the responses that are kept for repetitions of requests with an Idempotency-Key; nil: no request may have one.
	Replies *seal.Box
	// Confirmations encrypts the tokens with which MCP clients confirm changes of many objects; nil: with a key of this process.
	Confirmations *seal.Box
	// Now is the clock of these tokens; nil means time.Now.
	Now func() time.Time
	// Computing has the slots for explanations, replays and QR codes. Other services may share it. If nil, the server makes it.
	Computing *work.Queue
	// LocalReports means that this process computes reports itself. A user then has fewer of them at a time.
	LocalReports bool
	// ReportAsked, if set, is called when somebody asks for a report or an export. It must not block.
	ReportAsked func()
	// Logger gets one line per request; nil means slog.Default().
	Logger *slog.Logger
	// Registry gets the metrics; nil means none.
	Registry prometheus.Registerer
	// Traces gets a span for each request; nil means none.
	Traces trace.TracerProvider
}

// Validate reports every problem of the settings.
func (c Config) Validate() error {
	var problems []error
	if _, err := link.ParseBaseURL(c.BaseURL); err != nil {
		problems = append(problems, err)
	}
	for _, o := range c.CORSOrigins {
		if u, err := url.Parse(o); err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" {
			problems = append(problems, fmt.Errorf("CORS_ORIGIN: %q is not an origin such as https://app.example.com", o))
		}
	}
	if err := CheckConsoleURL(c.ConsoleURL); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(append(problems, c.Limits.validate()...)...)
}

// Kit has what the endpoints of all resources have in common. Resources add themselves to it before it serves the first request.
// From then on it is safe for concurrent use.
type Kit struct {
	Store *store.Store
	Auth  *auth.Authenticator

	Host     string        // of BaseURL, without a port
	Secure   bool          // BaseURL is https
	Console  string        // ConsoleURL without a slash at its end; "" if it is BaseURL
	SameSite http.SameSite // of the session cookie
	Large    *work.Queue   // of large bodies

	edges     *presence.Positions // nil if there are none to wait for
	cfg       Config
	log       *slog.Logger
	echo      *echo.Echo
	huma      huma.API
	endpoints map[string]*Endpoint // by method and echo path
	origin    string               // of BaseURL
	origins   map[string]bool      // allowed origins of other sites
	limiter   *limiter
	metrics   *metrics
	tracer    trace.Tracer
	queues    [workloads]*work.Queue // of expensive work

	resources  map[string]Resource // by tag
	presenters []Presenter
	values     map[string][]any        // sets of values by name
	schemas    map[string]*huma.Schema // that no struct has, by name
	document   func() *huma.OpenAPI

	compressed func(http.Handler) http.HandlerFunc
}

// New checks the settings and makes a kit that serves the OpenAPI document. With edges, responses can wait for them; edges may be nil.
func New(cfg Config, st *store.Store, authenticator *auth.Authenticator, edges *presence.Positions) (*Kit, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if st == nil || authenticator == nil {
		return nil, errors.New("api: Store and Auth are required")
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Second)
	cfg.LookUpTimeout = cmp.Or(cfg.LookUpTimeout, 1500*time.Millisecond)
	cfg.CountTimeout = cmp.Or(cfg.CountTimeout, 250*time.Millisecond)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Traces == nil {
		cfg.Traces = noop.NewTracerProvider()
	}
	base, _ := link.ParseBaseURL(cfg.BaseURL) // Validate has parsed it
	s := &Kit{
		Store: st, Auth: authenticator, edges: edges, cfg: cfg, log: cfg.Logger, echo: echo.New(), endpoints: map[string]*Endpoint{},
		origin: originOf(base), Host: base.Hostname(), origins: map[string]bool{}, Secure: base.Scheme == "https",
		values:    map[string][]any{"direction": Enum("asc", "desc"), "linkStatus": Enum(store.LinkStatuses...)},
		resources: map[string]Resource{}, schemas: map[string]*huma.Schema{},
		limiter: newLimiter(st, cfg.Limits, cfg.CountTimeout),
		tracer:  cfg.Traces.Tracer("github.com/shortline/shortline/control/internal/api"),
		Large: work.New(work.Config{
			Slots: LargeBodies, PerUser: LargePerUser, Wait: cfg.Timeout, Busy: "Too many large requests are being processed.",
		}),
		queues: newQueues(&cfg),
	}
	var err error
	if s.metrics, err = newMetrics(cfg.Registry); err != nil {
		return nil, err
	}
	if s.compressed, err = compressor(); err != nil {
		return nil, err
	}
	for _, o := range cfg.CORSOrigins {
		allowed, _ := url.Parse(o) // Validate has parsed it
		s.origins[originOf(allowed)] = true
	}
	s.faceConsole(base)
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.IPExtractor = s.clientIP
	s.echo.HTTPErrorHandler = s.renderError
	s.echo.Use(s.observe, s.recoverPanics, s.secureHeaders, s.cors, s.deprecated, s.compress, s.awaitEdges, s.withinTime, s.decodeParams,
		s.admit, s.unchanged, s.selectFields, s.readBody, s.idempotent, s.enterQueue)
	s.huma = humaecho.New(s.echo, s.openAPI())
	s.document = sync.OnceValue(s.completeDocument)
	s.registerDocument()
	return s, nil
}

// Config returns the settings.
func (k *Kit) Config() *Config { return &k.cfg }

// Handler serves everything under /api, and /mcp.
func (k *Kit) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			// The router only knows GET; net/http omits the body of a response to HEAD.
			asGet := *r
			asGet.Method = http.MethodGet
			r = &asGet
		}
		k.echo.ServeHTTP(w, r)
	})
}

func (k *Kit) openAPI() huma.Config {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	registry.RegisterTypeAlias(reflect.TypeFor[report.Value](), reflect.TypeFor[float64]())
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Shortline", Version: documentVersion,
				License:    &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"},
				Contact:    &huma.Contact{Name: "Shortline", URL: "https://github.com/shortline/shortline"},
				Extensions: map[string]any{"x-build": ops.Version},
				Description: "Short links, routing rules, A/B tests and click analytics. Times are RFC 3339 in UTC with milliseconds. Unset " +
					"optional fields are null. " +
					"In a standalone, visitors see a change as soon as its response arrives. In a fleet, every connected edge has it within a second. " +
					"With the header Prefer: wait=N (seconds, at most 10) the response waits for the edges, and X-Edges: 2/3 counts those that have " +
					"the change and those that are connected.",
			},
			Servers: []*huma.Server{{URL: k.cfg.BaseURL}},
			Components: &huma.Components{
				Schemas: registry,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"bearer": {Type: "http", Scheme: "bearer", Description: "An API key or an access token."},
					"apiKey": {Type: "apiKey", In: "header", Name: "X-API-Key"},
					"cookie": {Type: "apiKey", In: "cookie", Name: cookieName},
				},
			},
		},
		Formats:       map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: "application/json",
	}
}

// ConsoleAddress returns where the console is, without a slash at its end.
func (k *Kit) ConsoleAddress() string {
	return cmp.Or(k.Console, strings.TrimSuffix(k.cfg.BaseURL, "/"))
}
