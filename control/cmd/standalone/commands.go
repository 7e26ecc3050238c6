package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

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
	if err := complete(s.DataDir, true); err != nil {
		return err
	}
	clicks, err := openClicks(ctx, s.DataDir, 0)
	if err != nil {
		return fmt.Errorf("%w (is standalone still running?)", err)
	}
	defer func() { err = errors.Join(err, clicks.Close()) }()
	links, err := openLinks(ctx, s.DataDir, store.Config{Logger: slog.Default()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, links.Close()) }()
	geo, err := openGeo(s.DataDir, s.GeoDB)
	if err != nil {
		return err
	}
	return f(&opened{links, clicks, geo})
}

func openLinks(ctx context.Context, dir string, cfg store.Config) (*store.Store, error) {
	cfg.URL = "sqlite:" + filepath.Join(dir, linksFile)
	return store.Open(ctx, cfg)
}

func openClicks(ctx context.Context, dir string, memory int) (*duckdb.Store, error) {
	return duckdb.Open(ctx, duckdb.Config{Path: filepath.Join(dir, clicksFile), Memory: memory, Logger: slog.Default()})
}
