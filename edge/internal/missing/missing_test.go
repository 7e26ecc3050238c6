package missing_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/missing"
	"github.com/shortline/shortline/shared/link"
)

// clock is a clock that tests move.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newTable() (*missing.Table, *clock) {
	c := &clock{time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)}
	return missing.New(missing.Config{Now: c.now}), c
}

// collect adds the counts of the batch that is due to sum, and acknowledges it.
func collect(t *missing.Table, sum map[string]uint64) {
	b := t.Batch()
	if b == nil {
		return
	}
	for _, s := range b.Slugs {
		sum[s.Slug] += s.Count
	}
	t.Acknowledge(b.Seq)
}

func TestTable_counts_exactly_while_slugs_fit(t *testing.T) {
	t.Parallel()
	table, clock := newTable()
	want, got := map[string]uint64{}, map[string]uint64{}
	for range 50_000 {
		slug := fmt.Sprintf("slug-%d", rand.IntN(missing.Slots))
		want[slug]++
		table.Add("", 0, []byte(slug))
		if rand.IntN(1000) == 0 {
			clock.at = clock.at.Add(40 * time.Second)
			collect(table, got)
		}
	}
	clock.at = clock.at.Add(time.Minute)
	collect(table, got)
	for slug, n := range want {
		if got[slug] != n {
			t.Errorf("%s: %d, want %d", slug, got[slug], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d slugs, want %d", len(got), len(want))
	}
}

func TestTable_ignores_what_cannot_be_a_slug(t *testing.T) {
	t.Parallel()
	table, _ := newTable()
	for _, s := range []string{"", "ab", "wp-login.php", "a b", "api", "API", "robots.txt", "console",
		strings.Repeat("x", link.MaxSlug+1), "é́́"} {
		table.Add("", 0, []byte(s))
	}
	if b := table.Batch(); b != nil {
		t.Errorf("%+v", b)
	}
	table.Add("", 0, []byte(strings.Repeat("x", link.MaxSlug)))
	if b := table.Batch(); b == nil || len(b.Slugs) != 1 || len(b.Slugs[0].Slug) != link.MaxSlug {
		t.Errorf("%+v", b)
	}
}

// Steady slugs keep their places and their exact counts through a flood of random slugs, a slug that begins during the
// flood gets in, and the memory stays the same.
func TestTable_survives_a_flood_of_random_slugs(t *testing.T) {
	t.Parallel()
	table, clock := newTable()
	got := map[string]uint64{}
	const steady, rounds, flood = 200, 200, 5000
	name := func(i int) []byte { return fmt.Appendf(nil, "steady-%d", i) }
	for i := range steady {
		for range 5 {
			table.Add("", 0, name(i))
		}
	}
	for round := range rounds { // one million random slugs; a steady slug is one in 25,000 of the requests, and half a newcomer
		for range flood {
			table.Add("", 0, fmt.Appendf(nil, "x%016x", rand.Uint64()))
		}
		for i := range steady {
			table.Add("", 0, name(i))
		}
		if round >= rounds/2 {
			table.Add("", 0, []byte("newcomer"))
		}
		clock.at = clock.at.Add(time.Minute)
		collect(table, got)
	}
	for i := range steady {
		if n := got[string(name(i))]; n != rounds+5 {
			t.Errorf("%s: %d, want %d", name(i), n, rounds+5)
		}
	}
	if n := got["newcomer"]; n < rounds/2*9/10 || n > rounds/2 {
		t.Errorf("newcomer: %d of %d", n, rounds/2)
	}
	if n := table.Stats().Slugs; n > missing.Slots {
		t.Errorf("%d slugs in the table", n)
	}
}

func TestTable_does_not_allocate(t *testing.T) { // not parallel: it counts the allocations of the process
	table, _ := newTable()
	for i := range missing.Slots {
		table.Add("", 0, fmt.Appendf(nil, "slug-%d", i))
	}
	slugs := make([][]byte, 2000)
	for i := range slugs {
		slugs[i] = fmt.Appendf(nil, "slug-%d", i)
	}
	next := 0
	if n := testing.AllocsPerRun(20_000, func() { table.Add("", 0, slugs[next%len(slugs)]); next++ }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTable_batch_stays_until_it_is_acknowledged(t *testing.T) {
	t.Parallel()
	table, clock := newTable()
	table.Add("", 0, []byte("abc"))
	first := table.Batch()
	table.Add("", 0, []byte("abc"))
	if again := table.Batch(); again != nil {
		t.Errorf("repeated at once: %+v", again)
	}
	clock.at = clock.at.Add(time.Minute)
	if again := table.Batch(); again == nil || again.Seq != first.Seq || len(again.Slugs) != 1 || again.Slugs[0].Count != 1 {
		t.Errorf("not the same batch: %+v", again)
	}
	table.Acknowledge(first.Seq + 1)
	table.Acknowledge(first.Seq)
	clock.at = clock.at.Add(time.Minute)
	if next := table.Batch(); next == nil || next.Seq != first.Seq+1 || next.Slugs[0].Count != 1 {
		t.Errorf("not the rest: %+v", next)
	}
}

// A slug that nobody asks for any more leaves the table, and another one gets its place.
func TestTable_forgets(t *testing.T) {
	t.Parallel()
	table, clock := newTable()
	for range 100 {
		table.Add("", 0, []byte("once-popular"))
	}
	for range 8 {
		clock.at = clock.at.Add(time.Hour)
		collect(table, map[string]uint64{})
	}
	if n := table.Stats().Slugs; n != 0 {
		t.Errorf("%d slugs are left", n)
	}
}

func TestTable_does_not_wait(t *testing.T) {
	t.Parallel()
	table, clock := newTable()
	const workers, each = 8, 20_000
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := range each {
				table.Add("", 0, fmt.Appendf(nil, "slug-%d", (w*each+i)%3000))
			}
		})
	}
	group.Wait()
	s := table.Stats()
	if s.Counted+s.Dropped != workers*each {
		t.Errorf("%+v", s)
	}
	got, sum := map[string]uint64{}, uint64(0)
	clock.at = clock.at.Add(time.Minute)
	collect(table, got)
	for _, n := range got {
		sum += n
	}
	if sum == 0 || sum > s.Counted {
		t.Errorf("%d of %d counted", sum, s.Counted)
	}
}

// A caller may add anything in any order. No batch has more slugs than the table, an invalid or repeated slug, or more
// requests than were made.
func FuzzTable(f *testing.F) {
	f.Add([]byte("abc/abd/abc"), uint16(1))
	f.Add([]byte("api/x/"+strings.Repeat("y", 60)), uint16(3))
	f.Fuzz(func(t *testing.T, text []byte, times uint16) {
		table, clock := newTable()
		added := map[string]uint64{}
		for round := range int(times%2000) + 1 {
			for word := range strings.SplitSeq(string(text), "/") {
				table.Add("", 0, []byte(word))
				added[word]++
				if len(word) > 2 { // many different slugs
					word = fmt.Sprint(word[1:], round)
					table.Add("", 0, []byte(word))
					added[word]++
				}
			}
			if round%100 == 0 {
				clock.at = clock.at.Add(20 * time.Minute)
			}
		}
		for range 3 {
			clock.at = clock.at.Add(time.Minute)
			b := table.Batch()
			if b == nil {
				return
			}
			seen := map[string]bool{}
			for _, s := range b.Slugs {
				if !link.ValidSlug(s.Slug) || seen[s.Slug] || s.Count == 0 || s.Count > added[s.Slug] {
					t.Fatalf("%+v, added %d", s, added[s.Slug])
				}
				seen[s.Slug] = true
			}
			if len(b.Slugs) > missing.Slots {
				t.Fatalf("%d slugs", len(b.Slugs))
			}
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	for _, distinct := range []uint64{100, 1 << 40} {
		b.Run(fmt.Sprintf("of %d", distinct), func(b *testing.B) {
			table, _ := newTable()
			slug := make([]byte, 0, 32)
			b.ReportAllocs()
			for b.Loop() {
				slug = fmt.Appendf(slug[:0], "slug-%d", rand.Uint64N(distinct))
				table.Add("", 0, slug)
			}
		})
	}
}

// A batch has the times of requests, not of the report, and the same ones if it is handed out again.
func TestB5_times_are_those_of_requests(t *testing.T) {
	t.Parallel()
	table, clock := newTable()
	start := clock.at
	add := func(after time.Duration) {
		clock.at = start.Add(after)
		table.Add("", 0, []byte("summer"))
	}
	want := func(seq uint64, at, first, last time.Duration) {
		t.Helper()
		clock.at = start.Add(at)
		b := table.Batch()
		ms := func(d time.Duration) int64 { return start.Add(d).UnixMilli() }
		if b == nil || b.Seq != seq || b.At != ms(at) || b.Slugs[0].First != ms(first) || b.Slugs[0].Last != ms(last) {
			t.Errorf("after %v: %+v", at, b)
		}
	}
	add(0)
	add(20 * time.Second)
	add(30 * time.Second)
	want(1, 50*time.Second, 0, 30*time.Second)
	add(70 * time.Second)
	want(1, 3*time.Minute, 0, 30*time.Second)
	table.Acknowledge(1)
	want(2, 5*time.Minute, 70*time.Second, 70*time.Second)
}
