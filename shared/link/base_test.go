package link_test

import (
	"testing"

	"github.com/shortline/shortline/shared/link"
)

func TestParseBaseURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://sho.rt": "https://sho.rt", "http://localhost:8080/": "http://localhost:8080",
		"https://[2001:db8::1]//": "https://[2001:db8::1]",
	} {
		if u, err := link.ParseBaseURL(in); err != nil || u.String() != want {
			t.Errorf("%q: %v, %v", in, u, err)
		}
	}
	for _, in := range []string{
		"", "%", "sho.rt", "ftp://sho.rt", "https://", "https://:443", "https://sho.rt/links", "https://me@sho.rt", "https://sho.rt?",
		"https://sho.rt/?a", "https://sho.rt#a",
	} {
		if u, err := link.ParseBaseURL(in); err == nil {
			t.Errorf("%q is accepted as %v", in, u)
		}
	}
}
