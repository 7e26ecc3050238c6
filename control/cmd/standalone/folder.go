package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/durable"
)

// Files in a data folder.
const (
	linksFile  = "shortline.db"
	clicksFile = "clicks.duckdb"
	edgeFolder = "edge"
)

// edgeFile is the file of the edge that numbers its clicks. The edge creates it at its first start.
var edgeFile = filepath.Join(edgeFolder, "spool", "instance.id")

// lockFolder locks a data folder for this process before anything in it is read or changed.
func lockFolder(dir string) (unlock func(), err error) {
	lock, err := durable.Lock(dir)
	if errors.Is(err, durable.ErrInUse) {
		return nil, fmt.Errorf("DATA_DIR: %s is in use by another standalone: stop it first, or choose another folder", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("DATA_DIR: %w", err)
	}
	return func() { _ = durable.Unlock(lock) }, nil // the end of the process unlocks it, too
}

// part is a file that a folder must have if it has one of the files that a first start creates after it.
type part struct{ name, lost string }

// parts returns the parts of a folder in the order in which a first start creates them.
func parts(secretsGiven bool) []part {
	list := []part{
		{secretsFile, "the keys of sessions, second factors and other secrets"},
		{linksFile, "all links and users"},
		{clicksFile, "all clicks, so reports would be empty and counters 0"},
		{edgeFile, ""},
	}
	if secretsGiven {
		list = list[1:]
	}
	return list
}

// complete rejects a folder that was used before and now lacks a file. A new file in its place would do harm without being
// noticed: new links would get the numbers, and so the clicks, of lost links, and new keys cannot decrypt old data.
func complete(dir string, secretsGiven bool) error {
	var lacking part
	for _, p := range parts(secretsGiven) {
		there, err := holds(dir, p.name)
		switch {
		case err != nil:
			return err
		case !there && lacking.name == "":
			lacking = p
		case there && lacking.name != "":
			return incomplete(dir, p.name, lacking)
		}
	}
	return nil
}

// holds reports whether a folder has a file that is not empty.
func holds(dir, name string) (bool, error) {
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		return false, fmt.Errorf("DATA_DIR: %w", err)
	}
	return err == nil && info.Size() > 0, nil
}

func incomplete(dir, has string, lacking part) error {
	advice := "restore it from a backup, or choose an empty folder"
	if lacking.name == clicksFile {
		advice = "restore shortline.db and clicks.duckdb from one backup into an empty folder, or accept the loss with `standalone repair`"
	}
	return fmt.Errorf("DATA_DIR: %s holds %s, but %s is missing or empty. It has %s: %s", dir, has, lacking.name, lacking.lost, advice)
}

// requireClicks returns an error if the database of links was in use and the click store is missing. complete does not
// notice this if the edge's files are missing, too.
func requireClicks(ctx context.Context, dir string, links *store.Store) error {
	there, err := holds(dir, clicksFile)
	if err != nil || there {
		return err
	}
	used, err := links.AnyLink(ctx)
	if err != nil {
		return fmt.Errorf("look for links: %w", err)
	}
	_, start, err := links.Stamp(ctx)
	if err != nil {
		return fmt.Errorf("read the stamp of %s: %w", linksFile, err)
	}
	if used || start > firstStart {
		return incomplete(dir, linksFile, part{clicksFile, "all clicks, so reports would be empty and counters 0"})
	}
	return nil
}

// inPlace returns a readiness check that the database of links is still the file that was opened. If the folder is deleted
// or replaced, the program continues with unlinked files, and would lose all new data on exit.
func inPlace(dir string) (func(context.Context) error, error) {
	path := filepath.Join(dir, linksFile)
	opened, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("DATA_DIR: %w", err)
	}
	return func(context.Context) error {
		now, err := os.Stat(path)
		if err != nil {
			return err
		}
		if !os.SameFile(opened, now) {
			return fmt.Errorf("%s is not the file that was opened", path)
		}
		return nil
	}, nil
}
