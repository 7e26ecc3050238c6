package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/app"
	"github.com/shortline/shortline/control/internal/clicks/convert/kafkaqueue"
	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/control/internal/fleet/edgeapi"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/control/internal/platform/clocks"
	"github.com/shortline/shortline/control/internal/platform/httpserver"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/service"
	"github.com/shortline/shortline/shared/snapshot"
)

// roles are the parts of a control plane that this process runs.
type roles struct {
	API         bool // the management API and the console
	Publish     bool // links for edges
	Ingest      bool // clicks into the click store
	Webhooks    bool // deliveries to other systems
	Certs       bool // certificates of host names
	Experiments bool // decisions about A/B tests
}

// parseRoles reads ROLES. The error lists every problem.
func parseRoles(names []string) (r roles, err error) {
	var problems []error
	for _, name := range names {
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "api":
			r.API = true
		case "publish":
			r.Publish = true
		case "ingest":
			r.Ingest = true
		case "webhooks":
			r.Webhooks = true
		case "certs":
			r.Certs = true
		case "experiments":
			r.Experiments = true
		default:
			problems = append(problems, fmt.Errorf("ROLES: %q is not one of api, publish, ingest, webhooks, certs, experiments", name))
		}
	}
	if len(problems) == 0 && r == (roles{}) {
		problems = append(problems, errors.New("ROLES: at least one of api, publish, ingest, webhooks, certs, experiments is required"))
	}
	return r, errors.Join(problems...)
}

// plane is the roles of this process with their adapters: ClickHouse, Kafka, and HTTP for edges.
type plane struct {
	*settings
	app.Deps
	fleet    *app.Fleet
	clicks   app.Clicks
	clocks   *clocks.Watch
	adapters []adapter // in the order in which they start, after the fleet's services

	handler http.Handler
	admin   app.FirstAdmin // zero without the role api
}

type adapter struct {
	name string
	service.Service
}

// newPlane makes the parts of the roles, in the order in which their services start.
func (s *settings) newPlane(ctx context.Context, r roles, deps app.Deps) (p *plane, err error) {
	p = &plane{settings: s, Deps: deps, handler: http.NotFoundHandler(), clocks: clocks.New(deps.Logger)}
	if err := deps.Registry.Register(p.clocks); err != nil {
		return nil, fmt.Errorf("register the metrics of clocks: %w", err)
	}
	deps.Registry.MustRegister(p.clocks.JobMetrics())
	p.clocks.AddServer("database", deps.Store.Clock)
	p.adapters = append(p.adapters, adapter{"clocks", p.clocks})
	if p.fleet, err = app.NewFleet(app.Config{Settings: s.Settings, DataDir: s.DataDir, Brand: s.BrandName}, deps); err != nil {
		return nil, err
	}
	if r.API || r.Ingest || r.Experiments {
		// Links are managed and published without the click store, so only these roles wait for it.
		if err := p.useClicks(ctx, r.Ingest); err != nil {
			return nil, err
		}
	}
	var hooks *app.Webhooks
	if r.Webhooks {
		if hooks, err = p.fleet.Webhooks(); err != nil {
			return nil, err
		}
	}
	var edges http.Handler
	if r.Publish {
		if edges, err = p.publish(); err != nil {
			return nil, err
		}
	}
	var server *app.API
	if r.API {
		if server, err = p.serveAPI(ctx); err != nil {
			return nil, err
		}
	}
	if r.Certs {
		if err := p.fleet.Certificates(); err != nil {
			return nil, err
		}
	}
	if r.Experiments {
		if err := p.fleet.Experiments(p.clicks); err != nil {
			return nil, err
		}
	}
	if edges != nil {
		p.handler = byPrefix(edgeapi.Prefix, edges, p.handler)
	}
	if r.Ingest {
		in, err := p.fleet.Ingest(p.clicks, s.ClickHouse.Retention, server)
		if err != nil {
			return nil, err
		}
		if err := p.consume("ingest", in.Sink, in.ReloadMarks, in.WatchClicks); err != nil {
			return nil, err
		}
		if err := p.consume("conversions", in.Conversions, nil, in.WatchConversions); err != nil {
			return nil, err
		}
	}
	if hooks != nil {
		if err := p.consume("hooks", hooks.Sink, nil, nil); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// addTo adds the services to a group.
func (p *plane) addTo(g *service.Group) {
	p.fleet.AddTo(g)
	for _, a := range p.adapters {
		g.Add(a.name, a)
	}
}

// closeStores releases what the services leave.
func (p *plane) closeStores() error {
	p.fleet.Close()
	if p.clicks.Store == nil {
		return nil
	}
	return p.clicks.Store.Close()
}

func (p *plane) publish() (http.Handler, error) {
	key, err := snapshot.ParseSigningKey(p.Signing.Key.Reveal())
	if err != nil {
		return nil, err
	}
	if !key.IsZero() {
		p.Logger.Info("snapshots are signed", "public_key", key.Public())
	}
	publish, err := p.fleet.Publish(key)
	if err != nil {
		return nil, err
	}
	edges, err := edgeapi.New(p.edges(p.Logger), edgeapi.Deps{Links: publish.Links, Reports: publish.Reports, Lockout: publish.Lockout,
		Limits: publish.Limits, Hosts: publish.Hosts, Abuse: publish.Abuse})
	if err != nil {
		return nil, err
	}
	if err := p.Registry.Register(edges); err != nil {
		return nil, fmt.Errorf("register the metrics of the edges' API: %w", err)
	}
	return httpserver.CancelOnStop(edges), nil
}

func (p *plane) serveAPI(ctx context.Context) (*app.API, error) {
	objects, err := object.Open(p.Media, p.DataDir)
	if err != nil {
		return nil, err
	}
	send, err := p.conversionQueue()
	if err != nil {
		return nil, err
	}
	server, err := p.fleet.API(ctx, p.clicks.Store, objects, send)
	if err != nil {
		return nil, err
	}
	p.handler, p.admin = server.Handler, server.Admin
	return server, nil
}

// conversionQueue returns what writes conversions of the API to Kafka. It is nil without brokers, which a process with the role
// api alone did not need in earlier releases.
func (p *plane) conversionQueue() (func(context.Context, []conversion.Conversion) error, error) {
	if len(p.Kafka.Brokers) == 0 {
		p.Logger.Warn("conversions refused, no kafka brokers", "setting", "KAFKA_BROKERS")
		return nil, nil
	}
	queue, err := kafkaqueue.New(p.Kafka.ForConversions(), p.Logger)
	if err != nil {
		return nil, err
	}
	p.adapters = append(p.adapters, adapter{"kafka: queue of conversions", queue})
	return queue.Send, nil
}

// consume adds a consumer group, in each Kafka cluster, that delivers to one sink. Each group reads the whole topic. A nil
// watch watches nothing.
func (p *plane) consume(group string, sink click.Sink, reload func(context.Context) error,
	watch func(region string, behind app.Behind)) error {
	clusters, err := p.kafka(group, p.Logger)
	if err != nil {
		return err
	}
	var all []*kafkasource.Source
	for _, cfg := range clusters {
		cfg.Reload = reload
		if group == "conversions" {
			cfg.Kafka = cfg.Kafka.ForConversions()
		}
		from, err := kafkasource.New(cfg, sink)
		if err != nil {
			return err
		}
		if err := p.Registry.Register(from); err != nil {
			return fmt.Errorf("register the metrics of the Kafka source: %w", err)
		}
		if watch != nil {
			watch(cfg.Region, behind(from))
		}
		all = append(all, from)
	}
	p.adapters = append(p.adapters,
		adapter{"kafka: " + group, service.Func(func(ctx context.Context) error { return kafkasource.RunAll(ctx, all) })})
	return nil
}

// behind returns what app.Ingest has to know of a consumer. Without partitions, another process has them, or none has.
func behind(from *kafkasource.Source) app.Behind {
	return func() (time.Duration, bool) {
		s := from.Stats()
		if s.Until.IsZero() {
			return 0, false
		}
		return max(0, time.Since(s.Until)), s.Partitions > 0
	}
}

// byPrefix calls below for paths that begin with prefix, and otherwise for all others.
func byPrefix(prefix string, below, otherwise http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, prefix) {
			below.ServeHTTP(w, r)
			return
		}
		otherwise.ServeHTTP(w, r)
	})
}
