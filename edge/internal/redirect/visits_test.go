package redirect_test

import (
	"bufio"
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/framing"
	"github.com/shortline/shortline/shared/framing/corpus"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
	"github.com/valyala/fasthttp"
)

// twins answer the same requests in the loop and in the server.
type twins struct {
	loop   func(t *testing.T, request []byte) (answer string, used int) // 0: the loop does not answer
	server func(request []byte) (answer string, ok bool)
}

func newTwins(tb testing.TB) twins {
	tb.Helper()
	trusted, err := visitor.ParsePrefixes("127.0.0.0/8, ::/0")
	testkit.Must(tb, err)
	links := append(samples(), known)
	for i, code := range []uint16{0, 301, 307, 308} {
		links = append(links, link.Record{Key: fmt.Sprint("code", i), Destination: "https://example.com/code", Code: code})
	}
	links = append(links, link.Record{Key: "lines", Destination: "https://example.com/a\r\nX: y\nz"}) // which no control plane sends
	h, err := redirect.New(redirect.Config{BaseURL: "https://sho.rt", Trusted: trusted},
		redirect.Deps{Table: newTable(tb, links), Spool: newSpool(tb), Logger: slog.New(slog.DiscardHandler)})
	testkit.Must(tb, err)
	answer := redirect.AnswerOf(h)
	tb.Cleanup(func() {
		if n := h.Stats().Panics; n != 0 {
			tb.Errorf("%d panics", n)
		}
	})
	return twins{
		loop: func(t *testing.T, request []byte) (string, int) {
			var tracker framing.Tracker
			if n, err := tracker.Take(request); err != nil || n < len(request) || tracker.Heads() != 1 || !tracker.Between() {
				return "", 0
			}
			out, used, stays := answer(tcp{}, bytes.Clone(request), nil, false)
			if used > 0 && stays == strings.Contains(string(out), "\r\nConnection: close\r\n") {
				t.Errorf("%q: the connection stays: %v: %q", request, stays, out)
			}
			if used != 0 && len(bytes.Trim(request[used:], "\r\n")) > 0 { // empty lines may precede the next request
				t.Errorf("%q: used %d bytes", request, used)
			}
			return string(out), used
		},
		server: func(request []byte) (string, bool) {
			ctx := &fasthttp.RequestCtx{}
			ctx.Init2(tcp{}, nil, false)
			ctx.Request.Header.DisableNormalizing()
			ctx.Response.Header.DisableNormalizing()
			ctx.Response.Header.SetNoDefaultContentType(true)
			in := bufio.NewReaderSize(bytes.NewReader(request), 8<<10)
			if ctx.Request.ReadLimitBody(in, 4<<10) != nil || in.Buffered() > 0 {
				return "", false
			}
			h.Serve(ctx)
			ctx.Response.SkipBody = ctx.IsHead()
			if ctx.Request.Header.ConnectionClose() {
				ctx.Response.SetConnectionClose()
			}
			var out bytes.Buffer
			w := bufio.NewWriter(&out)
			testkit.Must(tb, ctx.Response.Write(w))
			testkit.Must(tb, w.Flush())
			return out.String(), true
		},
	}
}

// Values that differ from answer to answer: the date, the request's id, and the identity of a new visitor.
var varying = regexp.MustCompile(`(\r\nDate: |\r\nX-Request-ID: |; sl_v=|: sl_v=)[^\r;]*`)

// compare fails unless the server gives every answer that the loop gives, byte for byte.
func (w twins) compare(t *testing.T, request []byte) (inLoop bool) {
	got, used := w.loop(t, request)
	if used == 0 {
		return false
	}
	want, ok := w.server(request[:used])
	if !ok {
		t.Fatalf("%q: the server refuses what the loop answers with %q", request, got)
	}
	if got, want = varying.ReplaceAllString(got, "$1"), varying.ReplaceAllString(want, "$1"); got != want {
		t.Fatalf("%q:\nloop   %q\nserver %q", request, got, want)
	}
	return true
}

// The loop and the server send the same bytes.
func TestVisits_answer_like_the_server(t *testing.T) {
	t.Parallel()
	w := newTwins(t)
	inLoop := 0
	for _, slug := range []string{
		"plain", "off", "expired", "social", "hidden", "presets", "routed", "both", "zeros", "loop", "known", "nothing",
		"healthz", "readyz",
		"lines", "code0", "code1", "code2", "code3", "plain?a=1&utm_source=%41", "hidden?error=invalid_password", "plain/info", "ab",
		"plain#x", "pl%61in",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "get"} {
			for _, header := range []string{
				"Host: sho.rt", "Host: sho.rt:8080\r\nConnection: close", "host:sho.rt\r\nconnection: Keep-Alive", "Host: [::1]",
				"Host: a b", "X: y",
				"Host: sho.rt\r\nUser-Agent: " + phone, "Host: sho.rt\r\nUser-Agent: " + crawler,
				"Host: sho.rt\r\nUser-Agent:\r\nUser-Agent: x",
				"Host: sho.rt\r\nAccept: " + browser + "\r\nAccept: application/json\r\nX-Request-ID: 17",
				"Host: sho.rt\r\nX-Request-ID: a b",
				"Host: sho.rt\r\nCookie: a=b; sl_v=0123456789abcdef\r\nDNT: 1",
				"Host: sho.rt\r\nX-Forwarded-For: 1.2.3.4\r\nX-Real-IP: ::1",
				"Host: sho.rt\r\nHost: sho.rt", "Host: sho.rt\r\nContent-Length: 0", "Host: sho.rt\r\nExpect: 100-continue",
				"Host: sho.rt\r\nTrailer: X",
				"Host: sho.rt\r\nConnection: upgrade\r\nUpgrade: websocket", "Host: sho.rt\r\nA: \x7f", "Host: sho.rt\r\nA: \x01",
				"Host: sho.rt\r\nA: \xff\x80é",
				"Host: sho.rt\r\nA : b", "Host: sho.rt\r\n: b", "Host: sho.rt\r\nA", "Host: sho.rt\r\nA\x00: b",
				"Host: sho.rt\r\nReferer: \xc2\xa0x\xc2\xa0",
				"Host: sho.rt\r\nA:\tb\t", "Host: \tsho.rt \r\nReferer: \t r \t", "Host: sho.rt\r\n b: c", "Host: sho.rt\r\nA: b\r\n\tc",
			} {
				if w.compare(t, []byte(method+" /"+slug+" HTTP/1.1\r\n"+header+"\r\n\r\n")) {
					inLoop++
				}
			}
		}
	}
	for _, r := range corpus.Requests() {
		w.compare(t, []byte(r.Raw))
	}
	if inLoop < 400 {
		t.Errorf("the loop answers only %d requests", inLoop)
	}
}

// Random requests are answered alike, if the loop answers them.
func TestVisits_answer_like_the_server_at_random(t *testing.T) {
	t.Parallel()
	w := newTwins(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	inLoop := 0
	for range testkit.Size(20_000, 1_000_000) {
		if w.compare(t, randomRequest(random)) {
			inLoop++
		}
	}
	t.Logf("%d answers in the loop", inLoop)
	if inLoop == 0 {
		t.Error("the loop answers none of them")
	}
}

// randomRequest returns a request of parts that matter, or almost one.
func randomRequest(random *rand.Rand) []byte {
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	slugs := []string{"plain", "off", "social", "hidden", "presets", "routed", "both", "known", "nothing", "code1", "code3", "healthz",
		"plain/info"}
	names := []string{
		"Host", "host", "HOST", "User-Agent", "user-agent", "Accept", "Accept-Language", "Accept-Encoding", "Referer",
		"Connection", "Cookie",
		"X-Forwarded-For", "X-Real-IP", "X-Request-ID", "X-Forwarded-Proto", "Sec-Purpose", "Purpose", "X-Moz", "X-Purpose",
		"DNT", "Sec-GPC",
		"Content-Length", "Transfer-Encoding", "Expect", "Trailer", "TE", "Upgrade", "Content-Type", "Keep-Alive", "Proxy-Connection", "A",
	}
	values := []string{
		"sho.rt", "sho.rt:80", "", "a", "close", "keep-alive", "Close", "upgrade", "close, TE", phone, crawler, browser,
		"de-CH,de;q=0.9", "1", "0",
		"prefetch", "preview", "203.0.113.7", "203.0.113.7, 10.0.0.1", "::1", "https", "sl_v=0123456789abcdef",
		"a=b; sl_v=0123456789abcdef; c=d",
		"https://news.test/a?b=c", "application/json", "text/html;q=0.1,application/json", "é", "\xff", "\x7f", "a\tb", "a\rb", "chunked",
		strings.Repeat("x", 700),
	}
	spaces := []string{" ", " ", " ", "", "\t", "  "}
	var b bytes.Buffer
	b.WriteString(pick([]string{"GET ", "GET ", "GET ", "HEAD "}) + "/" + pick(slugs) +
		pick([]string{"", "", "?a=1", "?utm_source=%41&b"}))
	b.WriteString(" HTTP/1.1\r\n")
	if random.IntN(8) > 0 {
		b.WriteString("Host:" + pick(spaces) + "sho.rt\r\n")
	}
	for range random.IntN(8) {
		b.WriteString(pick(names) + ":" + pick(spaces) + pick(values) + pick([]string{"", "", "", " "}) + "\r\n")
	}
	b.WriteString("\r\n")
	request := b.Bytes()
	if random.IntN(4) == 0 { // a byte that does not belong
		request[random.IntN(len(request))] = byte(random.IntN(256))
	}
	return request
}

// The last requests of a client that has ended its side are all answered. Only the last answer ends the connection.
func TestVisits_last_requests(t *testing.T) {
	t.Parallel()
	h, err := redirect.New(redirect.Config{BaseURL: "https://sho.rt"}, redirect.Deps{Table: newTable(t, samples()), Spool: newSpool(t)})
	testkit.Must(t, err)
	answer := redirect.AnswerOf(h)
	const request = "GET /plain HTTP/1.1\r\nHost: sho.rt\r\n\r\n"
	for n, want := range map[int]bool{1: false, 2: true} {
		_, used, stays := answer(tcp{}, []byte(strings.Repeat(request, n)), nil, true)
		if used != len(request) || stays != want {
			t.Errorf("with %d requests: used %d of %d bytes, stays: %v", n, used, len(request), stays)
		}
	}
}

// FuzzVisits compares the loop's parser and answers with the server's.
func FuzzVisits(f *testing.F) {
	w := newTwins(f)
	for _, seed := range []string{
		"GET /plain?a=1&utm_source=%41 HTTP/1.1\r\nHost: x\r\nReferer: r\r\nAccept-Language: de\r\nX-Forwarded-For: 1.2.3.4, " +
			"::1\r\nSec-Purpose: prefetch\r\n\r\n",
		"HEAD /presets HTTP/1.1\r\nHost: x:1\r\nConnection: close\r\nAccept: text/html;q=0.5,application/json;q=0.4\r\nX-Request-ID: 1\r\n\r\n",
		"GET /known?ref=a+b&%72ef=%&%zz=1 HTTP/1.1\r\nhost:x\r\nCookie: a=b; sl_v=0123456789abcdef\r\nDNT: 1\r\nX-Moz: prefetch\r\n\r\n",
		"GET /nothing HTTP/1.1\r\nHost: x\r\nUser-Agent: " + phone + "\r\nX-Real-IP: 2001:db8::1\r\nPurpose: preview\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		if len(request) <= 8<<10 {
			w.compare(t, request)
		}
	})
}
