package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/store/linkcolumns"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/each"
)

// Limits of the copy of link columns in memory.
const (
	// fewLinks is the number of links below which the database answers any list quickly.
	fewLinks = 20_000
	// columnsIdle is how long the copy is kept without a list that needs it.
	columnsIdle = 15 * time.Minute
	// columnsLag is the longest time between two reads of the journal. After a longer time, entries may be trimmed.
	columnsLag = time.Minute
	// shallow is the number of links that a list without filters may skip in the database.
	shallow = 1000
)

// linkCache answers lists from a copy of the columns of all links, see package linkcolumns. Triggers write the number of
// each link that changes to the table link_journal, whatever program changes it. Each list first applies the entries
// that it has not seen, so it shows all changes that were committed before. The first list that needs the copy starts
// reading it, and the database answers meanwhile.
type linkCache struct {
	store *Store
	most  int // links; 0: never
	few   int

	ctx   context.Context // ends with Close
	close context.CancelFunc
	work  sync.WaitGroup

	mu      sync.Mutex         // also held while the journal is read
	table   *linkcolumns.Table // nil: not loaded
	place   journalPlace
	read    time.Time // when the journal was last read
	used    time.Time // when a list last needed the copy
	loading bool
	retry   time.Time // when to look again whether the copy is worth it
}

func newLinkCache(s *Store, most int) *linkCache {
	c := &linkCache{store: s, most: most, few: fewLinks}
	c.ctx, c.close = context.WithCancel(context.Background())
	return c
}

// stop ends the background work and waits for its end.
func (c *linkCache) stop() {
	c.close()
	c.work.Wait()
}

// Links reads one page of links. It counts the links that the filter selects up to MaxTotal; exact is false if there are
// more.
func (s *Store) Links(ctx context.Context, f LinkFilter) (list []Link, total int, exact bool, err error) {
	if f.plain() || f.Health != "" || f.dated() { // the copy has neither
		return s.Conn.Links(ctx, f)
	}
	t := s.columns.fresh(ctx)
	if t == nil {
		return s.Conn.Links(ctx, f)
	}
	q, ok, err := s.columnQuery(ctx, &f)
	if err != nil || !ok {
		return []Link{}, 0, true, err
	}
	nums, total := t.List(&q)
	list, err = s.linksInOrder(ctx, nums)
	return list, min(total, MaxTotal), total <= MaxTotal, err
}

// plain reports whether the database answers quickly, because it reads few entries of one index.
func (f *LinkFilter) plain() bool {
	return f.Offset <= shallow && len(f.Tags) == 0 && f.Bundle == "" && len(f.Domains) == 0 && f.CreatedBy == "" && f.Campaign == "" &&
		f.Search == "" && f.Status == ""
}

// columnStates are the states of links by their names; "" is any state.
var columnStates = map[string]linkcolumns.State{
	StatusActive: linkcolumns.Active, StatusInactive: linkcolumns.Inactive, StatusExpired: linkcolumns.Expired,
	StatusScheduled: linkcolumns.Scheduled, StatusExhausted: linkcolumns.Exhausted, StatusSuspended: linkcolumns.Suspended,
}

// columnSorts are the orders of lists by the keys of LinkSorts. Others stand for createdAt.
var columnSorts = map[string]linkcolumns.Sort{
	"updatedAt": linkcolumns.ByUpdated, "clickCount": linkcolumns.ByClicks, "title": linkcolumns.ByTitle, "expiresAt": linkcolumns.ByExpiry,
	"slug": linkcolumns.BySlug,
}

// columnQuery translates a filter. ok is false if no link can match.
func (c Conn) columnQuery(ctx context.Context, f *LinkFilter) (q linkcolumns.Query, ok bool, err error) {
	q = linkcolumns.Query{
		Workspace: f.Workspace, Creator: f.CreatedBy, Campaign: f.Campaign, Search: strings.ToLower(f.Search), Now: f.Now,
		State: columnStates[f.Status], Sort: columnSorts[f.SortBy], Ascending: f.Ascending, Offset: f.Offset, Limit: f.Limit,
	}
	for _, num := range f.Domains {
		q.Domains = append(q.Domains, uint32(num)) // the table refuses larger numbers
	}
	for _, name := range f.Tags {
		where, args := `name_key = ?`, []any{TagKey(name)}
		if f.Workspace != 0 {
			where, args = where+` AND workspace_num = ?`, append(args, f.Workspace)
		}
		nums, err := All(ctx, c, column[uint64], `SELECT num FROM tags WHERE `+where+` ORDER BY num`, args...)
		if err != nil || len(nums) == 0 {
			return q, false, err
		}
		sets := each.Of(nums, tagSet)
		q.Sets = append(q.Sets, sets)
	}
	if f.Bundle != "" {
		nums, err := All(ctx, c, column[uint64], `SELECT num FROM bundles WHERE id = ?`, f.Bundle)
		if err != nil || len(nums) == 0 {
			return q, false, err
		}
		q.Sets = append(q.Sets, []uint32{bundleSet(nums[0])})
	}
	return q, true, nil
}

// Tags and bundles are sets of links. Their numbers are dense and far below 2^31.
func tagSet(num uint64) uint32    { return uint32(num) << 1 }
func bundleSet(num uint64) uint32 { return uint32(num)<<1 | 1 }

// linksInOrder reads the links that exist, in the order of nums.
func (c Conn) linksInOrder(ctx context.Context, nums []uint64) ([]Link, error) {
	if len(nums) == 0 {
		return []Link{}, nil
	}
	list, err := All(ctx, c, scanLink, `SELECT `+linkColumns+` FROM urls WHERE num IN (`+In(len(nums))+`)`, Args(nums)...)
	if err != nil {
		return nil, fmt.Errorf("read links: %w", err)
	}
	at := make(map[uint64]int, len(nums))
	for i, num := range nums {
		at[num] = i
	}
	slices.SortFunc(list, func(a, b Link) int { return at[a.Num] - at[b.Num] })
	return list, nil
}

// fresh returns the columns with all changes that are committed, or nil if they are not loaded.
func (c *linkCache) fresh(ctx context.Context) *linkcolumns.Table {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = time.Now()
	if c.table == nil {
		c.start(ctx)
		return nil
	}
	if err := c.catchUp(ctx); err != nil {
		return nil // the database answers, or the request fails with the same error
	}
	return c.table
}

// start begins to load the columns, if the number of links is in the range where that helps. The caller holds mu.
func (c *linkCache) start(ctx context.Context) {
	if c.most <= 0 || c.loading || time.Now().Before(c.retry) {
		return
	}
	var span int
	err := c.store.Row(ctx, `SELECT coalesce((SELECT max(num) FROM urls), 0) - coalesce((SELECT min(num) FROM urls), 0)`).Scan(&span)
	if c.retry = time.Now().Add(10 * time.Second); err != nil || span < c.few || c.ctx.Err() != nil {
		return
	}
	c.loading = true
	c.work.Go(func() {
		err := c.load()
		c.mu.Lock()
		c.loading = false
		c.mu.Unlock()
		if err != nil && c.ctx.Err() == nil {
			c.store.log.Warn("link columns not loaded", "error", err.Error())
		}
		if err == nil {
			c.follow()
		}
	})
}

// load reads the columns. Links that change meanwhile are in the journal after the place where it begins.
func (c *linkCache) load() error {
	began := time.Now()
	place, err := c.store.journalPlace(c.ctx)
	if err != nil {
		return err
	}
	bundled, err := c.store.setsOf(c.ctx, bundlesOfLinks)
	if err != nil {
		return err
	}
	t := linkcolumns.New()
	const part = 2000
	for after := uint64(0); ; {
		rows, err := c.store.columnRows(c.ctx, `num > ? ORDER BY num LIMIT ?`, after, part)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		last := rows[len(rows)-1].Num
		tagged, err := c.store.setsOf(c.ctx, tagsOfLinks+` WHERE url_num > ? AND url_num <= ?`, after, last)
		if err != nil {
			return err
		}
		for i := range rows {
			rows[i].Sets = append(tagged[rows[i].Num], bundled[rows[i].Num]...)
		}
		if err := t.Apply(rows, nil); err != nil {
			return err
		}
		if t.Len() > c.most {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.retry = time.Now().Add(time.Hour)
			return fmt.Errorf("more than %d links", c.most)
		}
		after = last
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.table, c.place, c.read = t, place, began.Round(0)
	if err := c.catchUp(c.ctx); err != nil {
		return err
	}
	c.store.log.Info("link columns loaded", "links", t.Len(), "took", time.Since(began).Round(time.Millisecond).String())
	return nil
}

// follow applies changes until the columns are dropped, so that lists find few of them.
func (c *linkCache) follow() {
	for backoff.Sleep(c.ctx, time.Second) {
		c.mu.Lock()
		if c.table != nil && time.Since(c.used) < columnsIdle && !c.table.Wasteful() {
			_ = c.catchUp(c.ctx) // after an error the columns are dropped
		} else {
			c.table = nil
		}
		done := c.table == nil
		c.mu.Unlock()
		if done {
			return
		}
	}
}

// catchUp applies what the journal has since it was last read. The caller holds mu. After an error other than the end of
// ctx, the columns are dropped: the database may have lost what they contain.
func (c *linkCache) catchUp(ctx context.Context) (err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			c.table = nil
		}
	}()
	now := time.Now().Round(0) // without the monotonic clock, which stops with the machine
	place, nums, err := c.store.journalAfter(ctx, c.place)
	if err != nil {
		return err
	}
	if time.Now().Round(0).Sub(c.read) > columnsLag {
		return fmt.Errorf("the journal was not read for %s", columnsLag)
	}
	for part := range slices.Chunk(nums, batch) {
		in, args := ` IN (`+In(len(part))+`)`, Args(part)
		rows, err := c.store.columnRows(ctx, `num`+in, args...)
		if err != nil {
			return err
		}
		tagged, err := c.store.setsOf(ctx, tagsOfLinks+` WHERE url_num`+in, args...)
		if err != nil {
			return err
		}
		bundled, err := c.store.setsOf(ctx, bundlesOfLinks+` WHERE urls.num`+in, args...)
		if err != nil {
			return err
		}
		gone := map[uint64]bool{}
		for _, num := range part {
			gone[num] = true
		}
		for i := range rows {
			delete(gone, rows[i].Num)
			rows[i].Sets = append(tagged[rows[i].Num], bundled[rows[i].Num]...)
		}
		if err := c.table.Apply(rows, slices.Collect(maps.Keys(gone))); err != nil {
			return err
		}
	}
	c.place, c.read = place, now
	return nil
}

// columnRows reads links without their sets.
func (c Conn) columnRows(ctx context.Context, where string, args ...any) ([]linkcolumns.Row, error) {
	return All(ctx, c, func(row interface{ Scan(...any) error }) (r linkcolumns.Row, err error) {
		return r, row.Scan(&r.Num, &r.Workspace, &r.CreatedAt, &r.UpdatedAt, &r.Clicks, &r.ExpiresAt, &r.StartsAt, &r.Active, &r.Exhausted,
			&r.Suspended,
			&r.Creator, &r.Campaign, &r.Title, &r.Slug, &r.Text, &r.Domain)
	}, `SELECT num, coalesce(workspace_num, 0), created_at, updated_at, click_count, coalesce(expires_at, 0), coalesce(starts_at, 0), active,
		exhausted_at IS NOT NULL, suspended_at IS NOT NULL, user_id, coalesce(utm_campaign, ''), coalesce(title, ''), slug, search_text,
		coalesce(domain_num, 0)
		FROM urls WHERE `+where, args...)
}

// Queries for setsOf.
const (
	tagsOfLinks    = `SELECT url_num, tag_num, 0 FROM url_tags`
	bundlesOfLinks = `SELECT urls.num, bundles.num, 1 FROM urls JOIN bundle_urls ON bundle_urls.url_id = urls.id JOIN bundles ON bundles.id = bundle_urls.bundle_id`
)

// setsOf reads the sets of links by the links' numbers.
func (c Conn) setsOf(ctx context.Context, query string, args ...any) (map[uint64][]uint32, error) {
	sets := map[uint64][]uint32{}
	err := c.each(ctx, func(rows *sql.Rows) error {
		var link, set uint64
		var bundle bool
		err := rows.Scan(&link, &set, &bundle)
		if bundle {
			sets[link] = append(sets[link], bundleSet(set))
		} else {
			sets[link] = append(sets[link], tagSet(set))
		}
		return err
	}, query, args...)
	return sets, err
}
