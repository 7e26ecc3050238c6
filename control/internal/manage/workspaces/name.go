package workspaces

import (
	"crypto/rand"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	maxName = 100 // characters
	maxSlug = 40
	minSlug = 3
)

var slugForm = regexp.MustCompile(`^[a-z0-9-]{3,40}$`)

// apply checks the input and writes it to w.
func (in Input) apply(v *problem.Fields, w *store.Workspace) {
	if in.Name != nil {
		w.Name = strings.TrimSpace(*in.Name)
		switch n := utf8.RuneCountInString(w.Name); {
		case n < 1 || n > maxName:
			v.Add("name", "must have 1 to %d characters", maxName)
		case strings.ContainsFunc(w.Name, unicode.IsControl):
			v.Add("name", "must not contain control characters")
		}
	}
	if in.Previews != nil {
		w.HidesPreviews = !*in.Previews
	}
	if in.Slug != nil {
		w.Slug = *in.Slug
		switch {
		case !slugForm.MatchString(w.Slug):
			v.Add("slug", "must have %d to %d lower-case letters a to z, digits and hyphens", minSlug, maxSlug)
		case isID(w.Slug):
			v.Add("slug", "must not look like an id")
		}
	}
}

// isID reports whether a slug would be confused with an id.
func isID(slug string) bool { return uuid.Validate(slug) == nil }

// deriveSlug makes a slug from a name: its letters and digits as far as they have a Latin form. A random ending makes
// it unique.
func deriveSlug(name string, random bool) string {
	const ending = 7
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		part, known := latin[r]
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			part = string(r)
		case known:
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			part = "-"
		}
		if b.Len()+len(part) > maxSlug-ending {
			break
		}
		b.WriteString(part)
	}
	slug := strings.Trim(b.String(), "-")
	if len(slug) < minSlug {
		slug = strings.TrimPrefix(slug+"-team", "-")
	}
	if random || isID(slug) {
		slug += "-" + strings.ToLower(rand.Text()[:ending-1])
	}
	return slug
}

// latin has Latin spellings of common letters.
var latin = func() map[rune]string {
	list := map[rune]string{}
	for to, letters := range map[string]string{
		"a": "àáâãåāăąа", "ae": "äæ", "b": "б", "c": "çćĉċč", "ch": "ч", "d": "ďđðд", "e": "èéêëēĕėęěеэ", "f": "ф", "g": "ĝğġģг",
		"h": "ĥħх", "i": "ìíîïĩīĭįıи", "j": "ĵ", "k": "ķк", "l": "ĺļľłл", "m": "м", "n": "ñńņňн", "o": "òóôõōŏőо", "oe": "öøœ", "p": "п",
		"r": "ŕŗřр", "s": "śŝşšșс", "sh": "ш", "shch": "щ", "ss": "ß", "t": "ţťŧțт", "th": "þ", "ts": "ц", "u": "ùúûũūŭůűųу", "ue": "ü",
		"v": "в", "w": "ŵ", "y": "ýÿŷйы", "ya": "я", "yo": "ё", "yu": "ю", "z": "źżžз", "zh": "ж",
	} {
		for _, r := range letters {
			list[r] = to
		}
	}
	return list
}()
