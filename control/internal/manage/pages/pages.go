// Package pages reads the pages that links lead to: their title, description and image, and the icons of their sites. The
// console shows them, and nothing is stored in the database.
//
// Users choose the addresses, so all requests go through package outbound, which connects to public addresses only. Each
// redirect is followed by hand and checked again. Images are decoded and encoded again, so the console serves no file of a stranger.
// Icons in the format ICO, for which there is no decoder, are the exception.
package pages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/link"
)

// Config has the settings.
type Config struct {
	Enabled      bool `env:"PAGE_PREVIEWS" envDefault:"true" help:"fetch titles, images and icons of the pages that links lead to, for the console"`
	AllowPrivate bool `env:"PAGE_PREVIEW_ALLOW_PRIVATE" envDefault:"false" help:"also fetch pages on private addresses. Every editor of a link can then read their titles"`
}

const (
	fetchTime  = 5 * time.Second     // for a page with its image, or an icon, redirects included
	maxBody    = 1 << 20             // bytes of a response that are read
	maxHops    = 5                   // redirects
	maxAtOnce  = 8                   // previews
	maxAddress = link.MaxDestination // bytes
	agent      = "Mozilla/5.0 (compatible; Shortline; link preview)"
)

// The sizes of pictures, in pixels.
const (
	imageWidth, imageHeight = 320, 168
	iconSide                = 64
)

// Page is what a page says about itself. Missing texts are empty.
type Page struct {
	URL         string // after redirects
	Title       string
	Description string
	Image       []byte // JPEG of at most 320 by 168 pixels; nil without one
	Problem     string // why the page cannot be read, as a phrase such as "the server cannot be reached"; "" if it was read
}

// Service reads pages. Create it with New. It is safe for concurrent use.
type Service struct {
	cfg     Config
	client  *outbound.Client
	places  chan struct{} // of previews
	convert Convert
	icons   *icons
}

// Convert returns the pixels of an image file in at most the given size; see picture.Thumbnail.
type Convert func(ctx context.Context, file []byte, width, height int) (*image.RGBA, error)

// New returns a service. Icons are fetched only while Run runs. The service may call convert several times at once.
func New(cfg Config, convert Convert) (*Service, error) {
	s := &Service{
		cfg: cfg, places: make(chan struct{}, maxAtOnce), convert: convert,
		client: outbound.New(outbound.Policy{AllowPrivate: cfg.AllowPrivate, Ports: []uint16{80, 443}, Timeout: fetchTime,
			MaxBody: maxBody}),
	}
	var err error
	s.icons, err = newIcons()
	return s, err
}

// Close releases what the service holds. Call it after Run has returned, or if it was never called.
func (s *Service) Close() {
	s.icons.kept.Close()
	s.client.Close()
}

// errNoPage is an answer that is no page or image.
var errNoPage = errors.New("not found")

// Preview reads a page. A page that cannot be read is no error, but has a Problem: the link to it may be right nevertheless.
// If the operator allows no requests, the page is empty.
func (s *Service) Preview(ctx context.Context, address string) (Page, error) {
	u, err := parse(address)
	if err != nil {
		return Page{}, err
	}
	if !s.cfg.Enabled {
		return Page{URL: u.String()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	case <-ctx.Done():
		return Page{URL: u.String(), Problem: "too many pages are being read"}, nil
	}
	found, err := s.readHead(ctx, u)
	if err != nil {
		return Page{URL: u.String(), Problem: reason(err)}, nil
	}
	page := Page{URL: found.base.String(), Title: found.title, Description: found.description}
	if found.image != nil {
		page.Image = s.photo(ctx, found.image)
	}
	return page, nil
}

// parse checks an address that a user has entered.
func parse(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case len(address) > maxAddress:
		return nil, problem.OfField("url", "must be at most %d bytes long", maxAddress)
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, problem.OfField("url", "must be an http or https address")
	case u.User != nil:
		return nil, problem.OfField("url", "must not contain a user name or password")
	}
	return u, nil
}

// reason says why a page cannot be read, without addresses that only the server knows.
func reason(err error) string {
	var status statusError
	switch {
	case errors.Is(err, outbound.ErrForbidden):
		return "its address is private, local or otherwise special"
	case errors.As(err, &status):
		return fmt.Sprintf("the server answers with the status %d", int(status))
	case errors.Is(err, errNoPage):
		return "it is not a page"
	case errors.Is(err, context.DeadlineExceeded):
		return "the server is too slow"
	}
	return "the server cannot be reached"
}

// readHead fetches and reads a page.
func (s *Service) readHead(ctx context.Context, u *url.URL) (head, error) {
	body, at, mime, err := s.fetch(ctx, u, "text/html,application/xhtml+xml")
	if err != nil {
		return head{}, err
	}
	if kind, _, _ := strings.Cut(mime, ";"); !strings.Contains(strings.ToLower(kind), "html") {
		return head{}, errNoPage
	}
	return headOf(body, mime, at)
}

// photo fetches an image and returns it as JPEG; nil if that is not possible.
func (s *Service) photo(ctx context.Context, u *url.URL) []byte {
	body, _, _, err := s.fetch(ctx, u, "image/*")
	if err != nil {
		return nil
	}
	m, err := s.convert(ctx, body, imageWidth, imageHeight)
	if err != nil {
		return nil
	}
	// JPEG has no transparency, and pages are mostly white.
	on := image.NewRGBA(m.Rect)
	draw.Draw(on, on.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(on, on.Rect, m, m.Rect.Min, draw.Over)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, on, &jpeg.Options{Quality: 80}); err != nil {
		return nil
	}
	return out.Bytes()
}

// statusError is an HTTP status that is no success.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

// fetch reads at most maxBody bytes from an address and follows redirects. at is the last address.
func (s *Service) fetch(ctx context.Context, u *url.URL, accept string) (body []byte, at *url.URL, mime string, err error) {
	for range maxHops + 1 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, nil, "", errNoPage
		}
		r.Header.Set("User-Agent", agent)
		r.Header.Set("Accept", accept)
		res, err := s.client.Do(r)
		if err != nil {
			return nil, nil, "", fmt.Errorf("fetch a page: %w", err)
		}
		if next := redirect(u, res); next != nil {
			_ = res.Body.Close()
			u = next
			continue
		}
		body, err := readAll(res)
		return body, u, res.Header.Get("Content-Type"), err
	}
	return nil, nil, "", errNoPage
}

// redirect returns the address to which a response leads; nil if it leads nowhere.
func redirect(from *url.URL, res *http.Response) *url.URL {
	if res.StatusCode < 300 || res.StatusCode > 399 {
		return nil
	}
	next, err := from.Parse(res.Header.Get("Location"))
	if err != nil || next.Scheme != "http" && next.Scheme != "https" || next.User != nil || res.Header.Get("Location") == "" {
		return nil
	}
	return next
}

// readAll reads the body of a success. What exceeds maxBody is left out: the head of a page is at its beginning.
func readAll(res *http.Response) ([]byte, error) {
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, statusError(res.StatusCode)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil && !errors.Is(err, outbound.ErrTooLarge) {
		return nil, fmt.Errorf("read a page: %w", err)
	}
	return body, nil
}
