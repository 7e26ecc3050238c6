package kit

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

// unchanged answers 304 without a body if the caller has the present version of an object (If-None-Match). Reading the object
// decides, so the caller needs the same permissions.
func (k *Kit) unchanged(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		known := c.Request().Header.Values("If-None-Match")
		if len(known) == 0 || c.Request().Method != http.MethodGet {
			return next(c)
		}
		res := c.Response()
		res.Writer = &unlessUnchanged{res.Writer, res}
		res.Before(func() {
			h := res.Header()
			if tag := h.Get("ETag"); res.Status == http.StatusOK && tag != "" && HasETag(known, tag) {
				res.Status = http.StatusNotModified
				h.Del("Content-Type")
				h.Del("Content-Length")
			}
		})
		return next(c)
	}
}

// unlessUnchanged drops the body of a 304.
type unlessUnchanged struct {
	http.ResponseWriter
	res *echo.Response
}

func (w *unlessUnchanged) Write(b []byte) (int, error) {
	if w.res.Status == http.StatusNotModified {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *unlessUnchanged) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// HasETag reports whether a list of versions has one, by the weak comparison of RFC 9110.
func HasETag(lines []string, tag string) bool {
	for part := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		part = strings.TrimSpace(part)
		if part == "*" || strings.TrimPrefix(part, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// documentUnchanged adds the header If-None-Match and the status 304 to an operation whose response has a version.
func documentUnchanged(op *huma.Operation) {
	success := op.Responses[strconv.Itoa(http.StatusOK)]
	if op.Method != http.MethodGet || success == nil || success.Headers["ETag"] == nil {
		return
	}
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: "If-None-Match", In: "header", Schema: &huma.Schema{Type: huma.TypeString},
		Description: "Versions (ETag) that the caller has. If the object has one of them, the response is 304 without a body.",
	})
	op.Responses[strconv.Itoa(http.StatusNotModified)] = &huma.Response{
		Description: "The caller has the present version.", Headers: map[string]*huma.Param{"ETag": success.Headers["ETag"]},
	}
}
