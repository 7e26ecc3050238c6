package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shortline/shortline/shared/each"
)

// LinkFilter selects and orders links. A zero field selects everything. A link must match all fields.
type LinkFilter struct {
	Workspace     uint64
	Search        string   // text in title, destination or slug, case-insensitive
	Status        string   // state at the time Now, one of LinkStatuses
	Health        string   // one of Healths
	Tags          []string // names of tags, all of which the link has
	Domains       []uint64 // numbers of domains, one of which the link is on; 0: the default domain
	Bundle        string   // id of a bundle that contains the link
	CreatedBy     string   // id of the user who created the link
	Campaign      string   // value of the campaign field utm_campaign
	CreatedFrom   int64    // the link was created at this time or later
	CreatedBefore int64    // the link was created earlier; 0: at any time
	Now           int64
	SortBy        string // one of LinkSorts; "" means createdAt
	Ascending     bool
	Offset, Limit int
	After         *LinkPlace // the list begins behind this place; nil: with the first link. Totals do not depend on it
}

// LinkSorts maps the API's sort keys of links to columns. In both dialects, links without a title or an expiry sort
// last in ascending order and first in descending order.
var LinkSorts = map[string]string{
	"createdAt": "created_at", "updatedAt": "updated_at", "clickCount": "click_count",
	"title": "title", "expiresAt": "expires_at", "slug": "slug",
}

// sortIndexes are the ends of the names of the indexes in the order of a column, after urls_ or urls_workspace_.
var sortIndexes = map[string]string{
	"created_at": "created", "updated_at": "updated", "click_count": "clicks", "title": "title", "expires_at": "expires", "slug": "slug",
}

// MaxTotal is the number up to which Links counts.
const MaxTotal = 10_000

// order returns the ORDER BY clause and the name of an index in this order.
func (f *LinkFilter) order() (clause, index string) {
	column, ok := LinkSorts[f.SortBy]
	if !ok {
		column = "created_at"
	}
	dir, nulls := "DESC", " NULLS FIRST"
	if f.Ascending {
		dir, nulls = "ASC", " NULLS LAST"
	}
	if column != "title" && column != "expires_at" {
		nulls = ""
	}
	index = "urls_" + sortIndexes[column]
	if f.Workspace != 0 {
		index = "urls_workspace_" + sortIndexes[column]
	}
	return fmt.Sprintf(` ORDER BY urls.%s %s%s, urls.num %s`, column, dir, nulls, dir), index
}

// condition is one condition of a LinkFilter.
type condition struct {
	where string // about urls
	args  []any

	// source selects the numbers of the links with this condition, as the column link, from an index of its own; "" if there
	// is no such index.
	source     string
	sourceArgs []any
	ordered    bool // the source is read in the order of the numbers, so that two of them can be merged
	size       int  // of the source, at most MaxTotal + 1
}

// standing selects links that are neither suspended nor expired.
const standing = `suspended_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`

// status returns the condition on the state of a link.
func (f *LinkFilter) status() (c condition) {
	var index string
	switch f.Status {
	case StatusActive:
		// Most links are active, so no index of its own would help.
		return condition{where: standing + ` AND exhausted_at IS NULL AND active AND (starts_at IS NULL OR starts_at <= ?)`,
			args: []any{f.Now, f.Now}}
	case StatusScheduled:
		index = "scheduled"
		c.where, c.args = standing+` AND exhausted_at IS NULL AND active AND starts_at > ?`, []any{f.Now, f.Now}
	case StatusInactive:
		index, c.ordered = "inactive", true
		c.where, c.args = standing+` AND exhausted_at IS NULL AND NOT active`, []any{f.Now}
	case StatusExhausted:
		index, c.ordered = "exhausted", true
		c.where, c.args = standing+` AND exhausted_at IS NOT NULL`, []any{f.Now}
	case StatusExpired:
		if index = "expires"; f.Workspace != 0 {
			index = "workspace_expires"
		}
		c.where, c.args = `suspended_at IS NULL AND expires_at <= ?`, []any{f.Now}
	case StatusSuspended:
		index, c.ordered = "suspended", true
		c.where = `suspended_at IS NOT NULL`
	}
	return f.ownSource(c, index)
}

// ownSource gives a condition a source whose rows come from an index of the same condition and the workspace. SQLite has no
// statistics and would choose another index. PostgreSQL uses no sources.
func (f *LinkFilter) ownSource(c condition, index string) condition {
	c.source, c.sourceArgs = `SELECT num AS link FROM urls INDEXED BY urls_`+index+` WHERE `+c.where, c.args
	if f.Workspace != 0 {
		c.source, c.sourceArgs = c.source+` AND workspace_num = ?`, append(slices.Clone(c.args), f.Workspace)
	}
	return c
}

// onDomain returns the condition that a link is on one of the domains.
func (f *LinkFilter) onDomain() condition {
	custom := slices.DeleteFunc(slices.Clone(f.Domains), func(num uint64) bool { return num == 0 })
	c := condition{where: `urls.domain_num IN (` + In(len(custom)) + `)`, args: Args(custom)}
	switch {
	case len(custom) == 0: // most links are on the default domain, so no index would help
		return condition{where: `urls.domain_num IS NULL`}
	case len(custom) < len(f.Domains):
		c.where = `(urls.domain_num IS NULL OR ` + c.where + `)`
		return c
	}
	c.ordered = f.Workspace != 0 && len(custom) == 1
	return f.ownSource(c, "domain")
}

// dated reports whether the filter is about the time of the creation.
func (f *LinkFilter) dated() bool { return f.CreatedFrom != 0 || f.CreatedBefore != 0 }

// created returns the condition on the time of the creation.
func (f *LinkFilter) created() condition {
	index := "created"
	if f.Workspace != 0 {
		index = "workspace_created"
	}
	return f.ownSource(condition{where: `created_at >= ? AND created_at < ?`,
		args: []any{f.CreatedFrom, cmp.Or(f.CreatedBefore, math.MaxInt64)}}, index)
}

// tagged returns the condition that a link has a tag. ok is false if there is no such tag.
func (c Conn) tagged(ctx context.Context, workspace uint64, name string) (t condition, ok bool, err error) {
	var num uint64
	if workspace == 0 {
		err = c.Row(ctx, `SELECT num FROM tags WHERE name_key = ? LIMIT 1`, TagKey(name)).Scan(&num)
		of := `tag_num IN (SELECT num FROM tags WHERE name_key = ?)`
		args := []any{TagKey(name)}
		t = condition{`EXISTS (SELECT 1 FROM url_tags WHERE url_num = urls.num AND ` + of + `)`, args,
			`SELECT url_num AS link FROM url_tags WHERE ` + of, args, false, 0}
	} else {
		err = c.Row(ctx, `SELECT num FROM tags WHERE workspace_num = ? AND name_key = ?`, workspace, TagKey(name)).Scan(&num)
		args := []any{num}
		t = condition{`EXISTS (SELECT 1 FROM url_tags WHERE tag_num = ? AND url_num = urls.num)`, args,
			`SELECT url_num AS link FROM url_tags WHERE tag_num = ?`, args, true, 0}
	}
	if err == sql.ErrNoRows {
		return t, false, nil
	}
	return t, err == nil, err
}

// conditions returns the conditions of a filter except for the workspace. ok is false if no link can match.
func (c Conn) conditions(ctx context.Context, f *LinkFilter) (list []condition, ok bool, err error) {
	for _, name := range f.Tags {
		t, ok, err := c.tagged(ctx, f.Workspace, name)
		if err != nil || !ok {
			return nil, false, err
		}
		list = append(list, t)
	}
	if f.Bundle != "" {
		args := []any{f.Bundle}
		list = append(list, condition{`urls.id IN (SELECT url_id FROM bundle_urls WHERE bundle_id = ?)`, args,
			`SELECT members.num AS link FROM bundle_urls JOIN urls members ON members.id = bundle_urls.url_id WHERE bundle_id = ?`,
			args, false, 0})
	}
	if len(f.Domains) > 0 {
		list = append(list, f.onDomain())
	}
	if f.CreatedBy != "" {
		list = append(list, f.ownSource(condition{where: `user_id = ?`, args: []any{f.CreatedBy}, ordered: f.Workspace != 0}, "creator"))
	}
	if f.Campaign != "" {
		list = append(list, f.ownSource(condition{where: `utm_campaign = ?`, args: []any{f.Campaign}, ordered: f.Workspace != 0},
			"campaign"))
	}
	if f.dated() {
		list = append(list, f.created())
	}
	if f.Search != "" {
		list = append(list, c.searched(f))
	}
	if f.Status != "" {
		list = append(list, f.status())
	}
	if f.Health != "" {
		list = append(list, f.healthy())
	}
	return list, true, nil
}

// selection is what a filter selects, in a form that statements use.
type selection struct {
	from  string // begins with FROM
	where string // begins with WHERE
	args  []any
}

// selection joins conditions. It reads the rows of sources, if there are any, and checks the other conditions on them.
func (f *LinkFilter) selection(sources, others []condition) (s selection) {
	where := []string{`1 = 1`}
	s.from = ` FROM urls`
	if len(sources) > 0 {
		texts := make([]string, len(sources))
		for i, c := range sources {
			texts[i] = c.source
			s.args = append(s.args, c.sourceArgs...)
		}
		order := ""
		if len(sources) > 1 {
			order = ` ORDER BY 1` // lets SQLite merge the sources instead of building a temporary tree
		}
		// SQLite keeps the order of the tables in a cross join.
		s.from = ` FROM (` + strings.Join(texts, ` INTERSECT `) + order + `) AS found CROSS JOIN urls`
		where = []string{`urls.num = found.link`}
	}
	if f.Workspace != 0 {
		where, s.args = append(where, `urls.workspace_num = ?`), append(s.args, f.Workspace)
	}
	for _, c := range others {
		where, s.args = append(where, c.where), append(s.args, c.args...)
	}
	s.where = ` WHERE ` + strings.Join(where, " AND ")
	return s
}

// countRows counts rows, at most one more than most.
func (c Conn) countRows(ctx context.Context, most int, rows string, args []any) (int, error) {
	return column[int](c.Row(ctx, `SELECT count(*) FROM (`+rows+` LIMIT `+fmt.Sprint(most+1)+`) AS counted`, args...))
}

// Links reads one page of links. It counts the links that the filter selects up to MaxTotal; exact is false if there are
// more.
//
// A list of few links is gathered from the index of its rarest condition and sorted. A list of many links is read in the
// order of an index, which meets a match soon: at least one in a hundred of a million links matches. Where matches are
// all at the other end of the order, reading stops and the links are gathered too.
func (c Conn) Links(ctx context.Context, f LinkFilter) (list []Link, total int, exact bool, err error) {
	all, ok, err := c.conditions(ctx, &f)
	if err != nil || !ok {
		return []Link{}, 0, true, err
	}
	var sources []condition
	others := all
	for _, cond := range all {
		if cond.source == "" || c.pg { // PostgreSQL's planner chooses the indexes and how to join them
			continue
		}
		if cond.size, err = c.countRows(ctx, MaxTotal, cond.source, cond.sourceArgs); err != nil {
			return nil, 0, false, fmt.Errorf("count links: %w", err)
		}
		sources = append(sources, cond)
	}
	slices.SortStableFunc(sources, func(a, b condition) int { return cmp.Compare(a.size, b.size) })
	switch {
	case len(sources) == 0:
	case sources[0].size <= MaxTotal:
		sources = sources[:1]
	default:
		merged := slices.DeleteFunc(slices.Clone(sources), func(c condition) bool { return !c.ordered })
		if len(merged) > 1 {
			others = slices.DeleteFunc(slices.Clone(all), func(c condition) bool { return c.source != "" && c.ordered })
		} else if len(merged) == 0 {
			merged = sources[:1]
		}
		sources = merged
	}
	s := f.selection(sources, others)
	if total, err = c.countRows(ctx, MaxTotal, `SELECT 1`+s.from+s.where, s.args); err != nil {
		return nil, 0, false, fmt.Errorf("count links: %w", err)
	}
	if total <= MaxTotal {
		list, err = c.gather(ctx, &f, s)
		return list, total, true, err
	}
	if list, ok, err = c.walk(ctx, &f, all); err == nil && !ok {
		list, err = c.gather(ctx, &f, s)
	}
	return list, MaxTotal, false, err
}

// gather reads a page of a selection and sorts all of it.
func (c Conn) gather(ctx context.Context, f *LinkFilter, s selection) ([]Link, error) {
	order, _ := f.order()
	if f.After != nil {
		behind, args := f.behind()
		s.where, s.args = s.where+` AND `+behind, append(slices.Clone(s.args), args...)
	}
	if c.pg { // OFFSET 0 keeps the planner from reading the links in order, in the hope that matches come soon
		return c.pageOfLinks(ctx, f, `SELECT urls.num FROM (SELECT *`+s.from+s.where+` OFFSET 0) AS urls`+order, s.args)
	}
	return c.pageOfLinks(ctx, f, `SELECT urls.num`+s.from+s.where+order, s.args)
}

// pageOfLinks reads the links of a page whose numbers a query selects in order.
func (c Conn) pageOfLinks(ctx context.Context, f *LinkFilter, nums string, args []any) ([]Link, error) {
	order, _ := f.order()
	list, err := All(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls WHERE num IN (`+nums+` LIMIT ? OFFSET ?)`+order,
		append(slices.Clone(args), f.Limit, f.Offset)...)
	if err != nil {
		return nil, fmt.Errorf("read links: %w", err)
	}
	return list, nil
}

// walk reads a page in the order of an index. ok is false if it gave up, because the matches are rare in this part of
// the order.
func (c Conn) walk(ctx context.Context, f *LinkFilter, all []condition) (list []Link, ok bool, err error) {
	order, index := f.order()
	scope, args := ``, []any{}
	if f.Workspace != 0 {
		scope, args = ` WHERE workspace_num = ?`, []any{f.Workspace}
	}
	if f.Status == StatusExpired && f.SortBy == "expiresAt" { // links that never expire come first otherwise
		scope, args = cmp.Or(scope, ` WHERE 1 = 1`)+` AND expires_at <= ?`, append(args, f.Now)
	}
	if f.After != nil {
		behind, place := f.behind()
		scope, args = cmp.Or(scope, ` WHERE 1 = 1`)+` AND `+behind, append(args, place...)
	}
	if !c.pg && index != "urls_slug" { // the unique index of the slug has no name
		scope = ` INDEXED BY ` + index + scope
	}
	if len(all) == 0 {
		list, err = c.pageOfLinks(ctx, f, `SELECT num FROM urls`+scope+order, args)
		return list, true, err
	}
	where := each.Of(all, func(cond condition) string { return cond.where })
	need := f.Offset + f.Limit
	for _, steps := range []int{max(1000, 20*need), max(50_000, 20*need)} {
		given := append(slices.Clone(args), steps)
		for _, cond := range all {
			given = append(given, cond.args...)
		}
		part := `SELECT urls.num FROM (SELECT num AS link FROM urls` + scope + order +
			` LIMIT ?) AS part CROSS JOIN urls WHERE urls.num = part.link AND `
		if c.pg { // a join of unknown size would depend on statistics, which a fast import does not have yet
			part = `SELECT urls.num FROM (SELECT * FROM urls` + scope + order + ` LIMIT ?) AS urls WHERE `
		}
		list, err = c.pageOfLinks(ctx, f, part+strings.Join(where, " AND ")+order, given)
		if err != nil || len(list) == f.Limit {
			return list, true, err
		}
	}
	return nil, false, nil
}

// LinkIDs returns the ids of up to most links that a filter selects, newest first. It reads them in one statement: pages cost SQLite a
// sort of all links each.
func (c Conn) LinkIDs(ctx context.Context, f LinkFilter, most int) ([]string, error) {
	all, ok, err := c.conditions(ctx, &f)
	if err != nil || !ok {
		return nil, err
	}
	s := f.selection(nil, all)
	return All(ctx, c, column[string], `SELECT urls.id`+s.from+s.where+` ORDER BY urls.num DESC LIMIT ?`,
		append(slices.Clone(s.args), most)...)
}

// EachLink calls f with parts of the links that a filter selects, newest first. It ignores SortBy, Offset and Limit. Links that are
// created, deleted or moved meanwhile are left out; links that are changed meanwhile may be in or out.
//
// It reads the numbers of all of them first, eight bytes each. Reading page after page by condition made SQLite sort all links for each
// page.
func (c Conn) EachLink(ctx context.Context, f LinkFilter, each func([]Link) error) error {
	all, ok, err := c.conditions(ctx, &f)
	if err != nil || !ok {
		return err
	}
	s := f.selection(nil, all)
	nums, err := All(ctx, c, column[uint64], `SELECT urls.num`+s.from+s.where+` ORDER BY urls.num DESC`, s.args...)
	if err != nil {
		return fmt.Errorf("read links: %w", err)
	}
	for part := range slices.Chunk(nums, batch) {
		list, err := rowsIn(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls WHERE num IN (keys) ORDER BY num DESC`, part)
		if err != nil {
			return fmt.Errorf("read links: %w", err)
		}
		list = slices.DeleteFunc(list, func(l Link) bool { return f.Workspace != 0 && l.Workspace != f.Workspace })
		if err := each(list); err != nil {
			return err
		}
	}
	return nil
}
