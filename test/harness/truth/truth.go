// Package truth records a run from the outside: which requests were sent, and which were answered to the last byte. It then
// compares the record with the contents of a store.
//
// The system under test neither reads nor writes the record. Every request has an identity in utm_content, so its click can
// be found in any store. Package load sends the requests; packages topic and clickstore read identities from stores.
package truth

import (
	"bufio"
	"fmt"
	"iter"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ID identifies a request: the client that sent it, and its number at that client, from 1.
type ID struct {
	Client int
	N      uint64
}

// String returns the form in utm_content: c<client>-<number>.
func (id ID) String() string {
	return "c" + strconv.Itoa(id.Client) + "-" + strconv.FormatUint(id.N, 10)
}

// ParseID parses the result of String. It returns false for any other text.
func ParseID(s string) (ID, bool) {
	rest, ok := strings.CutPrefix(s, "c")
	client, n, dash := strings.Cut(rest, "-")
	c, err1 := strconv.ParseUint(client, 10, 16)
	k, err2 := strconv.ParseUint(n, 10, 48)
	if !ok || !dash || err1 != nil || err2 != nil || k == 0 {
		return ID{}, false
	}
	return ID{Client: int(c), N: k}, true
}

// Entry is one request. Status is 0 if no complete answer arrived: the click may or may not have been stored.
type Entry struct {
	ID         ID
	Slug       string // a word without spaces
	Edge       string // host:port, or any other word without spaces
	Sent, Done time.Time
	Status     int
}

// Log is the record of a run, a file with one line per Entry. It is never synced, since the machine itself does not fail.
type Log struct {
	path string

	mu   sync.Mutex
	file *os.File
	line []byte
	err  error

	answered atomic.Int64
}

// Create creates the file, or appends to an existing one.
func Create(path string) (*Log, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the record of a run: %w", err)
	}
	return &Log{path: path, file: f}, nil
}

// Path returns the path of the file.
func (l *Log) Path() string { return l.path }

// Add writes one entry immediately, so that it survives the death of this process. Close returns its error. Add is safe for
// concurrent use.
func (l *Log) Add(e Entry) {
	if e.Status == http.StatusFound {
		l.answered.Add(1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := append(l.line[:0], e.ID.String()...)
	b = append(append(append(append(b, ' '), e.Slug...), ' '), e.Edge...)
	b = strconv.AppendInt(append(b, ' '), e.Sent.UnixMicro(), 10)
	b = strconv.AppendInt(append(b, ' '), e.Done.UnixMicro(), 10)
	b = strconv.AppendInt(append(b, ' '), int64(e.Status), 10)
	l.line = append(b, '\n')
	if _, err := l.file.Write(l.line); err != nil && l.err == nil {
		l.err = err
	}
}

// Answered returns the number of redirects that this process has added.
func (l *Log) Answered() int { return int(l.answered.Load()) }

// Close closes the file and returns the first error of Add.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.file.Close()
	if l.err != nil {
		return fmt.Errorf("write the record of a run: %w", l.err)
	}
	return err
}

// Read iterates over the entries of a record. It ignores an incomplete last line.
func Read(path string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer f.Close()
		in := bufio.NewReader(f)
		for n := 1; ; n++ {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			e, ok := parse(strings.TrimSuffix(line, "\n"))
			if !ok {
				yield(Entry{}, fmt.Errorf("%s:%d: invalid entry: %q", path, n, line))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func parse(line string) (Entry, bool) {
	f := strings.Split(line, " ")
	if len(f) != 6 {
		return Entry{}, false
	}
	id, ok := ParseID(f[0])
	sent, err1 := strconv.ParseInt(f[3], 10, 64)
	done, err2 := strconv.ParseInt(f[4], 10, 64)
	status, err3 := strconv.Atoi(f[5])
	return Entry{ID: id, Slug: f[1], Edge: f[2], Sent: time.UnixMicro(sent), Done: time.UnixMicro(done), Status: status},
		ok && err1 == nil && err2 == nil && err3 == nil
}
