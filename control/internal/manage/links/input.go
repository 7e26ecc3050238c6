package links

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/framing"
	"github.com/shortline/shortline/shared/link"
)

// Input lists the fields of a link that a request sets. A new link gets the default for a field that is nil or
// missing; an existing link keeps its value. A pointer to a zero value clears the field, where that is possible.
type Input struct {
	OriginalURL, Password   *string
	StartsAt, ExpiresAt     *int64  // Unix milliseconds; 0 clears
	MaxClicks               *int64  // 0 clears
	RedirectCode            *int64  // 301, 302, 307 or 308; 0: 302
	Status                  *string // ACTIVE or INACTIVE
	TrackConversions        *bool
	Stickiness              *string // none, cookie or hash; "": none
	ForwardPath             *bool
	ABTesting, SmartRouting *bool
	// Texts holds optional texts by the names of store.LinkTexts; "" clears one.
	Texts map[string]string
	// Tags are the names of the link's tags. An update of many links adds them to the tags that the links have.
	Tags *[]string
	// NoTags are names of tags that an update of many links removes. Links without these tags stay as they are.
	NoTags []string
	// BundleIDs are the bundles of the link. An update of many links adds the links to these bundles.
	BundleIDs *[]string

	// past allows an ExpiresAt that has passed, because an import carries history.
	past bool
}

// Creation is the Input for a new link.
type Creation struct {
	Input
	CustomSlug string // "": generated
	// Domain is the host name of the link. nil stands for the workspace's default domain, and "" or the host of BASE_URL for
	// the default domain of the service.
	Domain *string
	// Problems are what could not be read. CreateMany does not create such a link.
	Problems problem.Fields
	// Past is what the link brings along from another installation. Such a link may have expired.
	Past store.Past
}

const (
	minPassword    = 4
	maxPassword    = 72 // bcrypt ignores the rest
	maxBulk        = 1000
	generatedTries = 10

	defaultCode = 302
	mostClicks  = 1_000_000_000_000
)

// RedirectCodes are the statuses with which a link can redirect.
var RedirectCodes = []int64{301, defaultCode, 307, 308}

// TwitterCards are the types of a link's preview on Twitter.
var TwitterCards = []string{"summary", "summary_large_image"}

// applyInput writes the input to u, except for the password, and adds every problem to v. now is the current time for a new
// link and 0 for an existing one.
func (s *Service) applyInput(in *Input, u *store.Link, v *problem.Fields, now int64) {
	if in.OriginalURL != nil || now != 0 {
		var raw string
		if in.OriginalURL != nil {
			raw = *in.OriginalURL
		}
		if raw = strings.TrimSpace(raw); raw == "" {
			v.Add("originalUrl", "is required")
		} else {
			s.destination("originalUrl", raw, &u.OriginalURL, v)
		}
	}
	s.applyTexts(in.Texts, u, v)
	s.applyLifetime(in, u, v, now)
	if in.Tags != nil {
		tags.CheckNames(tagField, *in.Tags, v)
	}
	tags.CheckNames(tagField, in.NoTags, v)
	if in.Status != nil {
		switch *in.Status {
		case store.StatusActive, store.StatusInactive:
			u.Active = *in.Status == store.StatusActive
		default:
			v.Add("status", "must be ACTIVE or INACTIVE")
		}
	}
	if in.ABTesting != nil {
		u.ABTesting = *in.ABTesting
	}
	if in.SmartRouting != nil {
		u.SmartRouting = *in.SmartRouting
	}
	if in.Password != nil && *in.Password != "" {
		if n := len(*in.Password); n < minPassword || n > maxPassword {
			v.Add("password", "must be %d to %d bytes long", minPassword, maxPassword)
		}
	}
}

// applyLifetime writes the fields that decide when the link leads anywhere, and how.
func (s *Service) applyLifetime(in *Input, u *store.Link, v *problem.Fields, now int64) {
	if in.StartsAt != nil {
		u.StartsAt = *in.StartsAt
	}
	if in.ExpiresAt != nil {
		if now != 0 && !in.past && *in.ExpiresAt != 0 && *in.ExpiresAt <= now {
			v.Add("expiresAt", "must lie in the future")
		}
		u.ExpiresAt = *in.ExpiresAt
	}
	switch never := u.StartsAt != 0 && u.ExpiresAt != 0 && u.StartsAt >= u.ExpiresAt; {
	case never && in.StartsAt != nil:
		v.Add("startsAt", "must lie before expiresAt")
	case never && in.ExpiresAt != nil:
		v.Add("expiresAt", "must lie after startsAt")
	}
	if in.MaxClicks != nil {
		if *in.MaxClicks < 0 || *in.MaxClicks > mostClicks {
			v.Add("maxClicks", "must be a number from 1 to %d, or null for no limit", int64(mostClicks))
		}
		limit(u, *in.MaxClicks)
	}
	if in.TrackConversions != nil {
		u.TrackConversions = *in.TrackConversions
	}
	if in.Stickiness != nil {
		way := slices.Index(link.Stickinesses(), cmp.Or(*in.Stickiness, link.NotSticky.String()))
		if way < 0 {
			v.Add("stickiness", "must be none, cookie or hash")
		}
		u.Stickiness = link.Stickiness(max(0, way))
	}
	if in.ForwardPath != nil {
		u.ForwardPath = *in.ForwardPath
	}
	if in.RedirectCode != nil {
		code := cmp.Or(*in.RedirectCode, defaultCode)
		if !slices.Contains(RedirectCodes, code) {
			v.Add("redirectCode", "must be 301, 302, 307 or 308")
		}
		if u.RedirectCode = code; code == defaultCode {
			u.RedirectCode = 0
		}
	}
}

// limit sets or clears the number of clicks after which a link is exhausted. A link that had no limit starts a new count.
// Clicks until now are taken from the counter, which may lack those of the last seconds.
func limit(u *store.Link, clicks int64) {
	switch {
	case clicks == u.MaxClicks:
		return
	case clicks == 0:
		u.LimitSince, u.LimitBase = 0, 0
	case u.MaxClicks == 0:
		u.LimitSince, u.LimitBase = store.Now(), u.ClickCount
	}
	// Whether the new limit is reached is decided when edges report their counts.
	u.MaxClicks, u.ExhaustedAt = clicks, 0
}

// applyTexts writes the optional texts to u and adds every problem to v.
func (s *Service) applyTexts(texts map[string]string, u *store.Link, v *problem.Fields) {
	for _, f := range store.LinkTexts {
		given, ok := texts[f.Name]
		if !ok {
			continue
		}
		switch to, trimmed := f.Text(u), strings.TrimSpace(given); {
		case f.Max > 0 && utf8.RuneCountInString(trimmed) > f.Max:
			v.Add(f.Name, "must be at most %d characters long", f.Max)
		case f.Destination && trimmed != "":
			s.destination(f.Name, trimmed, to, v)
		case f.Name == "externalId" && framing.Climbs([]byte(url.PathEscape(trimmed))):
			v.Add(f.Name, "must not be . or .., nor contain it between slashes, because edges answer no address with such a part")
		case f.Name == "ogImage" && given != "" && !ownImage(given, u.ID):
			v.Add(f.Name, "must be the key of an image that was uploaded for this link")
		case f.Name == "twitterCardType" && given != "" && !slices.Contains(TwitterCards, given):
			v.Add(f.Name, "must be %s", strings.Join(TwitterCards, " or "))
		case f.Max > 0, f.Destination:
			*to = trimmed
		default:
			*to = given
		}
	}
}

// bundleIDs returns the bundles that the input names.
func (in *Input) bundleIDs() []string {
	if in.BundleIDs == nil {
		return nil
	}
	return *in.BundleIDs
}

func (s *Service) destination(field, raw string, to *string, v *problem.Fields) {
	kept, err := link.CheckDestination(raw, s.cfg.Destinations)
	if err != nil {
		v.Add(field, "%s", err)
		return
	}
	*to = kept
}

var imageKey = regexp.MustCompile(`^og-images/([0-9a-f-]{36})/[0-9]{1,20}\.(webp|gif)$`)

func ownImage(key, id string) bool {
	m := imageKey.FindStringSubmatch(key)
	return m != nil && m[1] == id
}
