package conversions_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/conversions"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// store is a sink that keeps conversions, or fails.
type store struct {
	mu   sync.Mutex
	down bool
	got  []conversion.Conversion
}

func (s *store) Deliver(_ context.Context, b *click.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return errors.New("down")
	}
	for d := click.NewDecoder(b); ; {
		var e click.Event
		ok, err := d.Next(&e)
		if err != nil || !ok {
			return err
		}
		if e.LostTo != 0 {
			continue
		}
		c, err := conversion.FromEvent(&e)
		if err != nil {
			return err
		}
		s.got = append(s.got, c)
	}
}

func (s *store) all() []conversion.Conversion {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]conversion.Conversion(nil), s.got...)
}

func open(t *testing.T, dir string, to *store, adjust ...func(*conversions.Config)) (pipeline *conversions.Pipeline, stop func()) {
	t.Helper()
	cfg := conversions.Config{Dir: dir, Linger: -1}
	for _, f := range adjust {
		f(&cfg)
	}
	pipeline, err := conversions.Open(cfg, to)
	testkit.Must(t, err)
	end := testkit.Run(t, pipeline.Run)
	stop = sync.OnceFunc(func() {
		end()
		testkit.Must(t, pipeline.Close())
	})
	t.Cleanup(stop)
	return pipeline, stop
}

var now = time.Now()

func checker(t *testing.T) conversion.Checker {
	t.Helper()
	first, last := conversion.PeriodsAt(now, 0)
	keys, err := conversion.NewKeys(conversion.Derive([][]byte{[]byte("a secret")}, first, last))
	testkit.Must(t, err)
	return conversion.Checker{Keys: keys, Window: 24 * time.Hour, Now: now}
}

func item(ck conversion.Checker, n int, name string) conversion.Item {
	id, _ := conversion.ClickID{Link: 1, Time: now.UnixMilli(), Tag: uint64(n)}.Append(nil, ck.Keys)
	return conversion.Item{ClickID: string(id), Name: name, Value: json.RawMessage("2.5"), Currency: "EUR"}
}

func TestTake_tells_duplicates(t *testing.T) {
	t.Parallel()
	to, ck := new(store), checker(t)
	pipeline, _ := open(t, t.TempDir(), to)
	again := item(ck, 1, "buy")
	again.Repeatable, again.ExternalID = true, "order 2"
	bad := item(ck, 1, "")
	for round, want := range []string{"", "duplicate"} {
		problems, err := pipeline.Take(ck, 7, []conversion.Item{item(ck, 1, "buy"), item(ck, 1, "buy"), item(ck, 1, "sign-up"), again,
			item(ck, 2, "buy"), bad})
		testkit.Must(t, err)
		for i, expected := range []string{want, "duplicate", want, want, want, "invalid"} {
			got := ""
			if problems[i] != nil {
				got = string(problems[i].Verdict)
			}
			if got != expected {
				t.Errorf("round %d, item %d: %q, want %q", round, i, got, expected)
			}
		}
	}
	testkit.Must(t, pipeline.Delivered(t.Context()))
	list := to.all()
	if len(list) != 4 {
		t.Fatalf("%+v", list)
	}
	for _, c := range list {
		if c.Workspace != 7 || !c.Browser || c.Value != 25_000 || c.Currency != "EUR" || c.Click.Link != 1 {
			t.Errorf("%+v", c)
		}
	}
}

// Conversions that were accepted while the sink was down are delivered after a restart.
func TestPipeline_survives_a_restart(t *testing.T) {
	t.Parallel()
	dir, to, ck := t.TempDir(), &store{down: true}, checker(t)
	pipeline, stop := open(t, dir, to)
	for i := range 500 {
		if _, err := pipeline.Take(ck, 7, []conversion.Item{item(ck, i, "buy")}); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	to.mu.Lock()
	to.down = false
	to.mu.Unlock()
	pipeline, _ = open(t, dir, to)
	testkit.Must(t, pipeline.Delivered(t.Context()))
	seen := map[uint64]bool{}
	for _, c := range to.all() {
		seen[c.Click.Tag] = true
	}
	if len(seen) != 500 {
		t.Errorf("%d conversions", len(seen))
	}
}

// A full spool accepts nothing more, and takes no more space than its cap. What it has accepted arrives.
func TestPipeline_refuses_when_it_is_full(t *testing.T) {
	t.Parallel()
	to, ck := &store{down: true}, checker(t)
	pipeline, _ := open(t, t.TempDir(), to, func(c *conversions.Config) { c.SegmentBytes, c.CapBytes = 16<<10, 128<<10 })
	accepted := map[uint64]bool{}
	refused := false
	for i := 0; i < 5000; i++ {
		_, err := pipeline.Take(ck, 7, []conversion.Item{item(ck, i, fmt.Sprint("name ", i))})
		if err == nil {
			accepted[uint64(i)] = true
		} else if refused = true; !errors.Is(err, conversions.ErrFull) {
			t.Fatal(err)
		}
	}
	if s := pipeline.Stats().Spool; !refused || s.Bytes > 128<<10 {
		t.Fatalf("refused %v: %+v", refused, s)
	}
	to.mu.Lock()
	to.down = false
	to.mu.Unlock()
	testkit.Must(t, pipeline.Delivered(t.Context()))
	for _, c := range to.all() {
		delete(accepted, c.Click.Tag)
	}
	if len(accepted) != 0 {
		t.Errorf("%d accepted conversions did not arrive", len(accepted))
	}
	// There is space again, and what was refused is no duplicate.
	testkit.Eventually(t, "space after everything was delivered", func() bool {
		problems, err := pipeline.Take(ck, 7, []conversion.Item{item(ck, 4999, "name 4999")})
		if err == nil && problems[0] != nil {
			t.Errorf("%+v", problems[0])
		}
		return err == nil
	})
}
