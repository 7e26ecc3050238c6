package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/cli"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/visitor"
)

// opened holds the stores that a command on clicks uses.
type opened struct {
	links  *store.Store
	clicks *duckdb.Store
	geo    *visitor.Geo
}

// onClicks returns a command for the data folder of a stopped standalone.
func onClicks(name, args, about string, f func(ctx context.Context, o *opened, args []string, out io.Writer) error) cli.Command {
	return cli.Command{
		Name: name, Args: args, About: about + "; standalone must be stopped",
		New: func() config.Validator { return new(folder) },
		Run: func(ctx context.Context, s config.Validator, args []string, stdout, _ io.Writer) error {
			return s.(*folder).with(ctx, func(o *opened) error { return f(ctx, o, args, stdout) })
		},
	}
}

// folder holds the settings of such a command.
type folder struct {
	DataDir string `env:"DATA_DIR" envDefault:"./data" help:"holds all data, including generated secrets"`
	GeoDB   string `env:"GEO_DB" help:"comma-separated geo database files (mmdb)"`
}

// Validate accepts every folder. Opening it shows whether it contains data.
func (s *folder) Validate() error { return nil }

// with opens the stores, calls f, and closes them.
func (s *folder) with(ctx context.Context, f func(*opened) error) (err error) {
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	links, err := openLinks(ctx, s.DataDir, store.Config{Logger: slog.Default()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, links.Close()) }()
	if err := requireClicks(ctx, s.DataDir, links); err != nil {
		return err
	}
	clicks, err := openClicks(ctx, s.DataDir, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, clicks.Close()) }()
	geo, err := openGeo(s.DataDir, s.GeoDB)
	if err != nil {
		return err
	}
	return f(&opened{links, clicks, geo})
}

// lock locks a folder that must hold data.
func (s *folder) lock() (unlock func(), err error) {
	if err := s.used(); err != nil {
		return nil, err
	}
	if unlock, err = lockFolder(s.DataDir); err != nil {
		return nil, err
	}
	if err = complete(s.DataDir, true); err != nil {
		unlock()
	}
	return unlock, err
}

// used returns an error if the folder has no database of links.
func (s *folder) used() error {
	there, err := holds(s.DataDir, linksFile)
	if err == nil && !there {
		err = fmt.Errorf("DATA_DIR: %s contains no data of standalone", s.DataDir)
	}
	return err
}
