package redirect

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"github.com/shortline/shortline/edge/internal/latency"
	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/edge/internal/pages"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/valyala/fasthttp"
)

// visits answers simple requests for links without the server: see listen.Answer. A redirect needs neither the server's parser nor
// its response. All other answers are those of the server, with the same bytes. The values are reused, so an answer does not allocate.
type visits struct {
	handler *Handler
	work    work
	head    []byte // the request that is answered
	hsts    []byte // value of Strict-Transport-Security; empty: none
	id      uint64 // each has counters and a lane of its own, so loops do not contend
	serial  uint64 // of the request
	ids     uint64 // a request's id is this and its serial
	date    []byte // the header line for second
	second  int64

	// For answers that are no redirects.
	ctx    fasthttp.RequestCtx
	reader bytes.Reader
	in     *bufio.Reader
	answer bytes.Buffer
	out    *bufio.Writer
}

func newVisits(h *Handler) *visits {
	v := &visits{handler: h, id: h.loops.Add(1), ids: rand.Uint64()}
	v.in, v.out = bufio.NewReaderSize(&v.reader, maxHeader), bufio.NewWriter(&v.answer)
	return v
}

// Answer implements listen.Answer for requests that are simple.
func (v *visits) Answer(c net.Conn, requests, out []byte, last bool) (answer []byte, used int, stays bool) {
	h, w := v.handler, &v.work
	t, header, ok := h.simple(requests)
	if !ok {
		return nil, 0, false
	}
	foreseen := h.deps.Table.Foresee(t.slug)
	size, closes := w.parse(header, h.proxies)
	if size == 0 {
		return nil, 0, false
	}
	used = len(requests) - len(header) + size
	h.deps.Table.Approach(foreseen)
	v.serial++
	w.head, w.conn, w.id, w.arrived, w.ctx, w.loop = requests[0] == 'H', c, v.id, time.Now(), nil, v
	v.head = requests[:used]
	defer func() {
		if cause := recover(); cause != nil {
			h.panicked(v.begin(c), cause)
			answer, stays = v.appendServerAnswer(out, false)
		}
	}()
	stays = !closes && !(last && used == len(requests))
	e, outcome := v.find(&t)
	switch {
	case outcome == latency.Redirect && h.redirect(w, &e, t):
		out = v.redirect(out, stays)
	case outcome == latency.NotFound:
		out = v.missing(out, &t, stays)
	default:
		if w.ctx == nil {
			h.Serve(w.context())
		}
		h.observe(w.ctx)
		answer, stays = v.appendServerAnswer(out, stays)
		return answer, used, stays
	}
	if v.serial%sampleEvery == 0 {
		h.sample(c, w.id, outcome, w.arrived, w.status)
	}
	return out, used, stays
}

// undurable is the answer for requests whose clicks may be lost, because the disk has failed.
var undurable = []byte("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n")

// awaitClicks implements listen.Settle: redirects are sent when their clicks are on the disk.
func (v *visits) awaitClicks() func() []byte {
	if len(v.work.receipts) == 0 {
		return nil
	}
	receipts := v.work.receipts
	v.work.receipts = nil
	return func() []byte {
		if spool.Durable(receipts) {
			return nil
		}
		v.handler.tally.add(v.id, cUnavailable)
		v.handler.tally.add(v.id, cErrors)
		return undurable
	}
}

// find finds the link of a request. It returns latency.Redirect if there is one, latency.NotFound if the answer is 404 without further
// conditions, and else latency.Page, which stands for all other answers.
func (v *visits) find(t *target) (e table.Entry, outcome latency.Outcome) {
	h, w := v.handler, &v.work
	v.hsts = v.hsts[:0]
	if h.deps.Hosts != nil {
		host := h.deps.Hosts.Lookup(w.host)
		switch name, secure := listen.Secured(w.conn); {
		case secure && (host == nil || host.Name != name),
			host != nil && (host.Withdrawn || !secure && h.cfg.TLS && host.Certificate != nil):
			return e, latency.Page
		case secure:
			v.hsts = h.appendHSTS(v.hsts, host)
		}
		t.take(host)
	}
	e, ok := h.lookup(t)
	if !ok {
		e, ok = h.lookupShorter(t, t.slug)
	}
	switch {
	case h.misdirected(w.host, *t):
		return e, latency.Page
	case ok:
		if !e.Plain() {
			h.deps.Table.Prepare(&e)
		}
		return e, latency.Redirect
	case w.head || t.site != nil || t.own || h.limiter != nil || fixed(t.path) || h.deps.Ready != nil && !h.deps.Ready():
		return e, latency.Page
	}
	return e, latency.NotFound
}

// redirect appends the redirect that v.work holds to out, with the bytes that the server would send.
func (v *visits) redirect(out []byte, stays bool) []byte {
	w := &v.work
	out = append(append(out, statusLine(w.status)...), v.dateLine()...)
	out = v.hstsLine(append(out, "Content-Length: 0"...))
	out = append(append(append(out, "\r\n"...), w.lines()...), ": "...)
	begin := len(out)
	out = append(out, w.target...)
	oneLine(out[begin:])
	if len(w.cookie) > 0 {
		out = append(append(append(append(out, "\r\n"...), nameSetCookie...), ": "...), w.cookie...)
	}
	return end(out, stays)
}

func (v *visits) hstsLine(out []byte) []byte {
	if len(v.hsts) > 0 {
		out = append(append(append(append(out, "\r\n"...), nameHSTS...), ": "...), v.hsts...)
	}
	return out
}

// oneLine replaces line breaks by spaces, as the server does. Control planes refuse destinations with line breaks; an edge must not depend
// on that, because a line break would begin another field of the answer.
func oneLine(b []byte) {
	if bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '\r') < 0 {
		return
	}
	for i, c := range b {
		if c == '\n' || c == '\r' {
			b[i] = ' '
		}
	}
}

// missing appends the answer for a slug that does not exist to out, with the bytes that the server would send.
func (v *visits) missing(out []byte, t *target, stays bool) []byte {
	h, w := v.handler, &v.work
	w.status = fasthttp.StatusNotFound
	h.tally.add(w.id, cMissing)
	h.countMissing(*t)
	r := h.pages.Refusals[fasthttp.StatusNotFound]
	accept, id := scanAsker(w.raw)
	body, media, policy := r.JSON, typeJSON, jsonPolicyB
	if prefersHTML(accept) {
		page := h.pages.Own.Refusal(r, pages.LanguageOf(view(w.language)))
		body, media, policy = page.HTML, typeHTML, page.Policy
	}
	out = append(append(append(out, "HTTP/1.1 404 Not Found\r\n"...), v.dateLine()...), "Content-Type: "...)
	out = v.hstsLine(strconv.AppendInt(append(append(out, media...), "\r\nContent-Length: "...), int64(len(body)), 10))
	out = append(append(append(append(out, "\r\n"...), fixedName...), ": "...), policy...)
	out = append(append(append(out, "\r\n"...), nameID...), ": "...)
	var buf [16]byte
	out = end(append(out, requestID(v.ids+v.serial, id, buf[:0])...), stays)
	return append(out, body...)
}

// end appends the end of a header.
func end(out []byte, stays bool) []byte {
	if !stays {
		out = append(out, "\r\nConnection: close"...)
	}
	return append(out, "\r\n\r\n"...)
}

// dateLine returns the header line with the time of the request.
func (v *visits) dateLine() []byte {
	if now := v.work.arrived.Unix(); now != v.second || len(v.date) == 0 {
		v.second, v.date = now, append(fasthttp.AppendHTTPDate(append(v.date[:0], "Date: "...), v.work.arrived), "\r\n"...)
	}
	return v.date
}

// statusLine returns the first line of a redirect.
func statusLine(status int) string {
	switch status {
	case fasthttp.StatusMovedPermanently:
		return "HTTP/1.1 301 Moved Permanently\r\n"
	case fasthttp.StatusTemporaryRedirect:
		return "HTTP/1.1 307 Temporary Redirect\r\n"
	case fasthttp.StatusPermanentRedirect:
		return "HTTP/1.1 308 Permanent Redirect\r\n"
	}
	return "HTTP/1.1 302 Found\r\n"
}

// begin returns the context for an answer that is no redirect, without a request.
func (v *visits) begin(c net.Conn) *fasthttp.RequestCtx {
	ctx := &v.ctx
	ctx.Init2(c, silent{}, false)
	ctx.Request.Reset()
	ctx.Response.Reset()
	ctx.Request.Header.DisableNormalizing()
	ctx.Response.Header.DisableNormalizing()
	ctx.Response.Header.SetNoDefaultContentType(true)
	return ctx
}

// parse returns the context of the request with the request. The server's parser accepts every request that work.parse accepts.
func (v *visits) parse(r *request) *fasthttp.RequestCtx {
	ctx := v.begin(r.conn)
	v.reader.Reset(v.head)
	v.in.Reset(&v.reader)
	if err := ctx.Request.Header.Read(v.in); err != nil || v.in.Buffered() > 0 || v.reader.Len() > 0 {
		panic("BUG: the server does not accept a simple request")
	}
	if len(v.hsts) > 0 {
		ctx.Response.Header.SetCanonical(nameHSTS, v.hsts)
	}
	return ctx
}

// appendServerAnswer appends the answer in v.ctx to out.
func (v *visits) appendServerAnswer(out []byte, stays bool) (answer []byte, remains bool) {
	ctx := &v.ctx
	ctx.Response.SkipBody = ctx.IsHead()
	if stays = stays && !ctx.Response.ConnectionClose(); !stays {
		ctx.Response.SetConnectionClose()
	}
	v.answer.Reset()
	v.out.Reset(&v.answer)
	if ctx.Response.Write(v.out) != nil || v.out.Flush() != nil {
		panic("BUG: an answer cannot be written to memory")
	}
	return append(out, v.answer.Bytes()...), stays
}

var _ listen.Answer = (*visits)(nil).Answer
