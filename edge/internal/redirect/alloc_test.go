package redirect_test

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
	"github.com/valyala/fasthttp"
)

const tenRules = `{"operator":"AND","conditions":[{"type":"device","operator":"equals","value":"DESKTOP"},{"operator":"OR","conditions":[
	{"type":"country","operator":"in","value":["DE","AT","CH"]},{"type":"language","operator":"contains","value":"%s"}]},
	{"type":"time","operator":"between","value":{"start":"00:00","end":"23:59"}}]}`

// known is a link whose rules need everything that only some links need.
var known = link.Record{Key: "known", Destination: "https://example.com/", SmartRouting: true, Rules: []link.Rule{
	ruleFor(1, "https://example.com/r", one("query", "equals", `{"name":"ref","value":"a b"}`)),
	ruleFor(2, "https://example.com/r", one("ip", "in", `["203.0.113.0/24"]`)),
	ruleFor(3, "https://example.com/r", one("percentage", "less_than", `0.0001`)),
	ruleFor(4, "https://example.com/r", one("visitor", "equals", `"returning"`)),
}}

func hotLinks() []link.Record {
	var rules []link.Rule
	for i := range 9 {
		rules = append(rules, ruleFor(byte(i+1), "https://example.com/r", fmt.Sprintf(tenRules, "x"+fmt.Sprint(i))))
	}
	rules = append(rules, ruleFor(10, "https://example.com/last", fmt.Sprintf(tenRules, "en")))
	var variants []link.Variant
	for i := range 5 {
		variants = append(variants, link.Variant{ID: link.ID{byte(i + 1)}, Target: "https://example.com/v", Weight: uint32(i + 1)})
	}
	return []link.Record{
		{Key: "plain", Destination: "https://example.com/some/page?with=query"},
		{Key: "routed", Destination: "https://example.com/", SmartRouting: true, Rules: rules},
		{Key: "split", Destination: "https://example.com/", ABTesting: true, Variants: variants},
		{Key: "presets", Destination: "https://example.com/?a=1", UTM: link.UTM{Source: "news", Medium: "mail"}},
		{Key: "off", Destination: "https://example.com/", Inactive: true},
		known,
		{Key: "kept", Destination: "https://example.com/", ABTesting: true, Variants: variants, Stickiness: link.StickyCookie},
		{Key: "tsplit", Destination: "https://example.com/", ABTesting: true, Variants: variants, TrackConversions: true},
		{Key: "tracked", Destination: "https://example.com/", TrackConversions: true, SmartRouting: true, Rules: rules,
			ClickParameter: "cid"},
	}
}

// caller calls a handler like the server, with the memory of one connection.
type caller struct {
	ctx     *fasthttp.RequestCtx
	handle  fasthttp.RequestHandler
	loop    listen.Answer
	request []byte
	out     []byte
}

// inLoop lets the loop answer, and reports whether it did.
func (c *caller) inLoop() bool {
	var used int
	c.out, used, _ = c.loop(tcp{}, c.request, c.out[:0], false)
	return used > 0
}

func newCaller(tb testing.TB, adjust ...func(*redirect.Config, *redirect.Deps)) func(target string) *caller {
	tb.Helper()
	s, err := spool.Open(spool.Config{Dir: tb.TempDir(), Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	testkit.Must(tb, err)
	tb.Cleanup(func() { _ = s.Close() })
	testkit.Run(tb, s.Run)
	cfg := redirect.Config{BaseURL: "https://sho.rt"}
	deps := redirect.Deps{Table: newTable(tb, hotLinks()), Spool: s, Agents: visitor.NewAgents(64)}
	for _, f := range adjust {
		f(&cfg, &deps)
	}
	h, err := redirect.New(cfg, deps)
	testkit.Must(tb, err)
	handle, loop := redirect.NewServer(h, listen.New(nil, redirect.Timeouts)).Handler, redirect.AnswerOf(h)
	return func(target string) *caller {
		return &caller{requestCtx(tb, target), handle, loop, requestFor(target), nil}
	}
}

// requestFor returns a browser's request.
func requestFor(target string) []byte {
	return []byte("GET " + target + " HTTP/1.1\r\nHost: sho.rt\r\nConnection: keep-alive\r\nsec-ch-ua: \"Chromium\";v=\"142\"\r\n" +
		"sec-ch-ua-mobile: ?0\r\nUpgrade-Insecure-Requests: 1\r\nUser-Agent: " + desktop + "\r\nAccept: " + browser +
		"\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nReferer: https://news.test/page\r\n" +
		"Accept-Encoding: gzip, deflate, br\r\nAccept-Language: en-GB,en;q=0.9\r\nX-Forwarded-For: 198.51.100.7, 127.0.0.1\r\n\r\n")
}

// requestCtx parses a request like the server.
func requestCtx(tb testing.TB, target string) *fasthttp.RequestCtx {
	tb.Helper()
	client, server := net.Pipe()
	got := make(chan *fasthttp.RequestCtx, 1)
	s := &fasthttp.Server{DisableHeaderNamesNormalizing: true, NoDefaultServerHeader: true, NoDefaultContentType: true,
		Handler: func(ctx *fasthttp.RequestCtx) {
			kept := &fasthttp.RequestCtx{}
			kept.Init2(tcp{}, nil, false)
			ctx.Request.CopyTo(&kept.Request)
			_ = kept.Request.Header.RawHeaders()
			got <- kept
		}}
	go func() { _ = s.ServeConn(server) }()
	go func() { _, _ = io.Copy(io.Discard, client) }()
	_, err := client.Write(requestFor(target))
	testkit.Must(tb, err)
	ctx := <-got
	_ = client.Close()
	return ctx
}

// tcp is a connection of which only the address is used.
type tcp struct{ net.Conn }

var peer net.Addr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}

func (tcp) RemoteAddr() net.Addr { return peer }
func (tcp) LocalAddr() net.Addr  { return peer }

func (c *caller) call() int {
	c.ctx.Response.Reset()
	c.handle(c.ctx)
	return c.ctx.Response.StatusCode()
}

var hot = []struct {
	name, target string
	status       int
}{
	{"plain", "/plain", 302}, {"plain_query", "/plain?utm_source=a%20b&x=1", 302}, {"rules", "/routed", 302}, {"variants", "/split", 302},
	{"presets", "/presets", 302}, {"recognised", "/known?ref=a%20c", 302}, {"sticky", "/kept", 302}, {"split_tracked", "/tsplit", 302},
	{"tracked", "/tracked?utm_source=a&cid=x", 302}, {"missing", "/nothing", 404}, {"gone", "/off", 410},
}

func TestServe_does_not_allocate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a garbage collection would empty the pools
	for name, adjust := range map[string]func(*redirect.Config, *redirect.Deps){
		"direct":    func(*redirect.Config, *redirect.Deps) {},
		"proxied":   func(c *redirect.Config, _ *redirect.Deps) { c.Trusted, _ = visitor.ParsePrefixes("127.0.0.1") },
		"with keys": tracking(t, time.Now()),
		"strict":    func(c *redirect.Config, _ *redirect.Deps) { c.StrictHosts = true },
		"custom domain": func(c *redirect.Config, d *redirect.Deps) {
			c.BaseURL = "https://other.example"
			links := hotLinks()
			for i := range links {
				links[i].Key = link.Key(1000, links[i].Key)
			}
			d.Table = newTable(t, links)
			d.Hosts = newHosts(t, snapshot.Host{Name: "sho.rt", Domain: 1000})
		},
	} {
		at := newCaller(t, adjust)
		for _, c := range hot {
			caller := at(c.target)
			if got := caller.call(); got != c.status {
				t.Fatalf("%s: status %d, want %d", c.name, got, c.status)
			}
			if n := testing.AllocsPerRun(500, func() { caller.call() }); n != 0 && !raceEnabled {
				t.Errorf("%s, %s: %v allocations", name, c.name, n)
			}
			if !caller.inLoop() || string(caller.out[len("HTTP/1.1 "):][:3]) != strconv.Itoa(c.status) {
				t.Fatalf("%s: the loop answers %.50q, want %d", c.name, caller.out, c.status)
			}
			if n := testing.AllocsPerRun(500, func() { caller.inLoop() }); n != 0 && !raceEnabled {
				t.Errorf("%s, %s: %v allocations in the loop", name, c.name, n)
			}
		}
	}
}

// Slugs beyond ASCII allocate nothing either, in any form, and below a host that finds slugs in any case.
func TestServe_extended_slugs_do_not_allocate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	at := newCaller(t, func(c *redirect.Config, d *redirect.Deps) {
		c.BaseURL = "https://other.example"
		d.Table = newTable(t, []link.Record{
			{Key: link.Key(1000, "春/über"), Destination: "https://example.com/", Forward: true},
			{Key: link.Key(1000, "spring"), Destination: "https://example.com/"},
		})
		d.Hosts = newHosts(t, snapshot.Host{Name: "sho.rt", Domain: 1000, SlugForm: snapshot.SlugForm{Extended: true, Fold: true}})
	})
	for target, status := range map[string]int{
		"/%E6%98%A5/%C3%BCber": 302, "/%E6%98%A5/%C3%9CBER": 302, "/%E6%98%A5/u%CC%88ber": 302, "/%E6%98%A5/%C3%BCber/deeper": 302,
		"/spring": 302, "/SPRING": 302, "/%E6%98%A5": 404, "/%C3%BCber": 404,
	} {
		caller := at(target)
		if got := caller.call(); got != status {
			t.Fatalf("%s: status %d, want %d", target, got, status)
		}
		if n := testing.AllocsPerRun(500, func() { caller.call() }); n != 0 && !raceEnabled {
			t.Errorf("%s: %v allocations", target, n)
		}
	}
}

func BenchmarkServe(b *testing.B) {
	at := newCaller(b, tracking(b, time.Now()))
	for _, c := range hot {
		b.Run(c.name, func(b *testing.B) {
			caller := at(c.target)
			b.ReportAllocs()
			for b.Loop() {
				caller.call()
			}
		})
	}
	for _, c := range hot {
		b.Run("loop_"+c.name, func(b *testing.B) {
			caller := at(c.target)
			b.ReportAllocs()
			for b.Loop() {
				caller.inLoop()
			}
		})
	}
	b.Run("bare", func(b *testing.B) {
		caller := at("/plain")
		caller.handle = func(ctx *fasthttp.RequestCtx) {
			ctx.Response.SetStatusCode(fasthttp.StatusFound)
			ctx.Response.Header.Set("Location", "https://example.com/some/page?with=query")
			ctx.Response.Header.Set("Cache-Control", "private, no-store")
		}
		for b.Loop() {
			caller.call()
		}
	})
}
