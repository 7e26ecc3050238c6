package redirect

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/url"
	"strings"
	"time"

	"github.com/shortline/shortline/edge/internal/apierror"
	"github.com/shortline/shortline/edge/internal/pages"
	"github.com/shortline/shortline/shared/abuse"
	"github.com/shortline/shortline/shared/link"
	"github.com/valyala/fasthttp"
)

const (
	maxReportBody  = 16 << 10 // holds a form with the longest accepted text, in which every byte is percent-encoded
	reportsAMinute = 5        // of one client
	reportsAtOnce  = 16       // that wait for the control plane
	reportWait     = 5 * time.Second
	sentMark       = "sent=1"
)

// report answers /{slug}/report: a form on GET, and a report of the link on POST.
func (h *Handler) report(ctx *fasthttp.RequestCtx, t target) {
	e, ok := h.lookup(&t)
	if !ok || h.deps.Reports == nil || !h.refuseBeforeStart(ctx, &e) {
		h.missing(ctx)
		return
	}
	r := &h.deps.Table.Compiled(&e).Record
	switch {
	case ctx.IsGet(), ctx.IsHead():
		h.tally.add(ctx.ConnID(), cReportForms)
		if view(t.query) == sentMark {
			h.page(ctx, h.pagesOf(t.site).ReportSent(languageAsked(ctx)))
			return
		}
		h.showReport(ctx, fasthttp.StatusOK, t, pages.ReportForm{})
	case ctx.IsPost():
		h.takeReport(ctx, r, t)
	default:
		h.refuseMethod(ctx, "GET, HEAD, POST")
	}
}

// takeReport passes a report on and answers when the control plane has it.
func (h *Handler) takeReport(ctx *fasthttp.RequestCtx, r *link.Record, t target) {
	if h.foreign(ctx, t) {
		h.tally.add(ctx.ConnID(), cRefused)
		h.refuseWith(ctx, fasthttp.StatusForbidden, "Send the report from the form of this site.")
		return
	}
	report, fromForm, status := readReport(ctx)
	if status != 0 {
		h.tally.add(ctx.ConnID(), cRefused)
		h.refuse(ctx, status)
		return
	}
	ip := h.clientIP(ctx)
	report.Link, report.Client = r.Num, h.cfg.Anonymize.Address(ip)
	if problems := report.Clean(); len(problems) > 0 {
		h.tally.add(ctx.ConnID(), cRefused)
		h.refuseReport(ctx, fromForm, t, report, problems)
		return
	}
	if h.refuseOverLimitOf(ctx, h.reports, ip) {
		return
	}
	err := h.pass(report)
	switch {
	case errors.Is(err, abuse.ErrBusy):
		h.tally.add(ctx.ConnID(), cLimited)
		h.answer(ctx, h.pages.TooMany)
		ctx.Response.Header.Set("Retry-After", "3600")
	case errors.Is(err, abuse.ErrUnknown): // deleted a moment ago
		h.missing(ctx)
	case err != nil:
		h.tally.add(ctx.ConnID(), cReportsFailed)
		h.deps.Logger.Warn("abuse report not delivered", "error", err.Error())
		if fromForm {
			h.showReport(ctx, fasthttp.StatusServiceUnavailable, t, pages.ReportForm{Entered: report, Later: true})
		} else {
			h.refuseWith(ctx, fasthttp.StatusServiceUnavailable, pages.ReportLater)
		}
		ctx.Response.Header.Set("Retry-After", "60")
	default:
		h.tally.add(ctx.ConnID(), cReports)
		if fromForm {
			seeOther(ctx, []byte("/"+t.public()+"/report?"+sentMark))
			return
		}
		h.json(ctx, map[string]bool{"success": true})
		ctx.Response.SetStatusCode(fasthttp.StatusAccepted)
	}
}

var errReportsFull = errors.New("too many reports wait for the control plane")

// pass gives a report to the control plane. Few reports wait for it at a time, so that they cannot use up the connections.
func (h *Handler) pass(r abuse.Report) error {
	select {
	case h.desks <- struct{}{}:
		defer func() { <-h.desks }()
	default:
		return errReportsFull
	}
	// Not the request's context: fasthttp uses it for the next request, while a goroutine may still wait for its end.
	limited, cancel := context.WithTimeout(context.Background(), reportWait)
	defer cancel()
	return h.deps.Reports.Accept(limited, r)
}

// foreign reports whether a browser says that the request comes from a page of another site.
func (h *Handler) foreign(ctx *fasthttp.RequestCtx, t target) bool {
	raw := ctx.Request.Header.RawHeaders()
	if site := string(first(raw, "sec-fetch-site")); site != "" {
		return site != "same-origin" && site != "none"
	}
	if origin := string(first(raw, "origin")); origin != "" {
		if t.site != nil {
			return !t.site.Home.Has(origin)
		}
		return origin != h.origin
	}
	return false
}

// originOf returns scheme and host of a URL as browsers send them in Origin.
func originOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// readReport reads a form or a JSON object. If status is not 0, the caller must refuse the request with it.
func readReport(ctx *fasthttp.RequestCtx) (r abuse.Report, fromForm bool, status int) {
	body := ctx.Request.Body()
	media, _, err := mime.ParseMediaType(string(ctx.Request.Header.ContentType()))
	switch {
	case err == nil && media == "application/x-www-form-urlencoded":
		values, err := url.ParseQuery(string(body))
		if err != nil {
			return r, true, fasthttp.StatusBadRequest
		}
		r.Reason, r.Text, r.Email = values.Get("reason"), values.Get("text"), values.Get("email")
		return r, true, 0
	case err == nil && media == "application/json":
		var in struct{ Reason, Text, Email string }
		dec := json.NewDecoder(strings.NewReader(string(body)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil || dec.More() {
			return r, false, fasthttp.StatusBadRequest
		}
		r.Reason, r.Text, r.Email = in.Reason, in.Text, in.Email
		return r, false, 0
	}
	return r, false, fasthttp.StatusUnsupportedMediaType
}

func (h *Handler) refuseReport(ctx *fasthttp.RequestCtx, fromForm bool, t target, r abuse.Report, problems []abuse.Problem) {
	if fromForm {
		h.showReport(ctx, fasthttp.StatusBadRequest, t, pages.ReportForm{Entered: r, Problems: problems})
		return
	}
	fields := make([]apierror.Field, len(problems))
	for i, p := range problems {
		fields[i] = apierror.Field{Field: p.Field, Message: p.Field + " " + p.Message}
	}
	h.refuseWith(ctx, fasthttp.StatusBadRequest, "The request is invalid.", fields...)
}

// showReport shows the form for reports.
func (h *Handler) showReport(ctx *fasthttp.RequestCtx, status int, t target, f pages.ReportForm) {
	f.Slug = string(t.slug)
	h.page(ctx, h.pagesOf(t.site).Report(f, languageAsked(ctx)))
	ctx.Response.SetStatusCode(status)
}
