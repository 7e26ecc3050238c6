package redirect

import (
	"bufio"
	"bytes"
	"net"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/valyala/fasthttp"
)

// visits answers visits for the listener: see listen.Answer. The parser is the server's, and so is everything that
// writes the answer. The values are reused, so an answer does not allocate.
type visits struct {
	handler *Handler
	ctx     fasthttp.RequestCtx
	request bytes.Reader
	in      *bufio.Reader
	answer  bytes.Buffer
	out     *bufio.Writer
}

func newVisits(h *Handler) *visits {
	v := &visits{handler: h}
	v.in, v.out = bufio.NewReaderSize(&v.request, maxHeader), bufio.NewWriter(&v.answer)
	return v
}

// Answer implements listen.Answer for requests that are simple.
func (v *visits) Answer(c net.Conn, request, out []byte, last bool) (answer []byte, stays, ok bool) {
	h, ctx := v.handler, &v.ctx
	if !h.simple(request) {
		return nil, false, false
	}
	foreseen := foresight{h}.Glance(request)
	ctx.Init2(c, silent{}, false)
	ctx.Request.Reset()
	ctx.Response.Reset()
	header := &ctx.Request.Header
	header.DisableNormalizing()
	v.request.Reset(request)
	v.in.Reset(&v.request)
	if err := header.Read(v.in); err != nil || v.in.Buffered() > 0 || v.request.Len() > 0 || !plainHost(header.Host()) ||
		header.ContentLength() != -2 || ctx.Request.MayContinue() {
		return nil, false, false
	}
	if foreseen != 0 {
		h.deps.Table.Approach(foreseen)
	}
	ctx.Response.Header.DisableNormalizing()
	ctx.Response.Header.SetNoDefaultContentType(true)
	h.handle(ctx)
	ctx.Response.SkipBody = header.IsHead()
	if stays = !last && !header.ConnectionClose() && !ctx.Response.ConnectionClose(); !stays {
		ctx.Response.SetConnectionClose()
	}
	v.answer.Reset()
	v.out.Reset(&v.answer)
	if ctx.Response.Write(v.out) != nil || v.out.Flush() != nil {
		panic("BUG: an answer cannot be written to memory")
	}
	return append(out, v.answer.Bytes()...), stays, true
}

// simple reports whether a request is one for a link that is answered without waiting: GET or HEAD for a slug, with
// HTTP/1.1. All other requests, such as those for the control plane and passwords, go to the server.
func (h *Handler) simple(request []byte) bool {
	line, ok := bytes.CutSuffix(request[:max(bytes.IndexByte(request, '\n'), 0)], []byte(" HTTP/1.1\r"))
	uri, get := bytes.CutPrefix(line, []byte("GET "))
	if !get {
		uri, get = bytes.CutPrefix(line, []byte("HEAD "))
	}
	if !ok || !get || len(uri) == 0 || uri[0] != '/' {
		return false
	}
	for _, c := range uri {
		// The server checks targets for control characters, but the header's parser does not.
		if c <= ' ' || c == 0x7f || c == '#' {
			return false
		}
	}
	t := split(uri)
	return t.slug != nil && len(t.rest) == 0 && (h.deps.Upstream == nil || !h.deps.Upstream.Owns(t.path))
}

// plainHost reports whether the server accepts a Host for certain: a name or an IPv4 address, perhaps with a port.
func plainHost(host []byte) bool {
	name, port, hasPort := bytes.Cut(host, []byte(":"))
	for _, c := range port {
		if c < '0' || c > '9' {
			return false
		}
	}
	for _, c := range name {
		if !slugByte[c] && c != '.' {
			return false
		}
	}
	return len(name) > 0 && (!hasPort || len(port) > 0)
}

var _ listen.Answer = (*visits)(nil).Answer
