package explain

import (
	"context"
	"errors"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Draft is an unsaved change of a link. What it does not set is as stored.
type Draft struct {
	Link links.Input
	routing.Draft
}

// NewDraft is a link that does not exist yet.
type NewDraft struct {
	Link links.Creation
	routing.Draft
}

// draftField is the field of requests to which the problems of a draft belong.
const draftField = "draft"

// configuration is everything about a link that decides a visit.
type configuration struct {
	link  store.Link    // with the parts that edges receive
	at    *store.Domain // nil: the host of BASE_URL
	parts routing.Parts

	rules, variants places

	changed int64 // when owners last changed the stored link, its rules or its variants, in Unix milliseconds
}

// places are the places of parts in the lists of a draft, by their ids. nil: the parts are stored.
type places map[string]place

type place struct {
	index int
	fresh bool // the draft has given no id
}

// show returns how a part is named in results.
func (p places) show(id string) (shown string, index *int) {
	at, ok := p[id]
	if !ok {
		return id, nil
	}
	if at.fresh {
		id = ""
	}
	return id, &at.index
}

// readLink reads a link that the caller may see.
func (s *Service) readLink(ctx context.Context, p auth.Principal, urlID string) (c configuration, err error) {
	err = s.store.View(ctx, func(conn store.Conn) error {
		if c.link, err = links.Visible(p)(conn.FullLink(ctx, urlID)); err != nil {
			return err
		}
		state, err := conn.StateOf(ctx, c.link)
		if err != nil {
			return fmt.Errorf("explain: read the parts of a link: %w", err)
		}
		c.parts = routing.Parts{Rules: state.Rules, Variants: state.Variants}
		if c.changed, err = lastChange(ctx, conn, &c.link, c.parts); err != nil {
			return err
		}
		c.at, err = domainOf(ctx, conn, &c.link)
		return err
	})
	return c, err
}

// lastChange returns when owners changed a link last. Programs without history changed only the times of rows.
func lastChange(ctx context.Context, c store.Conn, l *store.Link, parts routing.Parts) (int64, error) {
	last := max(l.CreatedAt, l.UpdatedAt)
	for i := range parts.Rules {
		last = max(last, parts.Rules[i].UpdatedAt)
	}
	history, err := c.History(ctx, l.Num, 1, 0)
	if err != nil {
		return 0, fmt.Errorf("explain: read the history of a link: %w", err)
	}
	for _, e := range history {
		last = max(last, e.At)
	}
	return last, nil
}

func domainOf(ctx context.Context, c store.Conn, l *store.Link) (*store.Domain, error) {
	if l.Domain == 0 {
		return nil, nil
	}
	d, err := c.DomainOf(ctx, l.Workspace, l.Hostname)
	if err != nil {
		return nil, fmt.Errorf("explain: find the domain: %w", err)
	}
	return &d, nil
}

// redraft returns the configuration that a link would have if a draft were saved.
func (s *Service) redraft(ctx context.Context, p auth.Principal, stored configuration, d Draft) (configuration, error) {
	c := stored
	parts, ofParts := s.cfg.Routing.Draft(ctx, &c.link, stored.parts, d.Draft)
	active := parts.ActiveVariants()
	if ofParts != nil {
		active = 1 // how many there are is unknown, and the problems of the variants are enough
	}
	l, ofLink := s.cfg.Links.Redraft(ctx, p, c.link, d.Link, active)
	if err := ofDraft(ofLink, ofParts); err != nil {
		return configuration{}, err
	}
	c.link = l
	c.applyDraft(parts, d.Draft)
	return c, nil
}

// draft returns the configuration of a link that does not exist yet.
func (s *Service) draft(ctx context.Context, p auth.Principal, d NewDraft) (configuration, error) {
	l, ofLink := s.cfg.Links.Draft(ctx, p, d.Link)
	parts, ofParts := s.cfg.Routing.Draft(ctx, &l, routing.Parts{}, d.Draft)
	if err := ofDraft(ofLink, ofParts); err != nil {
		return configuration{}, err
	}
	if on := d.Link.SmartRouting; on != nil {
		l.SmartRouting = *on
	}
	if on := d.Link.ABTesting; on != nil {
		l.ABTesting = *on
	}
	at, err := domainOf(ctx, s.store.Conn, &l)
	if err != nil {
		return configuration{}, err
	}
	c := configuration{link: l, at: at}
	c.applyDraft(parts, d.Draft)
	return c, nil
}

// applyDraft gives the link the parts of a draft.
func (c *configuration) applyDraft(parts routing.Parts, d routing.Draft) {
	c.parts = parts
	parts.Put(&c.link)
	if d.Rules != nil {
		c.rules = places{}
		for i := range parts.Rules {
			c.rules[parts.Rules[i].ID] = place{i, (*d.Rules)[i].ID == ""}
		}
	}
	if d.Variants != nil {
		c.variants = places{}
		for i := range parts.Variants {
			c.variants[parts.Variants[i].ID] = place{i, (*d.Variants)[i].ID == ""}
		}
	}
}

// ofDraft joins problems of a draft and names their fields below that of the draft. An error that is no invalid field is
// returned as it is.
func ofDraft(errs ...error) error {
	var v problem.Fields
	for _, err := range errs {
		var e *problem.Error
		if err != nil && (!errors.As(err, &e) || e.Kind != problem.Invalid) {
			return err
		}
		v.Under(draftField, err)
	}
	return v.Err()
}
