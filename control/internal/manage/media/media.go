// Package media holds the use cases of preview images: upload, public access, and removal of unused images.
//
// It defines the format of image keys. It limits the uploads held in memory, in all and of one user, and converts one image
// at a time; users alternate. Package picture converts images, package object stores them, and package links assigns them to
// links. Images are public to everybody who knows the key, which contains the link's id.
//
// A replaced image is removed at once. Images of deleted links, and those removed from a link, stay until the next
// hourly sweep by Run.
package media

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/control/internal/manage/media/picture"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/work"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
)

// MaxUpload is the maximum size of a file, in bytes.
const MaxUpload = 10 << 20

const (
	uploads    = 6 // uploads that are read, wait or are converted
	perUser    = 2 // of them of one user
	patience   = 5 * time.Second
	sweepEvery = time.Hour
	sweepAge   = time.Hour // a younger image may not be assigned to its link yet
)

// Config of the use cases. The zero value is valid.
type Config struct {
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
	// Computing has the slots for converting images; nil limits nothing but the memory.
	Computing *work.Queue
	// Logger receives failed removals; nil means slog.Default().
	Logger *slog.Logger
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	job.Group // removes unused images

	store   *store.Store
	links   *links.Service
	objects object.Store
	now     func() time.Time
	log     *slog.Logger

	room *work.Queue // of uploads in memory
	turn *work.Queue // of the image that is converted, because of its memory

	computing *work.Queue
}

// New returns the use cases.
func New(cfg Config, s *store.Store, l *links.Service, objects object.Store) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	queue := func(slots, perUser int) *work.Queue {
		return work.New(work.Config{Slots: slots, PerUser: perUser, Wait: patience, Busy: "Too many images are being converted."})
	}
	m := &Service{store: s, links: l, objects: objects, now: cfg.Now, log: cfg.Logger,
		room: queue(uploads, perUser), turn: queue(1, 1), computing: cfg.Computing}
	sweep := func(ctx context.Context) error { _, err := m.Sweep(ctx); return err }
	m.Group = job.Group{{Name: "images", Every: sweepEvery, Do: sweep, Lease: s.Lease("images"), Logger: cfg.Logger}}
	return m
}

// CheckLink returns an error if the caller may not change the link, so that the file need not be read.
func (s *Service) CheckLink(ctx context.Context, p auth.Principal, urlID string) error {
	_, err := s.links.Get(ctx, p, urlID)
	return err
}

// Upload converts a file and stores it as the link's image, replacing the previous one. It returns the image's key.
func (s *Service) Upload(ctx context.Context, p auth.Principal, urlID string, file io.Reader) (key string, err error) {
	before, err := s.links.Get(ctx, p, urlID)
	if err != nil {
		return "", err
	}
	slot, err := s.room.Enter(ctx, p.UserID)
	if err != nil {
		return "", err
	}
	defer slot.Leave()
	data, err := readUpload(file)
	if err != nil {
		return "", err
	}
	made, err := s.convert(ctx, p, data)
	if err != nil {
		return "", err
	}
	// The timestamp makes each key new, so caches never serve an outdated image.
	key = fmt.Sprintf("og-images/%s/%d.%s", urlID, s.now().UnixMicro(), made.Ext)
	if err := s.objects.Put(ctx, key, ContentType(key), made.Bytes); err != nil {
		return "", fmt.Errorf("store image: %w", err)
	}
	if _, err := s.links.Update(ctx, p, urlID, links.Input{Texts: map[string]string{"ogImage": key}}); err != nil {
		// After a lost connection the outcome is unknown. If the image is unused, Run removes it later.
		return "", fmt.Errorf("assign image to link: %w", err)
	}
	if before.OGImage != "" && before.OGImage != key {
		s.remove(ctx, before.OGImage)
	}
	return key, nil
}

func readUpload(file io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(file, MaxUpload+1))
	switch {
	case len(data) > MaxUpload:
		return nil, problem.New(problem.TooLarge, "The image is larger than %d MiB.", MaxUpload>>20)
	case err != nil:
		return nil, fmt.Errorf("read image: %w", err)
	case len(data) == 0:
		return nil, problem.OfField("file", "is empty")
	}
	return data, nil
}

func (s *Service) convert(ctx context.Context, p auth.Principal, data []byte) (picture.Picture, error) {
	leave, err := s.enter(ctx, p.UserID)
	if err != nil {
		return picture.Picture{}, err
	}
	defer leave()
	return picture.Convert(ctx, data)
}

// Thumbnail returns the pixels of an image file in at most the given size; see picture.Thumbnail. It takes its turn with uploads,
// so that the memory of one conversion is enough.
func (s *Service) Thumbnail(ctx context.Context, file []byte, width, height int) (*image.RGBA, error) {
	leave, err := s.enter(ctx, auth.ClientOf(audit.OriginOf(ctx).IP)) // icons are fetched for nobody in particular
	if err != nil {
		return nil, err
	}
	defer leave()
	return picture.Thumbnail(ctx, file, width, height)
}

// enter waits until the caller may convert an image: for the memory, and for a processor.
func (s *Service) enter(ctx context.Context, name string) (leave func(), err error) {
	turn, err := s.turn.Enter(ctx, name)
	if err != nil {
		return nil, err
	}
	slot, err := s.computing.Enter(ctx, name)
	if err != nil {
		turn.Leave()
		return nil, err
	}
	return func() { slot.Leave(); turn.Leave() }, nil
}

// remove deletes an unused image. If it fails, Run tries again.
func (s *Service) remove(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := s.objects.Delete(ctx, key); err != nil {
		s.log.Warn("image not removed", "key", key, "error", err.Error())
	}
}

var keys = regexp.MustCompile(`^og-images/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/[0-9]{1,20}\.(webp|gif)$`)

// Open opens an image, without access control. key must be URL-decoded; a key that Upload cannot have made is NotFound.
// The caller closes the reader. size is in bytes.
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

// ContentType returns the media type of the image with a key, which Convert chose.
func ContentType(key string) string {
	if strings.HasSuffix(key, "."+picture.GIF) {
		return "image/gif"
	}
	return "image/webp"
}

// Sweep removes unused images that are older than an hour, and returns their number. The image of a link in
// the trash is in use.
func (s *Service) Sweep(ctx context.Context) (removed int, err error) {
	young := s.now().Add(-sweepAge)
	err = s.objects.List(ctx, func(i object.Item) error {
		if i.Modified.After(young) {
			return nil
		}
		if m := keys.FindStringSubmatch(i.Key); m != nil {
			needed, err := s.store.ImageNeeded(ctx, m[1], i.Key)
			if err != nil || needed {
				return err
			}
		} else if !strings.HasPrefix(i.Key, "og-images/") {
			return nil // not ours; other names under the prefix are unfinished uploads
		}
		removed++
		return s.objects.Delete(ctx, i.Key)
	})
	if err != nil {
		return removed, fmt.Errorf("sweep images: %w", err)
	}
	if removed > 0 {
		s.log.Info("unused images removed", "count", removed)
	}
	return removed, nil
}
