package commands

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/ingest"
	"github.com/shortline/shortline/control/internal/clicks/reconcile"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/visitor"
)

// VerifyClicks implements the command verify-clicks: it writes a report about the click store, and returns an error if
// clicks are missing or if a report disagrees with the clicks.
func VerifyClicks(ctx context.Context, clicks analytics.Store, out io.Writer) error {
	r, err := reconcile.VerifyClicks(ctx, clicks)
	if err != nil {
		return err
	}
	if _, err := r.WriteTo(out); err != nil {
		return err
	}
	if !r.Clean() {
		return errors.New("clicks are missing, or reports disagree with the clicks")
	}
	return nil
}

// ReclassifyArgs are the arguments of Reclassify, for its help.
const ReclassifyArgs = "[-since DAY] [-until DAY] [-dry-run]"

// Reclassify implements the command reclassify: it enriches the clicks again that were enriched with another geo database
// or another list of bots.
func Reclassify(ctx context.Context, args []string, st *store.Store, clicks analytics.Store, geo *visitor.Geo, out,
	problems io.Writer) error {
	flags := flag.NewFlagSet("reclassify", flag.ContinueOnError)
	flags.SetOutput(problems)
	var r ingest.Reclassification
	flags.Func("since", "first `day` (UTC), such as 2026-01-31; default: the day of the first click", dayFlag(&r.Since, 0))
	flags.Func("until", "last `day` (UTC); default: the day of the last click", dayFlag(&r.Until, 1))
	flags.BoolVar(&r.DryRun, "dry-run", false, "count the clicks that would change, without changing them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if geo.Version() == "" {
		fmt.Fprintln(out, "No geo database is configured (GEO_DB), so places do not change.")
	}
	r.Progress = func(done ingest.Reclassified) {
		fmt.Fprintf(out, "%d clicks read, %d enriched with older data, %d of them differ now\n", done.Seen, done.Stale, done.Changed)
	}
	done, err := ingest.New(ingest.Config{}, st, clicks, ingest.NewEnricher(geo)).Reclassify(ctx, r)
	fmt.Fprintf(out, "%d clicks were stored again\n", done.Stored)
	return err
}

// dayFlag parses a day and adds days to it.
func dayFlag(to *time.Time, days int) func(string) error {
	return func(text string) error {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return errors.New("must be a day such as 2026-01-31")
		}
		*to = at.AddDate(0, 0, days)
		return nil
	}
}
