// Package logrepeat keeps a fault that lasts from filling the log: the same warning is written at most once in ten seconds, with
// the number of repetitions.
//
// Two warnings are the same if they have the same message and the same texts as attributes, apart from the error and what
// belongs to one request. Numbers do not count, because many warnings have the number of failures. Other levels pass: an error
// is about data, and each of its lines matters.
package logrepeat

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Window is the time in which a warning is written once.
const Window = 10 * time.Second

// most is the number of different warnings that are remembered. Further ones pass.
const most = 1000

// New returns a logger that writes to another one.
func New(log *slog.Logger) *slog.Logger {
	return slog.New(&handler{next: log.Handler(), seen: &seen{since: map[string]*repeated{}}})
}

type handler struct {
	next slog.Handler
	with string // attributes and groups of the logger
	seen *seen
}

type seen struct {
	mu    sync.Mutex
	since map[string]*repeated
}

// repeated is a warning of the present window.
type repeated struct {
	n    int // how often it was held back
	last slog.Record
	to   slog.Handler
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var key strings.Builder
	key.WriteString(h.with)
	for _, a := range attrs {
		identify(&key, a)
	}
	return &handler{h.next.WithAttrs(attrs), key.String(), h.seen}
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.next.WithGroup(name), h.with + "\x00" + name, h.seen}
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level != slog.LevelWarn {
		return h.next.Handle(ctx, r)
	}
	var b strings.Builder
	b.WriteString(h.with + "\x00" + r.Message)
	r.Attrs(func(a slog.Attr) bool {
		identify(&b, a)
		return true
	})
	key := b.String()
	h.seen.mu.Lock()
	defer h.seen.mu.Unlock()
	if w := h.seen.since[key]; w != nil {
		w.n, w.last, w.to = w.n+1, r.Clone(), h.next
		return nil
	}
	if len(h.seen.since) < most {
		h.seen.since[key] = &repeated{}
		time.AfterFunc(Window, func() { h.seen.endWindow(key) })
	}
	return h.next.Handle(ctx, r)
}

// endWindow ends a window. If the warning was repeated, the last one is written and begins another window.
func (s *seen) endWindow(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.since[key]
	if w.n == 0 {
		delete(s.since, key)
		return
	}
	w.last.AddAttrs(slog.Int("repeated", w.n))
	_ = w.to.Handle(context.Background(), w.last) // a log that cannot be written cannot tell
	w.n = 0
	time.AfterFunc(Window, func() { s.endWindow(key) })
}

// identify adds to a key what makes a warning another one.
func identify(key *strings.Builder, a slog.Attr) {
	switch a.Key {
	case "error", "request_id", "path":
		return
	}
	if v := a.Value.Resolve(); v.Kind() == slog.KindString {
		key.WriteString("\x00" + a.Key + "=" + v.String())
	}
}
