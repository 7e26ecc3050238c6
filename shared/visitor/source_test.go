package visitor_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
)

func source(t testing.TB, name string) visitor.Source {
	t.Helper()
	s, err := visitor.ParseSource(name)
	testkit.Must(t, err)
	return s
}

func TestParseSource(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "x-forwarded-for", "X-Forwarded-For": "x-forwarded-for", " Forwarded ": "forwarded", "CF-Connecting-IP": "cf-connecting-ip",
		"True-Client-IP": "true-client-ip", "x-real-ip": "x-real-ip",
	} {
		if s := source(t, name); s.Name() != want || s.Usual() != (want == "x-forwarded-for") {
			t.Errorf("%q: %q", name, s.Name())
		}
	}
	for _, name := range []string{"X Y", "a:b", "é", "Forwarded,X-Real-IP", "Cookie", "host", "User-Agent", "X-Forwarded-Proto",
		visitor.EdgeTokenHeader, strings.Repeat("x", 65)} {
		if _, err := visitor.ParseSource(name); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}

func TestClientIPFrom_Forwarded(t *testing.T) {
	t.Parallel()
	trusted, forwarded := mustPrefixes(t, "10.0.0.0/8, ::1"), source(t, "Forwarded")
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"one":                                 {[]string{"for=198.51.100.1"}, "198.51.100.1"},
		"names_have_no_case":                  {[]string{"FOR=198.51.100.1;Proto=https;BY=203.0.113.43"}, "198.51.100.1"},
		"quoted":                              {[]string{`for="198.51.100.1:4711"`}, "198.51.100.1"},
		"IPv6":                                {[]string{`proto=http;for="[2001:db8:cafe::17]:4711"`}, "2001:db8:cafe::17"},
		"IPv6_without_quotes":                 {[]string{`for=[2001:db8:cafe::17]`}, "2001:db8:cafe::17"},
		"right_most_untrusted":                {[]string{"for=1.1.1.1, for=198.51.100.1;by=x, for=10.2.2.2"}, "198.51.100.1"},
		"lines_are_one_list":                  {[]string{"for=1.1.1.1", "for=198.51.100.1", "for=10.2.2.2"}, "198.51.100.1"},
		"all_trusted_then_the_farthest":       {[]string{"for=10.3.3.3, for=10.2.2.2"}, "10.3.3.3"},
		"spaces_and_empty_elements":           {[]string{" , for=198.51.100.1 ; proto=https ,,"}, "198.51.100.1"},
		"a_comma_in_quotes":                   {[]string{`for=1.1.1.1, by="a,b";for=198.51.100.1`}, "198.51.100.1"},
		"unknown":                             {[]string{"for=198.51.100.1, for=unknown, for=10.2.2.2"}, "10.2.2.2"},
		"unknown_is_the_last":                 {[]string{"for=198.51.100.1, for=unknown"}, "10.0.0.1"},
		"hidden":                              {[]string{"for=198.51.100.1, for=_SEVKISEK"}, "10.0.0.1"},
		"no_address":                          {[]string{"for=198.51.100.1, proto=https"}, "10.0.0.1"},
		"two_addresses":                       {[]string{"for=198.51.100.1;for=198.51.100.2"}, "10.0.0.1"},
		"no_value":                            {[]string{"for="}, "10.0.0.1"},
		"escapes":                             {[]string{`for="198.51.100.\1"`}, "10.0.0.1"},
		"no_header":                           {nil, "10.0.0.1"},
		"an_open_quote_swallows_nothing":      {[]string{`for=6.6.6.6;x=", for=198.51.100.1`}, "10.0.0.1"},
		"an_open_quote_meets_quotes":          {[]string{`for=6.6.6.6;x=", for="[2001:db8::7]:80"`}, "10.0.0.1"},
		"an_open_quote_meets_two_hops":        {[]string{`for=6.6.6.6;x=", for="[2001:db8::7]:80", for="[2001:db8::8]:80"`}, "10.0.0.1"},
		"an_escape_swallows_nothing":          {[]string{`for=6.6.6.6;x="\, for="[2001:db8::7]:80"`}, "10.0.0.1"},
		"junk_before_what_the_proxy_appended": {[]string{`"";;=x,,for=6.6.6.6 6, for=198.51.100.1`}, "198.51.100.1"},
		"X-Forwarded-For_is_none":             {[]string{"198.51.100.1"}, "10.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := visitor.ClientIPFrom(forwarded, netip.MustParseAddr("10.0.0.1"), c.lines, "198.51.100.9", trusted)
			if got != netip.MustParseAddr(c.want) {
				t.Errorf("got %v, want %s", got, c.want)
			}
			stranger := netip.MustParseAddr("203.0.113.9")
			if got := visitor.ClientIPFrom(forwarded, stranger, c.lines, "", trusted); got != stranger {
				t.Errorf("a stranger became %v", got)
			}
		})
	}
}

func TestClientIPFrom_another_header(t *testing.T) {
	t.Parallel()
	trusted, cdn := mustPrefixes(t, "10.0.0.0/8"), source(t, "CF-Connecting-IP")
	proxy := netip.MustParseAddr("10.0.0.1")
	for line, want := range map[string]string{"198.51.100.1": "198.51.100.1", "2001:db8::1": "2001:db8::1", "": "10.0.0.1", "junk": "10.0.0.1"} {
		if got := visitor.ClientIPFrom(cdn, proxy, []string{line}, "198.51.100.9", trusted); got != netip.MustParseAddr(want) {
			t.Errorf("%q: %v", line, got) // X-Real-IP does not count
		}
	}
	if got := visitor.ClientIPFrom(visitor.Source{}, proxy, nil, "198.51.100.9", trusted); got != netip.MustParseAddr("198.51.100.9") {
		t.Errorf("the usual headers: %v", got)
	}
}

func TestClientIPFrom_allocates_nothing(t *testing.T) {
	trusted, forwarded := mustPrefixes(t, "10.0.0.0/8"), source(t, "Forwarded")
	lines := [][]byte{[]byte(`for=198.51.100.1;proto=https, for="[2001:db8::7]:80";by=10.0.0.1, for=10.2.2.2`)}
	peer := netip.MustParseAddr("10.0.0.1")
	if n := testing.AllocsPerRun(100, func() { visitor.ClientIPFrom(forwarded, peer, lines, nil, trusted) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A visitor may write anything into headers: the address is that of the socket if the visitor asks directly, and what the trusted
// proxy has appended, or the proxy itself, if the request comes through it. The visitor never chooses.
func FuzzClientIPFrom_cannot_be_forged(f *testing.F) {
	f.Add("for=1.1.1.1", `for="`, "1.1.1.1")
	f.Add(`for=6.6.6.6;x="`, "for=6.6.6.6;x=\"\\", "")
	f.Add(`for=6.6.6.6, for="[::1]:80`, `";for=6.6.6.6`, ",")
	f.Add(`";=,\`, `for=6.6.6.6;for="a" b`, "10.0.0.9")
	trusted := mustPrefixes(f, "10.0.0.0/8")
	stranger, proxy := netip.MustParseAddr("203.0.113.9"), netip.MustParseAddr("10.0.0.1")
	sources := []visitor.Source{{}, source(f, "Forwarded"), source(f, "CF-Connecting-IP")}
	f.Fuzz(func(t *testing.T, first, second, realIP string) {
		for _, s := range sources {
			if got := visitor.ClientIPFrom(s, stranger, []string{first, second}, realIP, trusted); got != stranger {
				t.Errorf("%s: an untrusted peer became %v", s.Name(), got)
			}
			for _, hop := range []string{"198.51.100.77", "2001:db8::77"} {
				want, appended := netip.MustParseAddr(hop), hop
				if s.Name() == "forwarded" {
					if appended = "for=" + hop; want.Is6() {
						appended = fmt.Sprintf(`for="[%s]:443";proto=https`, hop)
					}
				}
				// A proxy appends to the last line, or adds a line.
				own := visitor.ClientIPFrom(s, proxy, []string{first, second, appended}, realIP, trusted)
				same := visitor.ClientIPFrom(s, proxy, []string{first, second + ", " + appended}, realIP, trusted)
				if own != want || same != want && same != proxy {
					t.Errorf("%s: %q, %q and %q became %v and %v", s.Name(), first, second, appended, own, same)
				}
			}
		}
	})
}
