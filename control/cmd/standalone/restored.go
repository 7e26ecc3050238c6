package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/shortline/shortline/control/internal/backup"
	"github.com/shortline/shortline/shared/durable"
)

// restoredFile is the name of a backup's manifest in a folder that was started from the backup.
const restoredFile = "restored.json"

// beginFromBackup is called before the databases are opened. If a backup was copied over the files of a killed program, it sets
// the journals of that program aside: a database would apply them to the wrong file, and damage it. The folder is then no backup
// any more, because its files change from now on.
func beginFromBackup(dir string, log *slog.Logger) error {
	manifest := filepath.Join(dir, backup.ManifestFile)
	if _, err := os.Stat(manifest); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for name, journals := range map[string][]string{linksFile: {"-wal", "-shm"}, clicksFile: {".wal"}} {
		path := filepath.Join(dir, name)
		foreign, err := replacedSince(path, path+journals[0])
		if err == nil && foreign {
			foreign, err = backup.Unchanged(dir, name)
		}
		if err != nil {
			return fmt.Errorf("compare %s with its backup: %w", name, err)
		}
		if !foreign {
			continue
		}
		for _, suffix := range journals {
			if err := os.Rename(path+suffix, path+suffix+".replaced"); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("set a journal aside: %w", err)
			}
		}
		log.Warn("journals of a replaced database set aside", "file", name)
	}
	if err := os.Rename(manifest, filepath.Join(dir, restoredFile)); err != nil {
		return fmt.Errorf("begin from a backup: %w", err)
	}
	return durable.SyncDir(dir)
}
