package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"
)

// List is what has been read of a list.
type List struct {
	Rows    []json.RawMessage
	Total   int
	IsExact bool // whether Total is
}

// JSON returns the rows as an array.
func (l List) JSON() []byte {
	parts := make([]string, len(l.Rows))
	for i, row := range l.Rows {
		parts[i] = string(row)
	}
	return []byte("[" + strings.Join(parts, ",") + "]")
}

// pageSize is the largest of the API.
const pageSize = 100

// List reads rows of a list: at most a number of them, or all if most is 0. seen learns how far it is; nil means nobody.
func (r *Remote) List(ctx context.Context, path string, query url.Values, most int, seen func(n, total int)) (List, error) {
	list := List{Rows: []json.RawMessage{}}
	ask := maps.Clone(query)
	if ask == nil {
		ask = url.Values{}
	}
	size := pageSize
	if most > 0 {
		size = min(size, most)
	}
	ask.Set("limit", strconv.Itoa(size))
	for page := 1; ; page++ {
		text, err := r.Get(ctx, path, ask)
		if err != nil {
			return list, err
		}
		var got struct {
			Data       []json.RawMessage `json:"data"`
			Total      int               `json:"total"`
			TotalPages int               `json:"totalPages"`
			IsExact    *bool             `json:"totalIsExact"`
			NextCursor *string           `json:"nextCursor"`
		}
		if err := json.Unmarshal(text, &got); err != nil {
			return list, fmt.Errorf("the list cannot be read: %w", err)
		}
		list.Rows, list.Total, list.IsExact = append(list.Rows, got.Data...), got.Total, got.IsExact == nil || *got.IsExact
		if seen != nil {
			seen(len(list.Rows), list.Total)
		}
		if most > 0 && len(list.Rows) >= most {
			list.Rows = list.Rows[:most]
			return list, nil
		}
		switch {
		case got.NextCursor != nil:
			ask.Set("after", *got.NextCursor)
		case len(got.Data) == 0 || page >= got.TotalPages || ask.Has("after"):
			return list, nil
		default:
			ask.Set("page", strconv.Itoa(page+1))
		}
	}
}
