package kit

// Paging is embedded in the request of a list. The page size has two names; limit takes precedence.
type Paging struct {
	Page     int `query:"page" default:"1" minimum:"1" maximum:"1000000" doc:"Number of the page, from 1."`
	Limit    int `query:"limit" minimum:"1" maximum:"100" doc:"Rows per page."`
	PageSize int `query:"pageSize" minimum:"1" maximum:"100" doc:"The same as limit."`
}

// Size returns the number of rows per page, or def if the caller did not choose one.
func (p Paging) Size(def int) int {
	switch {
	case p.Limit > 0:
		return p.Limit
	case p.PageSize > 0:
		return p.PageSize
	}
	return def
}

// Offset returns the number of rows before the page.
func (p Paging) Offset(def int) int { return (p.Page - 1) * p.Size(def) }

// Sorting is embedded in the request of a list that can be sorted.
type Sorting struct {
	SortOrder string `query:"sortOrder" enum:"asc,desc,ASC,DESC" values:"direction" doc:"The direction; desc by default."`
}

// Ascending reports the direction.
func (s Sorting) Ascending() bool { return s.SortOrder == "asc" || s.SortOrder == "ASC" }

// List is one page of rows.
type List[T any] struct {
	Data       []T `json:"data"`
	Total      int `json:"total" doc:"Rows on all pages."`
	Page       int `json:"page"`
	PageSize   int `json:"pageSize"`
	TotalPages int `json:"totalPages"`
}

// ListOf returns a page. rows may be nil.
func ListOf[T any](rows []T, total int, p Paging, def int) List[T] {
	if rows == nil {
		rows = []T{}
	}
	size := p.Size(def)
	return List[T]{Data: rows, Total: total, Page: p.Page, PageSize: size, TotalPages: (total + size - 1) / size}
}
