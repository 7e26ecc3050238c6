package app

import (
	"context"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/convert"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/live"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/fleet/presence"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/shared/snapshot"
)

// livePoll is how often the live feed looks for clicks that other processes have stored.
const livePoll = time.Second

// commitEvery is small beside the five seconds within which reports must show a click. Each commit is three inserts into
// ClickHouse, which cost about 40 ms of a processor with the merges of their parts.
const commitEvery = 500 * time.Millisecond

// Fleet is one process of a control plane. Other processes on the same database may have the same roles or others, and
// clicks come through Kafka. Each role is made by one method, called at most once, before AddTo.
type Fleet struct {
	*parts
	sharedHooks     *webhooks.Service   // nil until a role needs it
	sharedPositions *presence.Positions // likewise
}

// NewFleet makes a process without roles.
func NewFleet(cfg Config, deps Deps) (*Fleet, error) {
	p, err := newParts(cfg, deps)
	if err != nil {
		return nil, err
	}
	return &Fleet{parts: p}, nil
}

// Webhooks adds the role that delivers events to other systems.
func (f *Fleet) Webhooks() (*Webhooks, error) {
	hooks, err := f.hooks()
	if err != nil {
		return nil, err
	}
	f.addService("webhooks", hooks)
	sink := ingest.NewObserverSink(hooks, f.enrich())
	return &Webhooks{Sink: sink}, f.register("webhooks", sink)
}

// Publish adds the role that edges get links from. The key signs them; the zero key does not sign.
func (f *Fleet) Publish(key snapshot.SigningKey) (*Publish, error) {
	return f.publish(key, f.edges())
}

// API adds the role that serves people and other programs. Objects keeps images; send stores conversions
// durably on their way to the role Ingest; if it is nil, they are refused.
func (f *Fleet) API(ctx context.Context, clicks analytics.Store, objects object.Store, send convert.QueueFunc) (*API, error) {
	hooks, err := f.hooks()
	if err != nil {
		return nil, err
	}
	cfg := apiConfig{cache: report.CacheConfig{Shared: true}, feed: live.Config{Poll: livePoll}, send: send}
	return f.api(ctx, cfg, clicks, objects, hooks, f.edges())
}

// Ingest adds the role that stores clicks and conversions, for retention days; 0 is without limit. If the process also has the
// role API, that is server; else nil.
func (f *Fleet) Ingest(clicks Clicks, retention int, server *API) (*Ingest, error) {
	var observer convert.Observer
	if f.cfg.EncryptionKey == "" {
		f.deps.Logger.Warn("webhooks of conversions disabled, no encryption key", "setting", "ENCRYPTION_KEY")
	} else {
		hooks, err := f.hooks()
		if err != nil {
			return nil, err
		}
		observer = hooks
	}
	if server == nil {
		server = &API{}
	}
	in, err := f.ingest(ingest.Config{CommitEvery: commitEvery, Retention: retention, Stored: server.Stored}, clicks)
	if err != nil {
		return nil, err
	}
	progress := ingest.NewProgress(f.deps.Store, f.deps.Logger)
	f.addService("progress of ingest", progress)
	in.WatchClicks = func(region string, behind Behind) { progress.Watch(ingest.Clicks, region, behind) }
	in.WatchConversions = func(region string, behind Behind) { progress.Watch(ingest.Conversions, region, behind) }
	in.Conversions, err = f.conversions(clicks, observer, server.Converted)
	return in, err
}

// Certificates adds the role that orders certificates.
func (f *Fleet) Certificates() error { return f.certs(0) }

// Experiments adds the role that decides experiments and sets the weights of their variants.
func (f *Fleet) Experiments(clicks Clicks) error {
	return f.autopilot(clicks, ingest.Clicks, ingest.Conversions)
}

func (f *Fleet) hooks() (_ *webhooks.Service, err error) {
	if f.sharedHooks == nil {
		f.sharedHooks, err = f.webhooks()
	}
	return f.sharedHooks, err
}

func (f *Fleet) edges() *presence.Positions {
	if f.sharedPositions == nil {
		f.sharedPositions = f.positions(false)
	}
	return f.sharedPositions
}
