// Package truth is what the outside world knows of a run: which requests were sent, which were answered to the last
// byte, and whether what a store says agrees with it.
//
// It owns the file of the run, which the system under test neither writes nor reads, and the verdict. Every request
// carries an identity of its own (in utm_content), so a click can be found again wherever it is kept. It leaves to
// others how requests are made (package load) and how identities are read out of a store (packages topic and
// clickstore).
package truth

import (
	"bufio"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ID is a request's identity: which client sent it, and its number there, from 1.
type ID struct {
	Client int
	N      uint64
}

// String is the form in which an ID travels: c<client>-<number>.
func (id ID) String() string {
	return "c" + strconv.Itoa(id.Client) + "-" + strconv.FormatUint(id.N, 10)
}

// ParseID reads what String wrote. It reports false for anything else.
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

// Entry is one request. Status is 0 if no whole answer came: its click may or may not have been kept.
type Entry struct {
	ID         ID
	Slug       string // a word without spaces
	Edge       string // host:port, or another word for it
	Sent, Done time.Time
	Status     int
}

// Log is the file of a run, one line an Entry. It is never synced: the machine is not what fails here.
type Log struct {
	path string

	mu   sync.Mutex
	file *os.File
	line []byte
	err  error
}

// Create makes the file, or goes on at the end of one.
func Create(path string) (*Log, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the record of a run: %w", err)
	}
	return &Log{path: path, file: f}, nil
}

// Path is the file's.
func (l *Log) Path() string { return l.path }

// Add writes one entry at once, so that it is kept if this process dies. A failure is kept for Close. Any number of
// goroutines may call it.
func (l *Log) Add(e Entry) {
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

// Close ends the file and returns the first failure of Add.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.file.Close()
	if l.err != nil {
		return fmt.Errorf("write the record of a run: %w", l.err)
	}
	return err
}

// Read gives the entries of a file that Create made. A last line that was cut off is passed over.
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
				yield(Entry{}, fmt.Errorf("%s:%d: not an entry: %q", path, n, line))
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
