package client

import "iter"

// Page is a part of a list.
type Page[T any] struct {
	Data       []T `json:"data"`
	Page       int `json:"page"` // from 1
	PageSize   int `json:"pageSize"`
	Total      int `json:"total"` // rows of the whole list
	TotalPages int `json:"totalPages"`
	// TotalIsExact is false if there are more rows than the server counts. Lists that always count all of them have nil.
	TotalIsExact *bool `json:"totalIsExact,omitzero"`
	// NextCursor continues the list if it has cursors; nil on the last page.
	NextCursor *string `json:"nextCursor,omitzero"`
}

// most is the largest size of a page.
const most = 100

// position is where the next page of a list begins.
type position struct {
	page   int
	cursor string
}

// apply sets the parameters of the next page. A list with cursors continues behind the last row, so it omits and repeats nothing
// while rows are added and deleted. The first page is where the caller wants it.
func (p position) apply(page, limit *int, after *string) {
	if *limit == 0 {
		*limit = most
	}
	switch {
	case p.cursor != "":
		*after = p.cursor
	case p.page > 0:
		*page = p.page
	}
}

// pages yields the rows of all pages. After an error it ends.
func pages[T any](read func(position) (*Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for at := (position{}); ; {
			page, err := read(at)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, row := range page.Data {
				if !yield(row, nil) {
					return
				}
			}
			exact := page.TotalIsExact == nil || *page.TotalIsExact
			switch {
			case page.NextCursor != nil:
				at.cursor = *page.NextCursor
			case at.cursor != "", len(page.Data) == 0, exact && page.Page >= page.TotalPages:
				return
			}
			at.page = page.Page + 1
		}
	}
}
