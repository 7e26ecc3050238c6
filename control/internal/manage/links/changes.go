package links

import (
	"time"

	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/store"
)

// Changes tells which fields of the API's URL object differ between two states of a link. A password is never
// told: where it was set, changed or removed, both sides are "***".
func Changes(before, after *store.Link) map[string]webhooks.Change {
	out := map[string]webhooks.Change{}
	was, is := Fields(before), Fields(after)
	for name, v := range is {
		if was[name] != v {
			out[name] = webhooks.Change{Old: was[name], New: v}
		}
	}
	if before.PasswordHash != after.PasswordHash {
		out["password"] = webhooks.Change{Old: "***", New: "***"}
	}
	return out
}

// sides splits changes into what the audit log keeps as the old and the new value.
func sides(changes map[string]webhooks.Change) (before, after map[string]any) {
	before, after = make(map[string]any, len(changes)), make(map[string]any, len(changes))
	for name, c := range changes {
		before[name], after[name] = c.Old, c.New
	}
	return before, after
}

// Fields gives what an owner can set of a link, by the API's names; unset ones are nil. Values can be compared.
// The password is left out.
func Fields(u *store.Link) map[string]any {
	status := store.StatusInactive
	if u.Active {
		status = store.StatusActive
	}
	f := map[string]any{
		"slug": u.Slug, "originalUrl": u.OriginalURL, "status": status, "isABTesting": u.ABTesting, "isSmartRouting": u.SmartRouting, "expiresAt": nil,
	}
	if u.ExpiresAt != 0 {
		f["expiresAt"] = instant(u.ExpiresAt)
	}
	for name, v := range map[string]string{
		"title": u.Title, "utmSource": u.UTM.Source, "utmMedium": u.UTM.Medium, "utmCampaign": u.UTM.Campaign, "utmTerm": u.UTM.Term,
		"utmContent": u.UTM.Content, "utmId": u.UTM.ID, "utmSourcePlatform": u.UTM.SourcePlatform, "defaultUrl": u.DefaultURL,
		"ogTitle": u.OGTitle, "ogDescription": u.OGDescription, "ogImage": u.OGImage, "twitterCardType": u.TwitterCard,
	} {
		f[name] = nil
		if v != "" {
			f[name] = v
		}
	}
	return f
}

// instant is a time in Unix milliseconds as the API shows it.
func instant(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
