package clickstore

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// Set is the servers that together have all clicks of a run, one of each shard.
type Set []Store

// Clicks counts the stored clicks, as Store.Clicks does.
func (s Set) Clicks(ctx context.Context) (sum int, err error) {
	for _, one := range s {
		n, err := one.Clicks(ctx)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// Contents is Store.Contents of all servers. The same text may come several times.
func (s Set) Contents(ctx context.Context) (iter.Seq2[string, int], error) {
	var all []iter.Seq2[string, int]
	for _, one := range s {
		found, err := one.Contents(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return func(yield func(string, int) bool) {
		for _, found := range all {
			for name, n := range found {
				if !yield(name, n) {
					return
				}
			}
		}
	}, nil
}

// Account audits the stored clicks. The numbers of a lane are spread over the shards, and losses are in each of them.
func (s Set) Account(ctx context.Context) (a Account, err error) {
	lanes, losses := map[string]lane{}, map[string]int{}
	for _, one := range s {
		rows, err := one.number(ctx, "SELECT count() FROM clicks")
		if err != nil {
			return a, err
		}
		clicks, err := one.Clicks(ctx)
		if err != nil {
			return a, err
		}
		a.Rows, a.Clicks = a.Rows+rows, a.Clicks+clicks
		if err := one.lanes(ctx, lanes); err != nil {
			return a, err
		}
		if err := one.losses(ctx, losses); err != nil {
			return a, err
		}
	}
	for _, l := range lanes {
		a.Missing += l.top - l.clicks
	}
	for _, n := range losses {
		a.Lost += n
	}
	// Lost numbers above a lane's last click are not among the missing ones, so this is never too lenient.
	a.Missing -= min(a.Missing, a.Lost)
	return a, nil
}

// lane is what servers have of a lane.
type lane struct{ top, clicks int }

func (s Store) lanes(ctx context.Context, into map[string]lane) error {
	lines, err := s.Ask(ctx, "SELECT max(seq), uniqExact(seq), edge, epoch, lane FROM clicks GROUP BY edge, epoch, lane")
	if err != nil {
		return err
	}
	for _, line := range lines {
		fields := strings.SplitN(line, "\t", 3)
		top, clicks, err := two(fields)
		if err != nil {
			return fmt.Errorf("unexpected line in the result: %q", line)
		}
		l := into[fields[2]]
		into[fields[2]] = lane{max(l.top, top), l.clicks + clicks}
	}
	return nil
}

func (s Store) losses(ctx context.Context, into map[string]int) error {
	lines, err := s.Ask(ctx, "SELECT lost_from, lost_to, edge, epoch, lane FROM losses FINAL")
	if err != nil {
		return err
	}
	for _, line := range lines {
		from, to, err := two(strings.SplitN(line, "\t", 3))
		if err != nil {
			return fmt.Errorf("unexpected line in the result: %q", line)
		}
		into[line] = to - from + 1
	}
	return nil
}

// two returns the first two of three fields, which are numbers.
func two(fields []string) (a, b int, err error) {
	if len(fields) != 3 {
		return 0, 0, strconv.ErrSyntax
	}
	if a, err = strconv.Atoi(fields[0]); err == nil {
		b, err = strconv.Atoi(fields[1])
	}
	return a, b, err
}
