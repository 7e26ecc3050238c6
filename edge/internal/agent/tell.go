package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/shortline/shortline/shared/snapshot"
)

// tell sends one report and carries out the orders in the answer.
func (a *Agent) tell(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	s := a.Status()
	s.Repairs = a.repairs
	answer, err := a.cfg.Reports.Report(ctx, s)
	twin := errors.Is(err, snapshot.ErrTwin)
	if err == nil || twin {
		a.noteTwin(twin, err)
	}
	if err != nil {
		return err
	}
	a.repairs = nil
	if a.cfg.Repair == nil {
		return nil
	}
	for i, o := range answer.Orders {
		if i == snapshot.MaxOrders {
			break
		}
		a.repairs = append(a.repairs, a.cfg.Repair(o))
	}
	if len(a.repairs) > 0 {
		wake(a.report) // the control plane waits for the result
	}
	return nil
}

// noteTwin records whether another edge has this edge's id, and calls Config.Twin when that changes. A failed report does
// not change it, because shipping clicks must not depend on the control plane.
func (a *Agent) noteTwin(twin bool, why error) {
	if twin == a.twin {
		return
	}
	a.twin = twin
	if twin {
		a.cfg.Logger.Error("duplicate edge id", "edge", a.cfg.Edge, "error", why,
			"advice", "one of the two data folders is a copy of the other: stop one edge and empty its folder")
	} else {
		why = nil
		a.cfg.Logger.Info("edge id unique again", "edge", a.cfg.Edge)
	}
	if a.cfg.Twin != nil {
		a.cfg.Twin(why)
	}
}

// ErrInUse is wrapped by Run's error if another process has locked the folder.
var ErrInUse = errors.New("agent: the folder is in use by another process")

// lockDir locks the folder for this process, until the file is closed or the process ends.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "LOCK"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s", ErrInUse, dir)
		}
		return nil, fmt.Errorf("agent: lock %s: %w", dir, err)
	}
	return f, nil
}

// unlockDir unlocks the folder at once, even if a child process that is being started has inherited the file.
func unlockDir(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_UN)
	return errors.Join(err, f.Close())
}

// nextRun creates a random name for this start. It returns that name and the name of the previous start, "" if there was
// none. The new name is on disk before it is used, so the next start knows it.
func nextRun(dir string) (run, before string, err error) {
	path := filepath.Join(dir, "run")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", err
	}
	if len(text) <= 64 { // a longer text is not a name
		before = string(text)
	}
	var b [16]byte
	rand.Read(b[:])
	run = hex.EncodeToString(b[:])
	if err := os.WriteFile(path+".new", []byte(run), 0o600); err != nil {
		return run, before, err
	}
	return run, before, os.Rename(path+".new", path)
}
