package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Promote makes the standby the server that is written to, as after the loss of the other, which must be dead. It
// returns when it takes writes. What the other had acknowledged is there: it acknowledged nothing that the standby
// did not have.
func (f *Fleet) Promote() error {
	if _, err := f.standby.ask("SELECT pg_promote(true, 60)"); err != nil {
		return fmt.Errorf("promote: %w", err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; {
		reading, err := f.standby.ask("SELECT pg_is_in_recovery()")
		if err == nil && reading == "f" {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("promote: it is still a standby: %q %w", reading, err)
		}
	}
	f.primary, f.standby = f.standby, f.primary
	f.Postgres = f.primary.Process
	return nil
}

// Follow makes the standby follow the server that is written to and waits until that acknowledges nothing without it.
// Data that the standby has from another life are rewound to where the two parted; rewound is false if it was copied
// whole, for want of data or since rewinding failed.
func (f *Fleet) Follow() (rewound bool, err error) {
	s, from := f.standby, f.primary.from("postgres")
	if _, err := os.Stat(filepath.Join(s.data, "PG_VERSION")); err == nil {
		// A checkpoint tells of the new timeline, by which the programs know where the two parted.
		if _, err := f.primary.ask("CHECKPOINT"); err != nil {
			return false, fmt.Errorf("follow: %w", err)
		}
		var why error
		for try := 0; try < 3 && !rewound; try++ { // backends of a killed server may take a moment to be gone
			why = s.run(time.Minute, "pg_rewind", "-D", s.data, "--source-server", from, "--no-sync")
			rewound = why == nil
		}
		if !rewound {
			f.t.Logf("%s is copied anew: %v", s.Name, why)
		}
	}
	if !rewound {
		if err := os.RemoveAll(s.data); err != nil {
			return false, fmt.Errorf("follow: %w", err)
		}
		if err := s.run(2*time.Minute, "pg_basebackup", "-D", s.data, "-d", from, "-c", "fast", "--no-sync"); err != nil {
			return false, fmt.Errorf("follow: %w", err)
		}
	}
	// Alone, until somebody follows it, it would acknowledge nothing once it is promoted.
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
	if err := s.start(); err != nil {
		return rewound, fmt.Errorf("follow: %w\n%s", err, tail(s.logPath, 2<<10))
	}
	// Only when it has caught up: whoever commits before that would wait for it.
	if err := f.follows("state = 'streaming'"); err != nil {
		return rewound, err
	}
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if _, err := f.primary.ask(statement); err != nil {
			return rewound, fmt.Errorf("follow: %w", err)
		}
	}
	return rewound, f.follows("state = 'streaming' AND sync_state = 'sync'")
}

// follows waits until the server that is written to says this of the one that follows it.
func (f *Fleet) follows(how string) error {
	for deadline := time.Now().Add(time.Minute); ; {
		got, err := f.primary.ask("SELECT count(*) FROM pg_stat_replication WHERE " + how)
		if err == nil && got == "1" {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("follow: nobody does within a minute (%s): %q %w", how, got, err)
		}
	}
}
