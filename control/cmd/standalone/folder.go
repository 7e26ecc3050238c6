package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Database files in a data folder.
const (
	linksFile  = "shortline.db"
	clicksFile = "clicks.duckdb"
)

// complete rejects a folder that was used before and now lacks a file. A new file in its place would do harm without being
// noticed: new links would get the numbers, and so the clicks, of lost links, and new keys cannot decrypt old data.
func complete(dir string, secretsGiven bool) error {
	parts := []string{secretsFile, linksFile, clicksFile} // in the order in which a first start creates them
	if secretsGiven {
		parts = parts[1:]
	}
	lacking := ""
	for _, name := range parts {
		info, err := os.Stat(filepath.Join(dir, name))
		switch {
		case err == nil && info.Size() > 0:
			if lacking != "" {
				return fmt.Errorf("DATA_DIR: %s holds %s, but %s is missing or empty: restore it from the same backup, or start with an empty folder", dir, name, lacking)
			}
		case err == nil || os.IsNotExist(err):
			lacking = cmp.Or(lacking, name)
		default:
			return fmt.Errorf("DATA_DIR: %w", err)
		}
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
