package redirect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/url"
	"strings"
	"time"

	"github.com/shortline/shortline/edge/internal/apierror"
	"github.com/shortline/shortline/edge/internal/passwords"
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/client"
	"github.com/shortline/shortline/shared/link"
	"github.com/valyala/fasthttp"
)

// maxPassword is the maximum length of a password in bytes. bcrypt ignores further bytes.
const maxPassword = 72

// hashWait is how long a password waits while others are compared, unless Config.HashWait says otherwise.
const hashWait = 2 * time.Second

// wrongBefore is the query parameter that makes the form show an error after a wrong password.
const wrongBefore = "error=invalid_password"

// form shows the password form of a link. It keeps the visitor's own parameters for the destination.
func (h *Handler) form(ctx *fasthttp.RequestCtx, r *link.Record, t target) {
	own, wrong := withoutMark(view(t.query))
	h.tally.add(ctx.ConnID(), cForms)
	h.page(ctx, h.pagesOf(t.site).Form(t.public()+string(t.deeper()), own, r.Title, wrong, languageAsked(ctx)))
}

// withoutMark removes wrongBefore from a query.
func withoutMark(query string) (own string, marked bool) {
	if !strings.Contains(query, wrongBefore) {
		return query, false
	}
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		if part == wrongBefore {
			marked = true
		} else if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&"), marked
}

// verify answers POST /{slug}/verify. It checks the password and, if it is correct, answers with the destination.
func (h *Handler) verify(ctx *fasthttp.RequestCtx, t target) {
	e, ok := h.lookup(&t)
	if !ok || !h.refuseBeforeStart(ctx, &e) {
		h.missing(ctx)
		return
	}
	if !ctx.IsPost() {
		h.refuseMethod(ctx, "POST")
		return
	}
	plan := h.deps.Table.Compiled(&e)
	r := &plan.Record
	now := h.now(ctx)
	if !h.open(ctx, &e, t) {
		return
	}
	g, status := readAttempt(ctx)
	switch {
	case status != 0:
		h.tally.add(ctx.ConnID(), cRefused)
		h.refuse(ctx, status)
		return
	case r.PasswordHash == "":
		h.tally.add(ctx.ConnID(), cRefused)
		h.refuseWith(ctx, fasthttp.StatusBadRequest, "This link has no password.")
		return
	case len(g.problems) > 0 && !g.fromForm:
		h.tally.add(ctx.ConnID(), cRefused)
		h.refuseWith(ctx, fasthttp.StatusBadRequest, "The request is invalid.", g.problems...)
		return
	}
	right := false
	if len(g.problems) == 0 {
		var answered bool
		if right, answered = h.check(ctx, r, g.password, now); answered {
			return
		}
	}
	if !right {
		h.wrong(ctx, t, g.fromForm)
		return
	}
	h.admit(ctx, &e, plan, t, g.fromForm)
}

// check reports whether a password is correct. If it refuses the request without checking the password, it sends the
// answer and returns answered. Only attempts that need a comparison count for VerifyLimit: a password that is
// remembered as correct costs almost nothing, and many people who know it may share an address.
func (h *Handler) check(ctx *fasthttp.RequestCtx, r *link.Record, password []byte, now time.Time) (right, answered bool) {
	ip := h.clientIP(ctx)
	try, wait := h.deps.Lockout.Begin(r.Num, ip, now)
	if wait > 0 {
		h.lockedOut(ctx, wait)
		return false, true
	}
	a := passwords.Attempt{Link: r.Num, Hash: r.PasswordHash, Password: password, Client: client.Key(ip)}
	if right = h.passwords.Remembers(a, now); !right {
		if h.attempts != nil && h.refuseOverLimitOf(ctx, h.attempts, ip) {
			try.Cancel()
			return false, true
		}
		var err error
		right, wait, err = h.passwords.Compare(a, func() time.Time { return h.now(ctx) }, func() time.Duration {
			return try.Recheck(h.now(ctx))
		})
		switch {
		case err != nil:
			try.Cancel()
			h.tally.add(ctx.ConnID(), cBusy)
			h.refuse(ctx, fasthttp.StatusTooManyRequests)
			ctx.Response.Header.Set("Retry-After", retryAfter(h.cfg.HashWait))
			return false, true
		case wait > 0:
			h.lockedOut(ctx, wait)
			return false, true
		}
	}
	if right {
		try.Succeed()
	}
	return right, false
}

// lockedOut refuses an attempt of a client that is locked out.
func (h *Handler) lockedOut(ctx *fasthttp.RequestCtx, wait time.Duration) {
	h.tally.add(ctx.ConnID(), cLocked)
	h.refuse(ctx, fasthttp.StatusTooManyRequests)
	ctx.Response.Header.Set("Retry-After", retryAfter(wait))
}

func (h *Handler) wrong(ctx *fasthttp.RequestCtx, t target, fromForm bool) {
	h.tally.add(ctx.ConnID(), cWrong)
	if !fromForm {
		h.refuseWith(ctx, fasthttp.StatusUnauthorized, "The password is wrong.")
		return
	}
	back := "/" + t.public() + string(t.deeper()) + "?" + wrongBefore
	if own, _ := withoutMark(view(t.query)); own != "" {
		back += "&" + own
	}
	seeOther(ctx, []byte(back))
}

// admit answers a visitor with the correct password: it records a click and sends the destination.
func (h *Handler) admit(ctx *fasthttp.RequestCtx, e *table.Entry, plan *table.Plan, t target, fromForm bool) {
	w := h.pool.Get().(*work)
	defer h.pool.Put(w)
	r := &plan.Record
	w.of(ctx, h.proxies)
	h.fillClick(w, t.query, h.now(ctx).UnixMilli())
	h.prepareVisitor(w)
	d := h.choose(w, e, t)
	if h.leadsHome(d.Target, t) {
		h.refuseLoop(ctx)
		return
	}
	if t.deep != 0 {
		d.Target = w.deepen(d.Target, &t)
	}
	terms := e.Terms()
	if terms.Track && h.awaitsKeys(w) {
		return
	}
	if terms.Limit.Since != 0 && !h.take(w, e, &terms, t) {
		return
	}
	if h.leadsHome(w.event.Referer, t) {
		w.event.Referer = "" // the form itself is not where the visitor came from
	}
	h.tally.add(ctx.ConnID(), cVerified)
	if recorded := h.click(w, r.Num, r.Owner, d, r.UTM); terms.Track {
		h.track(w, e, &terms, recorded)
	}
	if !h.durable(w) {
		return
	}
	w.sendCookie(ctx)
	location := w.locate(d.Target, r.UTM, t.query)
	if fromForm && !link.IsWeb(d.Target) {
		if p, ok := h.pagesOf(t.site).Open(string(location), languageAsked(ctx)); ok {
			h.page(ctx, p)
		} else {
			h.refuse(ctx, fasthttp.StatusNotFound)
		}
		return
	}
	if fromForm {
		seeOther(ctx, location)
		return
	}
	to := string(location)
	h.json(ctx, struct {
		Success     bool   `json:"success"`
		OriginalURL string `json:"originalUrl"`
		RedirectURL string `json:"redirectUrl"`
	}{true, to, to})
}

func seeOther(ctx *fasthttp.RequestCtx, location []byte) {
	ctx.Response.SetStatusCode(fasthttp.StatusSeeOther)
	ctx.Response.Header.SetCanonical(nameLocation, location)
}

// entry is the body of a request to verify.
type entry struct {
	password []byte
	fromForm bool
	problems []apierror.Field
}

// readAttempt reads a form or a JSON object. If status is not 0, the caller must refuse the request with it.
func readAttempt(ctx *fasthttp.RequestCtx) (g entry, status int) {
	body := ctx.Request.Body()
	media, _, err := mime.ParseMediaType(string(ctx.Request.Header.ContentType()))
	switch {
	case media == "application/x-www-form-urlencoded":
		g.fromForm = true
		values, err := url.ParseQuery(string(body))
		if err != nil {
			return g, fasthttp.StatusBadRequest
		}
		g.password = []byte(values.Get("password"))
	case len(body) == 0: // treat it as an empty object
	case media == "application/json" && err == nil:
		if g.password, g.problems, err = decodeAttempt(body); err != nil {
			return g, fasthttp.StatusBadRequest
		}
	default:
		return g, fasthttp.StatusUnsupportedMediaType
	}
	switch {
	case len(g.problems) > 0:
	case len(g.password) == 0:
		g.problems = append(g.problems, apierror.Field{Field: "password", Message: "password is required"})
	case len(g.password) > maxPassword:
		g.problems = append(g.problems, apierror.Field{Field: "password", Message: "password must be at most 72 bytes long"})
	}
	return g, 0
}

func decodeAttempt(body []byte) (password []byte, problems []apierror.Field, err error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	var object map[string]json.RawMessage
	if err := dec.Decode(&object); err != nil {
		return nil, nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("the body contains more than one value")
	}
	for name, value := range object {
		var s *string
		switch {
		case name != "password":
			problems = append(problems, apierror.Field{Field: name, Message: "is not a known property"})
		case json.Unmarshal(value, &s) != nil:
			problems = append(problems, apierror.Field{Field: "password", Message: "password must be a string"})
		case s != nil:
			password = []byte(*s)
		}
	}
	return password, problems, nil
}
