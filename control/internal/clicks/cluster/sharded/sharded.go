// Package sharded joins several click stores (shards) into one. All clicks of a workspace are in one shard, which a directory
// names. A question about a workspace, or about links whose workspace the caller knows (analytics.Scope.Home), is one question
// to one shard. Other questions go to all shards, and the answers are merged exactly: groups are complete before they are
// ordered and limited, and distinct visitors are joined, not added up. With very many visitors, only the sampled ones are joined.
//
// Insert stores rows in their shards first. Then it stores marks and losses in every shard. A mark therefore never covers a
// click that is not stored, and a lane's mark is the lowest of all shards. A shard that was emptied has no marks, so all
// clicks that are delivered again are stored again; the other shards replace those that they have.
//
// A shard that cannot be reached fails the questions about its workspaces and those about everything. Insert fails if the
// batch has clicks, marks or losses at all, because every shard gets marks: clicks wait where they are.
//
// In two respects a Store is weaker than a single store. While Insert runs, questions to several shards may see the part of
// the batch that one shard has; questions about a workspace never do. Reclassify goes through one shard after the other, so
// clicks are ordered within a shard only.
package sharded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/metric"
)

// Directory knows the shards of workspaces.
type Directory interface {
	// Read and Write return where the clicks of workspaces are. They assign a shard to a workspace that has none. 0 is the
	// workspace of clicks that name none. The caller uses the context of the view, and ends the view when it has read, or
	// written, all that it wanted.
	Read(ctx context.Context, workspaces ...uint64) (View, error)
	Write(ctx context.Context, workspaces ...uint64) (View, error)
}

// View is where clicks are at one moment. While a view is open, no shard that it names forgets a workspace's clicks.
type View struct {
	// Context ends early if the directory can no longer tell whether the view is right.
	Context context.Context
	Places  map[uint64]Place
	// Hidden are workspaces, by shard, whose clicks in that shard do not count, because all of them are in another one too.
	Hidden map[string][]uint64
	// End ends the view. For a writer it returns an error if the view may have been outdated before the end of its writes: then
	// they may be in the wrong place, and must be repeated.
	End func() error
}

// Place is where the clicks of a workspace are.
type Place struct {
	Shard string // the name of the shard that has all of them, and answers questions
	Also  string // a shard to which the workspace moves, and which gets all new clicks too; "" if there is none
}

// Backend is the store of one shard.
type Backend interface {
	analytics.Store
	// EachVisitor calls f with the distinct visitors of each group of a query, of one of parts disjoint parts of all visitors.
	EachVisitor(ctx context.Context, q analytics.Query, part, parts int, f func(group analytics.Line, visitor int64) error) error
	// LaneSegments and LanePositions say which clicks of each lane are stored, from a time in Unix milliseconds on. LaneSegments leaves
	// out the clicks of notOwners.
	LaneSegments(ctx context.Context, from int64, notOwners []uint64, f func(analytics.LaneSegment)) error
	LanePositions(ctx context.Context, ids []analytics.LaneSegmentID, from int64, f func(analytics.LanePosition)) error
	// DriftWithout is Drift without the clicks of some owners.
	DriftWithout(ctx context.Context, from, to time.Time, notOwners []uint64) (analytics.Drift, error)
	// EraseCounting is Erase, but its result does not include the clicks of some owners.
	EraseCounting(ctx context.Context, ip netip.Addr, notOwners []uint64) (clicks int64, err error)
	// ExportLosses returns every loss marker.
	ExportLosses(ctx context.Context) ([]analytics.Loss, error)
	// ExportWithout calls f with every click that none of some owners has. The row is valid only during the call.
	ExportWithout(ctx context.Context, notOwners []uint64, f func(*analytics.Row) error) error
	// Empty reports whether nothing is stored, and Clear deletes everything.
	Empty(ctx context.Context) (bool, error)
	Clear(ctx context.Context) error
	// Rebuild computes figures for reports in advance, from what is older than a moment.
	Rebuild(ctx context.Context, before time.Time) error
}

// Store implements analytics.Store. It is safe for concurrent use.
type Store struct {
	metric.Set // makes it a prometheus.Collector

	directory Directory
	shards    []*shard
	waiting   atomic.Int64 // shards without a backend
	opened    chan struct{}
	exact     int64 // limit of analytics.CountVisitors
}

var _ analytics.Store = (*Store)(nil)

// shard is one of the stores.
type shard struct {
	name    string
	backend atomic.Pointer[Backend] // nil until it was opened
	failed  atomic.Bool             // whether the last insert failed
}

// New returns a Store of shards that are not open yet: see Use. Names are not empty and differ.
func New(names []string, directory Directory) *Store {
	s := &Store{directory: directory, opened: make(chan struct{})}
	for _, name := range names {
		sh := &shard{name: name}
		s.shards = append(s.shards, sh)
		s.Set = append(s.Set,
			metric.Gauge("shortline_click_shard_up",
				"1 if the shard is open and this process's last insert into it succeeded, otherwise 0.", sh.up,
				"shard", name))
	}
	s.waiting.Store(int64(len(names)))
	return s
}

// up is the value of the metric.
func (sh *shard) up() int {
	if sh.backend.Load() == nil || sh.failed.Load() {
		return 0
	}
	return 1
}

// Use opens a shard, once.
func (s *Store) Use(name string, b Backend) {
	sh := s.shards[slices.IndexFunc(s.shards, func(sh *shard) bool { return sh.name == name })]
	sh.backend.Store(&b)
	if s.waiting.Add(-1) == 0 {
		close(s.opened)
	}
}

// Opened is closed when all shards are open.
func (s *Store) Opened() <-chan struct{} { return s.opened }

// get returns the store of a shard, or a problem.Unavailable before it is open.
func (sh *shard) get() (Backend, error) {
	if b := sh.backend.Load(); b != nil {
		return *b, nil
	}
	return nil, &problem.Error{Kind: problem.Unavailable,
		Message: "The click store of this workspace is not available at the moment. Try again shortly.", RetryAfter: 5 * time.Second}
}

// named returns the shard with a name. A process whose settings lack it must not guess.
func (s *Store) named(name string, workspace uint64) (*shard, error) {
	for _, sh := range s.shards {
		if sh.name == name {
			return sh, nil
		}
	}
	return nil, fmt.Errorf("workspace %d is in the shard %q: %w", workspace, name, errUnknown)
}

// errUnknown is for a shard that other processes know.
var errUnknown = &problem.Error{Kind: problem.Unavailable,
	Message: "The click store of this workspace is unknown to this server: CLICKHOUSE_URLS lacks it.", RetryAfter: 30 * time.Second}

// selection is the shards that can have clicks of a scope, and the scope for each of them.
type selection struct {
	context.Context
	shards []*shard
	hidden [][]uint64
	end    func() error
}

// selected selects shards for a question. The caller ends the selection when it has the answer.
func (s *Store) selected(ctx context.Context, scope analytics.Scope) (*selection, error) {
	home := cmp.Or(scope.Owner, scope.Home)
	if home == 0 {
		return s.everything(ctx)
	}
	view, err := s.directory.Read(ctx, home)
	if err != nil {
		return nil, fmt.Errorf("find the shard of workspace %d: %w", home, err)
	}
	sh, err := s.named(view.Places[home].Shard, home)
	if err == nil && scope.Owner != 0 && scope.Moves.Through != 0 {
		err = s.follows(view.Context, sh, scope.Moves)
	}
	if err != nil {
		return nil, errors.Join(err, view.End())
	}
	return &selection{view.Context, []*shard{sh}, make([][]uint64, 1), view.End}, nil
}

// everything selects all shards.
func (s *Store) everything(ctx context.Context) (*selection, error) {
	if s.directory == nil { // a command that knows no database
		return &selection{ctx, s.shards, make([][]uint64, len(s.shards)), func() error { return nil }}, nil
	}
	view, err := s.directory.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the directory of shards: %w", err)
	}
	sel := &selection{view.Context, s.shards, make([][]uint64, len(s.shards)), view.End}
	for i, sh := range s.shards {
		sel.hidden[i] = view.Hidden[sh.name]
	}
	return sel, nil
}

// of returns the scope for one of the selected shards.
func (sel *selection) of(i int, scope analytics.Scope) analytics.Scope {
	if len(sel.hidden[i]) > 0 {
		scope.NotOwners = slices.Concat(scope.NotOwners, sel.hidden[i])
	}
	return scope
}

// answers asks each of the selected shards for the part of an answer to a question about a scope, and ends the selection. The
// parts are in the order of the shards.
func answers[T any](ctx context.Context, s *Store, scope analytics.Scope, f func(context.Context, Backend, analytics.Scope) (T,
	error)) ([]T, error) {
	sel, err := s.selected(ctx, scope)
	if err != nil {
		return nil, err
	}
	defer sel.end()
	return asked(sel, scope, f)
}

// asked is answers without the end of the selection.
func asked[T any](sel *selection, scope analytics.Scope, f func(context.Context, Backend, analytics.Scope) (T, error)) ([]T, error) {
	parts := make([]T, len(sel.shards))
	err := eachShard(sel, sel.shards, func(ctx context.Context, i int, b Backend) (err error) {
		parts[i], err = f(ctx, b, sel.of(i, scope))
		return err
	})
	return parts, err
}

// follows checks that a shard has the moves of a scope. It may lack them if it did not answer when they were copied to others.
func (s *Store) follows(ctx context.Context, sh *shard, m analytics.Moves) error {
	b, err := sh.get()
	if err != nil {
		return err
	}
	at, err := b.MovesPosition(ctx, m.Log)
	if err != nil || at.Includes(m.Through) {
		return err
	}
	for _, other := range s.shards {
		if b, err := other.get(); err == nil {
			if at, err := b.MovesPosition(ctx, m.Log); err == nil && at.Includes(m.Through) {
				return &problem.Error{Kind: problem.Unavailable,
					Message:    "The click store of this workspace is catching up. Try again shortly.",
					RetryAfter: time.Second}
			}
		}
	}
	return nil
}

// eachShard calls f for each of the shards at the same time, with its place in the list. It returns all errors.
func eachShard(ctx context.Context, list []*shard, f func(ctx context.Context, i int, b Backend) error) error {
	errs := make([]error, len(list))
	one := func(i int) {
		b, err := list[i].get()
		if err == nil {
			err = f(ctx, i, b)
		}
		if err != nil {
			errs[i] = fmt.Errorf("shard %s: %w", list[i].name, err)
		}
	}
	if len(list) == 1 {
		one(0)
		return errs[0]
	}
	var wg sync.WaitGroup
	for i := range list {
		wg.Go(func() { one(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// askShards is eachShard with answers, which are in the order of the shards.
func askShards[T any](ctx context.Context, list []*shard, f func(context.Context, Backend) (T, error)) ([]T, error) {
	answers := make([]T, len(list))
	err := eachShard(ctx, list, func(ctx context.Context, i int, b Backend) (err error) {
		answers[i], err = f(ctx, b)
		return err
	})
	return answers, err
}

// Ping implements analytics.Store. It fails unless all shards answer.
func (s *Store) Ping(ctx context.Context) error {
	return eachShard(ctx, s.shards, func(ctx context.Context, _ int, b Backend) error { return b.Ping(ctx) })
}

// Close closes the stores of all open shards.
func (s *Store) Close() error {
	var errs []error
	for _, sh := range s.shards {
		if b := sh.backend.Load(); b != nil {
			errs = append(errs, (*b).Close())
		}
	}
	return errors.Join(errs...)
}
