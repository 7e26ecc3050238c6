package fleet

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Promote makes the standby the primary. The old primary must be dead. It returns when the new primary accepts writes. All
// acknowledged commits are there, since replication is synchronous.
func (f *Fleet) Promote() error {
	if _, err := f.standby.ask("SELECT pg_promote(true, 60)"); err != nil {
		return fmt.Errorf("promote: %w", err)
	}
	testkit.Eventually(f.t, f.standby.Name+" accepts writes", func() bool {
		reading, err := f.standby.ask("SELECT pg_is_in_recovery()")
		return err == nil && reading == "f"
	})
	f.primary, f.standby = f.standby, f.primary
	f.Postgres = f.primary.Process
	return nil
}

// Follow makes the standby replicate from the primary and waits until replication is synchronous. If the standby has data
// of an earlier timeline, pg_rewind brings them back to the point of divergence. rewound is false if the data were copied
// as a whole, because there were none or pg_rewind failed.
func (f *Fleet) Follow() (rewound bool, err error) {
	s, from := f.standby, f.primary.from("postgres")
	if _, err := os.Stat(filepath.Join(s.data, "PG_VERSION")); err == nil {
		// The checkpoint records the new timeline, from which pg_rewind finds the point of divergence.
		if _, err := f.primary.ask("CHECKPOINT"); err != nil {
			return false, fmt.Errorf("follow: %w", err)
		}
		var why error
		for try := 0; try < 3 && !rewound; try++ { // backends of a killed server may need a moment to exit
			why = s.run("pg_rewind", "-D", s.data, "--source-server", from, "--no-sync")
			rewound = why == nil
		}
		if !rewound {
			f.t.Logf("pg_rewind failed for %s, so its data folder is copied: %v", s.Name, why)
		}
	}
	if !rewound {
		if err := os.RemoveAll(s.data); err != nil {
			return false, fmt.Errorf("follow: %w", err)
		}
		if err := s.run("pg_basebackup", "-D", s.data, "-d", from, "-c", "fast", "--no-sync"); err != nil {
			return false, fmt.Errorf("follow: %w", err)
		}
	}
	// Otherwise the promoted server would acknowledge no commit until it has a standby of its own.
	own := "primary_conninfo = '" + from + "'\nrecovery_target_timeline = 'latest'\nsynchronous_standby_names = ''\n"
	for name, text := range map[string]string{"postgresql.auto.conf": own, "standby.signal": ""} {
		path := filepath.Join(s.data, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return rewound, fmt.Errorf("follow: %w", err)
		}
		if s.who != nil {
			if err := os.Chown(path, int(s.who.Uid), int(s.who.Gid)); err != nil {
				return rewound, fmt.Errorf("follow: %w", err)
			}
		}
	}
	s.Start()
	// Enable synchronous commits only after the standby has caught up; earlier commits would wait for it.
	f.waitForStandby("state = 'streaming'")
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if _, err := f.primary.ask(statement); err != nil {
			return rewound, fmt.Errorf("follow: %w", err)
		}
	}
	f.waitForStandby("state = 'streaming' AND sync_state = 'sync'")
	return rewound, nil
}

// waitForStandby waits until the primary reports a standby that meets an SQL condition on pg_stat_replication.
func (f *Fleet) waitForStandby(condition string) {
	f.t.Helper()
	testkit.Eventually(f.t, "a standby with "+condition, func() bool {
		got, err := f.primary.ask("SELECT count(*) FROM pg_stat_replication WHERE " + condition)
		return err == nil && got == "1"
	})
}
