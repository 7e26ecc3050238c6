package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// The databases in a data folder.
const (
	linksFile  = "shortline.db"
	clicksFile = "clicks.duckdb"
)

// complete refuses a folder that was used and has lost a part since. A new part in its place would go unnoticed and do
// harm: links are numbered from 1 again, and the clicks of those that are gone would count for them; new keys open
// nothing that was sealed.
func complete(dir string, secretsGiven bool) error {
	parts := []string{secretsFile, linksFile, clicksFile} // in the order in which a first start makes them
	if secretsGiven {
		parts = parts[1:]
	}
	lacking := ""
	for _, name := range parts {
		info, err := os.Stat(filepath.Join(dir, name))
		switch {
		case err == nil && info.Size() > 0:
			if lacking != "" {
				return fmt.Errorf("DATA_DIR: %s holds %s, but %s is missing or empty: put it back from the same backup, or begin anew in an empty folder", dir, name, lacking)
			}
		case err == nil || os.IsNotExist(err):
			if lacking == "" {
				lacking = name
			}
		default:
			return fmt.Errorf("DATA_DIR: %w", err)
		}
	}
	return nil
}

// inPlace is a check that the links' file is the one that was opened. A program whose folder was deleted or exchanged would go
// on with files that nobody can reach, and lose with its end all that it has taken in.
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
			return fmt.Errorf("%s is another file than the one that was opened", path)
		}
		return nil
	}, nil
}
