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

// readmeVisits and readmeRatios are the rows of the README's tables, in their order: the names of modes and scenarios, and what
// the README calls them.
var (
	readmeVisits = [][2]string{
		{"P16", "over TLS 1.3, full handshake"}, {"P17", "over TLS 1.3, resumed handshake"},
		{"P15", "without TLS"}, {"P15k", "without TLS, the visitor closes the connection"},
	}
	readmeRatios = [][2]string{
		{"P1b", "a plain link out of a million, clicks shipped to Kafka by the same core"}, {"P1a", "the same link, each click synced to the disk (`SPOOL_SYNC=always`)"},
		{"P1", "the same link, clicks in the spool, not shipped"},
		{"P2", "ten nested rules on ten subjects, 5,000 User-Agents, a city database"}, {"P2c", "the same with 50,000 links, each with conditions of its own"},
		{"P3", "an A/B test of five variants"}, {"P4", "an unknown slug"},
		{"N1", "nginx with 100,000 links, no log"}, {"N2", "nginx with 100,000 links and an access log"}, {"H1", "HAProxy with 100,000 links, no log"},
		{"H2", "h2o with one destination, no log"}, {"C1", "Caddy with one destination, no log"},
	}
)

// readmeTables returns the tables of a result in the README. A budget that is missed is bold.
func readmeTables(r *result) string {
	var b strings.Builder
	b.WriteString("| A visit: one request on a new connection | CPU time | Shortline to nginx | Shortline to fasthttp |\n|---|---|---|---|\n")
	for _, row := range readmeVisits {
		var own float64
		to := map[string]string{}
		for _, c := range r.Visits {
			if c.Mode != row[0] {
				continue
			}
			if c.Server == visitEdge {
				own = c.Micros
			}
			to[c.Server] = bold(fmt.Sprintf("%.2f", c.Ratio), c.Budget > 0 && c.Ratio > c.Budget)
		}
		if own > 0 {
			fmt.Fprintf(&b, "| %s | %.0f µs | %s | %s |\n", row[1], own, to[visitNginx], to[visitStock])
		}
	}
	b.WriteString("\n| Requests on kept connections | fasthttp to Shortline | Requests/s per core | p99 to fasthttp's |\n|---|---|---|---|\n")
	for _, row := range readmeRatios {
		i := slices.IndexFunc(r.Ratios, func(x ratio) bool { return x.Name == row[0] })
		if i < 0 {
			continue
		}
		x := &r.Ratios[i]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", row[1], bold(fmt.Sprintf("%.2f", x.Ratio), x.Ratio < x.Budget), grouped(x.Rate),
			bold(fmt.Sprintf("%.2f", x.P99/x.P99Bare), x.Budget > 0 && x.P99 > maxP99*x.P99Bare))
	}
	return b.String()
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
	_, err = fmt.Print(readmeTables(&r))
	return err
}

func bold(text string, is bool) string {
	if is {
		return "**" + text + "**"
	}
	return text
}

// grouped rounds a number to thousands and groups its digits.
func grouped(v float64) string {
	return strconv.Itoa(int(v/1000+0.5)) + ",000"
}
