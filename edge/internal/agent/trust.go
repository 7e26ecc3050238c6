package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shortline/shortline/shared/durable"
)

// The state on disk has no signature of its own: this program wrote it, checksums detect damage, and an attacker who can
// write to the folder can do more harm in other ways. But a state that was accepted before keys were set, or with other
// keys, was checked by other rules. The file "trust" lists the keys against which the state was checked. If the present
// keys do not include all of them, the state is not used, and the edge starts empty.
const trustName = "trust"

// distrusted reports whether the state on disk was accepted by weaker rules than the present ones.
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

// includes reports whether a list is not empty and all its keys are among the present ones.
func (a *Agent) includes(list string) bool {
	held, now := strings.Fields(list), a.cfg.Keys.Names()
	return len(held) > 0 && !slices.ContainsFunc(held, func(name string) bool { return !slices.Contains(now, name) })
}

// vouch writes the list of keys against which the links in the state file, and those that will be in its log, are checked.
// All links of an agent are checked against its keys, because it does not start with a distrusted state.
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
		if !a.includes(string(text)) { // the other slot was accepted by other rules, too
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
	return durable.WriteUnsynced(path, []byte(names))
}

// noteTrust records that vouch failed. The next start may then need a full document.
func (a *Agent) noteTrust(err error) {
	a.stats.diskErrors.Add(1)
	a.cfg.Logger.Warn("key list not written", "error", err)
}
