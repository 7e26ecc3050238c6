package kit

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

// Aliases are deprecated since a day, and answer at least until another one, which is a year or more later. See
// docs/users/api-versions.md.
var (
	aliasesDeprecated = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	aliasesSunset     = time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
)

// policyPage says what deprecation means.
const policyPage = "https://github.com/shortline/shortline/blob/main/docs/users/api-versions.md"

// alias reports whether the endpoint repeats another one.
func (e *Endpoint) alias() bool { return strings.HasPrefix(e.about, "Same as ") }

// deprecated tells callers of an alias since when it is deprecated (RFC 9745) and until when it answers (RFC 8594).
func (k *Kit) deprecated(next echo.HandlerFunc) echo.HandlerFunc {
	deprecation, sunset := fmt.Sprintf("@%d", aliasesDeprecated.Unix()), aliasesSunset.Format(http.TimeFormat)
	return func(c echo.Context) error {
		if e := k.endpointOf(c); e != nil && e.alias() {
			h := c.Response().Header()
			h.Set("Deprecation", deprecation)
			h.Set("Sunset", sunset)
			h.Add("Link", "<"+policyPage+`>; rel="deprecation"; type="text/html"`)
		}
		return next(c)
	}
}

// documentDeprecation marks an alias in the document, and its headers in every answer.
func documentDeprecation(op *huma.Operation) {
	op.Deprecated = true
	if op.Extensions == nil {
		op.Extensions = map[string]any{}
	}
	op.Extensions["x-sunset"] = aliasesSunset.Format(time.DateOnly)
	for status, r := range op.Responses {
		if status >= "300" {
			continue
		}
		if r.Headers == nil {
			r.Headers = map[string]*huma.Param{}
		}
		text := &huma.Schema{Type: huma.TypeString}
		r.Headers["Deprecation"] = &huma.Param{Description: "Since when the endpoint is deprecated: @ and Unix seconds.", Schema: text}
		r.Headers["Sunset"] = &huma.Param{Description: "Until when the endpoint answers at least, as an HTTP date.", Schema: text}
	}
}
