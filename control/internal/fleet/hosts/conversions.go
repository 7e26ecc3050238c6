package hosts

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/snapshot"
)

// lookPeriod is how often Run looks whether a period of keys has begun. Edges have the keys of the next two periods, so
// nothing depends on the exact time.
const lookPeriod = 5 * time.Minute

// keys returns the keys of click ids that edges need at present, nil without secrets.
func (p *Publisher) keys() []conversion.Key {
	first, last := conversion.PeriodsAt(p.cfg.Now(), p.cfg.Window)
	return conversion.Derive(p.cfg.Secrets, first, last)
}

// conversions returns what edges need of conversions, nil if it has not changed after a revision.
func (p *Publisher) conversions(ctx context.Context, c store.Conn, after uint64, full bool) (*snapshot.Conversions, error) {
	if !full {
		if newest, err := c.ConversionsRevision(ctx); err != nil || newest <= after {
			return nil, err
		}
	}
	sources, err := c.ConversionSources(ctx)
	if err != nil {
		return nil, err
	}
	out := &snapshot.Conversions{Keys: p.keys(), Window: p.cfg.Window.Milliseconds()}
	for i := range sources {
		out.Sources = append(out.Sources, snapshot.ConversionSource{Key: sources[i].Key, Workspace: sources[i].Workspace,
			Hosts: sources[i].Hosts})
	}
	return out, nil
}

// Run tells edges when keys of click ids change, which is when a period begins and after the settings have changed. Several
// publishers may run: the first one tells.
func (p *Publisher) Run(ctx context.Context) error {
	if len(p.cfg.Secrets) == 0 {
		p.cfg.Logger.Warn("click ids disabled, no encryption key", "setting", "ENCRYPTION_KEY")
	}
	return p.Group.Run(ctx)
}

// announcePeriod tells edges to fetch the keys of the present period, unless a publisher with the same keys has done so.
func (p *Publisher) announcePeriod(ctx context.Context) error {
	name, err := p.news()
	if err != nil {
		return err
	}
	if announced, err := p.store.ConversionsAnnounced(ctx, name); err != nil || announced {
		return err
	}
	return p.store.Tx(ctx, func(tx *store.Tx) error { return tx.AnnounceConversionsOnce(ctx, name) })
}

// news names the present keys: the period, and a hash of the keys and the window, which differs after a setting has changed.
func (p *Publisher) news() (string, error) {
	text, err := json.Marshal(p.keys())
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(text, "|%d", p.cfg.Window.Milliseconds()))
	return fmt.Sprintf("period:%d:%x", conversion.Period(p.cfg.Now().UnixMilli()), sum[:4]), nil
}
