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
)

// lanes knows over how many partitions each epoch's lanes are spread.
//
// Who reads the topic passes over clicks of a lane that are not above the highest it has seen, so a lane's clicks
// must come to it in order, so they must be in one partition. The number of partitions in a formula would break
// that on the day when a topic grows; so it is fixed for each epoch when its first click leaves, and written down,
// for clicks of an earlier epoch may still be in the spool after a restart.
type lanes struct {
	topic string
	path  string

	mu     sync.Mutex
	file   *os.File // appended to; nil after a failure, then opened anew
	spread map[epoch]int
	dirty  map[epoch]bool // not written down yet
}

type epoch struct {
	edge  uint64
	epoch uint32
}

const (
	// Beyond so many lines the file is written anew with the newest half of them: the epochs of so many starts ago
	// have no clicks left.
	maxLines = 2000
	// line is edge, epoch, partitions, topic.
	line = "%016x %d %d %s\n"
)

func openLanes(dir, topic string) (*lanes, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("kafka: make a folder: %w", err)
	}
	l := &lanes{topic: topic, path: filepath.Join(dir, "partitions"), spread: map[epoch]int{}, dirty: map[epoch]bool{}}
	data, err := os.ReadFile(l.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("kafka: read the partitions of lanes: %w", err)
	}
	// A line that a crash cut short goes: what it would have said was used by nobody.
	if whole := bytes.LastIndexByte(data, '\n') + 1; whole < len(data) {
		data = data[:whole]
		if err := os.Truncate(l.path, int64(whole)); err != nil {
			return nil, fmt.Errorf("kafka: mend the partitions of lanes: %w", err)
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
	tmp := l.path + ".new"
	f, err := os.Create(tmp)
	if err != nil {
		return err
	}
	_, err = f.Write(bytes.Join(all[len(all)-maxLines/2:], nil))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(tmp, l.path)
}

// partition is where the lane goes, in a topic that has present partitions now. With an error it is as good, but
// not written down.
func (l *lanes) partition(lane click.Lane, present int) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := epoch{lane.Edge, lane.Epoch}
	n := l.spread[e]
	if n == 0 || n > present { // a topic can't shrink, so it is another one of the same name
		n = present
		l.spread[e] = n
		l.dirty[e] = true
	}
	// Lanes of one edge are neighbours, so that they are in different partitions where there are enough.
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
		_ = l.file.Close() // the error that counts is the one above
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

// mix spreads the bits of a number (the finalizer of SplitMix64). Its values are part of what is written down.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
