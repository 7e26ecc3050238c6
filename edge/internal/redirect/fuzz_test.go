package redirect_test

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
	"github.com/valyala/fasthttp"
)

// FuzzServe passes everything that the server accepts as a request to a handler. The answer must be exactly one valid
// HTTP answer, must not be a 500, and must redirect only to the link's destination.
func FuzzServe(f *testing.F) {
	s, err := spool.Open(spool.Config{Dir: f.TempDir(), SegmentBytes: 1 << 20, CapBytes: 8 << 20, MinFreePercent: -1})
	testkit.Must(f, err)
	f.Cleanup(func() { _ = s.Close() })
	testkit.Run(f, s.Run)
	trusted, err := visitor.ParsePrefixes("127.0.0.0/8, ::/0")
	testkit.Must(f, err)
	h, err := redirect.New(redirect.Config{BaseURL: "https://sho.rt", Trusted: trusted},
		redirect.Deps{Table: newTable(f, append(samples(), known)), Spool: s})
	testkit.Must(f, err)
	for _, seed := range []string{
		"GET /plain?a=1&utm_source=%41 HTTP/1.1\r\nHost: x\r\nReferer: r\r\nAccept-Language: de\r\nX-Forwarded-For: 1.2.3.4, " +
			"::1\r\nSec-Purpose: prefetch\r\n\r\n",
		"GET /hidden?error=invalid_password&x=\"> HTTP/1.1\r\nHost: x\r\nAccept: text/html;q=0.5,application/json;q=0.4\r\n\r\n",
		"GET /known?ref=a+b&%72ef=%&%zz=1 HTTP/1.1\r\nHost: x\r\nCookie: a=b; sl_v=0123456789abcdef\r\nDNT: 1\r\n\r\n",
		"POST /hidden/verify?x=1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{\"password\":\"x\"}",
		"POST /hidden/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\n\r\npassword=x",
		"GET http://h/routed?# HTTP/1.1\r\nHost: x\r\nUser-Agent: " + phone + "\r\nX-Real-IP: 2001:db8::1\r\n\r\n",
		"GET /social HTTP/1.1\r\nHost: x\r\nUser-Agent: " + crawler + "\r\n\r\n", "GET /plain/info HTTP/1.0\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		if len(request) > 8<<10 {
			return
		}
		ctx := &fasthttp.RequestCtx{}
		ctx.Init2(tcp{}, nil, false)
		ctx.Request.Header.DisableNormalizing()
		ctx.Response.Header.DisableNormalizing()
		if err := ctx.Request.ReadLimitBody(bufio.NewReaderSize(bytes.NewReader(request), 8<<10), 4<<10); err != nil {
			return
		}
		h.Serve(ctx)
		if ctx.IsHead() {
			ctx.Response.SkipBody = true
		}
		var out bytes.Buffer
		w := bufio.NewWriter(&out)
		testkit.Must(t, ctx.Response.Write(w))
		_ = w.Flush()
		in := bufio.NewReader(&out)
		resp, err := http.ReadResponse(in, &http.Request{Method: string(ctx.Method())})
		if err != nil {
			t.Fatalf("%q: the answer is not HTTP: %v", request, err)
		}
		if _, err := bytes.NewBuffer(nil).ReadFrom(resp.Body); err != nil || in.Buffered() > 0 {
			t.Fatalf("%q: body: %v, %d bytes too many", request, err, in.Buffered())
		}
		if resp.StatusCode == 500 || h.Stats().Panics > 0 {
			t.Fatalf("%q: status %d, %d panics", request, resp.StatusCode, h.Stats().Panics)
		}
		switch to := resp.Header.Get("Location"); resp.StatusCode {
		case 302:
			if !strings.HasPrefix(to, "https://example.com/") && !strings.HasPrefix(to, "https://m.example.com/") &&
				!strings.HasPrefix(to, "https://v.example.com/") {
				t.Fatalf("%q leads to %q", request, to)
			}
			if cookie := resp.Header.Values("Set-Cookie"); len(cookie) > 1 || len(cookie) == 1 && !cookieForm.MatchString(cookie[0]) {
				t.Fatalf("%q: cookies %q", request, cookie)
			}
			resp.Header.Del("Set-Cookie")
			if len(resp.Header) != 3 { // Date is one; Content-Length is not in the map
				if resp.Header.Del("Content-Length"); len(resp.Header) != 3 {
					t.Fatalf("%q: header %v", request, resp.Header)
				}
			}
		case 303:
			if !strings.HasPrefix(to, "/hidden?error=invalid_password") {
				t.Fatalf("%q leads to %q", request, to)
			}
		default:
			if to != "" {
				t.Fatalf("%q: status %d leads to %q", request, resp.StatusCode, to)
			}
		}
	})
}
