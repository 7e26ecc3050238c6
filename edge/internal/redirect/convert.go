package redirect

import (
	"bytes"
	"fmt"
	"mime"
	"net/url"
	"time"

	"github.com/shortline/shortline/edge/internal/apierror"
	"github.com/shortline/shortline/edge/internal/hosts"
	"github.com/shortline/shortline/edge/internal/pages"
	"github.com/shortline/shortline/edge/internal/ratelimit"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/valyala/fasthttp"
)

const (
	conversionPath     = "/c"
	scriptPath         = "/sl.js"
	maxConversionBody  = 16 << 10
	maxConversionItems = 100 // in one request
	preflightAge       = "86400"
	fullWait           = "60" // seconds after which to try again if the spool is full
)

// ConversionSink takes the conversions that browsers send.
type ConversionSink interface {
	// Take checks and stores conversions for a workspace. It returns a problem for each item, nil for an accepted one. After
	// an error nothing counts as accepted, and the sender must send everything again.
	Take(check conversion.Checker, workspace uint64, items []conversion.Item) ([]*conversion.Problem, error)
}

// conversionServer has what requests of conversions need.
type conversionServer struct {
	sink          ConversionSink
	clients, keys *ratelimit.Limiter // nil without a limit
	most          int                // items in one request, which no limiter may always refuse
}

func newConversionServer(cfg *Config, sink ConversionSink) *conversionServer {
	if sink == nil {
		return nil
	}
	s := &conversionServer{sink: sink, clients: ratelimit.New(cfg.ConversionLimit), keys: ratelimit.New(cfg.ConversionKeyLimit),
		most: maxConversionItems}
	for _, limit := range []int{cfg.ConversionLimit, cfg.ConversionKeyLimit} {
		if limit > 0 {
			s.most = min(s.most, limit)
		}
	}
	return s
}

// serveConversion answers requests of web sites that send conversions, at each host. It reports whether it has answered.
func (h *Handler) serveConversion(ctx *fasthttp.RequestCtx, t *target) bool {
	switch string(t.path) {
	case scriptPath:
		if ctx.IsGet() || ctx.IsHead() {
			h.serveScript(ctx)
			return true
		}
	case conversionPath:
		if ctx.IsPost() || ctx.IsOptions() {
			h.convert(ctx, t)
			return true
		}
	}
	return false
}

// convert answers POST /c, and the question of browsers whether they may send one (OPTIONS).
func (h *Handler) convert(ctx *fasthttp.RequestCtx, t *target) {
	limit := maxConversionBody
	if ctx.IsOptions() {
		limit = maxIdleBody
	}
	if !h.framed(ctx, limit) || h.refuseOverLimit(ctx) {
		return
	}
	ip, now := h.clientIP(ctx), h.now(ctx)
	if h.overConversionLimit(ctx, h.conversions.clients.Take(ip, now)) {
		return
	}
	var known *hosts.Conversions
	if h.deps.Hosts != nil {
		known = h.deps.Hosts.Conversions()
	}
	origin := string(first(ctx.Request.Header.RawHeaders(), "origin"))
	if !known.Allows(origin) {
		h.refuseConversion(ctx, fasthttp.StatusForbidden, "Conversions are accepted only from pages of a workspace's sites.")
		return
	}
	ctx.Response.Header.Set("Access-Control-Allow-Origin", origin)
	ctx.Response.Header.Set("Vary", "Origin")
	if ctx.IsOptions() {
		ctx.Response.SetStatusCode(fasthttp.StatusNoContent)
		ctx.Response.Header.Set("Access-Control-Allow-Methods", "POST")
		ctx.Response.Header.Set("Access-Control-Allow-Headers", "Content-Type")
		ctx.Response.Header.Set("Access-Control-Max-Age", preflightAge)
		return
	}
	s, ok := h.readSale(ctx, t.query)
	if !ok {
		return
	}
	source := known.Source(s.Key)
	if source == nil || !source.Allows(origin) {
		ctx.Response.Header.Del("Access-Control-Allow-Origin")
		h.refuseConversion(ctx, fasthttp.StatusForbidden, "The publishable key is unknown, or this page is not on one of its sites.")
		return
	}
	if h.overConversionLimit(ctx, h.conversions.clients.TakeMany(ip, len(s.Items)-1, now)) {
		return
	}
	// Pages show the key, so strangers must not use up its limit with click ids that they have invented.
	check := conversion.Checker{Keys: known.Keys(), Window: known.Window(), Now: now}
	sound := 0
	for i := range s.Items {
		if _, problem := check.Check(&s.Items[i]); problem == nil {
			sound++
		}
	}
	if sound > 0 && h.overConversionLimit(ctx, h.conversions.keys.TakeKey(s.Key, sound, now)) {
		return
	}
	problems, err := h.conversions.sink.Take(check, source.Workspace, s.Items)
	if err != nil {
		h.tally.add(ctx.ConnID(), cSalesFull)
		h.refuseWith(ctx, fasthttp.StatusServiceUnavailable, "Conversions cannot be stored at the moment. Send them again later.")
		ctx.Response.Header.Set("Retry-After", fullWait)
		return
	}
	h.answerSale(ctx, problems)
}

// verdict tells what became of one conversion.
type verdict struct {
	Index   int                `json:"index"`
	Verdict conversion.Verdict `json:"verdict"`
	Field   string             `json:"field,omitempty"`
	Message string             `json:"message,omitempty"`
}

// answerSale answers 202, as POST /api/conversions does.
func (h *Handler) answerSale(ctx *fasthttp.RequestCtx, problems []*conversion.Problem) {
	out := struct {
		Accepted int       `json:"accepted"`
		Rejected int       `json:"rejected"`
		Results  []verdict `json:"results"`
	}{Results: make([]verdict, len(problems))}
	for i, p := range problems {
		if p == nil {
			out.Accepted++
			out.Results[i] = verdict{Index: i, Verdict: conversion.Accepted}
			continue
		}
		out.Rejected++
		out.Results[i] = verdict{i, p.Verdict, p.Field, p.Message}
	}
	h.tally.add(ctx.ConnID(), cSales)
	h.tally[ctx.ConnID()%stripes][cSold].Add(uint64(out.Accepted))
	h.tally[ctx.ConnID()%stripes][cUnsold].Add(uint64(out.Rejected))
	h.json(ctx, out)
	ctx.Response.SetStatusCode(fasthttp.StatusAccepted)
}

// overConversionLimit answers 429 and returns true if a limiter asks to wait.
func (h *Handler) overConversionLimit(ctx *fasthttp.RequestCtx, wait time.Duration) bool {
	if wait <= 0 {
		return false
	}
	h.tally.add(ctx.ConnID(), cLimited)
	h.refuseWith(ctx, fasthttp.StatusTooManyRequests, "Too many conversions. Send them again later.")
	ctx.Response.Header.Set("Retry-After", retryAfter(wait))
	return true
}

func (h *Handler) refuseConversion(ctx *fasthttp.RequestCtx, status int, message string, problems ...apierror.Field) {
	h.tally.add(ctx.ConnID(), cRefused)
	h.refuseWith(ctx, status, message, problems...)
}

// readSale reads a batch of conversions. The key is in the body or in the query. If readSale returns false, it has refused the request.
func (h *Handler) readSale(ctx *fasthttp.RequestCtx, query []byte) (s conversion.Batch, ok bool) {
	media, _, err := mime.ParseMediaType(string(ctx.Request.Header.ContentType()))
	if len(ctx.Request.Header.ContentType()) > 0 && (err != nil || media != "text/plain" && media != "application/json") {
		h.refuseConversion(ctx, fasthttp.StatusUnsupportedMediaType,
			"Send conversions as JSON, with the content type application/json or text/plain.")
		return s, false
	}
	s, field, problem := conversion.DecodeBatch(ctx.Request.Body())
	if problem == "" && s.Key == "" {
		values, _ := url.ParseQuery(string(query))
		if s.Key = values.Get("key"); s.Key == "" {
			field, problem = "key", "is required: the publishable key"
		}
	}
	if n := len(s.Items); problem == "" && (n == 0 || n > h.conversions.most) {
		field, problem = "items", fmt.Sprintf("must have 1 to %d items", h.conversions.most)
	}
	if problem != "" {
		var fields []apierror.Field
		if field != "" {
			fields = []apierror.Field{{Field: field, Message: problem}}
			problem = "The request is invalid."
		}
		h.refuseConversion(ctx, fasthttp.StatusBadRequest, problem, fields...)
	}
	return s, problem == ""
}

// serveScript answers GET /sl.js.
func (h *Handler) serveScript(ctx *fasthttp.RequestCtx) {
	if !h.framed(ctx, maxIdleBody) || h.refuseOverLimit(ctx) {
		return
	}
	head := &ctx.Response.Header
	head.Set("Cache-Control", "public, max-age=86400")
	head.Set("ETag", pages.ScriptTag)
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Cross-Origin-Resource-Policy", "cross-origin")
	head.Set("X-Content-Type-Options", "nosniff")
	if bytes.Contains(first(ctx.Request.Header.RawHeaders(), "if-none-match"), []byte(pages.ScriptTag)) {
		ctx.Response.SetStatusCode(fasthttp.StatusNotModified)
		return
	}
	head.SetContentType("text/javascript; charset=utf-8")
	ctx.Response.SetBodyRaw(pages.Script)
}
