package hosts

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/shortline/shortline/shared/durable"
	"github.com/shortline/shortline/shared/snapshot"
)

// The file is a sequence of updates in wire form, without signatures: what an edge has accepted is not verified again
// (ADR 11). Later updates are appended. When they take more space than the list itself, the list replaces the file.
const (
	fileName = "hosts"
	minLog   = 256 << 10 // bytes of updates for which the file is not rewritten
)

// file is the file of hosts. It is not safe for concurrent use.
type file struct {
	path  string
	lock  *os.File // of the folder
	f     *os.File // open for appending; nil: the next change rewrites the file
	base  int64    // size of the list at the start of the file
	size  int64
	limit int64
}

// openFile reads the updates of the file in a folder, and makes the folder if there is none.
func openFile(dir string) (*file, []snapshot.Hosts, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	lock, err := durable.Lock(dir)
	if err != nil {
		return nil, nil, err
	}
	f := &file{path: filepath.Join(dir, fileName), lock: lock, limit: minLog}
	list, err := f.readUpdates()
	if err != nil {
		return nil, nil, errors.Join(err, f.close())
	}
	return f, list, nil
}

// readUpdates reads all updates, and opens the file for more of them unless it is damaged.
func (f *file) readUpdates() ([]snapshot.Hosts, error) {
	b, err := os.ReadFile(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []snapshot.Hosts
	rest := b
	for len(rest) > 0 {
		u, after, err := snapshot.DecodeHosts(rest, snapshot.Keys{})
		if err != nil {
			break // a crash has cut the last update; the source sends it again
		}
		if list = append(list, u); len(list) == 1 {
			f.base = int64(len(b) - len(after))
		}
		rest = after
	}
	if len(rest) > 0 || len(list) == 0 {
		return list, nil // the next change rewrites the file without the damaged end
	}
	f.size = int64(len(b))
	f.f, err = os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND, 0o600)
	return list, err
}

// appendUpdate stores an update. list returns everything, for when the file is rewritten. After an error the next call rewrites
// the file.
func (f *file) appendUpdate(u *snapshot.Hosts, list func() *snapshot.Hosts) error {
	if f.f == nil || u.Full || f.size > f.base+max(f.base, f.limit) {
		return f.rewrite(list())
	}
	wire := snapshot.AppendHosts(nil, u, snapshot.SigningKey{})
	n, err := f.f.Write(wire)
	f.size += int64(n)
	if err == nil {
		err = f.f.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("append to %s: %w", f.path, err), f.shut())
	}
	return nil
}

func (f *file) rewrite(list *snapshot.Hosts) error {
	if err := f.shut(); err != nil {
		return err
	}
	wire := snapshot.AppendHosts(nil, list, snapshot.SigningKey{})
	if err := durable.Write(f.path, wire); err != nil {
		return err
	}
	opened, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if at, err := opened.Seek(0, io.SeekEnd); err != nil || at != int64(len(wire)) {
		return errors.Join(fmt.Errorf("%s has %d bytes instead of %d", f.path, at, len(wire)), err, opened.Close())
	}
	f.f, f.base, f.size = opened, int64(len(wire)), int64(len(wire))
	return nil
}

// close closes the file and unlocks the folder.
func (f *file) close() error {
	err := f.shut()
	if f.lock != nil {
		err = errors.Join(err, durable.Unlock(f.lock))
		f.lock = nil
	}
	return err
}

// shut closes the file. The next call of add rewrites it.
func (f *file) shut() error {
	if f.f == nil {
		return nil
	}
	err := f.f.Close()
	f.f = nil
	return err
}
