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

// VerifyClicks is the operator's command of that name: it says what the store of clicks is like, and is an error
// where a click is missing or a report would not agree with the clicks.
func VerifyClicks(ctx context.Context, clicks analytics.Store, out io.Writer) error {
	r, err := reconcile.VerifyClicks(ctx, clicks)
	if err != nil {
		return err
	}
	if _, err := r.WriteTo(out); err != nil {
		return err
	}
	if !r.Clean() {
		return errors.New("clicks are missing, or reports don't agree with them")
	}
	return nil
}

// ReclassifyArgs is how Reclassify is called.
const ReclassifyArgs = "[-since DAY] [-until DAY] [-dry-run]"

// Reclassify is the operator's command of that name: it enriches again the clicks that were enriched with another geo
// database or list of bots.
func Reclassify(ctx context.Context, args []string, st *store.Store, clicks analytics.Store, geo *visitor.Geo, out, problems io.Writer) error {
	flags := flag.NewFlagSet("reclassify", flag.ContinueOnError)
	flags.SetOutput(problems)
	var r ingest.Reclassification
	flags.Func("since", "the first `day` (UTC), such as 2026-01-31; the first click's without it", dayFlag(&r.Since, 0))
	flags.Func("until", "the last `day` (UTC); the last click's without it", dayFlag(&r.Until, 1))
	flags.BoolVar(&r.DryRun, "dry-run", false, "change nothing, only count")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if geo.Version() == "" {
		fmt.Fprintln(out, "There is no geo database (GEO_DB), so places stay as they are.")
	}
	r.Progress = func(done ingest.Reclassified) {
		fmt.Fprintf(out, "%d clicks seen, %d enriched by older data, %d of them different now\n", done.Seen, done.Stale, done.Changed)
	}
	done, err := ingest.New(ingest.Config{}, st, clicks, ingest.NewEnricher(geo)).Reclassify(ctx, r)
	fmt.Fprintf(out, "%d clicks were stored anew\n", done.Stored)
	return err
}

// dayFlag reads a day and adds some to it.
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
