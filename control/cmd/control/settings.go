package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/shortline/shortline/control/internal/app"
	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/control/internal/commands"
	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	"github.com/shortline/shortline/shared/cli"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/peertls"
	"github.com/shortline/shortline/shared/snapshot"
)

type settings struct {
	ListenAddr string `env:"LISTEN_ADDR" envDefault:":8080" help:"address that serves the API and edges"`
	cli.Port
	Roles   []string `env:"ROLES" envDefault:"api,publish,ingest,webhooks,certs,experiments" help:"roles of this process: a fleet can split them between processes"`
	DataDir string   `env:"DATA_DIR" envDefault:"./data" help:"folder of snapshots, which can be recreated, of Kafka messages that are not clicks, and of images unless MEDIA_S3_ENDPOINT is set"`

	BrandName string `env:"BRAND_NAME" envDefault:"Shortline" help:"product name in e-mail; edges show the same setting to visitors"`

	DatabaseURL   config.Secret `env:"DATABASE_URL" help:"postgres://USER:PASSWORD@HOST/DATABASE; several hosts are separated by commas"`
	DatabaseConns int           `env:"DATABASE_MAX_CONNS" envDefault:"20" help:"limit of connections to the database"`
	ClickHouse    clicksAt
	Kafka         kafkaconn.Settings
	Regions       string        `env:"KAFKA_REGIONS" help:"Kafka clusters of the regions (roles ingest and webhooks), as name=host:port,host:port;name2=host:port. A name should be the REGION of the edges that write there. The other KAFKA_ settings apply to all clusters. KAFKA_BROKERS, where the role api writes conversions, must be brokers of one of them; without the role api it may be empty. All processes with these roles need the same value; empty: only KAFKA_BROKERS is read"`
	EdgeTokens    config.Secret `env:"EDGE_TOKENS" help:"tokens of edges, at least 16 bytes each, separated by commas (role publish, and api if edges proxy the API); tokens written as name=token with the same name are one identity"`
	Edges         edgePort
	Signing       signing

	app.Settings
}

// edgePort holds the settings of the port for edges with a certificate.
type edgePort struct {
	Addr  string `env:"EDGE_LISTEN_ADDR" help:"address that serves the same as LISTEN_ADDR, with TLS and only to edges with a certificate; empty disables it"`
	Cert  string `env:"EDGE_CERT_FILE" help:"certificate of EDGE_LISTEN_ADDR (PEM); a new file is used from the next connection on"`
	Key   string `env:"EDGE_KEY_FILE" help:"private key of EDGE_CERT_FILE (PEM)"`
	CA    string `env:"EDGE_CA_FILE" help:"certificates of the authorities that must have issued the edges' certificates (PEM)"`
	Plain bool   `env:"EDGE_PLAIN" envDefault:"true" help:"serve edges at LISTEN_ADDR, too, without TLS; false needs EDGE_LISTEN_ADDR"`
}

func (e edgePort) files() peertls.Files { return peertls.Files{CA: e.CA, Cert: e.Cert, Key: e.Key} }

// validate reports every problem.
func (e edgePort) validate(listen string) error {
	if e.Addr == "" {
		if !e.Plain {
			return errors.New("EDGE_PLAIN: false needs EDGE_LISTEN_ADDR, because edges could not connect otherwise")
		}
		return nil
	}
	var problems []error
	_, port, err := net.SplitHostPort(e.Addr)
	if err != nil {
		problems = append(problems, fmt.Errorf("EDGE_LISTEN_ADDR: %w", err))
	} else if _, other, err := net.SplitHostPort(listen); err == nil && other == port && port != "0" {
		problems = append(problems, errors.New("EDGE_LISTEN_ADDR: must not have the port of LISTEN_ADDR"))
	}
	if e.Cert == "" || e.Key == "" || e.CA == "" {
		problems = append(problems, errors.New("EDGE_LISTEN_ADDR: needs EDGE_CERT_FILE, EDGE_KEY_FILE and EDGE_CA_FILE"))
	} else if err := e.files().Validate(); err != nil {
		problems = append(problems, fmt.Errorf("EDGE_CERT_FILE, EDGE_KEY_FILE, EDGE_CA_FILE: %w", err))
	}
	return errors.Join(problems...)
}

// signing holds the key whose signatures edges trust.
type signing struct {
	Key config.Secret `env:"SNAPSHOT_SIGNING_KEY" help:"key that signs links for edges (role publish): 32 random bytes in base64, or an Ed25519 private key in PEM. Edges of the first release reject signed links. control public-key prints the value for SNAPSHOT_PUBLIC_KEYS at edges; empty disables signatures"`
}

// Validate reports every problem, without showing the key.
func (s *signing) Validate() error {
	if _, err := snapshot.ParseSigningKey(s.Key.Reveal()); err != nil {
		return fmt.Errorf("SNAPSHOT_SIGNING_KEY: %w", err)
	}
	return nil
}

// Validate reports every problem.
func (s *settings) Validate() error {
	roles, err := parseRoles(s.Roles)
	problems := []error{err, s.Settings.Validate(), s.Signing.Validate(), s.Edges.validate(s.ListenAddr)}
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if _, _, err := net.SplitHostPort(s.ListenAddr); err != nil {
		problem("LISTEN_ADDR: %w", err)
	}
	problems = append(problems, s.Port.Validate())
	if err := databaseAddress(s.DatabaseURL); err != nil {
		problems = append(problems, err)
	}
	if s.DatabaseConns < 4 {
		problem("DATABASE_MAX_CONNS: must be at least 4")
	}
	if roles.API && s.JWTSecret == "" {
		problem("JWT_SECRET: is required")
	}
	if (roles.API || roles.Webhooks) && s.EncryptionKey == "" {
		problem("ENCRYPTION_KEY: is required")
	}
	if roles.API || roles.Ingest || roles.Experiments {
		problems = append(problems, s.ClickHouse.validate())
	}
	if roles.Ingest || roles.Webhooks {
		problems = append(problems, s.kafkaProblems(roles)...)
	}
	if roles.Certs && s.Certificates.Email != "" && s.Certificates.Key == "" {
		problem("CERTIFICATE_KEY: is required with ACME_EMAIL")
	}
	if roles.Publish {
		problems = append(problems, s.edges(nil).Validate())
	}
	if _, err := ops.NewLogger(os.Stderr, s.LogFormat, s.LogLevel); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// databaseAddress checks DATABASE_URL. The error does not contain it.
func databaseAddress(s config.Secret) error {
	for _, scheme := range []string{"postgres://", "postgresql://", "sqlite:"} {
		if strings.HasPrefix(s.Reveal(), scheme) {
			return nil
		}
	}
	return errors.New("DATABASE_URL: must begin with postgres:// or sqlite: and name a database")
}

// kafkaProblems checks the Kafka clusters of a process that reads them.
func (s *settings) kafkaProblems(r roles) (problems []error) {
	list, err := kafkaconn.ParseRegions(s.Regions, s.Kafka)
	if err != nil {
		problems = append(problems, err)
	}
	if r.API && s.Regions != "" && len(s.Kafka.Brokers) == 0 {
		problems = append(problems,
			errors.New("KAFKA_BROKERS: is required with KAFKA_REGIONS and the role api, which writes conversions there"))
	}
	settings := s.Kafka
	if len(list) > 0 {
		settings = list[0].Settings // regions differ only in their brokers, which have been checked
	} else if len(settings.Brokers) == 0 {
		return problems
	}
	return append(problems, settings.Validate())
}

// kafka returns the settings of the consumers in a group, one for each Kafka cluster. Brokers of regions are not read
// from invalid settings.
func (s *settings) kafka(group string, log *slog.Logger) (list []kafkasource.Config, err error) {
	regions, err := kafkaconn.ParseRegions(s.Regions, s.Kafka)
	for _, r := range regions {
		// Offsets are unique only within a cluster, so each has a folder of its own.
		list = append(list, kafkasource.Config{Region: r.Name, Kafka: r.Settings, Group: group,
			DeadDir: filepath.Join(s.DataDir, "dead", group,
				r.Name), Logger: log})
	}
	return list, err
}

func (s *settings) edges(log *slog.Logger) edgeapi.Config {
	cfg := edgeapi.Config{Logger: log}
	for token := range strings.SplitSeq(s.EdgeTokens.Reveal(), ",") {
		if token = strings.TrimSpace(token); token != "" {
			cfg.Tokens = append(cfg.Tokens, token)
		}
	}
	return cfg
}

// operator holds the settings of commands on the database; the click store is optional.
type operator struct {
	commands.Database
	ClickHouse clicksAt
}

// Validate reports every problem.
func (o *operator) Validate() error {
	problems := []error{o.Database.Validate()}
	if o.ClickHouse.configured() {
		problems = append(problems, o.ClickHouse.validate())
	}
	return errors.Join(problems...)
}

// migrator holds the settings of migrate.
type migrator struct {
	commands.Database
	ClickHouse clicksAt
	OwnerURL   config.Secret `env:"MIGRATE_DATABASE_URL" help:"the database with the role that owns the tables; the role of DATABASE_URL, which is created if it is missing, then gets the rights that programs need at run time and no others; empty means that the role of DATABASE_URL owns the tables"`
}

// Validate reports every problem.
func (m *migrator) Validate() error {
	problems := []error{(&operator{m.Database, m.ClickHouse}).Validate()}
	if u := m.OwnerURL.Reveal(); u != "" && !strings.HasPrefix(u, "postgres://") && !strings.HasPrefix(u, "postgresql://") {
		problems = append(problems, errors.New("MIGRATE_DATABASE_URL: must begin with postgres:// and name a database"))
	} else if u != "" && strings.HasPrefix(m.DatabaseURL.Reveal(), "sqlite:") {
		problems = append(problems, errors.New("MIGRATE_DATABASE_URL: is for PostgreSQL only, but DATABASE_URL names an SQLite database"))
	}
	return errors.Join(problems...)
}

// auditor holds the settings of verify-audit.
type auditor struct {
	commands.Database
	Unsigned string `env:"AUDIT_UNSIGNED" help:"rows that need no HMAC although earlier rows have one, because an older release wrote them; such as 120-131,140"`
}

// clicksOperator holds the settings of commands on clicks.
type clicksOperator struct {
	DatabaseURL config.Secret `env:"DATABASE_URL" help:"postgres://USER:PASSWORD@HOST/DATABASE; needed while workspaces move to another shard, and if a shard has several servers"`
	ClickHouse  clicksAt
}

// Validate reports every problem.
func (o *clicksOperator) Validate() error { return o.ClickHouse.validate() }

// enrichOperator holds the settings of commands that enrich clicks.
type enrichOperator struct {
	commands.Database
	ClickHouse clicksAt
	GeoDB      string `env:"GEO_DB" help:"geo database files (mmdb), separated by commas"`
}

// Validate reports every problem.
func (o *enrichOperator) Validate() error {
	return errors.Join(o.Database.Validate(), o.ClickHouse.validate())
}
