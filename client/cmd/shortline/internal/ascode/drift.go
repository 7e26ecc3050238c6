package ascode

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// findDrift names what was changed by hand since the last apply and would be overwritten. The stamp in the notes tells whether the file
// has changed: if not, all differences are drift. If it has, the history of the link tells what happened after the stamp was written.
// Links with the same version were written by the same request, so if the newest change of one of them is that of an apply, it is so
// for all of them, and ten thousand links need ten histories.
func (p *plan) findDrift(ctx context.Context, r *remote.Remote) error {
	if p.owner == "" {
		return nil
	}
	var groups [][]*step
	index := map[string]int{}
	for i := range p.steps {
		s := &p.steps[i]
		if s.Action != change || s.Drift != "" {
			continue
		}
		at, known := index[s.etag]
		if !known {
			at = len(groups)
			index[s.etag], groups = at, append(groups, nil)
		}
		groups[at] = append(groups[at], s)
	}
	return someAtATime(ctx, len(groups), func(ctx context.Context, i int) error {
		applied := false
		for _, s := range groups[i] {
			byHand := map[string]string{}
			if !applied {
				var err error
				if byHand, applied, err = changesByHand(ctx, r, s); err != nil {
					return err
				}
			}
			s.Drift = s.drift(byHand)
		}
		return nil
	})
}

// drift names the changes of a step that undo what was done by hand.
func (s *step) drift(byHand map[string]string) string {
	now := changesOf(s.Changes, s.Rules, s.Variants)
	notes := s.Changes["notes"]
	_, before := splitNotes(textOf(notes.Old))
	_, after := splitNotes(textOf(notes.New))
	if own, wanted := notesOf(notes); own == wanted {
		delete(now, "notes")
	}
	var out []string
	for key := range now {
		switch who, changed := byHand[key]; {
		case changed:
			out = append(out, key+who)
		case before == after:
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// changesOf names changes as files call them. A secret shows no drift, because nobody can read it.
func changesOf(changes map[string]client.Change, rules, variants []client.PartChange) map[string]client.Change {
	out := map[string]client.Change{}
	for name, c := range changes {
		if name != "password" {
			out[keyOf(name)] = c
		}
	}
	for what, parts := range map[string][]client.PartChange{"rule ": rules, "variant ": variants} {
		for _, one := range parts {
			for name, c := range one.Changes {
				out[what+one.Name+" "+cmp.Or(partKeys[name], name)] = c
			}
		}
	}
	return out
}

// mostRevisions is how far back the history is read.
const mostRevisions = "100"

// changesByHand returns what has changed since the last apply, and by whom. What was changed back is no change. applied says that the
// present version of the link is that of the last apply.
func changesByHand(ctx context.Context, r *remote.Remote, s *step) (who map[string]string, applied bool, err error) {
	_, stamp := splitNotes(textOf(s.Changes["notes"].Old)) // "": any, if the file has not changed
	raw, err := r.Get(ctx, "/api/urls/"+url.PathEscape(s.id)+"/history", url.Values{"limit": {mostRevisions}})
	if err != nil {
		return nil, false, err
	}
	var page struct {
		Data []client.LinkRevision `json:"data"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, false, fmt.Errorf("the history of a link cannot be read: %w", err)
	}
	net := map[string]client.Change{}
	who = map[string]string{}
	for i := range page.Data { // newest first
		one := &page.Data[i]
		_, written := splitNotes(textOf(one.Changes["notes"].New))
		if _, was := splitNotes(textOf(one.Changes["notes"].Old)); written != was && written != "" && (stamp == "" || written == stamp) {
			applied = i == 0 && s.etag == fmt.Sprintf("%q", strconv.Itoa(one.Revision))
			break
		}
		if created(one, i == len(page.Data)-1) {
			applied = i == 0 && s.etag == fmt.Sprintf("%q", strconv.Itoa(one.Revision))
			break
		}
		for key, c := range changesOf(one.Changes, one.RoutingRules, one.Variants) {
			if later, seen := net[key]; seen {
				c.New = later.New
			} else {
				who[key] = author(one)
			}
			net[key] = c
		}
	}
	for key, c := range net {
		if sameValue(c.Old, c.New) {
			delete(who, key)
		}
	}
	return who, applied, nil
}

// created reports whether an entry, the last of a history, is the creation of the link. It lists no changes. If no later one has written
// the stamp, the creation did.
func created(one *client.LinkRevision, last bool) bool {
	return last && len(one.Changes)+len(one.RoutingRules)+len(one.Variants) == 0
}

func sameValue(a, b json.RawMessage) bool {
	return isNone(a) && isNone(b) || !isNone(a) && !isNone(b) && sameJSON(a, b)
}

// author returns who made a change, and when.
func author(one *client.LinkRevision) (out string) {
	if one.User != nil && one.User.Name != nil {
		out += " by " + *one.User.Name
	}
	if one.At != nil {
		out += " at " + one.At.UTC().Format(time.RFC3339)
	}
	return out
}
