package control_test

import (
	"testing"

	"github.com/shortline/shortline/shared/testing/archtest"
)

// The layers of the control plane, from the outside in. A package imports packages of its own layer, those that its
// layer lists, and shared. The control plane never imports the edge; standalone, which joins both, has its own table.
var layers = []archtest.Layer{
	{
		Path: "control/cmd/control",
		Is:   "the program: it chooses the adapters and hands them to app, and nothing else knows both",
		May: []string{
			"control/internal/app", "control/internal/commands",
			"control/internal/clicks/analytics", "control/internal/clicks/analytics/clickhouse",
			"control/internal/clicks/ingest/kafkasource",
			"control/internal/clicks/convert/kafkaqueue", "control/internal/manage/media/object",
			"control/internal/clicks/cluster", // with several click stores
			"control/internal/fleet/edgeapi", "control/internal/platform", "control/internal/backup", "control/internal/store",
			"control/internal/manage/audit", // the arguments and the report of verify-audit
		},
	},
	{
		Path: "control/internal/app",
		Is:   "the wiring: it makes every use case and the API from ports. Adapters come from cmd, so that each program has its own",
		May: []string{
			"control/internal/api", "control/internal/archive", "control/internal/certs", "control/internal/experiments",
			"control/internal/explain", "control/internal/sharedreports", "control/internal/mailreports", "control/internal/console",
			"control/internal/manage", "control/internal/fleet", "control/internal/clicks", "control/internal/platform",
			"control/internal/store",
			"control/internal/manage/media/object", // the settings of the bucket, and the port
		},
	},
	{
		Path: "control/internal/api",
		Is:   "the REST transport, with its rooms the only place that knows echo, huma and OpenAPI. It calls use cases and holds no rules",
		May: []string{
			"control/internal/api/kit", "control/internal/api/linkapi", "control/internal/api/reportapi", "control/internal/api/peopleapi",
			"control/internal/api/systemapi", "control/internal/api/mcpapi",
			"control/internal/archive", "control/internal/manage", "control/internal/experiments", "control/internal/explain",
			"control/internal/clicks", "control/internal/sharedreports", "control/internal/mailreports", "control/internal/platform",
			"control/internal/store",
			"control/internal/fleet", // the positions of edges
		},
	},
	{
		Path: "control/internal/api/kit",
		Is:   "what all endpoints have in common: admission, limits, requests, errors, the document. It knows no resource",
		May: []string{
			"control/internal/platform", "control/internal/store",
			"control/internal/clicks/report",  // the schema of a value
			"control/internal/fleet",          // waiting for edges, and whether a proxied request comes from an edge
			"control/internal/manage/audit",   // the origin of a request
			"control/internal/manage/imports", // the form of tags in a file
		},
	},
	{
		Path: "control/internal/api/mcpapi",
		Is:   "the MCP server: tools that call the endpoints of the rooms in process, and know no use case",
		May:  []string{"control/internal/api/kit", "control/internal/platform", "control/internal/store"},
	},
	{
		Path: "control/internal/api/peopleapi",
		Is:   "the endpoints of one room of the API: accounts, credentials, workspaces and who may work in them. Rooms do not know each other",
		May: []string{"control/internal/api/kit", "control/internal/archive", "control/internal/manage", "control/internal/platform",
			"control/internal/store"},
	},
	{
		Path: "control/internal/api/reportapi",
		Is:   "the endpoints of one room of the API: reports, live clicks, conversions and experiments. Rooms do not know each other",
		May: []string{
			"control/internal/api/kit", "control/internal/manage", "control/internal/clicks", "control/internal/experiments",
			"control/internal/mailreports", "control/internal/sharedreports",
			"control/internal/platform", "control/internal/store",
			"control/internal/experiments/stats", // intervals and probabilities of a report
		},
	},
	{
		Path: "control/internal/api/systemapi",
		Is:   "the endpoints of one room of the API: the installation: settings, audit, edges, webhooks, privacy. Rooms do not know each other",
		May: []string{"control/internal/api/kit", "control/internal/manage", "control/internal/clicks", "control/internal/fleet",
			"control/internal/platform", "control/internal/store"},
	},
	{
		Path: "control/internal/api/linkapi",
		Is:   "the endpoints of one room of the API: links, and what belongs to them or groups them. Rooms do not know each other",
		May: []string{"control/internal/api/kit", "control/internal/manage", "control/internal/explain", "control/internal/platform",
			"control/internal/store"},
	},
	{
		Path: "control/internal/commands",
		Is:   "the operators' commands, another transport beside api, without a running control plane",
		May: []string{"control/internal/manage", "control/internal/certs", "control/internal/clicks", "control/internal/platform",
			"control/internal/store"},
	},
	{
		Path: "control/internal/backup",
		Is:   "backups, for cmd only: they copy what the adapters keep, in the adapters' own formats, so ports are not enough",
		May: []string{
			"control/internal/clicks/analytics", "control/internal/clicks/ingest/kafkasource",
			"control/internal/manage/media", "control/internal/manage/media/object", "control/internal/store",
		},
	},
	{
		Path: "control/internal/certs",
		Is:   "certificates of host names: orders at a certificate authority, renewals, keys of session tickets, and announcements",
		May: []string{
			"control/internal/platform", "control/internal/store",
			"control/internal/manage/audit", "control/internal/manage/webhooks", // members and other systems learn of certificates
		},
	},
	{
		Path: "control/internal/mailreports",
		Is:   "reports by e-mail: it joins the figures of reports with e-mails and with the members of a workspace",
		May: []string{
			"control/internal/clicks/report", "control/internal/platform", "control/internal/store",
			"control/internal/manage/accounts", // the form of an address
			"control/internal/manage/audit",
		},
	},
	{
		Path: "control/internal/console",
		Is:   "the web console's files, which know the control plane by its API only",
	},
	{
		Path: "control/internal/manage",
		Is:   "the use cases of people who own links: they know neither HTTP nor how clicks and links travel",
		May: []string{
			"control/internal/platform", "control/internal/store", "control/internal/manage/media/object",
			"control/internal/clicks/analytics", // the port: a bundle's clicks, erasing an address, and events of clicks
			"control/internal/clicks/anomaly",   // alerts: a judgement of figures, which asks nobody
		},
	},
	{
		Path: "control/internal/explain",
		Is:   "what a visit to a link does, and what past visits would have done: it reads a link as an edge does",
		May: []string{
			"control/internal/clicks/analytics", // the port: past visits
			"control/internal/fleet/publish", "control/internal/manage", "control/internal/platform", "control/internal/store",
		},
	},
	{
		Path: "control/internal/archive",
		Is:   "a whole workspace as one file: it reads stores, and creates objects by the use cases of their owners",
		May: []string{
			"control/internal/clicks", // the port to the click store, and the log of moves
			"control/internal/manage", "control/internal/platform", "control/internal/store",
		},
	},
	{
		Path: "control/internal/fleet",
		Is:   "what edges talk to: links for edges, their reports, and the lockout exchange",
		May: []string{
			"control/internal/store",
			"control/internal/manage/links", // publish: the addresses of preview images
		},
	},
	{
		Path: "control/internal/clicks",
		Is:   "the click pipeline: ports to the click store and to Kafka, ingest, reports and their checks",
		May:  []string{"control/internal/platform", "control/internal/store"},
	},
	{
		Path: "control/internal/sharedreports",
		Is:   "reports for people without an account: who sees which, and how often they are computed",
		May: []string{
			"control/internal/manage", "control/internal/platform", "control/internal/store",
			"control/internal/clicks/report", // the figures
		},
	},
	{
		Path: "control/internal/experiments",
		Is:   "experiments: reports, decisions, and the autopilot that sets weights",
		May: []string{
			"control/internal/experiments/stats", "control/internal/platform", "control/internal/store",
			// the port: visitors and conversions
			"control/internal/clicks/analytics",
			// weights are a change of the link
			"control/internal/manage/audit", "control/internal/manage/links", "control/internal/manage/routing",
			"control/internal/manage/webhooks",
		},
	},
	{
		Path: "control/internal/experiments/stats",
		Is:   "the statistics of experiments: pure functions, which import nothing of the project",
	},
	{
		Path: "control/internal/clicks/analytics/clickhouse",
		Is:   "the adapter of the click store for fleets, for cmd only",
		May:  []string{"control/internal/clicks/analytics", "control/internal/platform/problem"},
	},
	{
		Path: "control/internal/clicks/analytics/duckdb",
		Is:   "the adapter of the click store for standalone, for cmd only, because it needs cgo",
		May:  []string{"control/internal/clicks/analytics"},
	},
	{
		Path: "control/internal/clicks/convert/kafkaqueue",
		Is:   "the adapter that writes conversions of the API to Kafka, for cmd only",
	},
	{
		Path: "control/internal/clicks/ingest/kafkasource",
		Is:   "the adapter between Kafka and a click.Sink, for cmd only",
	},
	{
		Path: "control/internal/manage/media/object",
		Is:   "the port to the store of images with its two adapters, a folder and S3",
	},
	{
		Path: "control/internal/platform",
		Is:   "infrastructure without rules about links: users' credentials, sealing, outbound requests, HTTP serving, errors",
		May:  []string{"control/internal/store"}, // auth: sessions, keys and throttling of sign-in
	},
	{
		Path: "control/internal/store",
		Is:   "the database of links and users, for SQLite and PostgreSQL, below everything: it holds no rules",
	},
}

var libraries = []archtest.Library{
	{Path: "github.com/prometheus/client_golang/prometheus"},
	{Path: "go.opentelemetry.io/otel"},
	{Path: "github.com/google/uuid"},
	{Path: "github.com/labstack/echo/v4", In: []string{"control/internal/api"}},
	{Path: "github.com/danielgtaylor/huma/v2", In: []string{"control/internal/api"}},
	{Path: "github.com/modelcontextprotocol/go-sdk", In: []string{"control/internal/api/mcpapi"}},
	{Path: "github.com/google/jsonschema-go", In: []string{"control/internal/api/mcpapi"}},
	{Path: "github.com/swaggest/swgui", In: []string{"control/internal/api"}},
	{Path: "golang.org/x/net", In: []string{"control/internal/api", "control/internal/manage/domains/hostname",
		"control/internal/manage/pages", "control/internal/manage/webhooks", "control/internal/platform/outbound",
		"control/internal/platform/smtp"}},
	// package net hides error codes and CNAME records, and asks servers of its own choice
	{Path: "github.com/miekg/dns", In: []string{"control/internal/manage/domains/dnscheck"}},
	// orders certificates in steps that survive a crash: ADR 0019
	{Path: "github.com/caddyserver/certmagic", In: []string{"control/internal/certs"}},
	{Path: "github.com/mholt/acmez/v3", In: []string{"control/internal/certs"}},
	{Path: "go.uber.org/zap", In: []string{"control/internal/certs"}}, // certmagic's logger, which must not be nil
	{Path: "github.com/wneessen/go-mail", In: []string{"control/internal/platform/smtp"}},
	{Path: "database/sql", In: []string{"control/internal/store", "control/internal/clicks/analytics/duckdb", "control/internal/api",
		"control/internal/manage/audit"}},
	{Path: "github.com/jackc/pgx/v5", In: []string{"control/internal/store"}},
	{Path: "github.com/pressly/goose/v3", In: []string{"control/internal/store"}},
	{Path: "modernc.org/sqlite", In: []string{"control/internal/store"}},
	{Path: "github.com/ClickHouse/clickhouse-go/v2", In: []string{"control/internal/clicks/analytics/clickhouse"}},
	{Path: "github.com/duckdb/duckdb-go/v2", In: []string{"control/internal/clicks/analytics/duckdb"}},
	{Path: "github.com/segmentio/kafka-go", In: []string{"control/internal/clicks/ingest/kafkasource",
		"control/internal/clicks/convert/kafkaqueue"}},
	{Path: "github.com/klauspost/compress", In: []string{"control/internal/api", "control/internal/clicks/ingest/kafkasource"}},
	{Path: "github.com/dgraph-io/ristretto/v2", In: []string{"control/internal/clicks/report", "control/internal/manage/pages"}},
	{Path: "github.com/minio/minio-go/v7", In: []string{"control/internal/manage/media/object"}},
	{Path: "github.com/chai2010/webp", In: []string{"control/internal/manage/media/picture"}},
	{Path: "golang.org/x/image", In: []string{"control/internal/mailreports", "control/internal/manage/links/qr", "control/internal/manage/media/picture"}},
	{Path: "github.com/boombuler/barcode", In: []string{"control/internal/manage/links/qr"}},
	{Path: "github.com/coreos/go-oidc/v3", In: []string{"control/internal/manage/sso"}},
	{Path: "github.com/go-jose/go-jose/v4", In: []string{"control/internal/manage/sso"}},
	{Path: "github.com/go-webauthn/webauthn", In: []string{"control/internal/manage/passkeys"}},
	{Path: "golang.org/x/oauth2", In: []string{"control/internal/manage/sso"}},
	{Path: "github.com/golang-jwt/jwt/v5", In: []string{"control/internal/platform/auth"}},
	{Path: "golang.org/x/crypto", In: []string{"control/internal/platform/auth"}},
	{Path: "golang.org/x/sync", In: []string{"control/internal/platform/auth", "control/internal/clicks/report"}},
}

func TestImports(t *testing.T) {
	t.Parallel()
	archtest.Check(t, archtest.Module{Path: "control", Dir: ".", All: []string{"shared"}, Layers: layers, Libraries: libraries})
}

func TestImports_of_standalone(t *testing.T) {
	t.Parallel()
	archtest.Check(t, archtest.Module{
		Path: "control/cmd/standalone", Dir: "cmd/standalone", All: []string{"shared"},
		Layers: []archtest.Layer{{
			Path: "control/cmd/standalone",
			Is:   "the program that joins both planes: an edge by its facade, and app with the adapters that need no other process",
			May: []string{
				"edge", "control/internal/app", "control/internal/backup", "control/internal/commands",
				"control/internal/clicks/analytics/duckdb",
				"control/internal/manage/media/object", "control/internal/platform", "control/internal/store",
			},
		}},
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	archtest.CheckNames(t, ".")
}
