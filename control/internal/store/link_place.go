package store

import "cmp"

// LinkPlace is the place of a link in a list: its value in the column of the order, and its number, which decides between equal values.
type LinkPlace struct {
	Num    uint64
	Text   string // of title and slug; "" if the link has no title
	Number int64  // of the other columns; 0 if the link does not expire
}

// PlaceOf returns the place of a link in the order of f.
func (f *LinkFilter) PlaceOf(l *Link) LinkPlace {
	p := LinkPlace{Num: l.Num}
	switch f.SortBy {
	case "slug":
		p.Text = l.Slug
	case "title":
		p.Text = l.Title
	case "clickCount":
		p.Number = l.ClickCount
	case "expiresAt":
		p.Number = l.ExpiresAt
	case "updatedAt":
		p.Number = l.UpdatedAt
	default:
		p.Number = l.CreatedAt
	}
	return p
}

// behind returns the condition that a link comes behind f.After in the order of f.
func (f *LinkFilter) behind() (where string, args []any) {
	column := `urls.` + cmp.Or(LinkSorts[f.SortBy], LinkSorts["createdAt"])
	var value any = f.After.Number
	if f.SortBy == "title" || f.SortBy == "slug" {
		value = f.After.Text
	}
	// Links without a title or an expiry come first in descending order and last in ascending order. They compare as neither more nor less.
	optional := f.SortBy == "title" || f.SortBy == "expiresAt"
	none := optional && f.After.Text == "" && f.After.Number == 0
	switch {
	case none && f.Ascending:
		return column + ` IS NULL AND urls.num > ?`, []any{f.After.Num}
	case none:
		return `(` + column + ` IS NOT NULL OR urls.num < ?)`, []any{f.After.Num}
	case optional && f.Ascending:
		return `((` + column + `, urls.num) > (?, ?) OR ` + column + ` IS NULL)`, []any{value, f.After.Num}
	case f.Ascending:
		return `(` + column + `, urls.num) > (?, ?)`, []any{value, f.After.Num}
	}
	return `(` + column + `, urls.num) < (?, ?)`, []any{value, f.After.Num}
}
