// Package hosts tells edges which host names of custom domains they serve, and what they need for conversions. A Publisher is the
// snapshot.HostSource of edges in the same process and across the network.
//
// Changes of domains take revisions from the log of link changes. A caller who waits for a revision therefore also waits for
// the domains that were changed up to it.
package hosts

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/snapshot"
)

// Config has a working zero value.
type Config struct {
	// Hold is how long Hosts waits for a change; 0 means 25 s.
	Hold time.Duration
	// Key signs the lists; the zero value signs nothing.
	Key snapshot.SigningKey
	// Secrets are those from which the keys of click ids are derived (conversion.Derive). Without one, edges get no keys and
	// links get no click ids.
	Secrets [][]byte
	// Window is the age of a click up to which conversions count; 0 means 90 days.
	Window time.Duration
	// Now returns the time; nil means time.Now.
	Now func() time.Time
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

// lookEvery is the least time between two looks for changed hosts. Links change much more often than hosts, and each change
// of a link wakes all edges that wait here.
const lookEvery = 100 * time.Millisecond

// Publisher implements snapshot.HostSource. It is safe for concurrent use.
type Publisher struct {
	job.Group

	cfg   Config
	store *store.Store

	mu     sync.Mutex
	looked time.Time
	newest uint64 // revision of the newest change of hosts up to known
	known  uint64
}

// New returns a Publisher of an open store.
func New(st *store.Store, cfg Config) *Publisher {
	cfg.Hold = cmp.Or(cfg.Hold, 25*time.Second)
	cfg.Window = cmp.Or(cfg.Window, 90*24*time.Hour)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	p := &Publisher{cfg: cfg, store: st}
	if len(cfg.Secrets) > 0 {
		p.Group = job.Group{{Name: "click_id_keys", Every: lookPeriod, Do: p.announcePeriod, Logger: cfg.Logger}}
	}
	return p
}

// Hosts implements snapshot.HostSource. It returns nil after Config.Hold without a change.
func (p *Publisher) Hosts(ctx context.Context, after snapshot.Cursor) ([]byte, error) {
	incarnation, head, err := p.store.Head(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the newest revision: %w", err)
	}
	if after.Incarnation != incarnation || after.Revision > head {
		return p.list(ctx, 0, true)
	}
	wait, cancel := context.WithTimeout(ctx, p.cfg.Hold)
	defer cancel()
	for seen := after.Revision; ; {
		if seen, err = p.store.WaitRevision(wait, seen); err != nil {
			return nil, ctx.Err() // nil after Hold
		}
		newest, err := p.newestAt(wait, seen)
		if err != nil {
			if wait.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("look for changed hosts: %w", err)
		}
		if newest > after.Revision {
			return p.list(ctx, after.Revision, false)
		}
	}
}

// newestAt returns the revision of the newest change of hosts, up to at least the given revision. Callers that ask at the
// same time share one query.
func (p *Publisher) newestAt(ctx context.Context, revision uint64) (uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known >= revision {
		return p.newest, nil
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(lookEvery - time.Since(p.looked)):
	}
	known := p.store.KnownRevision()
	newest, err := p.store.HostsRevision(ctx)
	if err != nil {
		return 0, err
	}
	p.looked, p.known, p.newest = time.Now(), max(known, revision), newest
	return newest, nil
}

// list encodes the changes after a revision, or the full list.
func (p *Publisher) list(ctx context.Context, after uint64, full bool) ([]byte, error) {
	h := snapshot.Hosts{Full: full}
	err := p.store.View(ctx, func(c store.Conn) (err error) {
		if h.Cursor.Incarnation, h.Cursor.Revision, err = c.Head(ctx); err != nil {
			return err
		}
		served, gone, err := c.HostsAfter(ctx, after, full)
		if err != nil {
			return err
		}
		if full {
			h.Withdrawn = []snapshot.Withdrawn{} // nil would say that this control plane does not know them
		}
		for _, g := range gone {
			if !full {
				h.Gone = append(h.Gone, g.Hostname)
			}
			if g.Withdrawn {
				h.Withdrawn = append(h.Withdrawn, snapshot.Withdrawn{Name: g.Hostname, Suspended: g.Suspended})
			}
		}
		h.Hosts = make([]snapshot.Host, len(served))
		for i := range served {
			h.Hosts[i] = Host(&served[i])
		}
		if err := secure(ctx, c, after, &h); err != nil {
			return err
		}
		if h.Tickets, err = tickets(ctx, c, after); err != nil {
			return err
		}
		if h.Base, err = base(ctx, c, after, full); err != nil {
			return err
		}
		h.Conversions, err = p.conversions(ctx, c, after, full)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read hosts after revision %d: %w", after, err)
	}
	return snapshot.AppendHosts(nil, &h, p.cfg.Key), nil
}

// base returns what edges need of links on the host of BASE_URL and of previews, nil if it has not changed after a revision.
func base(ctx context.Context, c store.Conn, after uint64, full bool) (*snapshot.Base, error) {
	if !full {
		if newest, err := c.BaseRevision(ctx); err != nil || newest <= after {
			return nil, err
		}
	}
	rules, err := c.BaseSlugs(ctx)
	if err != nil {
		return nil, err
	}
	hidden, err := c.HiddenPreviews(ctx)
	return &snapshot.Base{SlugForm: snapshot.SlugForm{Fold: rules.Fold, Extended: rules.Extended}, Hidden: hidden}, err
}

// Host returns what edges need of a domain, without its certificate.
func Host(d *store.Domain) snapshot.Host {
	return snapshot.Host{
		Name: d.Hostname, Domain: d.Num, RootURL: d.RootURL, NotFoundURL: d.NotFoundURL, ExpiredURL: d.ExpiredURL, HSTS: d.HSTS,
		BrandName: d.BrandName, BrandLogo: d.BrandLogo, AppleAppSite: json.RawMessage(d.AppleApp),
		AssetLinks: json.RawMessage(d.AssetLinks), SlugForm: snapshot.SlugForm{Fold: d.Slugs.Fold, Extended: d.Slugs.Extended},
	}
}

// secure adds certificates and challenges to the hosts of domains, and adds the hosts of the service itself.
func secure(ctx context.Context, c store.Conn, after uint64, h *snapshot.Hosts) error {
	certificates, err := c.HostCertificates(ctx, after)
	if err != nil {
		return err
	}
	at := make(map[string]int, len(h.Hosts))
	for i := range h.Hosts {
		at[h.Hosts[i].Name] = i
	}
	for i := range certificates {
		cert := &certificates[i]
		if cert.Domain == 0 {
			if _, ok := at[cert.Hostname]; ok {
				continue // the name became the service's own after a workspace had taken it
			}
			at[cert.Hostname] = len(h.Hosts)
			h.Hosts = append(h.Hosts, snapshot.Host{Name: cert.Hostname})
		}
		h.Hosts[at[cert.Hostname]].Certificate = present(cert)
	}
	challenges, err := c.Challenges(ctx)
	if err != nil {
		return err
	}
	for _, ch := range challenges {
		if i, ok := at[ch.Hostname]; ok {
			h.Hosts[i].Challenges = append(h.Hosts[i].Challenges,
				snapshot.Challenge{Token: ch.Token, KeyAuthorization: ch.KeyAuthorization})
		}
	}
	return nil
}

// present returns the certificate for edges, nil if there is none yet.
func present(c *store.Certificate) *snapshot.Certificate {
	var chain [][]byte
	for rest := []byte(c.Chain); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		chain = append(chain, block.Bytes)
	}
	if len(chain) == 0 || c.SealedKey == "" {
		return nil
	}
	return &snapshot.Certificate{Chain: chain, Key: c.SealedKey}
}

// tickets returns the keys of session tickets in the order in which edges use them, nil if they have not changed after a
// revision. The newest key does not encrypt yet, because some edges may not have it.
func tickets(ctx context.Context, c store.Conn, after uint64) ([]string, error) {
	keys, err := c.TicketKeys(ctx)
	if err != nil {
		return nil, err
	}
	changed := false
	var out []string
	for _, k := range keys {
		changed = changed || k.Revision > after
		out = append(out, k.Sealed)
	}
	if !changed {
		return nil, nil
	}
	if len(out) > 1 {
		out[0], out[1] = out[1], out[0]
	}
	return out, nil
}
