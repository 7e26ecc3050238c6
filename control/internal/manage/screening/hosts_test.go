package screening_test

import (
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/screening"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func parse(t testing.TB, text string) *screening.Hosts {
	t.Helper()
	h, err := screening.ParseHosts(strings.NewReader(text))
	testkit.Must(t, err)
	return h
}

func TestHosts_Match(t *testing.T) {
	t.Parallel()
	h := parse(t, `# a comment
127.0.0.1 localhost
0.0.0.0 evil.example  tracker.example # two of them
::1 ip6-localhost

Phish.Example.
.dotted.example
*.free.example
münchen.example
192.0.2.7
[2001:db8::7]
`)
	for host, want := range map[string]string{
		"evil.example": "evil.example", "www.evil.example": "evil.example", "a.b.evil.example": "evil.example",
		"tracker.example": "tracker.example",
		"notevil.example": "", "example": "", "evil.example.com": "", "phish.example": "phish.example",
		"dotted.example": "dotted.example", "x.dotted.example": "dotted.example", "free.example": "", "mine.free.example": "free.example",
		"xn--mnchen-3ya.example": "xn--mnchen-3ya.example", "192.0.2.7": "192.0.2.7", "192.0.2.8": "", "2001:db8::7": "2001:db8::7",
		"localhost": "", "": "",
	} {
		if got := h.Match(host); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
	var none *screening.Hosts
	if none.Match("evil.example") != "" || none.Len() != 0 {
		t.Error("no list blocks a host")
	}
}

func TestParseHosts_refuses_other_texts(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":    "",
		"web page": "<!doctype html>\n" + strings.Repeat("<p>Not <b>found</b></p>\n", 20),
		"binary":   strings.Repeat("\x00\xff\n", 100),
		"too long": "# " + strings.Repeat("x", 70_000), // a line that no list has
	} {
		if h, err := screening.ParseHosts(strings.NewReader(text)); err == nil {
			t.Errorf("%s: %d hosts", name, h.Len())
		}
	}
	if h := parse(t, "# nothing is blocked\n"); h.Len() != 0 {
		t.Errorf("%d hosts", h.Len())
	}
	if h := parse(t, "com\nevil.example\n"); h.Match("example.com") != "" {
		t.Error("a top-level domain is blocked")
	}
}

// What CheckDestination calls a host is what the list compares.
func TestHosts_block_destinations(t *testing.T) {
	t.Parallel()
	h := parse(t, "evil.example\nmünchen.example\n192.0.2.7\n2001:db8::7\n")
	policy := link.Policy{AllowPrivate: true, Blocked: func(host string) bool { return h.Match(host) != "" }}
	for _, d := range []string{
		"https://evil.example", "http://EVIL.example.:8080/x?y#z", "https://user:pw@www.evil.example/", "https://München.example/",
		"https://xn--mnchen-3ya.example", "https://192.0.2.7", "https://[2001:DB8::7]:443/",
	} {
		if _, err := link.CheckDestination(d, policy); err != link.ErrBlockedHost {
			t.Errorf("%s: %v", d, err)
		}
		if h.Match(link.DestinationHost(d)) == "" {
			t.Errorf("%s is not matched by its host %q", d, link.DestinationHost(d))
		}
	}
	if _, err := link.CheckDestination("https://example.com/evil.example", policy); err != nil {
		t.Error(err)
	}
}

func FuzzParseHosts(f *testing.F) {
	f.Add("evil.example\n*.free.example\n0.0.0.0 a.example b.example # c\n", "www.evil.example")
	f.Add("münchen.example\n[::1]\n1.2.3.4\n.x.y\n", "1.2.3.4")
	f.Fuzz(func(t *testing.T, text, host string) {
		h, err := screening.ParseHosts(strings.NewReader(text))
		if err != nil {
			return
		}
		name, err := link.Host(host)
		if err != nil {
			return
		}
		entry := h.Match(name)
		if entry != "" && entry != name && !strings.HasSuffix(name, "."+entry) {
			t.Fatalf("%q is blocked by %q", name, entry)
		}
		// A naive reading of the list agrees.
		want := false
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), "#")
			fields := strings.Fields(line)
			if len(fields) > 1 {
				fields = fields[1:]
			}
			for _, f := range fields {
				rest, sub := strings.CutPrefix(f, "*.")
				own, err := link.Host(strings.TrimPrefix(rest, "."))
				want = want || err == nil && (own == name && !sub || strings.HasSuffix(name, "."+own))
			}
		}
		if entry != "" && !want {
			t.Fatalf("%q is blocked by %q of %q", name, entry, text)
		}
	})
}
