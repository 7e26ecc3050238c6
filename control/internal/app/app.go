// Package app wires the parts of a control plane together: stores, use cases, API, publishing and ingest.
//
// There is one constructor for each kind of process. Standalone has everything and an edge in the same process. Fleet
// has some roles, next to other processes on the same database, and each role is a type that lists what it offers.
// The package owns the settings that the parts are made from, which part gets which, and the order in which they start.
// Programs choose the adapters: click store, object store, Kafka, and where the handlers listen.
package app

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/abuse"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/limit"
	"github.com/shortline/shortline/shared/lockout"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/visitor"
)

// Config is what all kinds of control planes need. The settings must have been validated.
type Config struct {
	Settings
	DataDir string // holds snapshots, which can be created again
	Brand   string // product name in e-mails; "" means Shortline
}

// Deps are the parts that every control plane needs. The caller closes the store after the services have ended.
type Deps struct {
	Store    *store.Store
	Geo      *visitor.Geo // kept up to date by the caller; if nil, places stay unknown
	Registry prometheus.Registerer
	Logger   *slog.Logger
}

// Clicks is a click store, which may not be open yet.
type Clicks struct {
	Store  analytics.Store
	Opened <-chan struct{} // closed when Store is open; nil if it is open already
}

// FirstAdmin is what to show the operator about the first administrator.
type FirstAdmin = accounts.FirstAdmin

// API is the role that serves people and other programs.
type API struct {
	// Handler serves /api and the console. It expects package httpserver.
	Handler http.Handler
	// Admin has the generated password of the first administrator until the first sign-in. It must be shown, but not logged.
	Admin FirstAdmin
	// Watched reports whether somebody looks at clicks: there is a live feed, or somebody has just asked for a report.
	Watched func() bool
	// Stored must be called with the clicks that an ingest in the same process has stored.
	Stored []func([]analytics.Row)
	// Converted must be called with the clicks of conversions that an ingest in the same process has stored.
	Converted []func([]analytics.Row)
}

// Publish is the role that edges get links from.
type Publish struct {
	Links   snapshot.Source
	Reports snapshot.Reporter
	Lockout lockout.Exchange
	Limits  limit.Exchange
	Hosts   snapshot.HostSource
	Abuse   abuse.ReportSink
}

// Ingest is the role that stores clicks.
type Ingest struct {
	// Sink stores clicks. It is done with a batch when the click store has it.
	Sink click.Sink
	// ReloadMarks makes Sink read again how far each lane is stored, for kafkasource.Config.Reload.
	ReloadMarks func(context.Context) error
	// Conversions stores conversions. It is done with a batch when the click store has it.
	Conversions click.Sink
	// WatchClicks and WatchConversions add the consumers of a Kafka cluster, so that other processes know how far they
	// are. The region is the name of the cluster; "" if there is only one. nil in standalone.
	WatchClicks, WatchConversions func(region string, behind Behind)
}

// Behind returns how long ago the time was up to which all messages of a consumer's partitions are stored. assigned is
// false if the consumer has no partitions, or does not know the time.
type Behind = func() (age time.Duration, assigned bool)

// Webhooks is the role that delivers events to other systems.
type Webhooks struct {
	// Sink turns clicks into deliveries.
	Sink click.Sink
}
