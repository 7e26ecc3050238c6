package app

import (
	"context"
	"time"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/snapshot"
)

// ownEdgeTimeout is how long the response to a change waits for the edge in the same process. The edge needs a few
// milliseconds; one that needs longer is loading all links, or hangs.
const ownEdgeTimeout = 2 * time.Second

// ownEdgeSpread is how long an order of a certificate waits until the edge in the same process has its challenge.
const ownEdgeSpread = 300 * time.Millisecond

// Standalone is a control plane with every role, whose only edge runs in the same process.
type Standalone struct {
	*parts
	API
	Publish
	// Sink stores clicks and makes webhook deliveries of them. No click comes any other way.
	Ingest
}

// NewStandalone makes the parts. Clicks must be open; retention is the number of days for which they are kept, 0 for no
// limit. send stores conversions durably; they must come to Ingest.Conversions. The caller adds the services to a group.
func NewStandalone(ctx context.Context, cfg Config, deps Deps, clicks analytics.Store, objects object.Store, retention int,
	send func([]conversion.Conversion) error) (*Standalone, error) {
	p, err := newParts(cfg, deps)
	if err != nil {
		return nil, err
	}
	hooks, err := p.webhooks()
	if err != nil {
		return nil, err
	}
	p.addService("webhooks", hooks)
	positions := p.positions(true)
	publish, err := p.publish(snapshot.SigningKey{}, positions) // the edge in the same process needs no signatures
	if err != nil {
		return nil, err
	}
	queue := func(_ context.Context, list []conversion.Conversion) error { return send(list) }
	server, err := p.api(ctx, apiConfig{api: api.Config{OwnEdge: ownEdgeTimeout, LocalReports: true}, send: queue}, clicks, objects,
		hooks, positions)
	if err != nil {
		return nil, err
	}
	if err := p.certs(ownEdgeSpread); err != nil {
		return nil, err
	}
	if err := p.autopilot(Clicks{Store: clicks}); err != nil {
		return nil, err
	}
	in, err := p.ingest(ingest.Config{Retention: retention, Observer: hooks, Stored: server.Stored}, Clicks{Store: clicks})
	if err != nil {
		return nil, err
	}
	if in.Conversions, err = p.conversions(Clicks{Store: clicks}, hooks, server.Converted); err != nil {
		return nil, err
	}
	return &Standalone{p, *server, *publish, *in}, nil
}
