package kafkasink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/durable"
)

// maxAside is the maximum number of files with clicks that were put aside.
const maxAside = 1000

// deadLetters is the folder for clicks that were put deadLetters.
type deadLetters struct {
	dir string

	mu    sync.Mutex
	files int
}

func (a *deadLetters) open(dir string) error {
	a.dir = filepath.Join(dir, "dead")
	list, err := os.ReadDir(a.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("kafka: read the folder of clicks put aside: %w", err)
	}
	a.files = len(list)
	return nil
}

// put writes a file durably. If a file with this name exists, it is the same click again.
func (a *deadLetters) put(name string, frame []byte) (path string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	path = filepath.Join(a.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if a.files >= maxAside {
		return "", fmt.Errorf(
			"%s already has the maximum of %d files: the topic rejects all clicks; repair the topic and move the files away",
			a.dir, a.files)
	}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return "", err
	}
	if err := durable.Write(path, frame); err != nil {
		return "", err
	}
	a.files++
	return path, nil
}

// deadLetter saves a frame that the topic will never accept, in a file named after the click in it.
func (s *Sink) deadLetter(b *click.Batch, frame []byte, why reason, cause error) error {
	path, err := s.aside.put(fmt.Sprintf("%016x-%d-%d-%d.frame", b.Edge, b.Epoch, b.Lane.Lane, b.First), frame)
	if err != nil {
		return fmt.Errorf("kafka: save a rejected click: %w", err)
	}
	s.stats.asides.Add(1)
	s.log.Error("click rejected by topic", "topic", s.topic, "reason", why.String(), "bytes", len(frame), "file", path, "error", cause)
	return nil
}
