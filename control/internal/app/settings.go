package app

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
	_ "time/tzdata" // zones must be there on machines without a zone database

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/tracing"
	"github.com/shortline/shortline/shared/visitor"
)

// Settings are those of every program that has a control plane in it.
type Settings struct {
	BaseURL       string        `env:"BASE_URL" help:"the address that visitors and owners use"`
	JWTSecret     config.Secret `env:"JWT_SECRET" help:"signs sessions, at least 32 bytes; several with commas between them: the first signs, all are accepted"`
	JWTTTL        time.Duration `env:"JWT_TTL" envDefault:"24h" help:"how long a session lasts"`
	EncryptionKey config.Secret `env:"ENCRYPTION_KEY" help:"seals secrets in the database, at least 32 bytes; several with commas between them: the first seals, all open"`
	AuditKey      config.Secret `env:"AUDIT_KEY" help:"signs rows of the audit log (HMAC), at least 32 bytes; several with commas between them: the first signs, all are accepted by verify-audit; empty means ENCRYPTION_KEY. A key that was replaced stays in the list as long as its rows are to be verified"`
	AdminEmail    string        `env:"ADMIN_EMAIL" envDefault:"admin@example.com" help:"the first admin, made when there are no users"`
	AdminPassword config.Secret `env:"ADMIN_PASSWORD" help:"the first admin's password; without it one is made and printed once"`

	ConsoleURL     string   `env:"CONSOLE_URL" help:"where people's pages are, if another origin than BASE_URL has them: single sign-on leads back there, and its pages may call the API"`
	CORSOrigin     []string `env:"CORS_ORIGIN" help:"origins of other sites whose pages may call the API, with commas between them"`
	TrustedProxies string   `env:"TRUSTED_PROXIES" help:"networks whose X-Forwarded-For is believed, with commas between them"`
	GeoDB          string   `env:"GEO_DB" help:"geo database files (mmdb), with commas between them"`

	AllowPrivateDestinations bool   `env:"ALLOW_PRIVATE_DESTINATIONS" envDefault:"false" help:"links may lead to private addresses"`
	UTMSuggestionsShared     bool   `env:"UTM_SUGGESTIONS_SHARED" envDefault:"true" help:"suggest campaign values of everybody's links; false suggests those of one's own"`
	RoutingTimezone          string `env:"ROUTING_TIMEZONE" envDefault:"UTC" help:"zone of time conditions that name none (IANA)"`

	Webhooks webhooks.Settings
	SSO      sso.Settings
	Media    object.S3Config
	Tracing  tracing.Settings

	KeysAdminister bool `env:"API_KEYS_ADMINISTER" envDefault:"false" help:"API keys may make keys, and administrators' keys may change users and identity providers; without it that needs a session"`

	MaxAPIKeys int `env:"MAX_API_KEYS_PER_USER" envDefault:"10" help:"API keys that a user may have"`
	api.Limits

	AnalyticsCacheTTL    time.Duration `env:"ANALYTICS_CACHE_TTL" envDefault:"5m" help:"how long a report is remembered at most; a click or a change makes it forgotten within two seconds"`
	MaxInMemoryClicks    int           `env:"MAX_IN_MEMORY_CLICKS" envDefault:"50000" help:"accepted for compatibility; reports are computed in the store"`
	AggregationThreshold int           `env:"AGGREGATION_THRESHOLD" envDefault:"10000" help:"accepted for compatibility; reports are computed in the store"`

	LogFormat string `env:"LOG_FORMAT" envDefault:"text" help:"text or json"`
	LogLevel  string `env:"LOG_LEVEL" envDefault:"info" help:"debug, info, warn or error"`
}

// Validate reports every problem.
func (s *Settings) Validate() error {
	var problems []error
	if _, err := link.ParseBaseURL(s.BaseURL); err != nil {
		problems = append(problems, err)
	}
	problems = append(problems, s.JWTSecret.CheckKeys("JWT_SECRET"), s.EncryptionKey.CheckKeys("ENCRYPTION_KEY"), s.AuditKey.CheckKeys("AUDIT_KEY"))
	if s.JWTTTL < time.Minute {
		problems = append(problems, errors.New("JWT_TTL: must be at least 1m"))
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
	if err := s.Tracing.Validate(); err != nil {
		problems = append(problems, err)
	}
	if s.AnalyticsCacheTTL < 0 {
		problems = append(problems, errors.New("ANALYTICS_CACHE_TTL: must not be negative"))
	}
	if err := s.Media.Validate(); err != nil {
		problems = append(problems, err)
	}
	if s.MaxAPIKeys < 0 {
		problems = append(problems, errors.New("MAX_API_KEYS_PER_USER: must not be negative"))
	}
	return errors.Join(problems...)
}

// Destinations says where links may lead.
func (s *Settings) Destinations() link.Policy {
	u, err := link.ParseBaseURL(s.BaseURL)
	if err != nil {
		panic("BUG: settings used before they were validated: " + err.Error())
	}
	return link.Policy{Hosts: []string{u.Host}, AllowPrivate: s.AllowPrivateDestinations}
}

// Zone is that of time conditions that name none.
func (s *Settings) Zone() *time.Location {
	zone, err := time.LoadLocation(s.RoutingTimezone)
	if err != nil {
		return time.UTC // Validate refuses it
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

// AuditKeys are the keys that sign the audit log. The first one signs, all are accepted.
func (s *Settings) AuditKeys() [][]byte { return append(s.AuditKey.Keys(), s.EncryptionKey.Keys()...) }
