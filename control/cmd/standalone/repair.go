package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/cli"
	"github.com/shortline/shortline/shared/config"
)

// repairCommand is `standalone repair`.
var repairCommand = cli.Command{
	Name:  "repair",
	About: "make a DATA_DIR usable from which clicks or newer links were lost, and accept the loss; standalone must be stopped",
	New:   func() config.Validator { return new(folder) },
	Run: func(ctx context.Context, s config.Validator, _ []string, stdout, stderr io.Writer) error {
		private()
		return s.(*folder).repair(ctx, stdout, slog.New(slog.NewTextHandler(stderr, nil)))
	},
}

// repair accepts that the click store is missing, or that links or clicks are an older copy. It changes nothing if nothing is
// missing.
func (s *folder) repair(ctx context.Context, out io.Writer, log *slog.Logger) (err error) {
	if err := s.used(); err != nil {
		return err
	}
	unlock, err := lockFolder(s.DataDir)
	if err != nil {
		return err
	}
	defer unlock()
	links, err := openLinks(ctx, s.DataDir, store.Config{Logger: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, links.Close()) }()
	there, err := holds(s.DataDir, clicksFile)
	if err != nil {
		return err
	}
	clicks, err := openClicks(ctx, s.DataDir, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, clicks.Close()) }()
	if !there {
		err := links.Tx(ctx, func(tx *store.Tx) error { return tx.KeepCounters(ctx, time.Now().UnixMilli()) })
		if err != nil {
			return fmt.Errorf("keep counters: %w", err)
		}
		fmt.Fprintf(out, "%s was missing. Counters keep their values, and reports begin with the clicks that the edge still has.\n",
			clicksFile)
	}
	f := &stamped{s.DataDir, links, clicks, log}
	if err := f.join(ctx, true); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s can be used\n", s.DataDir)
	return nil
}
