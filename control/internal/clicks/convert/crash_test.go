package convert_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/clicks/convert"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// crashFolder names the folder of a child process of the crash test, crashLink its link, and crashOwner the link's workspace.
const (
	crashFolder = "SHORTLINE_CRASH_FOLDER"
	crashLink   = "SHORTLINE_CRASH_LINK"
	crashOwner  = "SHORTLINE_CRASH_OWNER"
)

func TestMain(m *testing.M) {
	if os.Getenv(crashFolder) != "" {
		if err := ingestForEver(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// crashStep is one step of the child: clicks that are in time, conversions of these and of late clicks, and the late clicks.
type crashStep struct {
	early, late []analytics.Row
	list        []conversion.Conversion
}

var crashSteps = testkit.Size(20, 60)

// crashLedger returns the steps. Conversions occur twice in a step and again in the next one, as a queue repeats them.
func crashLedger(link, owner uint64) (steps []crashStep) {
	r := rand.New(rand.NewPCG(5, 5))
	start := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC).UnixMilli()
	seq := uint64(0)
	for i := range crashSteps {
		var s crashStep
		for range 20 + r.IntN(200) {
			seq++
			row := analytics.Row{Identity: analytics.Identity{Lane: lane, Seq: seq}, Time: start + int64(seq)*50, Link: link, Owner: owner,
				Country: "DE", OS: "Linux"}
			if r.IntN(3) == 0 {
				s.late = append(s.late, row)
			} else {
				s.early = append(s.early, row)
			}
			c := conversion.Conversion{Click: conversion.ClickID{Link: link, Time: row.Time, Tag: conversion.TagOf(lane, seq)},
				Workspace: owner,
				Name:      "purchase", Value: r.Int64N(1_000_000), Currency: []string{"EUR", "USD"}[r.IntN(2)],
				OccurredAt: row.Time + 10, ReceivedAt: row.Time + 20}
			s.list = append(s.list, c)
		}
		s.list = append(s.list, s.list[:10]...)
		if i > 0 {
			s.list = append(s.list, steps[i-1].list[5:15]...)
		}
		steps = append(steps, s)
	}
	return steps
}

// ingestForEver does all steps from the first one on, as after a restart without any acknowledgement, and reports each.
func ingestForEver(ctx context.Context) error {
	dir := os.Getenv(crashFolder)
	link, _ := strconv.ParseUint(os.Getenv(crashLink), 10, 64)
	owner, _ := strconv.ParseUint(os.Getenv(crashOwner), 10, 64)
	st, err := store.Open(ctx, store.Config{URL: "sqlite:" + filepath.Join(dir, "store.db")})
	if err != nil {
		return err
	}
	clicks, err := duckdb.Open(ctx, duckdb.Config{Path: filepath.Join(dir, "clicks"), Threads: 1})
	if err != nil {
		return err
	}
	in := convert.NewIngester(convert.IngestConfig{}, st, clicks)
	for i, s := range crashLedger(link, owner) {
		if err := clicks.Insert(ctx, analytics.Batch{Rows: s.early}); err != nil {
			return err
		}
		if err := in.Deliver(ctx, batchOf(s.list)); err != nil {
			return err
		}
		if err := clicks.Insert(ctx, analytics.Batch{Rows: s.late}); err != nil {
			return err
		}
		if _, err := in.Search(ctx); err != nil {
			return err
		}
		fmt.Println(i + 1)
	}
	return errors.Join(clicks.Close(), st.Close())
}

func batchOf(list []conversion.Conversion) *click.Batch {
	b := click.Batch{Lane: click.Lane{Edge: 9, Epoch: 1}, First: 1, Count: len(list)}
	for i := range list {
		e := list[i].Event()
		e.Seq = uint64(i + 1)
		b.Records = click.AppendRecord(b.Records, &e)
	}
	return &b
}

// A process that stores conversions and attributes late clicks is killed at random moments, and starts again from the beginning.
// At the end the store has each conversion once, with its value and the columns of its click.
func TestIngester_kill_loses_nothing_and_repeats_nothing(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	ok := func(err error) {
		t.Helper()
		testkit.Must(t, err)
	}
	st, err := store.Open(ctx, store.Config{URL: "sqlite:" + filepath.Join(dir, "store.db")})
	ok(err)
	u := store.Link{ID: store.NewID(), Slug: "launch", OriginalURL: "https://example.com", Active: true, CreatedAt: 1, UpdatedAt: 1}
	ok(st.Tx(ctx, func(tx *store.Tx) (err error) {
		ann := store.User{ID: store.NewID(), Email: "ann@example.com", Role: "USER", Active: true}
		u.UserID = ann.ID
		if u.Workspace, err = tx.InsertUser(ctx, ann); err != nil {
			return err
		}
		return tx.InsertLinks(ctx, []*store.Link{&u})
	}))
	ok(st.Close())
	r := rand.New(rand.NewPCG(6, 6))
	kills := testkit.Size(2, 10)
	most := 0
	for kill := 0; kill <= kills; kill++ {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), crashFolder+"="+dir, fmt.Sprintf("%s=%d", crashLink, u.Num),
			fmt.Sprintf("%s=%d", crashOwner, u.Workspace))
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		ok(err)
		ok(child.Start())
		done, after := 0, 1+r.IntN(crashSteps-1)
		if kill == kills {
			after = math.MaxInt // the last one finishes
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			done++
			if after--; after == 0 {
				time.AfterFunc(time.Duration(r.IntN(20_000))*time.Microsecond, func() { _ = child.Process.Kill() })
			}
		}
		if err := child.Wait(); kill == kills && (err != nil || done != crashSteps) {
			t.Fatalf("the last process did %d of %d steps: %v", done, crashSteps, err)
		}
		most = max(most, done)
		if err := checkCrashed(ctx, dir, crashLedger(u.Num, u.Workspace), most); err != nil {
			t.Fatalf("kill %d after %d steps: %v", kill+1, done, err)
		}
	}
}

// checkCrashed compares the click store with the ledger. The first steps were completed; of the others, anything may be stored.
func checkCrashed(ctx context.Context, dir string, steps []crashStep, completed int) (err error) {
	clicks, err := duckdb.Open(ctx, duckdb.Config{Path: filepath.Join(dir, "clicks"), Threads: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, clicks.Close()) }()
	rows, ledger := map[conversion.ClickID]analytics.Row{}, map[conversion.ClickID]conversion.Conversion{}
	must := map[conversion.ClickID]bool{}
	for i, s := range steps {
		for _, row := range slices.Concat(s.early, s.late) {
			rows[conversion.ClickID{Link: row.Link, Time: row.Time, Tag: conversion.TagOf(row.Lane, row.Seq)}] = row
		}
		for _, c := range s.list {
			ledger[c.Click] = c
			if i < completed {
				must[c.Click] = true
			}
		}
	}
	seen := map[conversion.ClickID]bool{}
	err = clicks.EachConversion(ctx, analytics.Scope{}, "", math.MaxInt, func(c *analytics.Conversion) error {
		switch {
		case seen[c.Click]:
			return fmt.Errorf("%+v is stored twice", c.Conversion)
		case c.Conversion != ledger[c.Click]:
			return fmt.Errorf("%+v is stored, want %+v", c.Conversion, ledger[c.Click])
		case c.Attributed && c.Row != rows[c.Click], !c.Attributed && must[c.Click]:
			return fmt.Errorf("%+v has the click %+v (%t), want %+v", c.Conversion, c.Row, c.Attributed, rows[c.Click])
		}
		seen[c.Click] = true
		return nil
	})
	if err != nil {
		return err
	}
	for id := range must {
		if !seen[id] {
			return fmt.Errorf("the conversion of %+v is lost", id)
		}
	}
	if completed == len(steps) && len(seen) != len(ledger) {
		return fmt.Errorf("%d conversions, want %d", len(seen), len(ledger))
	}
	return nil
}
