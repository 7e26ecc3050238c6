package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/shortline/shortline/control/internal/backup"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/cli"
	"github.com/shortline/shortline/shared/config"
)

// socketFile is the socket on which a running standalone accepts requests for a backup. It is in the data folder and only
// its owner can use it. Another process cannot make the copy, because DuckDB locks its file.
const socketFile = "backup.sock"

// deliveryPatience is how long a backup waits for clicks on their way from the spool to the click store.
const deliveryPatience = time.Minute

// copied writes backups of a data folder.
type copied struct {
	dir    string
	links  *store.Store
	clicks *duckdb.Store
	// delivered waits until the click store has every click and conversion that was recorded so far. It is nil if the program
	// is stopped; the spools are then copied too.
	delivered func(context.Context) error
}

// to writes a backup into a new folder, which can be the DATA_DIR of another standalone.
//
// The order matters. The spool of a running program is not copied, because it numbers the edge's clicks: a copy that is
// older than the click store would assign numbers twice. Instead, the backup waits until the clicks are delivered, and the
// copy starts as a new edge. Links are copied after clicks, so that the copy contains the link of every click. Images are
// copied before and after the links: before, to include images that are deleted during the backup, and after, to include
// new ones.
func (c *copied) to(ctx context.Context, to string) (_ *backup.Manifest, err error) {
	f, err := backup.Create(to)
	if err != nil {
		return nil, err
	}
	defer f.Abandon()
	if c.delivered != nil {
		wait, cancel := context.WithTimeout(ctx, deliveryPatience)
		err := c.delivered(wait)
		cancel()
		if err != nil {
			return nil, fmt.Errorf("clicks or conversions in the spools were not delivered to the click store within %s: %w",
				deliveryPatience, err)
		}
	}
	m := &backup.Manifest{Kind: "standalone"}
	if m.Clicks, err = c.clicks.CopyTo(ctx, f.Path(clicksFile)); err != nil {
		return nil, err
	}
	if c.delivered == nil {
		for _, spool := range []string{"spool", "conversions"} {
			if err := f.CopyTree(filepath.Join(c.dir, "edge", spool), "edge/"+spool, nil); err != nil {
				return nil, err
			}
		}
		if err := f.Copy(filepath.Join(c.dir, stampFile), filepath.ToSlash(stampFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	images := func() error { return f.CopyTree(filepath.Join(c.dir, "media"), "media", nil) }
	if err := images(); err != nil {
		return nil, err
	}
	if m.Links, err = c.links.CopyTo(ctx, f.Path(linksFile)); err != nil {
		return nil, err
	}
	if err := images(); err != nil {
		return nil, err
	}
	if err := f.Copy(filepath.Join(c.dir, secretsFile), secretsFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // without the file, the secrets are in the settings
	}
	return m, f.Finish(m)
}

// backups serves requests for backups on the socket, one at a time.
type backups struct {
	copied
	log *slog.Logger
}

// Run serves until ctx ends. If the socket cannot be opened, backups are possible only while the program is stopped.
func (b *backups) Run(ctx context.Context) error {
	path := filepath.Join(b.dir, socketFile)
	_ = os.Remove(path) // left by a killed process; the locks of the databases prevent a second process
	ln, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		b.log.Warn("backup socket unavailable", "error", err.Error(), "effect", "standalone backup works only while the program is stopped")
		<-ctx.Done()
		return nil
	}
	one := make(chan struct{}, 1)
	srv := &http.Server{ReadHeaderTimeout: 5 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case one <- struct{}{}:
			defer func() { <-one }()
			b.answer(w, r)
		default:
			http.Error(w, "another backup is being written", http.StatusConflict)
		}
	})
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done(): // which also ends a backup that is being written
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		srv.Close()
	}
	<-done
	return nil
}

func (b *backups) answer(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Dir string }
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&asked); err != nil || !filepath.IsAbs(asked.Dir) {
		http.Error(w, "the absolute path of a folder is required", http.StatusBadRequest)
		return
	}
	m, err := b.to(r.Context(), asked.Dir)
	if err != nil {
		b.log.Error("backup failed", "dir", asked.Dir, "error", err.Error())
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	b.log.Info("backup written", "dir", asked.Dir, "links", m.Links, "clicks", m.Clicks)
	_ = json.NewEncoder(w).Encode(m) // the backup is complete even if the caller is gone
}

// backupCommand is `standalone backup DIR`.
var backupCommand = cli.Command{
	Name: "backup", Args: "DIR", About: "write a backup into a new folder, which can be used as DATA_DIR; standalone may be running",
	New: func() config.Validator { return new(folder) },
	Run: func(ctx context.Context, s config.Validator, args []string, stdout, _ io.Writer) error {
		private()
		to, err := filepath.Abs(args[0])
		if err != nil {
			return err
		}
		m, err := s.(*folder).backup(ctx, to)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s holds %d links and %d clicks\n", to, m.Links, m.Clicks)
		if _, ok := m.Files[secretsFile]; !ok {
			fmt.Fprintln(stdout,
				"The backup does not contain JWT_SECRET and ENCRYPTION_KEY, because they are settings: store them separately.")
		}
		return nil
	},
}

// backup asks the running program for a backup, or copies the files itself if none is running.
func (s *folder) backup(ctx context.Context, to string) (*backup.Manifest, error) {
	m, running, err := askRunning(ctx, filepath.Join(s.DataDir, socketFile), to)
	if running {
		return m, err
	}
	if _, err := os.Stat(filepath.Join(s.DataDir, linksFile)); err != nil {
		return nil, fmt.Errorf("DATA_DIR contains no data: %w", err)
	}
	err = s.with(ctx, func(o *opened) error {
		m, err = (&copied{dir: s.DataDir, links: o.links, clicks: o.clicks}).to(ctx, to)
		return err
	})
	return m, err
}

// askRunning requests a backup from the program behind the socket. running is false if there is none.
func askRunning(ctx context.Context, socket, to string) (m *backup.Manifest, running bool, err error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, false, nil
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return conn, nil
	}, DisableKeepAlives: true}}
	body, err := json.Marshal(map[string]string{"dir": to})
	if err != nil {
		return nil, true, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://standalone/backup", bytes.NewReader(body))
	if err != nil {
		return nil, true, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, true, fmt.Errorf("the running program ended before the backup was complete: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(res.Body, 4096)) // a partial message is better than none
		return nil, true, errors.New(string(bytes.TrimSpace(why)))
	}
	return m, true, json.NewDecoder(res.Body).Decode(&m)
}
