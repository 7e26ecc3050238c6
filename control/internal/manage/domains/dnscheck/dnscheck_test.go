package dnscheck

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const second = time.Second

func TestCheck_TXT(t *testing.T) {
	t.Parallel()
	at := `_shortline.go.acme.com. 60 IN TXT `
	many := make(zone, 0, 1001)
	for i := range 1000 {
		many = append(many, fmt.Sprintf(at+`"another value, number %04d"`, i))
	}
	var long []string
	for i := range 200 {
		long = append(long, fmt.Sprintf(`"%s%d"`, strings.Repeat("x", 200), i))
	}
	for name, tt := range map[string]struct {
		zone  zone
		state State
		part  string
	}{
		"value":                  {zone{at + `"` + value + `"`}, Found, ""},
		"other case of the name": {zone{`_ShortLine.GO.acme.com. 60 IN TXT "` + value + `"`}, Found, ""},
		"split":                  {zone{at + `"shortline-verif" "ication=k3J" "9xQ2m"`}, Found, ""},
		"spaces and quotes":      {zone{at + `" \"` + value + `\" "`}, Found, ""},
		"decimal escapes":        {zone{at + `"\115hortline-verification=k3J9xQ2m"`}, Found, ""},
		"among others":           {zone{at + `"v=spf1 -all"`, at + `"` + value + `"`, at + `"x"`}, Found, ""},
		"among 1,000":            {append(slices.Clone(many), at+`"`+value+`"`), Found, ""},
		"by CNAME": {zone{`_shortline.go.acme.com. 60 IN CNAME x.acme.net.`, `x.acme.net. 60 IN TXT "` + value + `"`}, Found,
			""},
		"no such name": {nil, Missing, "No TXT record at _shortline.go.acme.com yet."},
		"no such record": {zone{`_shortline.go.acme.com. 60 IN A 192.0.2.1`}, Missing,
			"No TXT record at _shortline.go.acme.com yet."},
		"only at the host itself": {zone{`go.acme.com. 60 IN TXT "` + value + `"`}, Missing, "No TXT record"},
		"another value": {zone{at + `"other"`}, Missing,
			`has another value: "other"; expected "shortline-verification=k3J9xQ2m".`},
		"another case":       {zone{at + `"` + strings.ToUpper(value) + `"`}, Missing, "another value"},
		"longer value":       {zone{at + `"` + value + `x"`}, Missing, "another value"},
		"empty value":        {zone{at + `""`}, Missing, `another value: ""`},
		"wildcard":           {zone{`*.acme.com. 60 IN TXT "shortline-verification=another"`}, Missing, "another value"},
		"wildcard CNAME":     {zone{`*.acme.com. 60 IN CNAME hoster.net.`, `hoster.net. 60 IN A 192.0.2.1`}, Missing, "No TXT record"},
		"control characters": {zone{at + `"\000\027[31m\226\128\174<b>"`}, Missing, `"\x00\x1b[31m\u202e<b>"`},
		"1,000 others":       {many, Missing, `and 997 more; expected`},
		"long":               {zone{at + strings.Join(long, " ")}, Missing, `xxx"…; expected`},
		"loop": {zone{`_shortline.go.acme.com. 60 IN CNAME b.acme.com.`, `b.acme.com. 60 IN CNAME _shortline.go.acme.com.`},
			Missing, "The CNAME chain has a loop: _shortline.go.acme.com → b.acme.com → _shortline.go.acme.com."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tt.zone.resolver(t))
			expect(t, "TXT", check(t, checker(t, testkit.Patience, s.address), edge).TXT, tt.state, tt.part)
		})
	}
}

func TestCheck_host(t *testing.T) {
	t.Parallel()
	chain := func(n int, end string) (z zone) {
		name := "go.acme.com"
		for i := 1; i < n; i++ {
			next := fmt.Sprintf("c%d.acme.com", i)
			z = append(z, name+". 60 IN CNAME "+next+".")
			name = next
		}
		return append(z, name+". 60 IN CNAME "+end)
	}
	edges := zone{`edge.sho.rt. 60 IN A 203.0.113.7`, `edge.sho.rt. 60 IN A 203.0.113.8`, `edge.sho.rt. 60 IN AAAA 2001:db8::7`}
	with := func(z ...string) zone { return append(slices.Clone(edges), z...) }
	configured := Targets{Hostname: "Edge.Sho.rt.", Addresses: []netip.Addr{netip.MustParseAddr("9.9.9.9"), netip.MustParseAddr("10.1.2.3"),
		netip.MustParseAddr("::ffff:8.8.4.4")}}
	for name, tt := range map[string]struct {
		zone    zone
		targets Targets
		state   State
		part    string
	}{
		"CNAME":                         {with(`go.acme.com. 60 IN CNAME edge.sho.rt.`), edge, Found, ""},
		"CNAME in another case":         {with(`GO.acme.com. 60 IN CNAME EDGE.sho.RT.`), configured, Found, ""},
		"CNAME, edge without addresses": {zone{`go.acme.com. 60 IN CNAME edge.sho.rt.`}, edge, Found, ""},
		"wildcard CNAME":                {with(`*.acme.com. 60 IN CNAME edge.sho.rt.`), edge, Found, ""},
		"10 CNAMEs":                     {chain(10, "edge.sho.rt."), edge, Found, ""},
		"11 CNAMEs": {chain(11, "edge.sho.rt."), edge, Missing,
			"More than 10 CNAME records follow each other: go.acme.com → c1.acme.com → c2.acme.com → … →"},
		"25 CNAMEs": {chain(25, "edge.sho.rt."), edge, Missing, "More than 10 CNAME records"},
		"loop": {chain(3, "go.acme.com."), edge, Missing,
			"The CNAME chain has a loop: go.acme.com → c1.acme.com → c2.acme.com → go.acme.com."},
		"loop to itself": {chain(1, "go.acme.com."), edge, Missing, "loop: go.acme.com → go.acme.com."},
		"loop beside the start": {append(chain(2, "x.acme.com."), `x.acme.com. 60 IN CNAME c1.acme.com.`), edge, Missing,
			"loop: go.acme.com → c1.acme.com → x.acme.com → c1.acme.com."},
		"two CNAMEs": {zone{`go.acme.com. 60 IN CNAME a.net.`, `go.acme.com. 60 IN CNAME b.net.`}, edge, Missing,
			"go.acme.com has more than one CNAME record."},
		"addresses of the edges' name": {with(`go.acme.com. 60 IN A 203.0.113.8`), edge, Found, ""},
		"AAAA of the edges' name":      {with(`go.acme.com. 60 IN AAAA 2001:db8::7`), edge, Found, ""},
		"configured address":           {with(`go.acme.com. 60 IN A 9.9.9.9`, `go.acme.com. 60 IN A 203.0.113.7`), configured, Found, ""},
		"configured private address":   {with(`go.acme.com. 60 IN A 10.1.2.3`), configured, Found, ""},
		"configured mapped address":    {zone{`go.acme.com. 60 IN A 8.8.4.4`}, Targets{Addresses: configured.Addresses}, Found, ""},
		"CNAME to a name with our addresses": {with(`go.acme.com. 60 IN CNAME lb.acme.com.`, `lb.acme.com. 60 IN A 203.0.113.7`),
			edge, Found, ""},
		"nothing": {edges, edge, Missing,
			"No CNAME, A or AAAA record at go.acme.com yet; expected a CNAME record with edge.sho.rt."},
		"nothing but TXT": {with(`go.acme.com. 60 IN TXT "x"`), configured, Missing,
			"expected a CNAME record with edge.sho.rt, or address records with 9.9.9.9, 10.1.2.3, 8.8.4.4."},
		"another address": {with(`go.acme.com. 60 IN A 8.8.8.8`), edge, Missing,
			"go.acme.com resolves to 8.8.8.8, which does not belong to this service"},
		"another address beside": {with(`go.acme.com. 60 IN A 203.0.113.7`, `go.acme.com. 60 IN A 8.8.8.8`), edge, Missing,
			"go.acme.com also resolves to 8.8.8.8"},
		"another AAAA beside": {with(`go.acme.com. 60 IN A 203.0.113.7`, `go.acme.com. 60 IN AAAA 2600::1`), edge, Missing,
			"go.acme.com also resolves to 2600::1"},
		"private address": {with(`go.acme.com. 60 IN A 8.8.8.8`, `go.acme.com. 60 IN A 10.0.0.5`), edge, Missing,
			"go.acme.com resolves to the private address 10.0.0.5"},
		"loopback": {with(`go.acme.com. 60 IN AAAA ::1`), edge, Missing, "private address ::1"},
		"metadata service": {with(`go.acme.com. 60 IN CNAME m.acme.com.`, `m.acme.com. 60 IN A 169.254.169.254`), edge, Missing,
			"private address 169.254.169.254"},
		"another CNAME": {with(`go.acme.com. 60 IN CNAME shop.net.`, `shop.net. 60 IN A 8.8.8.8`), edge, Missing,
			"go.acme.com is a CNAME of shop.net, which resolves to 8.8.8.8; expected a CNAME record with edge.sho.rt."},
		"CNAME to nothing": {with(`go.acme.com. 60 IN CNAME gone.net.`), edge, Missing,
			"go.acme.com is a CNAME of gone.net, which has no address"},
		"CNAME to a name below the edges'": {with(`go.acme.com. 60 IN CNAME x.edge.sho.rt.`), edge, Missing, "CNAME of x.edge.sho.rt"},
		"no targets": {with(`go.acme.com. 60 IN CNAME edge.sho.rt.`), Targets{}, Unknown,
			"has not set the name or the addresses"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tt.zone.resolver(t))
			expect(t, "host", check(t, checker(t, testkit.Patience, s.address), tt.targets).Host, tt.state, tt.part)

			// The same zone by a server that leaves CNAME records to the client.
			plain := serve(t, func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg {
				m := tt.zone.resolver(t)(w, q)
				m.Answer = slices.DeleteFunc(m.Answer, func(rr dns.RR) bool {
					return !strings.EqualFold(rr.Header().Name, q.Question[0].Name)
				})
				if len(m.Answer) > 0 {
					m.Rcode = dns.RcodeSuccess
				}
				return m
			})
			direct := check(t, checker(t, testkit.Patience, plain.address), tt.targets)
			expect(t, "host by a server that does not follow", direct.Host, tt.state, tt.part)
		})
	}
}

func TestCheck_many_addresses(t *testing.T) {
	t.Parallel()
	var z zone
	for i := range 1000 {
		z = append(z, fmt.Sprintf("go.acme.com. 60 IN A 8.8.%d.%d", i/250, i%250))
	}
	s := serve(t, z.resolver(t))
	expect(t, "host", check(t, checker(t, testkit.Patience, s.address), edge).Host, Missing, "8.8.0.0, 8.8.0.1, 8.8.0.2 and 997 more")
}

func TestCheck_IDN(t *testing.T) {
	t.Parallel()
	n, err := hostname.Parse("Bücher.example.com", hostname.Policy{})
	testkit.Must(t, err)
	s := serve(t, zone{`_shortline.xn--bcher-kva.example.com. 60 IN TXT "` + value + `"`,
		`xn--bcher-kva.example.com. 60 IN CNAME edge.sho.rt.`}.resolver(t))
	r := checker(t, testkit.Patience, s.address).Check(t.Context(), n.ASCII, value, edge)
	expect(t, "TXT", r.TXT, Found, "")
	expect(t, "host", r.Host, Found, "")
}

// A host name of the maximum length still has a TXT record.
func TestCheck_longest_name(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 59) + "."
	long := strings.Repeat(label, 3) + strings.Repeat("b", 58) + ".com"
	if n, err := hostname.Parse(long, hostname.Policy{}); err != nil || len(n.ASCII) != hostname.MaxLength {
		t.Fatalf("%d bytes: %v", len(long), err)
	}
	s := serve(t, zone{"_shortline." + long + `. 60 IN TXT "` + value + `"`}.resolver(t))
	expect(t, "TXT", checker(t, testkit.Patience, s.address).Check(t.Context(), long, value, edge).TXT, Found, "")
	r := checker(t, testkit.Patience, s.address).Check(t.Context(), "x"+long, value, edge)
	expect(t, "TXT of a longer name", r.TXT, Unknown, "cannot be looked up")
}

func TestCheck_is_bounded_in_parallel(t *testing.T) {
	t.Parallel()
	z := zone{`_shortline.go.acme.com. 60 IN TXT "` + value + `"`, `go.acme.com. 60 IN CNAME edge.sho.rt.`}.resolver(t)
	s := serve(t, func(w dns.ResponseWriter, q *dns.Msg) *dns.Msg {
		pause(10 * time.Millisecond)
		return z(w, q)
	})
	c, err := New(Config{Resolvers: []string{s.address}, Parallel: 3})
	testkit.Must(t, err)
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if r := c.Check(t.Context(), host, value, edge); r.TXT.State != Found || r.Host.State != Found {
				t.Errorf("%+v", r)
			}
		})
	}
	wg.Wait()
	if most := s.most.Load(); most > 3*6 || most < 6 {
		t.Errorf("%d questions at a time, want at most 18", most)
	}

	// A check that gets no turn in time says so.
	for range 3 {
		c.turns <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	expect(t, "without a turn", c.Check(ctx, host, value, edge).TXT, Unknown, "Too many checks")
}

func TestNew_reads_resolvers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"192.0.2.53": "192.0.2.53:53", "192.0.2.53:5353": "192.0.2.53:5353", "2001:db8::53": "[2001:db8::53]:53",
		"[2001:db8::53]":      "[2001:db8::53]:53",
		"[2001:db8::53]:5353": "[2001:db8::53]:5353", "dns": "dns:53", " dns:5353 ": "dns:5353",
	} {
		if c, err := New(Config{Resolvers: []string{in}}); err != nil || c.resolvers[0] != want || c.timeout != MaxTime {
			t.Errorf("New(%q): %v, %+v; want %q", in, err, c, want)
		}
	}
	for _, in := range []string{"", ":53", "dns:", "dns:x y", "dns:99999", "a:b:c"} {
		if c, err := New(Config{Resolvers: []string{in}}); err == nil {
			t.Errorf("New(%q) = %v", in, c.resolvers)
		}
	}
	if c, err := New(Config{Timeout: time.Hour}); err != nil || c.timeout != MaxTime {
		t.Errorf("a timeout of an hour: %v, %v", c, err)
	}
	if list := systemResolvers(); len(list) == 0 {
		t.Error("the system has no resolver")
	}
}
