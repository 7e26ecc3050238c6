package pages

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/shortline/shortline/shared/job"
)

const (
	iconMemory  = 32 << 20 // of all kept icons, bytes
	maxICO      = 32 << 10 // bytes of an icon that is passed on as it is
	iconWorkers = 4
	iconQueue   = 256
	keepIcon    = 24 * time.Hour
	keepMissing = time.Hour // an icon that could not be fetched
)

// Icon is the icon of a site.
type Icon struct {
	Type  string // media type
	Bytes []byte // empty: the site has none
}

// icons keeps icons by their site, and knows which are to be fetched.
type icons struct {
	kept  *ristretto.Cache[string, Icon]
	queue chan string

	mu      sync.Mutex
	waiting map[string]bool // in the queue, or being fetched
}

func newIcons() (*icons, error) {
	kept, err := ristretto.NewCache(&ristretto.Config[string, Icon]{NumCounters: 1 << 16, MaxCost: iconMemory, BufferItems: 64})
	if err != nil {
		return nil, fmt.Errorf("create the cache of icons: %w", err)
	}
	return &icons{kept: kept, queue: make(chan string, iconQueue), waiting: map[string]bool{}}, nil
}

// siteOf returns the scheme and host of an address; "" for one that has none.
func siteOf(address string) string {
	u, err := parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

// Icon returns the icon of a page's site if it is known, at once: lists show many icons, and a slow site must not hold them
// up. known is false if the icon is not known yet. It is then fetched, so that a later call returns it.
func (s *Service) Icon(address string) (icon Icon, known bool) {
	site := siteOf(address)
	if site == "" || !s.cfg.Enabled {
		return Icon{}, true
	}
	if icon, ok := s.icons.kept.Get(site); ok {
		return icon, true
	}
	s.icons.want(site)
	return Icon{}, false
}

// want queues a site, unless the queue is full or has it.
func (c *icons) want(site string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting[site] {
		return
	}
	select {
	case c.queue <- site:
		c.waiting[site] = true
	default:
	}
}

// Run fetches icons that were asked for, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	for range iconWorkers {
		workers.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case site := <-s.icons.queue:
					_ = job.Contain(slog.Default(), func() error {
						s.fetchIcon(ctx, site)
						return nil
					})
				}
			}
		})
	}
	workers.Wait()
	return nil
}

// fetchIcon fetches and keeps the icon of a site. Most sites have it where browsers look first; the others name it on their
// first page.
func (s *Service) fetchIcon(ctx context.Context, site string) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	icon := s.iconAt(ctx, site+"/favicon.ico")
	if icon.Bytes == nil {
		if root, err := url.Parse(site + "/"); err == nil {
			if h, err := s.readHead(ctx, root); err == nil && h.icon != nil {
				icon = s.iconAt(ctx, h.icon.String())
			}
		}
	}
	keep := keepIcon
	if icon.Bytes == nil {
		keep = keepMissing
	}
	s.icons.kept.SetWithTTL(site, icon, int64(len(icon.Bytes)+len(site)+64), keep)
	s.icons.kept.Wait()
	s.icons.mu.Lock()
	defer s.icons.mu.Unlock()
	delete(s.icons.waiting, site)
}

// iconAt fetches an icon; its Bytes are nil if there is none.
func (s *Service) iconAt(ctx context.Context, address string) Icon {
	u, err := url.Parse(address)
	if err != nil {
		return Icon{}
	}
	body, _, _, err := s.fetch(ctx, u, "image/*")
	if err != nil {
		return Icon{}
	}
	// https://en.wikipedia.org/wiki/ICO_(file_format): reserved 0, type 1, and the number of images.
	if bytes.HasPrefix(body, []byte{0, 0, 1, 0}) && len(body) > 22 && len(body) <= maxICO {
		return Icon{"image/x-icon", body}
	}
	m, err := s.convert(ctx, body, iconSide, iconSide)
	if err != nil {
		return Icon{}
	}
	var out bytes.Buffer
	if png.Encode(&out, m) != nil {
		return Icon{}
	}
	return Icon{"image/png", out.Bytes()}
}
