package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/shortline/shortline/shared/durable"
	"github.com/shortline/shortline/shared/snapshot"
)

// sendReport sends one report and carries out the orders in the answer.
func (a *Agent) sendReport(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	s := a.Status()
	s.Repairs = a.repairs
	if a.cfg.Missing != nil && s.Run != "" { // without a name of this start, batches could be counted twice
		s.Missing = a.cfg.Missing.Batch()
	}
	answer, err := a.cfg.Reports.Report(ctx, s)
	twin := errors.Is(err, snapshot.ErrTwin)
	if err == nil || twin {
		a.noteTwin(twin, err)
	}
	if err != nil {
		return err
	}
	a.repairs = nil
	if s.Missing != nil && answer.MissingTaken == s.Missing.Seq {
		a.cfg.Missing.Acknowledge(s.Missing.Seq)
	}
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
var ErrInUse = durable.ErrInUse

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
	return run, before, durable.WriteUnsynced(path, []byte(run))
}
