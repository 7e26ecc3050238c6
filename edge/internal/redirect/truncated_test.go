package redirect_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
)

// Rules see exactly the part of a header or parameter that a stored click keeps.
func TestH2_RulesSeeWhatTheClickKeeps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		condition string
		most      int
		request   func(w *world, value string) answer
	}{
		"referer": {"referer", click.MaxReferer, func(w *world, v string) answer { return w.get("/xyz", "Referer", v) }},
		"Accept-Language": {"language", click.MaxAcceptLanguage, func(w *world, v string) answer {
			return w.get("/xyz", "Accept-Language", v)
		}},
		"utm_campaign": {"utm_campaign", click.MaxUTM, func(w *world, v string) answer { return w.get("/xyz?utm_campaign=" + v) }},
		"escaped utm": {"utm_term", click.MaxUTM, func(w *world, v string) answer {
			return w.get("/xyz?utm_term=%61" + url.QueryEscape(v[1:]))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const needle = "needle"
			w := newWorld(t, []link.Record{{Key: "xyz", Destination: "https://example.com/", SmartRouting: true, Rules: []link.Rule{
				ruleFor(1, "https://found.example/", `{"operator":"AND","conditions":[{"type":"`+c.condition+
					`","operator":"ends_with","value":"`+
					needle+`"}]}`)}}})
			for spare, want := range map[int]bool{0: true, -1: false} {
				before := c.most - len(needle) - spare
				value := strings.Repeat("a", before) + needle
				if c.condition == "language" { // a tag has a length of its own
					value = "aa;q=0.1," + strings.Repeat(" ", before-len("aa;q=0.1,")) + needle
				}
				a := c.request(w, value)
				if got := strings.HasPrefix(a.Header.Get("Location"), "https://found.example/"); got != want {
					t.Errorf("%d bytes: found is %v (%d)", len(value), got, a.StatusCode)
				}
			}
		})
	}
}
