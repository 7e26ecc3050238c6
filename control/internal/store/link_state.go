package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// LinkState is everything that owners have set about a link, as history and trash keep it: the link, and all its rules
// and variants, also inactive ones.
type LinkState struct {
	Link     Link
	Rules    []Rule           // in evaluation order
	Variants []Variant        // oldest first
	Bundles  []BundlePosition // only of a link in the trash
}

// BundlePosition is the place of a link in a bundle.
type BundlePosition struct {
	BundleID string `json:"id"`
	Position int    `json:"position"`
}

// StatesOf reads the rules and variants of links, which it returns in the given order. The links have their tags already.
func (c Conn) StatesOf(ctx context.Context, list []Link) ([]LinkState, error) {
	out := make([]LinkState, len(list))
	at := make(map[string]*LinkState, len(list))
	ids := make([]string, len(list))
	for i := range list {
		out[i].Link, ids[i] = list[i], list[i].ID
		at[ids[i]] = &out[i]
	}
	rules, err := rowsIn(ctx, c, scanRule, `SELECT `+ruleColumns+` FROM routing_rules WHERE url_id IN (keys) ORDER BY `+ruleOrder, ids)
	if err != nil {
		return nil, fmt.Errorf("read the rules of links: %w", err)
	}
	for i := range rules {
		s := at[rules[i].URLID]
		s.Rules = append(s.Rules, rules[i])
	}
	variants, err := rowsIn(ctx, c, scanVariant, variantsOfLinks, ids)
	if err != nil {
		return nil, fmt.Errorf("read the variants of links: %w", err)
	}
	for i := range variants {
		s := at[variants[i].URLID]
		s.Variants = append(s.Variants, variants[i])
	}
	return out, nil
}

// StateOf is StatesOf for one link.
func (c Conn) StateOf(ctx context.Context, l Link) (LinkState, error) {
	list, err := c.StatesOf(ctx, []Link{l})
	if err != nil {
		return LinkState{}, err
	}
	return list[0], nil
}

// readBundles adds the positions in bundles to states.
func (c Conn) readBundles(ctx context.Context, states []LinkState) error {
	at := make(map[string]*LinkState, len(states))
	ids := make([]string, len(states))
	for i := range states {
		ids[i] = states[i].Link.ID
		at[ids[i]] = &states[i]
	}
	for part := range slices.Chunk(ids, batch) {
		err := c.each(ctx, func(rows *sql.Rows) error {
			var id string
			var p BundlePosition
			err := rows.Scan(&id, &p.BundleID, &p.Position)
			if err == nil {
				at[id].Bundles = append(at[id].Bundles, p)
			}
			return err
		}, `SELECT url_id, bundle_id, position FROM bundle_urls WHERE url_id IN (`+In(len(part))+`) ORDER BY bundle_id`, Args(part)...)
		if err != nil {
			return fmt.Errorf("read the bundles of links: %w", err)
		}
	}
	return nil
}

// document is the JSON form of a LinkState. Columns and members that a program does not know are skipped, and missing ones
// are unset, so programs of neighbouring releases read each other's documents.
type document struct {
	Link     map[string]json.RawMessage `json:"link"` // by column
	Tags     []string                   `json:"tags,omitempty"`
	Rules    []ruleDocument             `json:"rules,omitempty"`
	Variants []variantDocument          `json:"variants,omitempty"`
	Bundles  []BundlePosition           `json:"bundles,omitempty"`
}

type ruleDocument struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	TargetURL     string `json:"target"`
	Priority      int    `json:"priority"`
	Active        bool   `json:"active"`
	Conditions    string `json:"conditions"`
	MatchCount    int64  `json:"matches,omitempty"`
	LastMatchedAt int64  `json:"lastMatchedAt,omitempty"`
	CreatedAt     int64  `json:"createdAt"`
	UpdatedAt     int64  `json:"updatedAt"`
}

type variantDocument struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	TargetURL  string `json:"target"`
	Weight     int    `json:"weight"`
	Active     bool   `json:"active"`
	ClickCount int64  `json:"clicks,omitempty"`
	CreatedAt  int64  `json:"createdAt"`
	UpdatedAt  int64  `json:"updatedAt"`
}

// encode returns the document of a state. It contains the hash of the link's password, which must not leave the store
// except to restore it.
func (s *LinkState) encode() (string, error) {
	d := document{Link: map[string]json.RawMessage{}, Tags: s.Link.Tags, Bundles: s.Bundles}
	for _, f := range readFields {
		switch v := f.access.value(&s.Link); v {
		case nil, "", int64(0), uint64(0), false: // unset
		default:
			b, err := compact(v)
			if err != nil {
				return "", err
			}
			d.Link[f.Column] = b
		}
	}
	for _, r := range s.Rules {
		d.Rules = append(d.Rules, ruleDocument{r.ID, r.Name, r.TargetURL, r.Priority, r.Active, r.Conditions, r.MatchCount, r.LastMatchedAt,
			r.CreatedAt, r.UpdatedAt})
	}
	for _, v := range s.Variants {
		d.Variants = append(d.Variants, variantDocument{v.ID, v.Name, v.TargetURL, v.Weight, v.Active, v.ClickCount, v.CreatedAt,
			v.UpdatedAt})
	}
	b, err := compact(d)
	return string(b), err
}

// compact encodes JSON without escaping <, > and &, which are frequent in addresses.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func decodeState(text string) (s LinkState, err error) {
	var d document
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return s, fmt.Errorf("read the state of a link: %w", err)
	}
	for _, f := range readFields {
		raw := d.Link[f.Column]
		if raw == nil {
			continue
		}
		to := f.access.into(&s.Link)
		if z, optional := to.(interface{ target() any }); optional {
			to = z.target()
		}
		if err := json.Unmarshal(raw, to); err != nil {
			return s, fmt.Errorf("read the state of a link: %s: %w", f.Column, err)
		}
	}
	s.Link.Tags = d.Tags
	id := s.Link.ID
	for _, r := range d.Rules {
		s.Rules = append(s.Rules, Rule{r.ID, id, r.Name, r.TargetURL, r.Priority, r.Active, r.Conditions, r.MatchCount, r.LastMatchedAt,
			r.CreatedAt, r.UpdatedAt})
	}
	for _, v := range d.Variants {
		s.Variants = append(s.Variants, Variant{v.ID, id, v.Name, v.TargetURL, v.Weight, v.Active, v.ClickCount, v.CreatedAt, v.UpdatedAt})
	}
	s.Bundles = d.Bundles
	return s, nil
}

// RestoreParts makes rules and variants of a link equal to those of a state, with their ids and times. Rules and variants
// that exist keep their counters; others get those of the state. The caller has locked the link.
func (tx *Tx) RestoreParts(ctx context.Context, present, wanted *LinkState) error {
	was := map[string]bool{}
	for i := range present.Rules {
		was[present.Rules[i].ID] = true
	}
	for i := range wanted.Rules {
		r := &wanted.Rules[i]
		if _, err := tx.Exec(ctx, `INSERT INTO routing_rules (id, url_id, name, target_url, priority, active, conditions, match_count,
			last_matched_at, created_at, updated_at)
			VALUES (`+In(11)+`) ON CONFLICT (id) DO UPDATE SET name = excluded.name, target_url = excluded.target_url, priority = excluded.priority,
				active = excluded.active,
			conditions = excluded.conditions, updated_at = excluded.updated_at`,
			r.ID, present.Link.ID, r.Name, r.TargetURL, r.Priority, r.Active, r.Conditions, r.MatchCount, null(r.LastMatchedAt),
			r.CreatedAt, r.UpdatedAt); err != nil {
			return fmt.Errorf("restore a rule: %w", err)
		}
		delete(was, r.ID)
	}
	for i := range present.Rules {
		if was[present.Rules[i].ID] {
			if err := tx.DeleteRule(ctx, present.Rules[i].ID); err != nil {
				return fmt.Errorf("remove a rule: %w", err)
			}
		}
	}
	was = map[string]bool{}
	for i := range present.Variants {
		was[present.Variants[i].ID] = true
	}
	for i := range wanted.Variants {
		v := &wanted.Variants[i]
		if _, err := tx.Exec(ctx, `INSERT INTO variants (id, url_id, name, target_url, weight, active, click_count, created_at, updated_at)
			VALUES (`+In(9)+`) ON CONFLICT (id) DO UPDATE SET name = excluded.name, target_url = excluded.target_url, weight = excluded.weight,
				active = excluded.active,
			updated_at = excluded.updated_at`,
			v.ID, present.Link.ID, v.Name, v.TargetURL, v.Weight, v.Active, v.ClickCount, v.CreatedAt, v.UpdatedAt); err != nil {
			return fmt.Errorf("restore a variant: %w", err)
		}
		delete(was, v.ID)
	}
	for i := range present.Variants {
		if was[present.Variants[i].ID] {
			if err := tx.DeleteVariant(ctx, present.Variants[i].ID); err != nil {
				return fmt.Errorf("remove a variant: %w", err)
			}
		}
	}
	return nil
}

// searchText is what a search looks into.
func (l *Link) searchText() string {
	return strings.ToLower(l.Title + "\n" + l.OriginalURL + "\n" + l.Slug)
}
