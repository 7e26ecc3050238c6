package links

import (
	"cmp"
	"reflect"
	"time"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/store"
)

// Changes returns the fields of the API's URL object that differ between two states of a link. A password is never
// included: if it was set, changed or removed, both sides are "***".
func Changes(before, after *store.Link) map[string]webhooks.Change {
	out := map[string]webhooks.Change{}
	was, is := Fields(before), Fields(after)
	for name, v := range is {
		if !reflect.DeepEqual(was[name], v) {
			out[name] = webhooks.Change{Old: was[name], New: v}
		}
	}
	if before.PasswordHash != after.PasswordHash {
		out["password"] = webhooks.Change{Old: "***", New: "***"}
	}
	return out
}

// sides splits changes into the old and the new value of an audit entry.
func sides(changes map[string]webhooks.Change) (before, after map[string]any) {
	before, after = make(map[string]any, len(changes)), make(map[string]any, len(changes))
	for name, c := range changes {
		before[name], after[name] = c.Old, c.New
	}
	return before, after
}

// Fields returns the fields that an owner can set, by the API's names, without the password. Unset fields are nil, also domain for the
// host of BASE_URL. tags is a []string; the other values are comparable.
func Fields(l *store.Link) map[string]any {
	out := map[string]any{"tags": append([]string{}, l.Tags...), baselineField: baselineOf(l)}
	for i := range store.LinkFields {
		switch f := &store.LinkFields[i]; f.Name {
		case "": // the control plane sets it
		case "slug":
			out["slug"], out[domainField] = l.Slug, nil
			if l.Hostname != "" {
				out[domainField] = l.Hostname
			}
		case "status":
			out[f.Name] = store.StatusInactive
			if l.Active {
				out[f.Name] = store.StatusActive
			}
		case "redirectCode":
			out[f.Name] = RedirectCode(l)
		case "stickiness":
			out[f.Name] = l.Stickiness.String()
		default:
			out[f.Name] = f.Value(l)
			if at, ok := out[f.Name].(int64); ok && f.Time {
				out[f.Name] = instant(at)
			}
		}
	}
	return out
}

// RedirectCode returns the status with which a link redirects.
func RedirectCode(l *store.Link) int64 { return cmp.Or(l.RedirectCode, defaultCode) }

// instant formats Unix milliseconds like the API.
func instant(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
