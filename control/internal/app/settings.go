package app

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"time"
	_ "time/tzdata" // for machines without a time zone database

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/certs"
	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/manage/linkhealth"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/control/internal/manage/pages"
	"github.com/shortline/shortline/control/internal/manage/screening"
	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/smtp"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/tracing"
	"github.com/shortline/shortline/shared/visitor"
)

// maxKeyDays is the largest MAX_KEY_DAYS: a hundred years.
const maxKeyDays = 36_500

// maxTrashDays is the largest TRASH_DAYS: ten years.
const maxTrashDays = 3650

// maxConversionWindow is the largest CONVERSION_WINDOW: two years. Every month of it costs edges one key.
const maxConversionWindow = 730 * 24 * time.Hour

// Settings are the settings that control and standalone share.
type Settings struct {
	BaseURL       string        `env:"BASE_URL" help:"public address of the service, for visitors and link owners, such as https://sho.rt"`
	JWTSecret     config.Secret `env:"JWT_SECRET" help:"key that signs sessions, at least 32 bytes; of several, separated by commas, the first signs and all are accepted"`
	JWTTTL        time.Duration `env:"JWT_TTL" envDefault:"24h" help:"how long a session lasts"`
	SessionIdle   time.Duration `env:"SESSION_IDLE" envDefault:"0" help:"a session that is not used for this time ends, such as 8h; 0 disables this"`
	EncryptionKey config.Secret `env:"ENCRYPTION_KEY" help:"key that encrypts secrets in the database, at least 32 bytes; of several, separated by commas, the first encrypts and all decrypt"`
	AuditKey      config.Secret `env:"AUDIT_KEY" help:"key that signs rows of the audit log (HMAC), at least 32 bytes; of several, separated by commas, the first signs and verify-audit accepts all; empty means ENCRYPTION_KEY. Keep a replaced key in the list as long as its rows must be verified"`
	AdminEmail    string        `env:"ADMIN_EMAIL" envDefault:"admin@example.com" help:"email of the first administrator, who is created if there are no users"`
	AdminPassword config.Secret `env:"ADMIN_PASSWORD" help:"password of the first administrator; empty generates one and prints it until the first sign-in; without effect if there are users"`

	ConsoleURL     string   `env:"CONSOLE_URL" help:"address of the console if it is not at BASE_URL: single sign-on returns to it, and its pages may call the API"`
	CORSOrigin     []string `env:"CORS_ORIGIN" help:"other origins whose pages may call the API, separated by commas"`
	TrustedProxies string   `env:"TRUSTED_PROXIES" help:"networks of proxies that are trusted to say where a visitor comes from, separated by commas"`
	ClientIPHeader string   `env:"CLIENT_IP_HEADER" envDefault:"X-Forwarded-For" help:"header in which they say it, such as CF-Connecting-IP, or Forwarded (RFC 7239); X-Real-IP counts too with the default. Visitors must not be able to set it"`
	GeoDB          string   `env:"GEO_DB" help:"geo database files (mmdb), separated by commas"`

	AllowPrivateDestinations bool     `env:"ALLOW_PRIVATE_DESTINATIONS" envDefault:"false" help:"allow links to private addresses"`
	MaxDestinationBytes      int      `env:"MAX_DESTINATION_BYTES" envDefault:"2048" help:"length of the longest destination, 100 to 16384. Some proxies and browsers refuse long addresses"`
	AllowedSchemes           []string `env:"ALLOWED_SCHEMES" envDefault:"http,https" help:"schemes that destinations may have, separated by commas, such as http,https,mailto,tel,sms,market,myapp. Schemes that run code, read files or hide another address, such as javascript and data, are never allowed"`

	UTMSuggestionsShared bool   `env:"UTM_SUGGESTIONS_SHARED" envDefault:"true" help:"suggest campaign values from the links of all users; false suggests only those of a user's own links"`
	RoutingTimezone      string `env:"ROUTING_TIMEZONE" envDefault:"UTC" help:"IANA time zone of time conditions that have none"`

	Screening    screening.Settings
	Domains      domains.Settings
	Certificates certs.Settings

	Webhooks webhooks.Settings
	SSO      sso.Settings
	Media    object.S3Config
	Pages    pages.Config
	Health   linkhealth.Settings
	Mail     smtp.Settings
	Tracing  tracing.Settings

	KeysAdminister bool `env:"API_KEYS_ADMINISTER" envDefault:"true" help:"allow API keys to create API keys, and administrators' API keys to change users and identity providers; false: these need a session, which a stolen key cannot open"`

	LookUpTimeout  time.Duration `env:"LOOKUP_TIMEOUT" envDefault:"1500ms" help:"how long an API request waits for the database to tell who sends it; after that it is answered with 503. Raise it for a database that is slow or far away"`
	RequestTimeout time.Duration `env:"REQUEST_TIMEOUT" envDefault:"10s" help:"how long the API works on a request; after that it is answered with 503. Raise it for a click store that needs longer for reports. Exports, imports and requests for many links have longer limits; a setting above those counts for them, too"`

	MCP bool `env:"MCP_SERVER" envDefault:"true" help:"answer assistants at /mcp; false: 404. Keys work in the API as before"`

	SignUp string `env:"SIGN_UP" envDefault:"invited" help:"invited: an invitation to a workspace makes the account of an unknown address; closed: only administrators and single sign-on make accounts"`

	MailReports   string `env:"MAIL_REPORTS" envDefault:"anyone" help:"who gets reports by e-mail: members of the workspace only, or anyone who has confirmed the address"`
	MaxAPIKeys    int    `env:"MAX_API_KEYS_PER_USER" envDefault:"10" help:"limit of API keys per user, in all workspaces together"`
	MaxKeyDays    int    `env:"MAX_KEY_DAYS" envDefault:"0" help:"longest life of an API key in days, for keys that are created or rotated from then on; 0 means no limit"`
	TrashDays     int    `env:"TRASH_DAYS" envDefault:"30" help:"days for which deleted links can be restored; 0 deletes them for good at once"`
	ListLinks     int    `env:"LISTS_IN_MEMORY" envDefault:"2000000" help:"lists are read from a copy in memory if there are at most this many links. The copy takes about 200 bytes per link. It is made when a list needs it and dropped after 15 minutes without one. 0 disables it; lists of many links are slower then"`
	MaxWorkspaces int    `env:"MAX_WORKSPACES_PER_USER" envDefault:"20" help:"limit of workspaces of teams that a user owns"`
	api.Limits

	ConversionWindow time.Duration `env:"CONVERSION_WINDOW" envDefault:"2160h" help:"age of a click up to which its conversions count, 90 days by default. All processes of a control plane need the same value"`

	ExperimentEvery time.Duration `env:"EXPERIMENT_EVERY" envDefault:"5m" help:"how often the role experiments looks at each running experiment, 1s to 1h"`

	SharedReportInterval time.Duration `env:"SHARED_REPORT_INTERVAL" envDefault:"1m" help:"how long the figures of a shared report are shown before they are computed again, however many people look at them; at least 1s"`
	AnalyticsCacheTTL    time.Duration `env:"ANALYTICS_CACHE_TTL" envDefault:"5m" help:"maximum age of a cached report; a new click or a change invalidates it within two seconds"`
	MaxInMemoryClicks    int           `env:"MAX_IN_MEMORY_CLICKS" envDefault:"50000" help:"accepted for compatibility, without effect; the click store computes reports"`
	AggregationThreshold int           `env:"AGGREGATION_THRESHOLD" envDefault:"10000" help:"accepted for compatibility, without effect; the click store computes reports"`

	LogFormat string `env:"LOG_FORMAT" envDefault:"json" help:"text or json"`
	LogLevel  string `env:"LOG_LEVEL" envDefault:"info" help:"debug, info, warn or error"`
}

// console returns the address of the console, to which messages and sign-ins lead.
func (s *Settings) console() string { return cmp.Or(s.ConsoleURL, s.BaseURL) }

// Validate reports every problem.
func (s *Settings) Validate() error {
	var problems []error
	if _, err := link.ParseBaseURL(s.BaseURL); err != nil {
		problems = append(problems, err)
	}
	problems = append(problems, s.JWTSecret.CheckKeys("JWT_SECRET"), s.EncryptionKey.CheckKeys("ENCRYPTION_KEY"),
		s.AuditKey.CheckKeys("AUDIT_KEY"))
	if s.JWTTTL < time.Minute {
		problems = append(problems, errors.New("JWT_TTL: must be at least 1m"))
	}
	if s.ExperimentEvery < time.Second || s.ExperimentEvery > time.Hour {
		problems = append(problems, errors.New("EXPERIMENT_EVERY: must be 1s to 1h"))
	}
	if s.SessionIdle != 0 && s.SessionIdle < time.Second {
		problems = append(problems, errors.New("SESSION_IDLE: must be 0 or at least 1s"))
	}
	if n := len(s.AdminPassword); n > 0 && (n < 8 || n > 72) {
		problems = append(problems, errors.New("ADMIN_PASSWORD: must have 8 to 72 bytes"))
	}
	if err := api.CheckConsoleURL(s.ConsoleURL); err != nil {
		problems = append(problems, err)
	}
	if _, err := time.LoadLocation(s.RoutingTimezone); err != nil || s.RoutingTimezone == "" {
		problems = append(problems, fmt.Errorf("ROUTING_TIMEZONE: %q is not an IANA time zone", s.RoutingTimezone))
	}
	if _, err := visitor.ParsePrefixes(s.TrustedProxies); err != nil {
		problems = append(problems, fmt.Errorf("TRUSTED_PROXIES: %w", err))
	}
	switch source, err := visitor.ParseSource(s.ClientIPHeader); {
	case err != nil:
		problems = append(problems, fmt.Errorf("CLIENT_IP_HEADER: %w", err))
	case !source.Usual() && s.TrustedProxies == "":
		problems = append(problems, errors.New("CLIENT_IP_HEADER: needs TRUSTED_PROXIES"))
	}
	if s.MaxDestinationBytes != 0 && (s.MaxDestinationBytes < 100 || s.MaxDestinationBytes > link.MaxDestination) {
		problems = append(problems, fmt.Errorf("MAX_DESTINATION_BYTES: must be 100 to %d", link.MaxDestination))
	}
	if _, err := link.CheckSchemes(s.AllowedSchemes); err != nil {
		problems = append(problems, fmt.Errorf("ALLOWED_SCHEMES: %w", err))
	}
	if err := s.Tracing.Validate(); err != nil {
		problems = append(problems, err)
	}
	if err := s.Domains.Validate(); err != nil {
		problems = append(problems, err)
	}
	if err := s.Certificates.Validate(); err != nil {
		problems = append(problems, err)
	}
	if err := s.Screening.Validate(); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(append(problems, s.validateFeatures())...)
}

// validateFeatures is the part of Validate about reports, mail, images and the limits of people.
func (s *Settings) validateFeatures() error {
	var problems []error
	if s.ConversionWindow < time.Minute || s.ConversionWindow > maxConversionWindow {
		problems = append(problems, errors.New("CONVERSION_WINDOW: must be 1m to 17520h"))
	}
	if s.SharedReportInterval != 0 && s.SharedReportInterval < time.Second {
		problems = append(problems, errors.New("SHARED_REPORT_INTERVAL: must be at least 1s"))
	}
	if s.AnalyticsCacheTTL < 0 {
		problems = append(problems, errors.New("ANALYTICS_CACHE_TTL: must not be negative"))
	}
	if err := s.Mail.Validate(); err != nil {
		problems = append(problems, err)
	}
	if err := s.Media.Validate(); err != nil {
		problems = append(problems, err)
	}
	if s.MailReports != "members" && s.MailReports != "anyone" {
		problems = append(problems, errors.New("MAIL_REPORTS: must be members or anyone"))
	}
	if s.MaxAPIKeys < 0 {
		problems = append(problems, errors.New("MAX_API_KEYS_PER_USER: must not be negative"))
	}
	if s.SignUp != "" && s.SignUp != "invited" && s.SignUp != "closed" {
		problems = append(problems, fmt.Errorf("SIGN_UP: %q is neither invited nor closed", s.SignUp))
	}
	if s.ListLinks < 0 {
		problems = append(problems, errors.New("LISTS_IN_MEMORY: must not be negative"))
	}
	if s.MaxWorkspaces < 0 {
		problems = append(problems, errors.New("MAX_WORKSPACES_PER_USER: must not be negative"))
	}
	if s.LookUpTimeout < 100*time.Millisecond {
		problems = append(problems, errors.New("LOOKUP_TIMEOUT: must be at least 100ms"))
	}
	if s.RequestTimeout < time.Second {
		problems = append(problems, errors.New("REQUEST_TIMEOUT: must be at least 1s"))
	}
	if s.TrashDays < 0 || s.TrashDays > maxTrashDays {
		problems = append(problems, fmt.Errorf("TRASH_DAYS: must be 0 to %d", maxTrashDays))
	}
	if s.MaxKeyDays < 0 || s.MaxKeyDays > maxKeyDays {
		problems = append(problems, fmt.Errorf("MAX_KEY_DAYS: must be 0 to %d", maxKeyDays))
	}
	return errors.Join(problems...)
}

// Destinations returns the rules for destinations of links.
func (s *Settings) Destinations() link.Policy {
	u, err := link.ParseBaseURL(s.BaseURL)
	if err != nil {
		panic("BUG: settings used before they were validated: " + err.Error())
	}
	schemes, err := link.CheckSchemes(s.AllowedSchemes)
	if err != nil {
		panic("BUG: settings used before they were validated: " + err.Error())
	}
	return link.Policy{Hosts: []string{u.Host}, AllowPrivate: s.AllowPrivateDestinations, Schemes: schemes, MaxBytes: s.MaxDestinationBytes}
}

// Zone returns the time zone of time conditions that have none.
func (s *Settings) Zone() *time.Location {
	zone, err := time.LoadLocation(s.RoutingTimezone)
	if err != nil {
		return time.UTC // Validate has refused it
	}
	return zone
}

func (s *Settings) trusted() []netip.Prefix {
	p, err := visitor.ParsePrefixes(s.TrustedProxies)
	if err != nil {
		panic("BUG: settings used before they were validated: " + err.Error())
	}
	return p
}

func (s *Settings) clientIPHeader() visitor.Source {
	source, err := visitor.ParseSource(s.ClientIPHeader)
	if err != nil {
		panic("BUG: settings used before they were validated: " + err.Error())
	}
	return source
}

// Trash returns how long deleted links can be restored.
func (s *Settings) Trash() time.Duration { return time.Duration(s.TrashDays) * 24 * time.Hour }

// AuditKeys are the keys that sign the audit log. The first one signs, all are accepted.
func (s *Settings) AuditKeys() [][]byte { return append(s.AuditKey.Keys(), s.EncryptionKey.Keys()...) }
