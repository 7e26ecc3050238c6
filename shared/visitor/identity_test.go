package visitor_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"testing"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
)

func identity(ip, agent string) uint64 {
	var v visitor.Visitor
	in := visitor.Input{UserAgent: []byte(agent)}
	if ip != "" {
		in.IP = netip.MustParseAddr(ip)
	}
	v.Reset(in, nil, nil)
	return v.Identity()
}

// Cookies and the visitors that a percentage selects depend on these numbers. They must stay the same in all releases.
func TestIdentity_never_changes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ip, agent string
		want      uint64
	}{
		{"", "", 0x34b3d8179999145a},
		{"192.0.2.1", "", 0x38c5ee3aef246149},
		{"192.0.2.1", iphoneSafari, 0xf996b6c062eaacea},
		{"2001:db8:1:2::1", iphoneSafari, 0xfae63770a82e320b},
		{"192.0.2.1", windowsEdge, 0x9e417c759e7db5c6},
	} {
		if got := identity(c.ip, c.agent); got != c.want {
			t.Errorf("%q %q: %#x, want %#x", c.ip, c.agent, got, c.want)
		}
	}
	var v visitor.Visitor
	v.Reset(visitor.Input{}, nil, nil)
	v.Extend(visitor.Extras{Link: 7, Known: true, Identity: 0x0123456789abcdef})
	if got, want := v.Share(), uint64(0x37e9bf7ad3fe8c93); got != want {
		t.Errorf("share %#x, want %#x", got, want)
	}
}

func TestIdentity_is_of_network_and_browser(t *testing.T) {
	t.Parallel()
	same := [][2]string{
		{"192.0.2.1", "192.0.2.254"}, {"192.0.2.1", "::ffff:192.0.2.7"}, {"2001:db8:1::1", "2001:db8:1:ffff::2"},
	}
	for _, pair := range same {
		if identity(pair[0], iphoneSafari) != identity(pair[1], iphoneSafari) {
			t.Errorf("%s and %s have different identities", pair[0], pair[1])
		}
	}
	base := identity("192.0.2.1", iphoneSafari)
	for _, other := range []uint64{
		identity("192.0.3.1", iphoneSafari), identity("192.0.2.1", windowsEdge), identity("192.0.2.1", iphoneSafari+"\x00"),
		identity("", iphoneSafari), identity("2001:db8:1::1", iphoneSafari), identity("192.0.2.1", ""),
	} {
		if other == base {
			t.Error("different visitors have one identity")
		}
	}
	long := make([]byte, 600) // no more than a click keeps
	if identity("", string(long)) != identity("", string(long[:512])) {
		t.Error("the identity depends on more of the User-Agent than a click keeps")
	}
}

func TestIdentity_as_text(t *testing.T) {
	t.Parallel()
	for _, id := range []uint64{0, 1, 0x0123456789abcdef, math.MaxUint64} {
		text := visitor.AppendIdentity(nil, id)
		if string(text) != fmt.Sprintf("%016x", id) {
			t.Errorf("%s", text)
		}
		if got, ok := visitor.ParseIdentity(text); got != id || !ok {
			t.Errorf("%s is read as %x", text, got)
		}
	}
	for _, bad := range []string{"", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "0123456789abcdeg", "0123456789abcde ",
		"\"23456789abcdef\""} {
		if _, ok := visitor.ParseIdentity(bad); ok {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestVisitor_extras(t *testing.T) {
	t.Parallel()
	var v visitor.Visitor
	v.Reset(someone(), nil, nil)
	if v.Param("a") != "" || v.Fact(rule.FieldVisitor) != "" {
		t.Error("facts before Extend")
	}
	own := v.Identity()
	v.Extend(visitor.Extras{Query: []byte("a=x%20y&b=z")})
	if v.Param("a") != "x y" || v.Param("b") != "z" || v.Param("c") != "" {
		t.Errorf("%q %q %q", v.Param("a"), v.Param("b"), v.Param("c"))
	}
	if v.Fact(rule.FieldVisitor) != rule.NewVisitor || v.Identity() != own {
		t.Errorf("%s %x", v.Fact(rule.FieldVisitor), v.Identity())
	}
	v.Extend(visitor.Extras{Known: true, Identity: 7})
	if v.Fact(rule.FieldVisitor) != rule.ReturningVisitor || v.Identity() != 7 || v.Param("a") != "" {
		t.Errorf("%s %x %q", v.Fact(rule.FieldVisitor), v.Identity(), v.Param("a"))
	}
	v.Reset(someone(), nil, nil)
	if v.Param("a") != "" || v.Fact(rule.FieldVisitor) != "" || v.Identity() != own || v.Address() != someone().IP {
		t.Error("the next request knows the last one's extras")
	}
}

// Package rule states the same limit, because it does not know package link.
func TestParams_limit_of_names(t *testing.T) {
	t.Parallel()
	for length, accepted := range map[int]bool{link.MaxParamName: true, link.MaxParamName + 1: false} {
		_, err := rule.Parse(fmt.Appendf(nil,
			`{"operator":"AND","conditions":[{"type":"query","operator":"equals","value":{"name":"%0*d","value":"x"}}]}`, length, 7))
		if (err == nil) != accepted {
			t.Errorf("a name of %d bytes: %v", length, err)
		}
	}
}

const crowd = 1_000_000

// shares returns the shares of a million visitors of a link: 50,000 networks of 20 browsers each, as edges see them.
func shares(t *testing.T, number uint64) []uint64 {
	t.Helper()
	var agents [][]byte
	for i := range 20 {
		agents = append(agents,
			fmt.Appendf(nil,
				"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36",
				120+i))
	}
	all := make([]uint64, 0, crowd)
	var v visitor.Visitor
	for network := range uint32(crowd / 20) {
		var ip [4]byte
		binary.BigEndian.PutUint32(ip[:], 0x0A000000+network<<8|network%251)
		for _, agent := range agents {
			v.Reset(visitor.Input{IP: netip.AddrFrom4(ip), UserAgent: agent}, nil, nil)
			v.Extend(visitor.Extras{Link: number})
			all = append(all, v.Share())
		}
	}
	return all
}

// checkEven fails unless counts are as even as those of random numbers: chi-square within five standard deviations of its
// mean, on both sides. The numbers are always the same, so the test cannot fail by chance.
func checkEven(t *testing.T, what string, counts []int) {
	t.Helper()
	expected, sum := float64(crowd)/float64(len(counts)), 0.0
	for _, n := range counts {
		sum += (float64(n) - expected) * (float64(n) - expected) / expected
	}
	free := float64(len(counts) - 1)
	if z := (sum - free) / math.Sqrt(2*free); math.Abs(z) > 5 {
		t.Errorf("%s: chi-square %.0f with %.0f degrees of freedom, %.1f standard deviations away", what, sum, free, z)
	} else {
		t.Logf("%s: chi-square %.0f with %.0f degrees of freedom (%+.1f standard deviations)", what, sum, free, z)
	}
}

// Shares are uniform over a million visitors, and independent between links.
func TestShare_is_uniform_and_independent_between_links(t *testing.T) {
	t.Parallel()
	numbers := []uint64{0, 1, 2, 3, 1 << 32, 123_456_789}
	all := make([][]uint64, len(numbers))
	for i, number := range numbers {
		all[i] = shares(t, number)
		counts := make([]int, 1000)
		for _, share := range all[i] {
			counts[share/(math.MaxUint64/1000+1)]++
		}
		checkEven(t, fmt.Sprintf("link %d, thousandths", number), counts)
	}
	for i := range numbers {
		for j := range i {
			counts := make([]int, 32*32) // each pair of shares is as frequent as any other
			for k := range all[i] {
				counts[all[i][k]>>59<<5|all[j][k]>>59]++
			}
			checkEven(t, fmt.Sprintf("links %d and %d", numbers[i], numbers[j]), counts)
		}
	}
}

// A condition selects the stated part of the visitors, and each larger percentage includes the visitors of a smaller one.
func TestPercentage_of_a_million_visitors(t *testing.T) {
	t.Parallel()
	var programs []*rule.Program
	percentages := []float64{0, 0.01, 1, 12.5, 50, 99.9, 100}
	for _, p := range percentages {
		g, err := rule.Parse(fmt.Appendf(nil, `{"operator":"AND","conditions":[{"type":"percentage","operator":"less_than","value":%v}]}`,
			p))
		testkit.Must(t, err)
		program, err := rule.Compile(g, rule.Options{})
		testkit.Must(t, err)
		programs = append(programs, program)
	}
	chosen := make([]int, len(percentages))
	v := fixedShare{}
	for _, share := range shares(t, 42) {
		v.share = share
		before := false
		for i, p := range programs {
			now := p.Eval(&v)
			if before && !now {
				t.Fatalf("a visitor is among %v %%, but not among %v %%", percentages[i-1], percentages[i])
			}
			if before = now; now {
				chosen[i]++
			}
		}
	}
	for i, p := range percentages {
		want, deviation := crowd*p/100, math.Sqrt(crowd*p/100*(1-p/100))
		if math.Abs(float64(chosen[i])-want) > 5*deviation {
			t.Errorf("%v %% are %d of %d visitors", p, chosen[i], crowd)
		}
	}
}

type fixedShare struct {
	visitor.Visitor
	share uint64
}

func (f *fixedShare) Share() uint64 { return f.share }

// Not parallel: AllocsPerRun measures the whole process.
func TestExtras_allocate_nothing(t *testing.T) {
	var v visitor.Visitor
	in, query, cookie := someone(), []byte("ref=a%20b&c=d"), []byte("0123456789abcdef")
	var buf [16]byte
	if n := testing.AllocsPerRun(100, func() {
		v.Reset(in, nil, nil)
		id, ok := visitor.ParseIdentity(cookie)
		v.Extend(visitor.Extras{Query: query, Link: 7, Known: ok, Identity: id})
		v.Share()
		v.Param("ref")
		visitor.AppendIdentity(buf[:0], v.Identity())
		v.Extend(visitor.Extras{Link: 7})
		v.Share()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The most expensive rules that are accepted with the most expensive query. rule.MaxWork is 1 ms.
func BenchmarkVisitor_worst_accepted(b *testing.B) {
	var work rule.Work
	var programs []*rule.Program
	for i := range 100 {
		g, err := rule.Parse(fmt.Appendf(nil,
			`{"operator":"OR","conditions":[{"type":"query","operator":"equals",`+
				`"value":{"name":"n%061d","value":"x"}},{"type":"percentage","operator":"less_than","value":0.0001}]}`, i%20))
		testkit.Must(b, err)
		with := work
		if with.Add(g) != nil || with.Nanoseconds() > rule.MaxWork {
			break
		}
		p, err := rule.Compile(g, rule.Options{})
		testkit.Must(b, err)
		work, programs = with, append(programs, p)
	}
	s := rule.NewSet(programs)
	var query []byte
	for i := range 20 { // escaped names and the longest escaped values
		query = append(query, '&', '%', '6', 'e')
		query = fmt.Appendf(query, "%061d=", i)
		for range 45 {
			query = append(query, "%41"...)
		}
	}
	if query = query[1:]; len(query) > link.MaxParamQuery {
		b.Fatalf("%d bytes", len(query))
	}
	in := someone()
	var v visitor.Visitor
	b.ReportAllocs()
	for b.Loop() {
		v.Reset(in, nil, nil)
		v.Extend(visitor.Extras{Query: query, Link: 7})
		if v.Param(fmt.Sprintf("n%061d", 19)) == "" {
			b.Fatal("the query has no such parameter")
		}
		s.First(&v)
	}
	b.ReportMetric(float64(work.Nanoseconds()), "estimate-ns")
	b.ReportMetric(float64(len(programs)), "rules")
}
