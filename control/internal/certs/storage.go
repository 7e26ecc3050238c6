package certs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/seal"
)

const (
	// lease is how long a lock is held after its holder was killed.
	lease = 30 * time.Second
	// keep is how often a holder extends its locks.
	keep = 8 * time.Second
	// retake is how often somebody who waits for a lock asks for it.
	retake = 500 * time.Millisecond
)

// storage keeps the files and the locks of certmagic in the database. Contents are sealed. It implements certmagic.Storage.
type storage struct {
	store  *store.Store
	box    *seal.Box
	holder string // of the locks: this process

	mu    sync.Mutex
	locks map[string]context.CancelFunc // end the extension of the locks that this process holds
	done  sync.WaitGroup
}

var _ certmagic.Storage = (*storage)(nil)

func newStorage(st *store.Store, box *seal.Box) *storage {
	return &storage{store: st, box: box, holder: rand.Text(), locks: map[string]context.CancelFunc{}}
}

// stopLocks ends the extension of all locks. They expire.
func (s *storage) stopLocks() {
	s.mu.Lock()
	for _, stop := range s.locks {
		stop()
	}
	s.mu.Unlock()
	s.done.Wait()
}

// filePlace is the place under which a file is sealed.
func filePlace(name string) string { return "acme_files|" + name }

// Store implements certmagic.Storage.
func (s *storage) Store(ctx context.Context, name string, content []byte) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		return tx.PutFile(ctx, store.File{Name: name, Sealed: s.box.Seal(filePlace(name), string(content)), Size: int64(len(content)),
			UpdatedAt: store.Now()})
	})
}

// Load implements certmagic.Storage.
func (s *storage) Load(ctx context.Context, name string) ([]byte, error) {
	f, err := s.file(ctx, name)
	if err != nil {
		return nil, err
	}
	content, err := s.box.Open(filePlace(name), f.Sealed)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return []byte(content), nil
}

func (s *storage) file(ctx context.Context, name string) (store.File, error) {
	f, err := s.store.FileNamed(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return f, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	} else if err != nil {
		return f, fmt.Errorf("read %s: %w", name, err)
	}
	return f, nil
}

// Delete implements certmagic.Storage.
func (s *storage) Delete(ctx context.Context, name string) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error { return tx.DeleteFiles(ctx, name) })
}

// Exists implements certmagic.Storage. If the database does not answer, it returns false.
func (s *storage) Exists(ctx context.Context, name string) bool {
	has, err := s.store.HasFile(ctx, name)
	return err == nil && has
}

// List implements certmagic.Storage.
func (s *storage) List(ctx context.Context, folder string, recursive bool) ([]string, error) {
	folder = strings.Trim(folder, "/")
	files, err := s.store.FilesIn(ctx, folder)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", folder, fs.ErrNotExist)
	}
	names := make([]string, 0, len(files))
	if folder != "" {
		folder += "/"
	}
	for i := range files {
		names = append(names, files[i].Name)
		if first, _, below := strings.Cut(files[i].Name[len(folder):], "/"); below && !recursive {
			names[i] = folder + first
		}
	}
	return store.Distinct(names), nil
}

// Stat implements certmagic.Storage.
func (s *storage) Stat(ctx context.Context, name string) (certmagic.KeyInfo, error) {
	f, err := s.file(ctx, name)
	if errors.Is(err, fs.ErrNotExist) && s.Exists(ctx, name) {
		return certmagic.KeyInfo{Key: name}, nil
	} else if err != nil {
		return certmagic.KeyInfo{}, err
	}
	return certmagic.KeyInfo{Key: name, Modified: time.UnixMilli(f.UpdatedAt), Size: f.Size, IsTerminal: true}, nil
}

// Lock implements certmagic.Locker. It waits until nobody else holds the lock, and extends the lock until Unlock.
func (s *storage) Lock(ctx context.Context, name string) error {
	holder := s.holder + "|" + rand.Text()[:8] // two goroutines of this process exclude each other, too
	for {
		taken, err := s.take(ctx, name, holder)
		if err != nil {
			return fmt.Errorf("take the lock %s: %w", name, err)
		}
		if taken {
			break
		}
		if !backoff.Sleep(ctx, retake) {
			return ctx.Err()
		}
	}
	hold, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.mu.Lock()
	s.locks[name] = func() {
		stop()
		drop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = s.store.Tx(drop, func(tx *store.Tx) error { return tx.DropLock(drop, name, holder) }) // otherwise it expires
	}
	s.mu.Unlock()
	s.done.Go(func() { s.extend(hold, name, holder) })
	return nil
}

// take takes a lock, and reports whether nobody else holds it.
func (s *storage) take(ctx context.Context, name, holder string) (taken bool, err error) {
	err = job.Uninterrupted(ctx, lease, func(ctx context.Context) error {
		return s.store.Tx(ctx, func(tx *store.Tx) (err error) {
			taken, err = tx.TakeLock(ctx, name, holder, lease.Milliseconds())
			return err
		})
	})
	return taken, err
}

// extend holds a lock until ctx ends, or until somebody else has it because the database did not answer for too long.
func (s *storage) extend(ctx context.Context, name, holder string) {
	for backoff.Sleep(ctx, keep) {
		held := true
		err := s.store.Tx(ctx, func(tx *store.Tx) (err error) {
			held, err = tx.KeepLock(ctx, name, holder, lease.Milliseconds())
			return err
		})
		if err == nil && !held {
			return
		}
	}
}

// Unlock implements certmagic.Locker.
func (s *storage) Unlock(_ context.Context, name string) error {
	s.mu.Lock()
	stop := s.locks[name]
	delete(s.locks, name)
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
	return nil
}
