package screening

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// seen identifies the version of the list that was read last.
type seen struct {
	tag, modified string // of an address
	at            time.Time
	size          int64 // of a file
}

// errUnchanged means that the list is the one that was read last.
var errUnchanged = errors.New("the list has not changed")

// Reload reads the list if it has changed. If it returns an error, the list could not be read, and the
// last list stays in use.
func (s *Service) Reload(ctx context.Context) error {
	s.loading.Lock()
	defer s.loading.Unlock()
	read := s.readFile
	if isAddress(s.cfg.Blocked) {
		read = s.fetch
	}
	hosts, now, err := read(ctx)
	switch {
	case errors.Is(err, errUnchanged):
	case err != nil:
		return fmt.Errorf("load blocked destinations from %s: %w", s.cfg.Blocked, err)
	default:
		s.seen = now
		s.hosts.Store(hosts)
		s.cfg.Logger.Info("blocked destinations loaded", "from", s.cfg.Blocked, "hosts", hosts.Len(), "ignored_lines", hosts.invalid)
	}
	return nil
}

func (s *Service) readFile(context.Context) (*Hosts, seen, error) {
	f, err := os.Open(s.cfg.Blocked)
	if err != nil {
		return nil, seen{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, seen{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, seen{}, errors.New("it is not a file")
	}
	now := seen{at: info.ModTime(), size: info.Size()}
	if s.Hosts() != nil && now.at.Equal(s.seen.at) && now.size == s.seen.size {
		return nil, now, errUnchanged
	}
	hosts, err := ParseHosts(f)
	return hosts, now, err
}

func (s *Service) fetch(ctx context.Context) (*Hosts, seen, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.cfg.Blocked, nil)
	if err != nil {
		return nil, seen{}, err
	}
	if s.Hosts() != nil {
		if s.seen.tag != "" {
			req.Header.Set("If-None-Match", s.seen.tag)
		}
		if s.seen.modified != "" {
			req.Header.Set("If-Modified-Since", s.seen.modified)
		}
	}
	res, err := s.lists.Do(req)
	if err != nil {
		return nil, seen{}, err
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotModified && s.Hosts() != nil:
		return nil, seen{}, errUnchanged
	case res.StatusCode != http.StatusOK:
		_, _ = io.CopyN(io.Discard, res.Body, 4<<10) // so that the connection can be used again
		return nil, seen{}, fmt.Errorf("the server answers %s", res.Status)
	}
	hosts, err := ParseHosts(res.Body)
	if err == nil && s.Hosts().Version() == hosts.Version() && s.Hosts() != nil {
		err = errUnchanged
	}
	return hosts, seen{tag: res.Header.Get("ETag"), modified: res.Header.Get("Last-Modified")}, err
}
