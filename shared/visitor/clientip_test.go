package visitor_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
)

func mustPrefixes(t testing.TB, text string) visitor.Prefixes {
	t.Helper()
	set, err := visitor.ParsePrefixes(text)
	testkit.Must(t, err)
	return set
}

func TestClientIP(t *testing.T) {
	t.Parallel()
	trusted := mustPrefixes(t, "10.0.0.0/8, 192.0.2.1, ::1, 2001:db8:f::/48")
	for name, c := range map[string]struct {
		peer   string
		lines  []string
		realIP string
		want   string
	}{
		"stranger_is_who_he_is":                {"203.0.113.9", []string{"198.51.100.1"}, "198.51.100.2", "203.0.113.9"},
		"one_hop":                              {"10.0.0.1", []string{"198.51.100.1"}, "", "198.51.100.1"},
		"right_most_untrusted":                 {"10.0.0.1", []string{"1.1.1.1, 198.51.100.1, 10.2.2.2,192.0.2.1"}, "", "198.51.100.1"},
		"lines_are_one_list":                   {"10.0.0.1", []string{"1.1.1.1", "198.51.100.1", "10.2.2.2"}, "", "198.51.100.1"},
		"forged_entries_are_further_left":      {"10.0.0.1", []string{"127.0.0.1, 10.9.9.9, 198.51.100.1"}, "9.9.9.9", "198.51.100.1"},
		"port":                                 {"10.0.0.1", []string{"198.51.100.1:4711"}, "", "198.51.100.1"},
		"brackets_and_port":                    {"10.0.0.1", []string{"[2001:db8::7]:4711"}, "", "2001:db8::7"},
		"brackets":                             {"10.0.0.1", []string{"[2001:db8::7]"}, "", "2001:db8::7"},
		"quotes":                               {"10.0.0.1", []string{`"[2001:db8::7]:80"`}, "", "2001:db8::7"},
		"zone":                                 {"10.0.0.1", []string{"fe80::1%eth0"}, "", "fe80::1"},
		"mapped":                               {"::ffff:10.0.0.1", []string{"::ffff:198.51.100.1"}, "", "198.51.100.1"},
		"mapped_peer_alone":                    {"::ffff:203.0.113.9", nil, "", "203.0.113.9"},
		"IPv6_proxy":                           {"2001:db8:f::9", []string{"2001:db8::7"}, "", "2001:db8::7"},
		"no_list_then_X-Real-IP":               {"10.0.0.1", nil, " 198.51.100.2 ", "198.51.100.2"},
		"all_trusted_then_X-Real-IP":           {"10.0.0.1", []string{"10.2.2.2"}, "198.51.100.2", "198.51.100.2"},
		"all_trusted_then_the_farthest":        {"10.0.0.1", []string{"10.3.3.3, 10.2.2.2"}, "", "10.3.3.3"},
		"junk_ends_the_walk":                   {"10.0.0.1", []string{"198.51.100.1, unknown, 10.2.2.2"}, "", "10.2.2.2"},
		"junk_then_X-Real-IP":                  {"10.0.0.1", []string{"198.51.100.1, _hidden"}, "198.51.100.2", "198.51.100.2"},
		"junk_X-Real-IP":                       {"10.0.0.1", nil, "nobody", "10.0.0.1"},
		"empty_elements_are_nothing":           {"10.0.0.1", []string{"", " , 198.51.100.1 , ,"}, "", "198.51.100.1"},
		"a_bad_port_is_junk":                   {"10.0.0.1", []string{"198.51.100.1:http"}, "", "10.0.0.1"},
		"an_unclosed_bracket_is_junk":          {"10.0.0.1", []string{"[2001:db8::7"}, "", "10.0.0.1"},
		"nothing_said":                         {"10.0.0.1", nil, "", "10.0.0.1"},
		"leading_zeros_are_junk_not_an_octal":  {"10.0.0.1", []string{"010.010.010.010"}, "", "10.0.0.1"},
		"a_zone_does_not_make_a_peer_stranger": {"::1%lo", []string{"198.51.100.1"}, "", "198.51.100.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer, want := netip.MustParseAddr(c.peer), netip.MustParseAddr(c.want)
			if got := visitor.ClientIP(peer, c.lines, c.realIP, trusted); got != want {
				t.Errorf("strings: got %v, want %v", got, want)
			}
			lines := make([][]byte, len(c.lines))
			for i, l := range c.lines {
				lines[i] = []byte(l)
			}
			if got := visitor.ClientIP(peer, lines, []byte(c.realIP), trusted); got != want {
				t.Errorf("bytes: got %v, want %v", got, want)
			}
		})
	}
}

func TestClientIP_trusts_nobody_by_default(t *testing.T) {
	t.Parallel()
	peer := netip.MustParseAddr("127.0.0.1")
	if got := visitor.ClientIP(peer, []string{"198.51.100.1"}, "198.51.100.2", nil); got != peer {
		t.Errorf("got %v", got)
	}
	if got := visitor.ClientIP(netip.Addr{}, []string{"198.51.100.1"}, "", mustPrefixes(t, "0.0.0.0/0,::/0")); got.IsValid() {
		t.Errorf("a peer without an address became %v", got)
	}
}

func TestParsePrefixes(t *testing.T) {
	t.Parallel()
	set := mustPrefixes(t, " 10.1.2.3/8,, ::1 192.0.2.1\n::ffff:172.16.0.0/108 ::ffff:198.51.100.7")
	for addr, want := range map[string]bool{
		"10.200.0.1": true, "11.0.0.1": false, "::1": true, "::2": false, "192.0.2.1": true, "192.0.2.2": false,
		"172.16.5.5": true, "172.32.0.1": false, "::ffff:10.0.0.9": true, "198.51.100.7": true,
	} {
		if got := set.Contains(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v", addr, got)
		}
	}
	if set, err := visitor.ParsePrefixes(""); err != nil || len(set) != 0 {
		t.Errorf("got %v, %v", set, err)
	}
	_, err := visitor.ParsePrefixes("10.0.0.0/33, ::1, proxy.example, 1.2.3")
	if err == nil {
		t.Fatal("no error")
	}
	for _, bad := range []string{`"10.0.0.0/33"`, `"proxy.example"`, `"1.2.3"`} {
		if !strings.Contains(err.Error(), bad) {
			t.Errorf("%s is not named in: %v", bad, err)
		}
	}
}

func TestClientIP_allocates_nothing(t *testing.T) {
	trusted := mustPrefixes(t, "10.0.0.0/8")
	peer := netip.MustParseAddr("10.0.0.1")
	lines := [][]byte{[]byte("198.51.100.1, 10.2.2.2"), []byte("[2001:db8::7]:443, 10.2.2.2:80")}
	realIP := []byte("198.51.100.9")
	if n := testing.AllocsPerRun(100, func() { visitor.ClientIP(peer, lines, realIP, trusted) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzClientIP(f *testing.F) {
	f.Add("1.1.1.1, 198.51.100.1:80", "[2001:db8::7]:443,10.0.0.2", "198.51.100.2")
	f.Add(",,%,[]:,\"\"", "fe80::1%", "1.1.1.1%eth0")
	trusted := mustPrefixes(f, "10.0.0.0/8")
	proxy, stranger := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("203.0.113.9")
	f.Fuzz(func(t *testing.T, first, second, realIP string) {
		lines := []string{first, second}
		if got := visitor.ClientIP(stranger, lines, realIP, trusted); got != stranger {
			t.Errorf("an untrusted peer became %v", got)
		}
		got := visitor.ClientIP(proxy, lines, realIP, trusted)
		if !got.IsValid() || got.Is4In6() || got.Zone() != "" {
			t.Errorf("got %v", got)
		}
		if joined := visitor.ClientIP(proxy, []string{first + "," + second}, realIP, trusted); joined != got {
			t.Errorf("two lines: %v; the same in one line: %v", got, joined)
		}
		// Entries from the client stand to the left of the proxy's entry.
		if got := visitor.ClientIP(proxy, append(lines, "198.51.100.77"), realIP, trusted); got != netip.MustParseAddr("198.51.100.77") {
			t.Errorf("forged: %v", got)
		}
	})
}

func BenchmarkClientIP(b *testing.B) {
	trusted := mustPrefixes(b, "10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, ::1, fd00::/8")
	peer := netip.MustParseAddr("10.0.0.1")
	lines, realIP := [][]byte{[]byte("198.51.100.1, 10.2.2.2")}, []byte("")
	b.ReportAllocs()
	for b.Loop() {
		visitor.ClientIP(peer, lines, realIP, trusted)
	}
}
