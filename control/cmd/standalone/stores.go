package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/commands"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/durable"
)

// stores are the databases of a folder, which belong together.
type stores struct {
	links  *store.Store
	clicks *duckdb.Store
	reship *reship
}

// openStores opens the databases of a folder that is locked, for the program. Commands use the parts.
func (s *settings) openStores(ctx context.Context, log *slog.Logger) (_ *stores, err error) {
	o := new(stores)
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close())
		}
	}()
	if err := beginFromBackup(s.DataDir, log); err != nil {
		return nil, err
	}
	cfg := store.Config{AuditKeys: s.AuditKeys(), Trash: s.Trash(), ListLinks: s.ListLinks, BaseURL: s.BaseURL, Logger: log}
	if o.links, err = openLinks(ctx, s.DataDir, cfg); err != nil {
		return nil, err
	}
	if s.ownKey {
		if err := commands.CheckKey(ctx, o.links); err != nil {
			return nil, fmt.Errorf("DATA_DIR: %s in %s does not belong to %s, so second factors and other secrets cannot be decrypted: "+
				"restore both from one backup (%w)", secretsFile, s.DataDir, linksFile, err)
		}
	}
	if err := requireClicks(ctx, s.DataDir, o.links); err != nil {
		return nil, err
	}
	if o.clicks, err = openClicks(ctx, s.DataDir, s.ClickMemory); err != nil {
		return nil, err
	}
	if o.reship, err = newReship(ctx, s.DataDir, o.clicks, log); err != nil { // before the edge may get a new number
		return nil, err
	}
	return o, (&stamped{s.DataDir, o.links, o.clicks, log}).join(ctx, false)
}

// close closes those that are open.
func (o *stores) close() error {
	var errs []error
	if o.clicks != nil {
		errs = append(errs, o.clicks.Close())
	}
	if o.links != nil {
		errs = append(errs, o.links.Close())
	}
	return errors.Join(errs...)
}

func openLinks(ctx context.Context, dir string, cfg store.Config) (*store.Store, error) {
	cfg.URL = "sqlite:" + filepath.Join(dir, linksFile)
	links, err := store.Open(ctx, cfg)
	if err != nil && ctx.Err() == nil && store.Damaged(err) {
		return nil, damagedLinks(dir, err)
	}
	return links, err
}

func damagedLinks(dir string, err error) error {
	return fmt.Errorf("DATA_DIR: %s is damaged, or the files %[1]s-wal and %[1]s-shm are left of another database. "+
		"It holds all links and users: restore the whole folder from a backup into an empty folder (%w)",
		filepath.Join(dir, linksFile), err)
}

// checkLinks reads all of the links' file, which is done only if something else in the folder is wrong.
func checkLinks(ctx context.Context, dir string, links *store.Store) error {
	wrong, err := links.Integrity(ctx)
	if err == nil && wrong != "" {
		err = damagedLinks(dir, errors.New(wrong))
	}
	return err
}

// openClicks opens the click store, and creates it if it is missing. A new store gets its name when it is complete, so a first
// start that is interrupted leaves none.
func openClicks(ctx context.Context, dir string, memory int) (*duckdb.Store, error) {
	there, err := holds(dir, clicksFile)
	if err != nil {
		return nil, err
	}
	cfg := duckdb.Config{Path: filepath.Join(dir, clicksFile), Memory: memory}
	if !there {
		if err := createClicks(ctx, cfg); err != nil {
			return nil, err
		}
	}
	clicks, err := duckdb.Open(ctx, cfg)
	if err == nil || ctx.Err() != nil {
		return clicks, err
	}
	// Clicks in a damaged log are still in the spool of the edge, unless they are more than a day old.
	log, aside := cfg.Path+".wal", cfg.Path+".wal.damaged"
	if strings.Contains(err.Error(), "WAL") && os.Rename(log, aside) == nil {
		clicks, again := duckdb.Open(ctx, cfg)
		if again == nil {
			slog.Warn("log of the click store damaged, set aside", "file", aside, "error", err.Error())
			return clicks, nil
		}
		err = errors.Join(again, os.Rename(aside, log))
	}
	return nil, fmt.Errorf("DATA_DIR: %s cannot be opened. If it is damaged, all clicks in it are lost: restore %s and %s from one backup "+
		"into an empty folder, or move it away and accept the loss with `standalone repair` (%w)", cfg.Path, linksFile, clicksFile, err)
}

func createClicks(ctx context.Context, cfg duckdb.Config) error {
	path := cfg.Path
	cfg.Path += ".new"
	for _, left := range []string{cfg.Path, cfg.Path + ".wal", path, path + ".wal"} {
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("create clicks: %w", err)
		}
	}
	created, err := duckdb.Open(ctx, cfg)
	if err != nil {
		return err
	}
	if err := created.Close(); err != nil {
		return err
	}
	if err := os.Rename(cfg.Path, path); err != nil {
		return fmt.Errorf("create clicks: %w", err)
	}
	return durable.SyncDir(filepath.Dir(path))
}
