package kafkasink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/shortline/shortline/shared/click"
)

// maxAside bounds the files of clicks that were put aside.
const maxAside = 1000

// aside is the folder of clicks that were put aside.
type aside struct {
	dir string

	mu    sync.Mutex
	files int
}

func (a *aside) open(dir string) error {
	a.dir = filepath.Join(dir, "dead")
	list, err := os.ReadDir(a.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("kafka: look at the clicks that were put aside: %w", err)
	}
	a.files = len(list)
	return nil
}

// put writes a file, on the disk when it returns. The same name again is the same click again.
func (a *aside) put(name string, frame []byte) (path string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	path = filepath.Join(a.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if a.files >= maxAside {
		return "", fmt.Errorf("%s has %d files already, which is as many as may be: the topic refuses everything; mend it, and move the files away", a.dir, a.files)
	}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return "", err
	}
	tmp := path + ".new"
	f, err := os.Create(tmp)
	if err != nil {
		return "", err
	}
	_, err = f.Write(frame)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp) // the error that counts is the one above
		return "", err
	}
	a.files++
	return path, nil
}

// putAside keeps a frame that the topic will never take, in a file named after the click in it.
func (s *Sink) putAside(b *click.Batch, frame []byte, why reason, cause error) error {
	path, err := s.aside.put(fmt.Sprintf("%016x-%d-%d-%d.frame", b.Edge, b.Epoch, b.Lane.Lane, b.First), frame)
	if err != nil {
		return fmt.Errorf("kafka: put a click aside: %w", err)
	}
	s.stats.asides.Add(1)
	s.log.Error("kafka: the topic refuses a single click, which was put aside", "topic", s.topic, "reason", why.String(), "bytes", len(frame), "file", path, "error", cause)
	return nil
}
