package object_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func folder(t *testing.T) (*object.Folder, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "media")
	f, err := object.OpenFolder(dir)
	testkit.Must(t, err)
	t.Cleanup(func() { f.Close() })
	return f, dir
}

func bucket(t *testing.T, prefix string) *object.S3 {
	t.Helper()
	backend := s3mem.New()
	testkit.Must(t, backend.CreateBucket("images"))
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	s, err := object.NewS3(object.S3Config{Endpoint: server.URL, Bucket: "images", Prefix: prefix, Region: "us-east-1", AccessKey: "a",
		SecretKey: "b"})
	testkit.Must(t, err)
	return s
}

// each runs f with an empty store of each kind.
func each(t *testing.T, f func(t *testing.T, s object.Store)) {
	t.Parallel()
	t.Run("folder", func(t *testing.T) { t.Parallel(); s, _ := folder(t); f(t, s) })
	t.Run("s3", func(t *testing.T) { t.Parallel(); f(t, bucket(t, "")) })
	t.Run("s3 below a prefix", func(t *testing.T) { t.Parallel(); f(t, bucket(t, "/short/line/")) })
}

func get(t *testing.T, s object.Store, key string) string {
	t.Helper()
	r, size, err := s.Get(t.Context(), key)
	if errors.Is(err, object.ErrNotFound) {
		return "(none)"
	}
	testkit.Must(t, err)
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil || int64(len(b)) != size {
		t.Fatalf("%d bytes of %d, %v", len(b), size, err)
	}
	return string(b)
}

func keys(t *testing.T, s object.Store) string {
	t.Helper()
	var list []string
	testkit.Must(t, s.List(t.Context(), func(i object.Item) error {
		if i.Modified.IsZero() {
			t.Errorf("%s has no time", i.Key)
		}
		list = append(list, i.Key)
		return nil
	}))
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestStore(t *testing.T) {
	each(t, func(t *testing.T, s object.Store) {
		ctx := t.Context()
		put := func(key, text string) {
			t.Helper()
			testkit.Must(t, s.Put(ctx, key, "image/webp", []byte(text)))
		}
		if got := get(t, s, "a/b/1.webp"); got != "(none)" || keys(t, s) != "" {
			t.Errorf("an empty store has %q, %q", got, keys(t, s))
		}
		put("a/b/1.webp", "one")
		put("a/b/2.webp", "two")
		put("a/c/1.gif", "3")
		put("a/b/1.webp", "one again")
		if got := keys(t, s); got != "a/b/1.webp a/b/2.webp a/c/1.gif" {
			t.Errorf("keys %s", got)
		}
		if get(t, s, "a/b/1.webp") != "one again" || get(t, s, "a/b/2.webp") != "two" || get(t, s, "a/c/1.gif") != "3" ||
			get(t, s, "a/b") != "(none)" || get(t, s, "a/b/3.webp") != "(none)" {
			t.Error("what is read is not what was written")
		}
		testkit.Must(t, s.Delete(ctx, "a/b/1.webp"))
		if err := s.Delete(ctx, "a/b/1.webp"); err != nil {
			t.Errorf("deleting twice: %v", err)
		}
		if get(t, s, "a/b/1.webp") != "(none)" || keys(t, s) != "a/b/2.webp a/c/1.gif" {
			t.Error("deleted and still there")
		}
		stop := errors.New("stop")
		if err := s.List(ctx, func(object.Item) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("a listing that is stopped: %v", err)
		}
		if err := s.List(ctx, func(i object.Item) error { return s.Delete(ctx, i.Key) }); err != nil || keys(t, s) != "" {
			t.Errorf("deleting while listing: %v, %s", err, keys(t, s))
		}
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		put("x/y/1.gif", "z")
		if err := s.List(cancelled, func(object.Item) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled listing: %v", err)
		}
	})
}

func TestStore_at_the_same_time(t *testing.T) {
	each(t, func(t *testing.T, s object.Store) {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for n := range 20 {
					key := fmt.Sprintf("a/b/%d.webp", n%2)
					if err := s.Put(t.Context(), key, "image/webp", bytes.Repeat([]byte{byte('a' + i)}, 1000)); err != nil {
						t.Error(err)
					}
					r, _, err := s.Get(t.Context(), key)
					if err == nil {
						b, err := io.ReadAll(r)
						if r.Close(); err != nil || len(b) != 1000 || bytes.Count(b, b[:1]) != 1000 {
							t.Errorf("a torn object of %d bytes, %v", len(b), err)
						}
					} else if !errors.Is(err, object.ErrNotFound) {
						t.Error(err)
					}
					if err := s.Delete(t.Context(), key); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestFolder_stays_inside(t *testing.T) {
	t.Parallel()
	s, dir := folder(t)
	outside := filepath.Join(filepath.Dir(dir), "outside.webp")
	testkit.Must(t, os.WriteFile(outside, []byte("secret"), 0o600))
	testkit.Must(t, os.Symlink(filepath.Dir(dir), filepath.Join(dir, "link")))
	for _, key := range []string{"../outside.webp", "/" + outside, "link/outside.webp", "a/../../outside.webp", "..", "",
		"/etc/passwd", "a\x00b"} {
		if r, _, err := s.Get(t.Context(), key); err == nil {
			b, _ := io.ReadAll(r)
			t.Errorf("%q reads %q", key, b)
		}
		if err := s.Put(t.Context(), key, "", []byte("x")); err == nil {
			t.Errorf("%q can be written", key)
		}
		_ = s.Delete(t.Context(), key)
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "secret" {
		t.Errorf("outside: %q, %v", b, err)
	}
}

func TestS3Config(t *testing.T) {
	t.Parallel()
	if err := (object.S3Config{}).Validate(); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]object.S3Config{
		"BUCKET":     {Endpoint: "https://s3.example.com"},
		"ENDPOINT":   {Endpoint: "s3.example.com", Bucket: "b"},
		"SECRET_KEY": {Endpoint: "https://s3.example.com", Bucket: "b", AccessKey: "a"},
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := object.NewS3(object.S3Config{}); err == nil {
		t.Error("a client without an endpoint")
	}
}

func TestS3_without_its_bucket(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	t.Cleanup(server.Close)
	s, err := object.NewS3(object.S3Config{Endpoint: server.URL, Bucket: "missing", Region: "us-east-1", AccessKey: "a", SecretKey: "b"})
	testkit.Must(t, err)
	if _, _, err := s.Get(t.Context(), "a/b/1.gif"); err == nil || errors.Is(err, object.ErrNotFound) {
		t.Errorf("a bucket that is not there is not a missing object: %v", err)
	}
}
