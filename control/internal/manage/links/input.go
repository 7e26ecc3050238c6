package links

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// Input is what a caller says about a link. A nil field is not spoken of: a new link gets the default, an
// existing one keeps what it has. A pointer to a zero value clears the field, where that is possible.
type Input struct {
	OriginalURL, Title, Password                  *string
	ExpiresAt                                     *int64 // Unix milliseconds, 0 clears
	UTMSource, UTMMedium, UTMCampaign             *string
	UTMTerm, UTMContent, UTMID, UTMSourcePlatform *string
	Status                                        *string // ACTIVE or INACTIVE
	ABTesting, SmartRouting                       *bool
	DefaultURL                                    *string
	OGTitle, OGDescription, OGImage, TwitterCard  *string
	// BundleIDs are the bundles that a link shall be in. Changing many links adds them instead.
	BundleIDs *[]string
}

// Creation is an Input for a link that is to be made.
type Creation struct {
	Input
	CustomSlug string // "" means that one is generated
}

const (
	maxTitle       = 255
	maxUTM         = 255
	maxOGTitle     = 100
	maxOGText      = 200
	minPassword    = 4
	maxPassword    = 72 // more than bcrypt reads
	maxBulk        = 1000
	generatedTries = 10
)

// apply writes what the input says to u, but for the password, and notes every problem. now is 0 unless the
// link is being made.
func (s *Service) apply(in *Input, u *store.Link, v *problem.Fields, now int64) {
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
	if in.DefaultURL != nil {
		if raw := strings.TrimSpace(*in.DefaultURL); raw == "" {
			u.DefaultURL = ""
		} else {
			s.destination("defaultUrl", raw, &u.DefaultURL, v)
		}
	}
	in.applyTexts(u, v)
	if in.TwitterCard != nil {
		switch *in.TwitterCard {
		case "", "summary", "summary_large_image":
			u.TwitterCard = *in.TwitterCard
		default:
			v.Add("twitterCardType", "must be summary or summary_large_image")
		}
	}
	if in.OGImage != nil {
		if *in.OGImage != "" && !ownImage(*in.OGImage, u.ID) {
			v.Add("ogImage", "must be the key of an image that was uploaded for this link")
		} else {
			u.OGImage = *in.OGImage
		}
	}
	if in.ExpiresAt != nil {
		if now != 0 && *in.ExpiresAt != 0 && *in.ExpiresAt <= now {
			v.Add("expiresAt", "must lie in the future")
		}
		u.ExpiresAt = *in.ExpiresAt
	}
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

// applyTexts writes the free texts of the input to u, trimmed, and reports those that are too long.
func (in *Input) applyTexts(u *store.Link, v *problem.Fields) {
	for _, f := range []struct {
		name string
		in   *string
		max  int
		to   *string
	}{
		{"title", in.Title, maxTitle, &u.Title},
		{"utmSource", in.UTMSource, maxUTM, &u.UTM.Source},
		{"utmMedium", in.UTMMedium, maxUTM, &u.UTM.Medium},
		{"utmCampaign", in.UTMCampaign, maxUTM, &u.UTM.Campaign},
		{"utmTerm", in.UTMTerm, maxUTM, &u.UTM.Term},
		{"utmContent", in.UTMContent, maxUTM, &u.UTM.Content},
		{"utmId", in.UTMID, maxUTM, &u.UTM.ID},
		{"utmSourcePlatform", in.UTMSourcePlatform, maxUTM, &u.UTM.SourcePlatform},
		{"ogTitle", in.OGTitle, maxOGTitle, &u.OGTitle},
		{"ogDescription", in.OGDescription, maxOGText, &u.OGDescription},
	} {
		if f.in == nil {
			continue
		}
		text := strings.TrimSpace(*f.in)
		if utf8.RuneCountInString(text) > f.max {
			v.Add(f.name, "must be at most %d characters long", f.max)
			continue
		}
		*f.to = text
	}
}

// bundleIDs are the bundles that the input speaks of.
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

func checkSlug(slug string, v *problem.Fields) {
	switch {
	case !link.ValidSlug(slug):
		v.Add("customSlug", "must be 3 to 50 letters, digits, hyphens or underscores")
	case link.Reserved(slug):
		v.Add("customSlug", "is a reserved word")
	}
}

// clip shortens what is quoted back to a caller.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
