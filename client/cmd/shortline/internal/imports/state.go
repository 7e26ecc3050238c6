package imports

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// folder returns where the state of imports is: SHORTLINE_STATE, or shortline in XDG_STATE_HOME, which is ~/.local/state by default.
func folder(getenv func(string) string) (string, error) {
	if dir := getenv("SHORTLINE_STATE"); dir != "" {
		return dir, nil
	}
	base := getenv("XDG_STATE_HOME")
	if base == "" {
		home := getenv("HOME")
		if home == "" {
			return "", errors.New("neither SHORTLINE_STATE, XDG_STATE_HOME nor HOME is set, so an import has no place for its state")
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "shortline"), nil
}

// progress is what a run needs to go on after another one was killed.
type progress struct {
	Cursor  string `json:"cursor"`  // of the source; everything before it is done
	Journal int64  `json:"journal"` // bytes of the journal that belong to what is done
	Done    int    `json:"done"`    // rows
	// Pending are the rows that were being written. If the program was killed then, they can be there already, and the report of the
	// next run says what this run has done.
	Pending map[string]pending `json:"pending,omitempty"` // by external id
}

type pending struct {
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"`
}

// store keeps the state of one import in two files that only the user can read. The journal has a line for each row that is done. The
// progress is replaced as a whole after the journal is on disk, so a kill at any moment loses at most the last batch, which the next
// run sends again.
type store struct {
	path    string // without extension
	lock    *os.File
	journal *os.File
	progress
}

// openStore opens the state of the import that names describe, and locks it. restart forgets it.
func openStore(dir string, restart bool, names ...string) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for the state of the import: %w", err)
	}
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	s := &store{path: filepath.Join(dir, "import-"+hex.EncodeToString(sum[:8]))}
	var err error
	if s.lock, err = os.OpenFile(s.path+".lock", os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("lock the state of the import: %w", err)
	}
	if err := syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = s.lock.Close()
		return nil, errors.New("another process is running the same import")
	}
	if restart {
		if err := s.forget(); err != nil {
			return nil, err
		}
	}
	text, err := os.ReadFile(s.path + ".json")
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("read the state of the import: %w", err)
	case json.Unmarshal(text, &s.progress) != nil:
		return nil, fmt.Errorf("%s.json is damaged; add --restart", s.path)
	}
	if s.journal, err = os.OpenFile(s.path+".rows", os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("open the journal of the import: %w", err)
	}
	if err := s.journal.Truncate(s.Journal); err != nil {
		return nil, fmt.Errorf("open the journal of the import: %w", err)
	}
	return s, nil
}

// finishRows notes rows that are done, and that everything before cursor is.
func (s *store) finishRows(rows []Result, cursor string) error {
	var text strings.Builder
	lines := json.NewEncoder(&text)
	for i := range rows {
		if err := lines.Encode(&rows[i]); err != nil {
			return fmt.Errorf("write the journal of the import: %w", err)
		}
	}
	if _, err := s.journal.WriteAt([]byte(text.String()), s.Journal); err != nil {
		return fmt.Errorf("write the journal of the import: %w", err)
	}
	if err := s.journal.Sync(); err != nil {
		return fmt.Errorf("write the journal of the import: %w", err)
	}
	s.Pending = nil
	s.Journal, s.Cursor, s.Done = s.Journal+int64(text.Len()), cursor, s.Done+len(rows)
	return s.save()
}

// begin notes rows that are about to be written.
func (s *store) begin(rows []*row) error {
	if s.Pending == nil {
		s.Pending = map[string]pending{}
	}
	for _, one := range rows {
		if id, named := one.item["externalId"].(string); named && one.Outcome != Skipped && one.Outcome != Failed {
			s.Pending[id] = pending{one.Outcome, one.Reason}
		}
	}
	return s.save()
}

// recall gives rows that an earlier run has written before it was killed the outcomes of that run.
func (s *store) recall(rows []*row) {
	for _, one := range rows {
		id, _ := one.item["externalId"].(string)
		if was, known := s.Pending[id]; known && one.Outcome == Unchanged {
			one.Outcome, one.Reason = was.Outcome, was.Reason
			one.written = true
		}
	}
}

// save replaces the progress.
func (s *store) save() error {
	text, err := json.Marshal(s.progress)
	if err != nil {
		return fmt.Errorf("write the state of the import: %w", err)
	}
	fresh, err := os.OpenFile(s.path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the state of the import: %w", err)
	}
	_, err = fresh.Write(text)
	if err = errors.Join(err, fresh.Sync(), fresh.Close()); err == nil {
		err = os.Rename(s.path+".new", s.path+".json")
	}
	if err != nil {
		return fmt.Errorf("write the state of the import: %w", err)
	}
	return nil
}

// rows reads the journal.
func (s *store) rows() ([]Result, error) {
	if _, err := s.journal.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read the journal of the import: %w", err)
	}
	var list []Result
	lines := json.NewDecoder(bufio.NewReader(s.journal))
	for {
		var one Result
		if err := lines.Decode(&one); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the journal of the import: %w", err)
		}
		list = append(list, one)
	}
}

// forget removes the state, so that the next run begins again.
func (s *store) forget() error {
	for _, name := range []string{".json", ".new", ".rows"} {
		if err := os.Remove(s.path + name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the state of the import: %w", err)
		}
	}
	s.progress = progress{}
	return nil
}

// close releases the lock. The file of the lock stays, because another process may hold it already.
func (s *store) close() {
	if s.journal != nil {
		_ = s.journal.Close() // finishRows has written everything
	}
	_ = s.lock.Close()
}
