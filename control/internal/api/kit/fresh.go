package kit

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/platform/httpserver"
	"github.com/shortline/shortline/control/internal/store"
)

// maxWait is the longest time that a response waits for edges, whatever the caller prefers.
const maxWait = 10 * time.Second

// Outcomes of waiting for edges, as values of a metric label.
const (
	waitApplied = "applied"
	waitLate    = "late"
	waitFailed  = "failed"
)

// awaitEdges delays the response to a change of links until edges have applied it: always for the edge in the same process,
// and for all connected edges if the caller prefers to wait (RFC 7240). It detects a change by the revision that the
// request's transactions committed, so it works for every endpoint. The change is committed by then: a late edge only
// affects the header X-Edges.
func (k *Kit) awaitEdges(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if k.edges == nil || r.Method == http.MethodGet || r.Method == http.MethodOptions {
			return next(c)
		}
		ctx, commits := store.WithCommits(r.Context())
		c.SetRequest(r.WithContext(ctx))
		c.Response().Before(func() {
			if revision := commits.Revision(); revision > 0 {
				k.waitFor(ctx, revision, r.Header, c.Response().Header())
			}
		})
		return next(c)
	}
}

// waitFor waits until edges have applied a revision, for as long as the settings and the caller want, and adds the result
// to the response headers. It returns early if the caller disconnects or the server stops.
func (k *Kit) waitFor(ctx context.Context, revision uint64, request, response http.Header) {
	preferred, seconds := preferredWait(request)
	limit := k.cfg.OwnEdge
	if preferred {
		limit = max(limit, time.Duration(seconds)*time.Second)
	} else if limit == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(httpserver.Stopping(ctx), cancel)()
	applied, connected, err := k.edges.Await(ctx, revision)
	switch {
	case err != nil:
		k.metrics.awaited.WithLabelValues(waitFailed).Inc()
		k.log.Warn("waiting for edges failed", "revision", revision, "error", err.Error())
		return
	case applied == connected:
		k.metrics.awaited.WithLabelValues(waitApplied).Inc()
	default:
		k.metrics.awaited.WithLabelValues(waitLate).Inc()
		if k.cfg.OwnEdge > 0 { // in a fleet, X-Edges tells the caller
			k.log.Warn("edge applies changes late", "revision", revision)
		}
	}
	if preferred {
		response.Set("Preference-Applied", "wait="+strconv.Itoa(seconds))
		response.Set("X-Edges", fmt.Sprintf("%d/%d", applied, connected))
	}
}

// preferredWait parses the preference "wait" (RFC 7240, section 4.3) in seconds, at most maxWait. As the RFC requires, the
// first one counts and an invalid one is ignored.
func preferredWait(h http.Header) (preferred bool, seconds int) {
	for _, line := range h.Values("Prefer") {
		for preference := range strings.SplitSeq(line, ",") {
			preference, _, _ = strings.Cut(preference, ";")
			name, value, _ := strings.Cut(preference, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			value = strings.TrimSpace(value)
			if unquoted, ok := strings.CutPrefix(value, `"`); ok {
				value, _ = strings.CutSuffix(unquoted, `"`)
			}
			if value == "" || strings.Trim(value, "0123456789") != "" {
				return false, 0
			}
			most := int(maxWait / time.Second)
			n, err := strconv.Atoi(value)
			if err != nil { // more digits than an int has
				n = most
			}
			return true, min(n, most)
		}
	}
	return false, 0
}
