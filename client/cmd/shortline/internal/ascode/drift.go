package ascode

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// findDrift names what was changed by hand since the last apply and would be overwritten. The stamp in the notes tells whether the file
// has changed: if not, all differences are drift. If it has, the history of the link tells what happened after the stamp was written.
func (p *plan) findDrift(ctx context.Context, r *remote.Remote) error {
	if p.owner == "" {
		return nil
	}
	return each(ctx, len(p.steps), func(ctx context.Context, i int) error {
		s := &p.steps[i]
		if s.Action != change || s.Drift != "" {
			return nil
		}
		now := changesOf(s.Changes, s.Rules, s.Variants)
		notes, restamped := s.Changes["notes"]
		_, before := splitNotes(textOf(notes.Old))
		_, after := splitNotes(textOf(notes.New))
		if restamped = restamped && before != after; restamped {
			delete(now, "notes")
			if own, wanted := notesOf(notes); own != wanted {
				now["notes"] = notes
			}
		}
		if len(now) == 0 {
			return nil
		}
		byHand, err := changesByHand(ctx, r, s.id, before)
		if err != nil {
			return err
		}
		var out []string
		for key := range now {
			switch who, changed := byHand[key]; {
			case changed:
				out = append(out, key+who)
			case !restamped:
				out = append(out, key)
			}
		}
		slices.Sort(out)
		s.Drift = strings.Join(out, "; ")
		return nil
	})
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

// changesByHand returns what has changed since the last apply, and by whom. What was changed back is no change. stamp is that of the
// link; "" means any.
func changesByHand(ctx context.Context, r *remote.Remote, id, stamp string) (map[string]string, error) {
	raw, err := r.Get(ctx, "/api/urls/"+url.PathEscape(id)+"/history", url.Values{"limit": {mostRevisions}})
	if err != nil {
		return nil, err
	}
	var page struct {
		Data []client.LinkRevision `json:"data"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, fmt.Errorf("the history of a link cannot be read: %w", err)
	}
	net, who := map[string]client.Change{}, map[string]string{}
	for i := range page.Data { // newest first
		one := &page.Data[i]
		_, written := splitNotes(textOf(one.Changes["notes"].New))
		if _, was := splitNotes(textOf(one.Changes["notes"].Old)); written != was && written != "" && (stamp == "" || written == stamp) {
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
	return who, nil
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
