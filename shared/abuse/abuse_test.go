package abuse_test

import (
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/abuse"
)

func TestReport_Clean(t *testing.T) {
	t.Parallel()
	r := abuse.Report{Reason: "SPAM", Text: " one\r\ntwo ", Email: " a@example.com "}
	if p := r.Clean(); len(p) > 0 || r.Text != "one\ntwo" || r.Email != "a@example.com" {
		t.Errorf("%+v: %v", r, p)
	}
	for field, bad := range map[string][]abuse.Report{
		"reason": {{}, {Reason: "spam"}},
		"text": {{Reason: "SPAM", Text: strings.Repeat("é", abuse.MaxText+1)}, {Reason: "SPAM", Text: "a\x00b"},
			{Reason: "SPAM", Text: "\xff"}},
		"email": {{Reason: "SPAM", Email: "a"}, {Reason: "SPAM", Email: "a@"}, {Reason: "SPAM", Email: "a@b@c"},
			{Reason: "SPAM", Email: "a@b\nBcc: c"}, {Reason: "SPAM", Email: strings.Repeat("a", 250) + "@b.example"}},
	} {
		for _, r := range bad {
			if p := r.Clean(); len(p) != 1 || p[0].Field != field {
				t.Errorf("%+v: %v, want a problem of %s", r, p, field)
			}
		}
	}
	if r := (abuse.Report{Reason: "OTHER", Text: strings.Repeat("é", abuse.MaxText)}); len(r.Clean()) > 0 {
		t.Error("the longest text is refused")
	}
}
