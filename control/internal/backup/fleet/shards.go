package fleet

import (
	"bufio"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/shortline/shortline/control/internal/store"
)

// Shards is what the database of a backup knows of click stores. It is empty if there was only one, without a name.
type Shards struct {
	First      string            // which also has the clicks of workspaces that are not in Workspaces
	Identities map[string]string // by name
	Workspaces map[uint64]string // the shard of each workspace
}

// readShards reads the shards from the tables of a backup. Backups of older releases have no such tables.
func readShards(from string, d store.Dumped) (s Shards, err error) {
	s.Identities, s.Workspaces = map[string]string{}, map[uint64]string{}
	err = readTable(from, d, "click_shards", func(row map[string]string) error {
		s.Identities[row["name"]] = row["identity"]
		if row["num"] == "1" {
			s.First = row["name"]
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	return s, readTable(from, d, "click_shard_workspaces", func(row map[string]string) error {
		num, err := strconv.ParseUint(row["workspace_num"], 10, 64)
		s.Workspaces[num] = row["shard"]
		return err
	})
}

// readTable calls f with the rows of a table whose values need no escapes in the text format of COPY.
func readTable(from string, d store.Dumped, table string, f func(row map[string]string) error) (err error) {
	at := slices.IndexFunc(d.Tables, func(t store.DumpedTable) bool { return t.Name == table })
	if at < 0 {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("read the table %s of the backup: %w", table, err)
		}
	}()
	file, err := open(filepath.Join(from, filepath.FromSlash(tableFile(table))))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		values := strings.Split(lines.Text(), "\t")
		if len(values) != len(d.Tables[at].Columns) {
			return fmt.Errorf("a row has %d columns instead of %d", len(values), len(d.Tables[at].Columns))
		}
		row := map[string]string{}
		for i, name := range d.Tables[at].Columns {
			row[name] = values[i]
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return lines.Err()
}
