//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// visitRows and ratioRows are the rows of the tables in docs/developers/performance.md, in their order: the names of modes and
// scenarios, and what the page calls them.
var (
	visitRows = [][2]string{
		{"P16", "TLS 1.3, full handshake"}, {"P17", "TLS 1.3, resumed handshake"}, {"P16h", "TLS 1.3, full handshake, post-quantum hybrid"},
		{"P15", "no TLS, the server closes the connection"}, {"P15k", "no TLS, the visitor closes the connection"},
		{"P15m", "no TLS, 2,000 visitors at once, the server closes"},
	}
	ratioRows = [][2]string{
		{"P1b", "a whole edge that ships its clicks to Kafka from the same core"},
		{"P1e", "a whole edge, its clicks are read and discarded"},
		{"P1", "a plain link out of a million, clicks in the spool"},
		{"P1a", "the same, each click synced to the disk (`SPOOL_SYNC=always`)"},
		{"P2", "ten nested rules on ten subjects"},
		{"P2t", "the same with 50,000 links that share conditions"},
		{"P2c", "the same with 50,000 links that each have conditions of their own"},
		{"P3", "an A/B test of five variants"},
		{"P3C", "the same with click ids for conversions"},
		{"P4", "an unknown slug"},
		{"B+", "bare+: a constant redirect behind the edge's listener"},
		{"N1", "nginx, 100,000 links, no log"}, {"N2", "nginx, 100,000 links, JSON access log"},
		{"H1", "HAProxy, 100,000 links, no log"}, {"H2", "h2o, a constant redirect"}, {"C1", "Caddy, a constant redirect"},
	}
)

// pageTables returns the tables of a result in docs/developers/performance.md.
func pageTables(r *result) []string {
	return []string{ratioTable(r), visitTable(r)}
}

func ratioTable(r *result) string {
	var b strings.Builder
	b.WriteString("| | A request on a kept connection | Ratio to bare | Budget | Missed by | Requests/s | p99 to bare's | p99.9 |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for _, row := range ratioRows {
		i := slices.IndexFunc(r.Ratios, func(x ratio) bool { return x.Name == row[0] })
		if i < 0 {
			continue
		}
		x := &r.Ratios[i]
		budget, missed := "", ""
		if x.Budget > 0 {
			budget, missed = fmt.Sprintf("%.2f", x.Budget), missedBy(x.Budget-x.Ratio)
		}
		fmt.Fprintf(&b, "| %s | %s | %.2f | %s | %s | %s | %.2f | %.2f |\n", row[0], row[1], x.Ratio, budget, missed, grouped(x.Rate),
			x.P99/x.P99Bare, x.P999/x.P999Bare)
	}
	return b.String()
}

func visitTable(r *result) string {
	var b strings.Builder
	b.WriteString("| | A visit | CPU time | to fasthttp's | to Caddy's | to nginx's | Budget | Missed by | p99 to nginx's |\n" +
		"|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range visitRows {
		own := visitOf(r, row[0], visitEdge)
		if own == nil {
			continue
		}
		ratioTo := map[string]string{}
		for _, server := range []string{visitStock, visitCaddy, visitNginx} {
			if c := visitOf(r, row[0], server); c != nil {
				ratioTo[server] = fmt.Sprintf("%.2f", c.Ratio)
			}
		}
		budget, missed, tail := "", "", ""
		if c := visitOf(r, row[0], visitNginx); c != nil {
			budget, missed, tail = fmt.Sprintf("%.2f", c.Budget), missedBy(c.Ratio-c.Budget), fmt.Sprintf("%.2f", c.ToP99)
		}
		fmt.Fprintf(&b, "| %s | %s | %.0f µs | %s | %s | %s | %s | %s | %s |\n", row[0], row[1], own.Micros,
			ratioTo[visitStock], ratioTo[visitCaddy], ratioTo[visitNginx], budget, missed, tail)
	}
	return b.String()
}

// readmeRows returns the rows of the README's table of costs that come from this benchmark.
func readmeRows(r *result) string {
	var b strings.Builder
	own, nginx := visitOf(r, "P16", visitEdge), visitOf(r, "P16", visitNginx)
	if own != nil && nginx != nil {
		fmt.Fprintf(&b, "| a visit over TLS 1.3: new connection, full handshake, redirect | %.0f µs of a core | "+
			"%.2f of what nginx needs for a constant redirect |\n", own.Micros, nginx.Ratio)
	}
	i := slices.IndexFunc(r.Ratios, func(x ratio) bool { return x.Name == "P1b" })
	if i >= 0 {
		x := &r.Ratios[i]
		fmt.Fprintf(&b, "| a redirect on a kept connection, its click sent to Kafka | %.1f µs, %s a second per core | "+
			"%.2f times a constant redirect of fasthttp |\n", x.Edge, grouped(x.Rate), 1/x.Ratio)
	}
	return b.String()
}

func visitOf(r *result, mode, server string) *visitCost {
	i := slices.IndexFunc(r.Visits, func(c visitCost) bool { return c.Mode == mode && c.Server == server })
	if i < 0 {
		return nil
	}
	return &r.Visits[i]
}

// missedBy says by how much a figure misses its budget.
func missedBy(v float64) string {
	if v <= 0 {
		return "met"
	}
	return fmt.Sprintf("%.2f", v)
}

func printTables(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var r result
	if err := json.Unmarshal(b, &r); err != nil {
		return err
	}
	_, err = fmt.Println(strings.Join(append(pageTables(&r), readmeRows(&r)), "\n"))
	return err
}

// grouped rounds a number to thousands and groups its digits.
func grouped(v float64) string {
	return strconv.Itoa(int(v/1000+0.5)) + ",000"
}
