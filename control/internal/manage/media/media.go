// Package media holds the use cases of preview images: taking one that an owner sends for a link, showing it to
// everybody, and forgetting it when no link has it any more.
//
// It owns the grammar of image keys and bounds the work: uploads that are held in memory, and one conversion at a
// time. What an image may be and becomes is package picture's, where it is kept package object's, and how a link
// gets it package links'. An image is public; its key, which names the link, is all it takes to see it.
//
// A weakness: an image is removed when it is replaced, but one whose link was deleted or has let go of it is
// found by Run, within the hour.
package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/control/internal/manage/media/picture"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// MaxUpload is how large a file may be, in bytes.
const MaxUpload = 10 << 20

const (
	uploads    = 6 // that are read or wait for their conversion
	patience   = 5 * time.Second
	sweepEvery = time.Hour
	sweepAge   = time.Hour // an image younger than that may be on its way to its link
)

// Config may be left zero.
type Config struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Logger receives what could not be removed; nil means slog.Default().
	Logger *slog.Logger
}

// Service is the use cases. It is safe for concurrent use.
type Service struct {
	store   *store.Store
	links   *links.Service
	objects object.Store
	now     func() time.Time
	log     *slog.Logger

	room chan struct{} // a place for each upload that is held
	turn chan struct{} // of the one that is converted
}

// New makes the use cases.
func New(cfg Config, s *store.Store, l *links.Service, objects object.Store) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Service{store: s, links: l, objects: objects, now: cfg.Now, log: cfg.Logger, room: make(chan struct{}, uploads), turn: make(chan struct{}, 1)}
}

// Check reports whether the caller may give a link an image, so that a file need not be read for nothing.
func (s *Service) Check(ctx context.Context, p auth.Principal, urlID string) error {
	_, err := s.links.Get(ctx, p, urlID)
	return err
}

// Upload reads a file, makes an image of it and gives it to a link, in place of the one that it had. It returns
// the image's key.
func (s *Service) Upload(ctx context.Context, p auth.Principal, urlID string, file io.Reader) (key string, err error) {
	before, err := s.links.Get(ctx, p, urlID)
	if err != nil {
		return "", err
	}
	leave, err := enter(ctx, s.room)
	if err != nil {
		return "", err
	}
	defer leave()
	data, err := read(file)
	if err != nil {
		return "", err
	}
	made, err := s.convert(ctx, data)
	if err != nil {
		return "", err
	}
	// The number makes every image's address new, so that what is cached for ever is never stale.
	key = fmt.Sprintf("og-images/%s/%d.%s", urlID, s.now().UnixMicro(), made.Ext)
	if err := s.objects.Put(ctx, key, ContentType(key), made.Bytes); err != nil {
		return "", fmt.Errorf("keep an image: %w", err)
	}
	if _, err := s.links.Update(ctx, p, urlID, links.Input{Texts: map[string]string{"ogImage": key}}); err != nil {
		// Whether the change was made may be unknown after a lost connection; Run looks later.
		return "", fmt.Errorf("give a link its image: %w", err)
	}
	if before.OGImage != "" && before.OGImage != key {
		s.remove(ctx, before.OGImage)
	}
	return key, nil
}

func read(file io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(file, MaxUpload+1))
	switch {
	case len(data) > MaxUpload:
		return nil, problem.New(problem.TooLarge, "The image is larger than %d MiB.", MaxUpload>>20)
	case err != nil:
		return nil, fmt.Errorf("read an image: %w", err)
	case len(data) == 0:
		return nil, problem.OfField("file", "is empty")
	}
	return data, nil
}

func (s *Service) convert(ctx context.Context, data []byte) (picture.Picture, error) {
	leave, err := enter(ctx, s.turn)
	if err != nil {
		return picture.Picture{}, err
	}
	defer leave()
	return picture.Convert(ctx, data)
}

// enter waits a moment for a place.
func enter(ctx context.Context, places chan struct{}) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		e := problem.New(problem.Unavailable, "Too many images are being converted, try again shortly.")
		e.RetryAfter = patience
		return nil, e
	}
}

// remove deletes an image that no link has; what fails is left to Run.
func (s *Service) remove(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := s.objects.Delete(ctx, key); err != nil {
		s.log.Warn("an image could not be removed", "key", key, "error", err.Error())
	}
}

var keys = regexp.MustCompile(`^og-images/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/[0-9]{1,20}\.(webp|gif)$`)

// Open opens an image for anybody. key has been decoded once; everything but a key of our own making is a
// NotFound. The caller closes the reader; size is in bytes.
func (s *Service) Open(ctx context.Context, key string) (r io.ReadCloser, size int64, err error) {
	if !keys.MatchString(key) {
		return nil, 0, problem.Missing("Image")
	}
	r, size, err = s.objects.Get(ctx, key)
	if errors.Is(err, object.ErrNotFound) {
		return nil, 0, problem.Missing("Image")
	}
	return r, size, err
}

// ContentType is the media type of an image with a key: the one that it was made in, whatever was sent.
func ContentType(key string) string {
	if strings.HasSuffix(key, "."+picture.GIF) {
		return "image/gif"
	}
	return "image/webp"
}

// Run removes images that no link has, now and every hour.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if removed, err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("looking for images without a link failed", "error", err.Error())
		} else if removed > 0 {
			s.log.Info("images without a link were removed", "count", removed)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Sweep removes images that no link has and that are more than an hour old, and returns how many.
func (s *Service) Sweep(ctx context.Context) (removed int, err error) {
	young := s.now().Add(-sweepAge)
	err = s.objects.List(ctx, func(i object.Item) error {
		if i.Modified.After(young) {
			return nil
		}
		if m := keys.FindStringSubmatch(i.Key); m != nil {
			u, err := s.store.LinkByID(ctx, m[1])
			switch {
			case err == nil && u.OGImage == i.Key:
				return nil
			case err != nil && !errors.Is(err, store.ErrNotFound):
				return err
			}
		} else if !strings.HasPrefix(i.Key, "og-images/") {
			return nil // somebody else's; ours and unfinished otherwise
		}
		removed++
		return s.objects.Delete(ctx, i.Key)
	})
	if err != nil {
		return removed, fmt.Errorf("sweep images: %w", err)
	}
	return removed, nil
}
