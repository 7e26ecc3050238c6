package kafkasink

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/durable"
)

// lanes knows over how many partitions the lanes of each epoch are spread.
//
// A reader skips clicks of a lane that are not above the highest one it has seen. Clicks of a lane must therefore
// arrive in order, and that requires a single partition. If the partition were computed from the current number of
// partitions, a growing topic would break this. The number is therefore fixed for each epoch when its first click
// leaves. It is saved, because clicks of an earlier epoch may still be in the spool after a restart.
type lanes struct {
	topic string
	path  string

	mu     sync.Mutex
	file   *os.File // opened for appending; nil after a failure, then reopened
	spread map[epoch]int
	dirty  map[epoch]bool // not saved yet
}

type epoch struct {
	edge  uint64
	epoch uint32
}

const (
	// A file with more lines is rewritten with its newest half: epochs from so many starts ago have no clicks left.
	maxLines = 2000
	// line has edge, epoch, partitions and topic.
	line = "%016x %d %d %s\n"
)

func openLanes(dir, topic string) (*lanes, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("kafka: create the folder: %w", err)
	}
	l := &lanes{topic: topic, path: filepath.Join(dir, "partitions"), spread: map[epoch]int{}, dirty: map[epoch]bool{}}
	data, err := os.ReadFile(l.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("kafka: read the partitions of lanes: %w", err)
	}
	// A line that a crash cut short is removed: no click has used its value.
	if whole := bytes.LastIndexByte(data, '\n') + 1; whole < len(data) {
		data = data[:whole]
		if err := os.Truncate(l.path, int64(whole)); err != nil {
			return nil, fmt.Errorf("kafka: repair the partitions of lanes: %w", err)
		}
	}
	lines := 0
	for in := bufio.NewScanner(bytes.NewReader(data)); in.Scan(); lines++ {
		var e epoch
		var n int
		var topic string
		if _, err := fmt.Sscanf(in.Text()+"\n", line, &e.edge, &e.epoch, &n, &topic); err == nil && n > 0 && topic == l.topic {
			l.spread[e] = n
		}
	}
	if lines > maxLines {
		if err := l.shorten(data); err != nil {
			return nil, fmt.Errorf("kafka: shorten the partitions of lanes: %w", err)
		}
	}
	return l, nil
}

func (l *lanes) shorten(data []byte) error {
	all := bytes.SplitAfter(data, []byte("\n"))
	return durable.Write(l.path, bytes.Join(all[len(all)-maxLines/2:], nil))
}

// partition returns the partition of a lane in a topic that currently has present partitions. If it also returns an
// error, the partition is valid but not saved.
func (l *lanes) partition(lane click.Lane, present int) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := epoch{lane.Edge, lane.Epoch}
	n := l.spread[e]
	if n == 0 || n > present { // a topic cannot shrink, so this is another topic with the same name
		n = present
		l.spread[e] = n
		l.dirty[e] = true
	}
	// Lanes of one edge get adjacent partitions, so they are in different ones if there are enough.
	p := int((mix(lane.Edge)%uint64(n) + uint64(lane.Lane)) % uint64(n))
	if !l.dirty[e] {
		return p, nil
	}
	if err := l.write(e, n); err != nil {
		return p, err
	}
	delete(l.dirty, e)
	return p, nil
}

func (l *lanes) write(e epoch, n int) (err error) {
	if l.file == nil {
		if l.file, err = os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return err
		}
	}
	if _, err = fmt.Fprintf(l.file, line, e.edge, e.epoch, n, l.topic); err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		_ = l.file.Close() // the first error is the relevant one
		l.file = nil
	}
	return err
}

func (l *lanes) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// mix spreads the bits of a number (the finalizer of SplitMix64). The choice of saved partitions depends on its values.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
