// Package clickstore queries a ClickHouse server for the clicks of a run, independent of the programs that wrote them.
package clickstore

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// Store is the HTTP interface of a server with the tables of the control plane.
type Store struct {
	URL string // http://host:port
}

// Account is the result of an audit that needs no record of the run.
type Account struct {
	Rows    int // stored rows, including duplicates that are not merged yet
	Clicks  int // distinct clicks, as queries with FINAL count them
	Missing int // sequence numbers below the highest of a lane with neither a click nor a loss marker
	Lost    int // sequence numbers in loss markers
}

// String returns a summary in one line.
func (a Account) String() string {
	return fmt.Sprintf("%d rows, %d clicks (%d duplicates not merged yet), %d missing in lanes, %d marked as lost", a.Rows, a.Clicks,
		a.Rows-a.Clicks, a.Missing, a.Lost)
}

// Ask runs a statement and returns the lines of its tab-separated result.
func (s Store) Ask(ctx context.Context, statement string) ([]string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/?database=default", strings.NewReader(statement))
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1000)) // the body is optional: the status alone makes a useful error
		return nil, fmt.Errorf("%.60s: %s: %s", statement, res.Status, text)
	}
	var lines []string
	in := bufio.NewScanner(res.Body)
	for in.Scan() {
		lines = append(lines, in.Text())
	}
	return lines, in.Err()
}

func (s Store) number(ctx context.Context, statement string) (int, error) {
	lines, err := s.Ask(ctx, statement)
	if err != nil {
		return 0, err
	}
	if len(lines) != 1 {
		return 0, fmt.Errorf("%.60s: got %d lines, want 1", statement, len(lines))
	}
	return strconv.Atoi(lines[0])
}

// Contents counts the stored clicks, without duplicates that FINAL removes, by utm_content. truth.Judge needs it.
func (s Store) Contents(ctx context.Context) (iter.Seq2[string, int], error) {
	lines, err := s.Ask(ctx, "SELECT utm_content, count() FROM clicks FINAL GROUP BY utm_content")
	if err != nil {
		return nil, err
	}
	found := make(map[string]int, len(lines))
	for _, line := range lines {
		name, n, _ := strings.Cut(line, "\t")
		if found[name], err = strconv.Atoi(n); err != nil {
			return nil, fmt.Errorf("unexpected line in the result: %q", line)
		}
	}
	return maps.All(found), nil
}

// Clicks counts the stored clicks, without duplicates that FINAL removes.
func (s Store) Clicks(ctx context.Context) (int, error) {
	return s.number(ctx, "SELECT count() FROM clicks FINAL")
}

// Account audits the stored clicks.
func (s Store) Account(ctx context.Context) (Account, error) { return Set{s}.Account(ctx) }
