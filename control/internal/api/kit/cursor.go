package kit

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"

	"github.com/shortline/shortline/control/internal/platform/problem"
)

// After is embedded in the request of a list that can be read with cursors, in addition to pages.
type After struct {
	After string `query:"after" maxLength:"2000" doc:"The nextCursor of the page before this one. Then page is ignored. Unlike pages, cursors skip no row and repeat none when rows are added or deleted meanwhile. All other parameters must stay the same."`
}

// cursor is what the text of a cursor says: a place in a list, and the order of the list.
type cursor[Place any] struct {
	Order string `json:"order"`
	Place Place  `json:"place"`
}

// Cursor returns the text of a cursor: base64url of JSON. Callers must not rely on its form.
func Cursor[Place any](order string, place Place) string {
	text, err := json.Marshal(cursor[Place]{order, place})
	if err != nil {
		panic("BUG: a cursor cannot be written: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// ReadCursor reads the text of a cursor for a list in the given order.
func ReadCursor[Place any](text, order string) (place Place, err error) {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	var c cursor[Place]
	if err != nil || json.Unmarshal(decoded, &c) != nil {
		return place, problem.OfField("after", "must be the nextCursor of a page")
	}
	if c.Order != order {
		return place, problem.OfField("after", "belongs to a list with another order")
	}
	return c.Place, nil
}

// NextLink returns the header Link (RFC 8288) of a page: the address of the request with a cursor.
func NextLink(ctx context.Context, cursor string) string {
	asked := RequestLogOf(ctx).url
	if asked == nil {
		return ""
	}
	query := asked.Query()
	query.Del("page")
	query.Set("after", cursor)
	next := url.URL{Path: asked.Path, RawPath: asked.RawPath, RawQuery: query.Encode()}
	return "<" + next.String() + `>; rel="next"`
}
