//go:build proof

package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// maxRest is the share of a processor that an installation at rest may use.
const maxRest = 0.05

// teams is the number of workspaces in which the links are.
const teams = 300

// TestG42 measures what an installation with many links and clicks does while nobody uses it. It begins with a restart of the
// control planes, after which counters are compared. A few counters are wrong and must be corrected; all others must stay. One
// link has a tenth of all clicks. At the end, the test measures reports.
func TestG42_at_rest(t *testing.T) {
	many, clicks, rest := links(t, 1_000_000), number(t, "CLICKS", 20_000_000), long(t, 15*time.Minute)
	each := clicks * 9 / 10 / (many - 1)
	if each == 0 {
		t.Fatalf("CLICKS=%d: want more than one for each of the %d links", clicks, many)
	}
	c := startChain(t, fleet.Config{Controls: 1, Ingesters: 1}, 1)
	testkit.Eventually(t, "the click store has its tables", func() bool {
		_, err := c.api.Reports.Overview(t.Context(), client.FullReportParams{})
		return err == nil
	})
	nodes := []*fleet.Node{c.Controls[0], c.Ingesters[0]}
	for _, n := range nodes {
		testkit.Must(t, n.Stop())
	}
	began := time.Now()
	heavy := c.fill(many, each)
	t.Logf("a link with %d clicks and %d others with %d each stored in %v", heavy, many-1, each, time.Since(began).Round(time.Second))

	began = time.Now()
	for _, n := range nodes {
		n.Start()
	}
	wrong := fmt.Sprintf(`SELECT count(*) FROM urls WHERE id LIKE 'bulk-%%' AND click_count <> CASE id WHEN 'bulk-1' THEN %d ELSE %d END`,
		heavy, each)
	patiently(func() bool { return c.value(wrong) == 0 })
	patiently(func() bool { // all rollups are built
		waiting := 0.0
		for _, n := range nodes {
			waiting += n.Metric("shortline_rollup_waiting_slots")
		}
		return waiting == 0 && nodes[0].Metric("shortline_rollup_rebuilt_slots_total")+
			nodes[1].Metric("shortline_rollup_rebuilt_slots_total") > 0
	})
	t.Logf("counters corrected and rollups built %v after the start", time.Since(began).Round(time.Second))
	began = time.Now()
	patiently(func() bool { return c.asked("SELECT count() FROM system.merges") == "0" })
	t.Logf("merged %v later", time.Since(began).Round(time.Second))
	for _, n := range nodes { // their work after a start belongs to the measurement
		testkit.Must(t, n.Stop())
		n.Start()
	}

	all := map[string]*fleet.Process{"control": nodes[0].Process, "ingest": nodes[1].Process, "ClickHouse": c.ClickHouse,
		"PostgreSQL": c.Postgres}
	began, used := time.Now(), time.Duration(0)
	for before := processorTimes(t, all); time.Since(began) < rest; { // by the minute, because the first one has the work of a start
		fleet.Hold(min(time.Minute, rest))
		after := processorTimes(t, all)
		for name := range all {
			used += after[name] - before[name]
			t.Logf("after %v: %s used %v", time.Since(began).Round(time.Second), name, after[name]-before[name])
		}
		before = after
	}
	share := float64(used) / float64(time.Since(began))
	t.Logf("together %.2f %% of a processor over %v", 100*share, rest)
	if rest >= time.Minute && share > maxRest { // a short time consists of the start
		t.Errorf("the installation at rest uses %.2f %% of a processor, want at most %.0f", 100*share, 100*maxRest)
	}
	if n := c.value(wrong); n != 0 {
		t.Errorf("%d counters are wrong at the end", n)
	}
	c.timeReports(heavy, each)
}

// patiently waits for what may take an hour with millions of links.
func patiently(done func() bool) {
	for !done() {
		fleet.Hold(time.Second)
	}
}

// fill adds links in several workspaces, and clicks of the last thirty days, directly to the stores. The first link has a tenth of
// all clicks, and the others have as many as each says. fill returns the clicks of the first link. The counters of ten links are
// wrong.
func (c *chain) fill(many, each int) (heavy int) {
	c.t.Helper()
	light := each * (many - 1)
	heavy = light / 9
	total := light + heavy
	const owner = 1001 // number of the first workspace
	c.insert(fmt.Sprintf(
		`INSERT INTO workspaces (num, id, name, slug, created_at, updated_at) SELECT %d + n - 1, 'team-' || n, 'Team', 'team-' || n, n, n `+
			`FROM generate_series(1, %d) AS n`, owner, teams))
	c.insert(fmt.Sprintf(
		`INSERT INTO workspace_members (workspace_num, user_id, role, created_at) SELECT w.num, users.id, 'OWNER', 1 FROM workspaces w, users `+
			`WHERE w.num >= %d`, owner))
	for first := 1; first <= many; first += 50_000 {
		c.insert(fmt.Sprintf(`INSERT INTO urls (id, user_id, workspace_num, slug, original_url, search_text, click_count, created_at, updated_at)
			SELECT 'bulk-' || n, users.id, %d + (n - 1) %% %d, 'bulk' || n, 'https://example.com/' || n, 'bulk' || n,
			CASE WHEN n = 1 THEN %d ELSE %d END + CASE WHEN n <= 10 THEN n ELSE 0 END, n, n
			FROM generate_series(%d, %d) AS n, users`, owner, teams, heavy, each, first, min(many, first+49_999)))
	}
	num := c.value(`SELECT num FROM urls WHERE id = 'bulk-1'`)
	const month = 30 * 24 * 3600 * 1000
	start := time.Now().UnixMilli() - month
	// Visitors are numbers from the whole range, because a sample of them is the lowest sixteenth of it.
	// Every tenth click is one of the first link, until it has all of its clicks.
	const link = `if(number < %[1]d AND number %% 10 = 9, 0, 1 + (number - least(intDiv(number, 10), %[2]d)) %% %[3]d)`
	which := fmt.Sprintf(link, 10*heavy, heavy, many-1)
	for first := 0; first < total; first += 5_000_000 {
		c.asked(fmt.Sprintf(`INSERT INTO clicks (edge, epoch, lane, seq, ts, link, owner, ip, visitor, country, city, device, os, browser,
			referer, user_agent)
			SELECT 1, 1, 0, number + 1, fromUnixTimestamp64Milli(toInt64(%d + intDiv(number * %d, %d))), %d + %s AS link,
			%d + (link - %[4]d) %% %[7]d, toIPv6('192.0.2.1'), toInt64(cityHash64(rand64() %% 12000000)),
			['DE', 'US', 'TW', 'FR'][1 + number %% 4], concat('City ', toString(cityHash64(number, 1) %% 3000)), ['MOBILE',
			'DESKTOP'][1 + number %% 2], 'iOS', 'Safari',
			['', 'https://news.example/', 'https://t.co/a'][1 + number %% 3], 'Mozilla/5.0' FROM numbers(%[8]d, %[9]d)`,
			start, month, total, num, which, owner, teams, first, min(5_000_000, total-first)))
	}
	c.asked(`INSERT INTO rollup_marks (slot, writer, n) SELECT DISTINCT toUInt32(intDiv(toUnixTimestamp64Milli(ts), 900000)), 1, 1 ` +
		`FROM clicks`)
	c.asked(fmt.Sprintf(`INSERT INTO lane_marks (edge, epoch, lane, seq) VALUES (1, 1, 0, %d)`, total))
	return heavy
}

// timeReports measures reports of the last thirty days, as a client sees them.
func (c *chain) timeReports(heavy, each int) {
	c.t.Helper()
	now := time.Now().UTC()
	days := client.FullReportParams{StartDate: now.AddDate(0, 0, -30).Format(time.DateOnly),
		EndDate: now.AddDate(0, 0, 1).Format(time.DateOnly)}
	for _, q := range []struct {
		name, team, link string // no link: the workspace
		atLeast          int
	}{
		{"the link with a tenth of all clicks", "team-1", "bulk-1", heavy},
		{"another link", "team-2", "bulk-2", each},
		{"a workspace", "team-2", "", each},
		{"the workspace with the largest link", "team-1", "", heavy},
	} {
		var took []time.Duration
		total, reports := 0, c.api.In(q.team).Reports
		for range 5 {
			fleet.Hold(2500 * time.Millisecond) // reports are cached for two seconds
			began := time.Now()
			if q.link == "" {
				report, err := reports.Overview(c.t.Context(), days)
				testkit.Must(c.t, err)
				total = report.TotalClicks
			} else {
				report, err := reports.Link(c.t.Context(), q.link, days)
				testkit.Must(c.t, err)
				total = report.TotalClicks
			}
			took = append(took, time.Since(began).Round(time.Millisecond))
		}
		c.t.Logf("report of %s, %d clicks: %v", q.name, total, took)
		if total < q.atLeast {
			c.t.Errorf("the report of %s has %d clicks, want at least %d", q.name, total, q.atLeast)
		}
	}
}

// insert runs a statement in PostgreSQL.
func (c *chain) insert(statement string) {
	c.t.Helper()
	if out, err := c.Ask(statement); err != nil {
		c.t.Fatalf("fill the database: %v: %s", err, out)
	}
}

// asked runs a statement in ClickHouse and returns the first line of the answer.
func (c *chain) asked(statement string) string {
	c.t.Helper()
	lines, err := c.Store.Ask(c.t.Context(), statement)
	if err != nil {
		c.t.Fatalf("ask the click store: %v", err)
	}
	return strings.Join(lines[:min(1, len(lines))], "")
}

// value returns the number that a statement selects from PostgreSQL.
func (c *chain) value(statement string) int {
	c.t.Helper()
	out, err := c.Ask(statement)
	if err != nil {
		c.t.Fatalf("%s: %v", statement, err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		c.t.Fatalf("%s: %q", statement, out)
	}
	return n
}

func processorTimes(t *testing.T, all map[string]*fleet.Process) map[string]time.Duration {
	t.Helper()
	used := map[string]time.Duration{}
	for name, p := range all {
		used[name] = familyCPU(t, p.PID())
	}
	return used
}

// familyCPU returns the CPU time of a process, of its descendants, and of those that it has waited for.
func familyCPU(t *testing.T, pid int) time.Duration {
	t.Helper()
	parents, used := map[int]int{}, map[int]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	testkit.Must(t, err)
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended meanwhile
		}
		_, rest, _ := strings.Cut(string(b), ") ") // the name before it may contain spaces
		f := strings.Fields(rest)
		number := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		parents[id], used[id] = number(1), number(11)+number(12)+number(13)+number(14) // proc(5): ppid, utime, stime, cutime, cstime
	}
	ticks := 0
	for id := range used {
		for at := id; at > 1; at = parents[at] {
			if at == pid {
				ticks += used[id]
				break
			}
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond // a hundred ticks a second, on all systems that Go supports
}
