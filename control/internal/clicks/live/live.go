// Package live streams clicks to owners as they are stored.
//
// It owns the subscriptions, the buffer of each, and the limits. It delivers a click to each subscription at most once,
// soon after it is stored. A slow subscriber loses the oldest clicks and learns how many. A subscriber never delays
// ingest or other subscribers. A reader that was disconnected continues where it was, also at another process, by the cursor
// of its last event. Package api sends the clicks to browsers and checks that the session is still valid.
//
// Clicks come from the ingester in the same process (Stored). Where other processes also ingest, they come from polling
// the store (Config.Poll).
//
// Known weakness: with Poll, a click is not delivered if its own time is more than two minutes in the past when it is
// stored, for example after an edge was disconnected.
package live

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/metric"
)

// Config has a usable zero value.
type Config struct {
	// PerUser and Total limit the subscriptions of one user and of all users; 0 means 5 and 100.
	PerUser, Total int
	// Buffer is the maximum number of clicks that wait for one subscriber; 0 means 256.
	Buffer int
	// Poll is the interval at which the store is polled; 0 disables polling: clicks then come through Stored.
	Poll time.Duration
	// Logger defaults to slog.Default().
	Logger *slog.Logger
}

// LinkClick is a click as owners see it, together with its link.
type LinkClick struct {
	report.Click
	URLID    string `json:"urlId"`
	Domain   string `json:"domain"`
	Slug     string `json:"slug"`
	ShortURL string `json:"shortUrl"`
}

// Ask selects the clicks of a subscription.
type Ask struct {
	URLID       string // clicks of one link; "" means all links of the caller
	All         bool   // clicks of all users; requires the role ADMIN
	IncludeBots bool
	// Resume is the cursor of the last event that the caller has got from an earlier subscription, in this process or in
	// another one. The subscription then begins with the clicks that were stored meanwhile. Any other text, such as "",
	// begins with the next click.
	Resume string
}

// Event is a click for one subscription.
type Event struct {
	LinkClick
	Cursor string // for Ask.Resume, if this is the last event that arrives
}

// Feed streams clicks to subscriptions. It is safe for concurrent use. Run delivers the clicks.
type Feed struct {
	metric.Set // makes it a prometheus.Collector

	cfg    Config
	store  *store.Store
	clicks analytics.Store

	incoming chan []analytics.Row
	any      atomic.Bool // whether there is a subscription
	missed   atomic.Uint64

	mu    sync.Mutex
	subs  map[*Subscription]bool
	users map[string]int // number of subscriptions by user
	ended bool

	polled map[scope]*window

	linksMu sync.Mutex
	links   map[uint64]ref
	linksAt time.Time // when links was last empty

	given, dropped, failed atomic.Uint64
	last                   atomic.Int64
}

// ref identifies a link to its owner. The zero ref is a deleted link. The slug can change if the link is deleted and restored.
type ref struct{ id, domain, slug, shortURL string }

// scope selects clicks of one link, of one workspace (by number), of both, or, if both are 0, of everybody.
type scope struct{ link, owner uint64 }

func (s scope) includes(r *analytics.Row, owner uint64) bool {
	return (s.link == 0 || r.Link == s.link) && (s.owner == 0 || owner == s.owner)
}

const (
	maxIncoming = 64 // batches from ingest
	maxLinks    = 50_000
	maxLinkAge  = time.Minute
)

// New returns a Feed on open stores.
func New(cfg Config, st *store.Store, clicks analytics.Store) *Feed {
	if cfg.PerUser <= 0 {
		cfg.PerUser = 5
	}
	if cfg.Total <= 0 {
		cfg.Total = 100
	}
	if cfg.Buffer <= 0 {
		cfg.Buffer = 256
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	f := &Feed{
		cfg: cfg, store: st, clicks: clicks, incoming: make(chan []analytics.Row, maxIncoming),
		subs: map[*Subscription]bool{}, users: map[string]int{}, links: map[uint64]ref{}, polled: map[scope]*window{},
	}
	f.Set = f.metrics()
	return f
}

// Watched reports whether there is a subscription.
func (f *Feed) Watched() bool { return f.any.Load() }

// Stored accepts clicks that this process has stored. It does not block and does not keep the rows.
func (f *Feed) Stored(rows []analytics.Row) {
	if f.cfg.Poll > 0 || !f.any.Load() {
		return
	}
	owners := f.store.Owners()
	current := owners.Current() // if not, give reads the owners and filters again
	f.mu.Lock()
	var wanted []analytics.Row
	for i := range rows {
		owner := owners.Of(rows[i].Link, rows[i].Owner)
		for s := range f.subs {
			if !current {
				owner = s.scope.owner
			}
			if s.wants(&rows[i], owner) {
				wanted = append(wanted, rows[i])
				break
			}
		}
	}
	f.mu.Unlock()
	if len(wanted) == 0 {
		return
	}
	select {
	case f.incoming <- wanted:
	default:
		f.missed.Add(uint64(len(wanted)))
	}
}

// Subscribe starts a subscription, which the caller must close. The error is a *problem.Error if the caller has too
// many subscriptions or no access.
func (f *Feed) Subscribe(ctx context.Context, p auth.Principal, a Ask) (*Subscription, error) {
	s := &Subscription{feed: f, user: p.UserID, bots: a.IncludeBots, news: make(chan struct{}, 1), over: make(chan struct{})}
	switch {
	case a.All && !p.SeesAll():
		return nil, problem.New(problem.Forbidden, "Only administrators may see everybody's clicks.")
	case a.URLID != "":
		u, err := f.store.LinkByID(ctx, a.URLID)
		if err != nil && !isMissing(err) {
			return nil, fmt.Errorf("find the link of a live feed: %w", err)
		}
		if err != nil || !p.Sees(u.Workspace) {
			return nil, problem.Missing("URL")
		}
		s.scope = scope{u.Num, p.Scope()} // a link that moves to another workspace leaves the subscription
	case !a.All:
		s.scope.owner = p.Workspace.Num
	}
	f.mu.Lock()
	var err error
	switch {
	case f.ended:
		err = &problem.Error{Kind: problem.Unavailable, Message: "The server is stopping.", RetryAfter: time.Second}
	case f.users[p.UserID] >= f.cfg.PerUser:
		err = &problem.Error{Kind: problem.TooMany, Message: fmt.Sprintf("You have %d live feeds open already. Close one.",
			f.users[p.UserID]),
			RetryAfter: 10 * time.Second}
	case len(f.subs) >= f.cfg.Total:
		err = &problem.Error{Kind: problem.TooMany, Message: "Too many live feeds are open. Try again later.", RetryAfter: 10 * time.Second}
	default:
		f.subs[s] = true
		f.users[p.UserID]++
		f.any.Store(true)
	}
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if f.cfg.Poll > 0 {
		// Clicks that are stored already are not news. Subscriptions of the same scope share its window.
		err = f.openWindow(ctx, s.scope)
	}
	if err == nil {
		err = f.begin(ctx, s, a.Resume)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("begin a live feed: %w", err)
	}
	return s, nil
}

// Subscription delivers clicks to one reader. Its methods are for one goroutine.
type Subscription struct {
	feed  *Feed
	user  string
	scope scope
	bots  bool
	news  chan struct{} // capacity 1
	over  chan struct{} // closed when the feed ends

	mu      sync.Mutex
	waiting []LinkClick // at most Config.Buffer
	lost    uint64
	known   map[string]bool // ids of clicks that were stored when the subscription began
	cursor  cursor          // of the clicks that Take has returned
}

// wants reports whether the subscription gets a click on a link of a workspace.
func (s *Subscription) wants(r *analytics.Row, owner uint64) bool {
	return (s.bots || !r.Bot) && s.scope.includes(r, owner)
}

// News receives a value when Take has clicks to return.
func (s *Subscription) News() <-chan struct{} { return s.news }

// Over is closed when the feed ends because the program stops.
func (s *Subscription) Over() <-chan struct{} { return s.over }

// Cursor returns the cursor of the clicks that Take has returned so far.
func (s *Subscription) Cursor() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cursor.String()
}

// Take returns the waiting clicks, oldest first, and how many earlier clicks were dropped because the buffer was full.
func (s *Subscription) Take() (events []Event, dropped uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.waiting {
		s.cursor.addClick(seenOf(&s.waiting[i]))
		events = append(events, Event{s.waiting[i], s.cursor.String()})
	}
	dropped = s.lost
	s.waiting, s.lost = nil, 0
	return events, dropped
}

// put adds news and counts clicks that did not fit.
func (s *Subscription) put(clicks []LinkClick, missed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.appendClicks(slices.DeleteFunc(clicks, func(c LinkClick) bool { return s.known[c.ID] }), missed)
}

// appendClicks adds clicks and counts those that did not fit. The caller holds s.mu.
func (s *Subscription) appendClicks(clicks []LinkClick, missed uint64) {
	if len(clicks) == 0 && missed == 0 {
		return
	}
	s.waiting = append(s.waiting, clicks...)
	if n := len(s.waiting) - s.feed.cfg.Buffer; n > 0 {
		s.waiting = slices.Clone(s.waiting[n:])
		missed += uint64(n)
	}
	s.lost += missed
	if missed > 0 {
		s.feed.dropped.Add(missed)
	}
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	f := s.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.subs[s] {
		return
	}
	delete(f.subs, s)
	if f.users[s.user]--; f.users[s.user] <= 0 {
		delete(f.users, s.user)
	}
	f.any.Store(len(f.subs) > 0)
}

// Run delivers clicks to subscriptions until ctx ends, and then ends all subscriptions.
func (f *Feed) Run(ctx context.Context) error {
	defer f.endAll()
	var poll <-chan time.Time
	if f.cfg.Poll > 0 {
		every := time.NewTicker(f.cfg.Poll)
		defer every.Stop()
		poll = every.C
	}
	for {
		var err error
		select {
		case rows := <-f.incoming:
			err = f.give(ctx, rows, f.missed.Swap(0), func(*Subscription) bool { return true })
		case <-poll:
			err = f.poll(ctx)
		case <-ctx.Done():
			return nil
		}
		switch {
		case err == nil:
			f.last.Store(time.Now().UnixMilli())
		case ctx.Err() == nil:
			f.failed.Add(1)
			f.cfg.Logger.Error("live click delivery failed", "error", err.Error())
		}
	}
}

func (f *Feed) endAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	for s := range f.subs {
		close(s.over)
	}
	clear(f.subs)
	clear(f.users)
	f.any.Store(false)
}

// give delivers rows, oldest first, to the subscriptions for which to returns true and that want them. missed is the
// number of clicks that were lost before this call.
func (f *Feed) give(ctx context.Context, rows []analytics.Row, missed uint64, to func(*Subscription) bool) error {
	links, owners, err := f.resolve(ctx, rows)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subs {
		if !to(s) {
			continue
		}
		mine := s.pick(rows, links, owners)
		if len(mine) > 0 || missed > 0 {
			s.put(mine, missed)
			f.given.Add(uint64(len(mine)))
		}
	}
	return nil
}

// clicksFor returns the clicks among rows that a subscription gets.
func (f *Feed) clicksFor(ctx context.Context, s *Subscription, rows []analytics.Row) ([]LinkClick, error) {
	links, owners, err := f.resolve(ctx, rows)
	if err != nil {
		return nil, err
	}
	return s.pick(rows, links, owners), nil
}

// pick returns the clicks among rows that the subscription wants, except those of deleted links.
func (s *Subscription) pick(rows []analytics.Row, links []ref, owners *store.Owners) (mine []LinkClick) {
	for i := range rows {
		r := &rows[i]
		if l := links[i]; l.id != "" && s.wants(r, owners.Of(r.Link, r.Owner)) {
			mine = append(mine, LinkClick{report.ClickOf(r), l.id, l.domain, l.slug, l.shortURL})
		}
	}
	return mine
}

// resolve returns the link of each click, and the present owners of links.
func (f *Feed) resolve(ctx context.Context, rows []analytics.Row) ([]ref, *store.Owners, error) {
	links, err := f.linksOf(ctx, rows)
	if err != nil {
		return nil, nil, err
	}
	owners := f.store.Owners()
	return links, owners, owners.Refresh(ctx)
}

// linksOf returns the link of each click. It looks up those that are not cached yet.
func (f *Feed) linksOf(ctx context.Context, rows []analytics.Row) ([]ref, error) {
	f.linksMu.Lock()
	defer f.linksMu.Unlock()
	if now := time.Now(); len(f.links) > maxLinks || now.Sub(f.linksAt) > maxLinkAge {
		clear(f.links)
		f.linksAt = now
	}
	var unknown []uint64
	for i := range rows {
		if _, ok := f.links[rows[i].Link]; !ok {
			f.links[rows[i].Link] = ref{}
			unknown = append(unknown, rows[i].Link)
		}
	}
	if len(unknown) > 0 {
		found, err := f.store.LinksByNum(ctx, unknown)
		if err != nil {
			for _, num := range unknown {
				delete(f.links, num)
			}
			return nil, fmt.Errorf("find the links of clicks: %w", err)
		}
		for _, num := range unknown {
			if u, ok := found[num]; ok {
				domain, shortURL := f.store.Address(&u)
				f.links[num] = ref{u.ID, domain, u.Slug, shortURL}
			} else {
				delete(f.links, num) // a deleted link may be restored
			}
		}
	}
	return each.At(rows, func(r *analytics.Row) ref { return f.links[r.Link] }), nil
}

func (f *Feed) metrics() metric.Set {
	const clicks, clicksHelp = "shortline_live_clicks_total",
		"Clicks by result: given (delivered to a live feed) or dropped (the reader was too slow)."
	open := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.subs)
	}
	return metric.Set{
		metric.Gauge("shortline_live_subscriptions", "Open live feeds.", open),
		metric.Total(clicks, clicksHelp, f.given.Load, "result", "given"),
		metric.Total(clicks, clicksHelp, f.dropped.Load, "result", "dropped"),
		metric.Total("shortline_live_errors_total", "Failed deliveries of clicks to live feeds.", f.failed.Load),
		metric.Time("shortline_live_last_success_timestamp_seconds", "Time at which clicks were last polled or delivered; 0 if never.",
			f.last.Load),
	}
}
