package pages

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
)

// Brand is shown on the pages for visitors.
type Brand struct {
	Name    string // "" means Shortline
	LogoURL string // absolute http(s) URL or a path on this host; "" means no logo
}

// Validate returns an error if pages cannot show the logo.
func (b Brand) Validate() error {
	_, err := b.imageSource()
	return err
}

// imageSource returns the logo's source for the img-src directive of the content security policy. A star would stand for many
// hosts.
func (b Brand) imageSource() (string, error) {
	if b.LogoURL == "" {
		return "'none'", nil
	}
	u, err := url.Parse(b.LogoURL)
	switch {
	case err != nil:
		return "", fmt.Errorf("brand logo: %w", err)
	case strings.HasPrefix(b.LogoURL, "/") && !strings.HasPrefix(b.LogoURL, "//"):
		return "'self'", nil
	case (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && !strings.ContainsAny(u.Host, " ;,'\"*"):
		return u.Scheme + "://" + u.Host, nil
	}
	return "", errors.New("brand logo: must be an http or https URL, or a path that starts with a slash")
}

// maxBrands bounds the brands whose pages a Service keeps: each has up to 60 pages, of about 4 KB. Pages of others are rendered for each
// visitor.
const maxBrands = 250

// Service holds the pages of a service: those with its own brand, and those with the brands of custom domains. Callers must not change
// it. It is safe for concurrent use.
type Service struct {
	Own       *Set             // the pages with the brand of the service
	Refusals  map[int]*Refusal // by status; the one with 429 is for password attempts, and the one with 410 is for links
	TooMany   *Refusal         // for clients over the rate limit
	Suspended *Refusal         // for domains that are suspended

	kept sync.Map // sets by Brand
	n    atomic.Int64
}

// New renders the refusals of a service with its brand. The error says why pages cannot show the logo.
func New(own Brand) (*Service, error) {
	set, err := newSet(own)
	if err != nil {
		return nil, err
	}
	s := &Service{Own: set, Refusals: make(map[int]*Refusal, len(notices)),
		TooMany:   newRefusal(set, http.StatusTooManyRequests, tooManyTexts),
		Suspended: newRefusal(set, http.StatusGone, suspendedTexts)}
	for status, texts := range notices {
		s.Refusals[status] = newRefusal(set, status, texts)
	}
	return s, nil
}

// Of returns the pages with the brand of a custom domain. They show the name of the service if the brand has no name. Of returns the
// pages of the service if the brand is the zero value or if pages cannot show its logo.
func (s *Service) Of(b Brand) *Set {
	if b == (Brand{}) {
		return s.Own
	}
	b.Name = cmp.Or(b.Name, s.Own.brand.Name)
	if kept, ok := s.kept.Load(b); ok {
		return kept.(*Set)
	}
	set, err := newSet(b)
	if err != nil {
		return s.Own
	}
	// Brands of domains that are gone stay until there are too many, then all are rendered again when they are needed.
	if s.n.Add(1) > maxBrands {
		s.kept.Clear()
		s.n.Store(1)
	}
	s.kept.Store(b, set)
	return set
}
