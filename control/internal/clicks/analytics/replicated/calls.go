package replicated

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/backoff"
)

// read asks the servers in sync, one after the other, until one answers. f may be called again after it has failed.
func (s *Store) read(ctx context.Context, f func(context.Context, Server) error) error {
	asked, err := s.readOnce(ctx, f)
	if err == nil || final(ctx, err) {
		return err
	}
	// Another server may be in sync since this process has read the directory.
	if newer, failed := s.members.Renew(ctx); failed != nil || newer == asked {
		return err
	}
	_, err = s.readOnce(ctx, f)
	return err
}

// readOnce is read with what the process knows of the servers. It returns the version of the directory that it has used.
func (s *Store) readOnce(ctx context.Context, f func(context.Context, Server) error) (version uint64, err error) {
	view, err := s.members.Read(ctx)
	if err != nil {
		return 0, fmt.Errorf("find the servers of shard %s: %w", s.shard, err)
	}
	defer view.End()
	s.note(view)
	var errs []error
	for _, name := range s.order(view) {
		srv := s.named(name)
		if srv == nil {
			continue
		}
		err := srv.ask(view.Context, f)
		if err == nil || final(view.Context, err) {
			return view.Version, err
		}
		errs = append(errs, err)
	}
	return view.Version, errors.Join(append(errs, errAway)...)
}

// final reports whether asking another server, or asking again, is useless: the caller has gone away, the caller's own function has
// failed, or the request itself is wrong.
func final(ctx context.Context, err error) bool {
	if ctx.Err() != nil || errors.As(err, new(stopped)) {
		return true
	}
	var p *problem.Error
	return errors.As(err, &p) && p.Kind != problem.Unavailable
}

// stopped is an error of a function that gets what a server sends.
type stopped struct{ error }

func (s stopped) Unwrap() error { return s.error }

// answer is read with a result.
func answer[T any](ctx context.Context, s *Store, f func(context.Context, Server) (T, error)) (result T, err error) {
	err = s.read(ctx, func(ctx context.Context, b Server) (err error) {
		result, err = f(ctx, b)
		return err
	})
	return result, err
}

// stream is read for an answer of many pieces, which each gets one after the other. Once there was a piece, no other
// server is asked, because each would get pieces twice.
func stream[T any](ctx context.Context, s *Store, each func(T) error, f func(ctx context.Context, b Server, each func(T) error) error) error {
	err := s.read(ctx, func(ctx context.Context, b Server) error {
		some := false
		err := f(ctx, b, func(piece T) error {
			some = true
			if err := each(piece); err != nil {
				return stopped{err}
			}
			return nil
		})
		if err != nil && some {
			return stopped{err}
		}
		return err
	})
	var own stopped
	for errors.As(err, &own) { // callers look for their own errors
		err = own.error
	}
	return err
}

// write calls f with every server that is in sync or is filled. It succeeds if all of them do. Those that fail for some
// seconds, while another one in sync succeeds, are put out of sync, and no longer count.
func (s *Store) write(ctx context.Context, f func(context.Context, Server) error) error {
	view, err := s.members.Write(ctx)
	if err != nil {
		return fmt.Errorf("find the servers of shard %s: %w", s.shard, err)
	}
	s.note(view)
	return errors.Join(s.writeAll(view, f), view.End())
}

func (s *Store) writeAll(view View, f func(context.Context, Server) error) error {
	errs := s.each(view, f)
	ok := 0
	for _, name := range view.InSync {
		if errs[name] == nil {
			ok++
		}
	}
	if ok == 0 { // also if the process has not read yet which servers are in sync
		return errors.Join(all(errs), errAway)
	}
	for name, err := range errs {
		if err == nil {
			continue
		}
		if final(view.Context, err) {
			return err
		}
		if err := s.members.Exclude(view.Context, view, name, reason(err)); err != nil {
			return fmt.Errorf("%w; it was not put out of sync: %w", errs[name], err)
		}
		s.log.Warn("replica out of sync", "shard", s.shard, "server", name, "error", err.Error())
		if srv := s.named(name); srv != nil {
			srv.forgive()
		}
	}
	return nil
}

// reason is what operators are told. Errors of servers may be long.
func reason(err error) string {
	text := err.Error()
	return text[:min(len(text), 500)]
}

// each calls f with the servers of a view, and returns the error of each one. A server that fails is tried again until it has
// failed for some seconds.
//
// The server that questions go to is the last one. What it shows is then in all others, so an answer of another one does not have
// fewer clicks, even if the write is never acknowledged.
func (s *Store) each(view View, f func(context.Context, Server) error) map[string]error {
	var mu sync.Mutex
	errs := map[string]error{}
	one := func(name string) {
		err := s.patiently(view.Context, name, f)
		mu.Lock()
		defer mu.Unlock()
		errs[name] = err
	}
	order := s.order(view)
	var running sync.WaitGroup
	for _, name := range slices.Concat(order[min(1, len(order)):], view.Filling) {
		running.Go(func() { one(name) })
	}
	running.Wait()
	if len(order) > 0 {
		one(order[0])
	}
	return errs
}

// order returns the servers in sync in the order in which they are asked. It is that of the settings, so that all processes ask the same
// one, and its caches are used. A server that was silent a short time ago comes after the others: it may lack a write that
// they have and show already, and that is being repeated.
func (s *Store) order(view View) []string {
	var steady, recent []string
	for _, srv := range s.servers {
		switch {
		case !slices.Contains(view.InSync, srv.name):
		case time.Since(srv.since()) < s.limit+pingWithin+2*pingEvery:
			recent = append(recent, srv.name)
		default:
			steady = append(steady, srv.name)
		}
	}
	for _, name := range view.InSync { // those that the settings of this process lack
		if s.named(name) == nil {
			recent = append(recent, name)
		}
	}
	return slices.Concat(steady, recent)
}

// patiently repeats a write to a server until it succeeds, or until writes to it have failed for some seconds.
func (s *Store) patiently(ctx context.Context, name string, f func(context.Context, Server) error) error {
	srv := s.named(name)
	if srv == nil {
		return fmt.Errorf("%s: CLICKHOUSE_URLS of this process lacks the server", name)
	}
	for {
		err := srv.ask(ctx, f)
		srv.mu.Lock()
		if err == nil {
			srv.failing = time.Time{}
		} else if srv.failing.IsZero() {
			srv.failing = time.Now()
		}
		over := !srv.failing.IsZero() && time.Since(srv.failing) > s.limit
		srv.mu.Unlock()
		if err == nil || over || final(ctx, err) || !backoff.Sleep(ctx, retryEvery) {
			return err
		}
	}
}

// forgive lets the server fail for some seconds again.
func (srv *server) forgive() {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.failing = time.Time{}
}

// complete calls f with all servers, which must all be in sync. It is for deletions and corrections: a server that is out of
// sync would keep the old rows, and they would be copied to the others.
func (s *Store) complete(ctx context.Context, f func(context.Context, string, Server) error) (err error) {
	view, err := s.members.Write(ctx)
	if err != nil {
		return fmt.Errorf("find the servers of shard %s: %w", s.shard, err)
	}
	defer func() { err = errors.Join(err, view.End()) }()
	s.note(view)
	for _, list := range [][]string{view.Out, view.Filling} {
		if len(list) > 0 {
			return &problem.Error{Kind: problem.Unavailable, RetryAfter: time.Minute,
				Message: fmt.Sprintf("The server %s of the click store is not in sync at the moment. This needs all servers. Try again when it is back, or remove it with control remove-replica.", list[0])}
		}
	}
	if len(view.InSync) == 0 {
		return errAway
	}
	for _, name := range view.InSync {
		srv := s.named(name)
		if srv == nil {
			return fmt.Errorf("%s: CLICKHOUSE_URLS of this process lacks the server", name)
		}
		if err := srv.ask(view.Context, func(ctx context.Context, b Server) error { return f(ctx, name, b) }); err != nil {
			return err
		}
	}
	return nil
}

// all joins errors.
func all(errs map[string]error) error {
	var list []error
	for _, err := range errs {
		if err != nil {
			list = append(list, err)
		}
	}
	return errors.Join(list...)
}
