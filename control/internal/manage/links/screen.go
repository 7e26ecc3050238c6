package links

import (
	"context"
	"fmt"
	"strings"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// Screen asks about destinations, as whether the operator's check service allows them. It returns the problem of each in their order, ""
// if it is allowed. It can take seconds, so it must not be called in a transaction. nil allows every destination.
type Screen func(ctx context.Context, destinations []string) ([]string, error)

// WithoutLoops returns a Screen that refuses destinations on a custom domain in service, whichever workspace it belongs to: two such
// links could lead to each other without end. It asks f about all others.
func WithoutLoops(st *store.Store, f Screen) Screen {
	return func(ctx context.Context, destinations []string) ([]string, error) {
		hosts := make([]string, len(destinations))
		for i, d := range destinations {
			hosts[i] = link.DestinationHost(d)
		}
		served, err := st.ServedHosts(ctx, store.Distinct(hosts))
		if err != nil {
			return nil, fmt.Errorf("look for custom domains among destinations: %w", err)
		}
		problems := make([]string, len(destinations))
		var others []string
		var at []int
		for i, host := range hosts {
			if served[host] {
				problems[i] = link.ErrOwnHost.Error()
			} else {
				others, at = append(others, destinations[i]), append(at, i)
			}
		}
		if f == nil || len(others) == 0 {
			return problems, nil
		}
		more, err := f(ctx, others)
		if err != nil {
			return nil, err
		}
		for n, text := range more {
			problems[at[n]] = text
		}
		return problems, nil
	}
}

// Target is a destination in a request, by its field. A URL that is nil or blank is not checked.
type Target struct {
	Field string
	URL   *string
}

// Check asks about the valid ones among targets, and returns a problem with every field that is refused. The
// use case that writes invalid ones reports them.
func (f Screen) Check(ctx context.Context, policy link.Policy, targets ...Target) error {
	if f == nil {
		return nil
	}
	var fields, list []string
	for _, t := range targets {
		if t.URL == nil {
			continue
		}
		if kept, err := link.CheckDestination(strings.TrimSpace(*t.URL), policy); err == nil {
			fields, list = append(fields, t.Field), append(list, kept)
		}
	}
	if len(list) == 0 {
		return nil
	}
	problems, err := f(ctx, list)
	if err != nil {
		return err
	}
	var v problem.Fields
	for i, text := range problems {
		if text != "" {
			v.Add(fields[i], "%s", text)
		}
	}
	return v.Err()
}

// targets returns the destinations of the input that differ from those of a stored link.
func (in *Input) targets(stored *store.Link) (list []Target) {
	add := func(field string, url *string, was string) {
		if url != nil && strings.TrimSpace(*url) != was {
			list = append(list, Target{field, url})
		}
	}
	add("originalUrl", in.OriginalURL, stored.OriginalURL)
	for _, f := range store.LinkTexts {
		if text, ok := in.Texts[f.Name]; ok && f.Destination {
			add(f.Name, &text, *f.Text(stored))
		}
	}
	return list
}

// screen asks about the destinations of the input that differ from those of a stored link.
func (s *Service) screen(ctx context.Context, in *Input, stored *store.Link) error {
	if s.cfg.Screen == nil {
		return nil
	}
	return s.cfg.Screen.Check(ctx, s.cfg.Destinations, in.targets(stored)...)
}

// screenMany asks about the destinations of new links at once. A refused link becomes nil, and its problem goes to fail.
func (s *Service) screenMany(ctx context.Context, items []Creation, drafts []*store.Link, fail func(int, error)) error {
	if s.cfg.Screen == nil {
		return nil
	}
	var list []string
	var fields []string
	var at []int
	for i, u := range drafts {
		if u == nil {
			continue
		}
		for _, t := range items[i].targets(&store.Link{}) {
			kept, err := link.CheckDestination(strings.TrimSpace(*t.URL), s.cfg.Destinations)
			if err == nil {
				list, fields, at = append(list, kept), append(fields, t.Field), append(at, i)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	problems, err := s.cfg.Screen(ctx, list)
	if err != nil {
		return err
	}
	for n, text := range problems {
		if text != "" && drafts[at[n]] != nil {
			drafts[at[n]] = nil
			fail(at[n], problem.OfField(fields[n], "%s", text))
		}
	}
	return nil
}
