package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What is on disk carries no signature of its own: it is this program's, damage shows by its checksums, and who can write
// there can do worse. But what was taken before keys were set, or when there were others, was believed by other rules.
// The file trust lists the keys that the state was held against. Unless the present ones include all of them, the state is
// not used, and the edge begins as an empty one.
const trustName = "trust"

// distrusted reports whether the state on disk was believed by weaker rules than the present ones.
func (a *Agent) distrusted() bool {
	if a.cfg.Keys.IsZero() {
		return false
	}
	if _, err := os.Stat(filepath.Join(a.cfg.Dir, stateName)); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	text, err := os.ReadFile(filepath.Join(a.cfg.Dir, trustName))
	return err != nil || !a.includes(string(text))
}

// includes reports whether all keys of a list, of which there must be some, are among the present ones.
func (a *Agent) includes(list string) bool {
	held, now := strings.Fields(list), a.cfg.Keys.Names()
	return len(held) > 0 && !slices.ContainsFunc(held, func(name string) bool { return !slices.Contains(now, name) })
}

// vouch notes what the links are held against that are in the state file and will come into its log. Everything that an
// agent has is held against its keys, as it doesn't begin with what isn't.
func (a *Agent) vouch() error {
	path := filepath.Join(a.cfg.Dir, trustName)
	names := strings.Join(a.cfg.Keys.Names(), "\n")
	text, err := os.ReadFile(path)
	if err == nil && string(text) == names || errors.Is(err, fs.ErrNotExist) && names == "" {
		return nil
	}
	gone := []string{trustName}
	if names != "" {
		gone = nil
		if !a.includes(string(text)) { // the state to go back to was believed by other rules, too
			gone = []string{otherState, otherLog}
		}
	}
	for _, name := range gone {
		if err := os.Remove(filepath.Join(a.cfg.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if names == "" {
		return nil
	}
	if err := os.WriteFile(path+".new", []byte(names), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// noteTrust says that vouching failed, after which the next start may ask for a full document.
func (a *Agent) noteTrust(err error) {
	a.stats.diskErrors.Add(1)
	a.cfg.Logger.Warn("trust_not_noted", "error", err)
}
