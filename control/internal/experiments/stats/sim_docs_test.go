package stats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

const (
	top        = "../../../../"
	benchmarks = top + "docs/benchmarks/"
	page       = top + "docs/developers/experiments.md"
	chart      = top + "docs/images/experiments.svg"
)

// tables renders the results, by the names of their places in the page.
func tables(r results) map[string]string {
	all := map[string]*strings.Builder{}
	row := func(name, format string, args ...any) {
		if all[name] == nil {
			all[name] = &strings.Builder{}
		}
		fmt.Fprintf(all[name], format+"\n", args...)
	}
	row("winners", "| Rate | Visitors per day | Weights | Variants | False winners |\n|---:|---:|---|---:|---:|")
	worst := 0.0
	for _, c := range r.FalseWin {
		row("winners", "| %s | %s | %s | %d | %.2f %% |", percent(c.Rate), thousands(int(c.PerDay)), c.Weights, c.Arms, 100*c.Winners)
		worst = max(worst, c.Winners)
	}
	row("worst", "The highest of these rates is %.2f %%. Each row has %s experiments. The simulation ran on %s.", 100*worst,
		thousands(r.Experiments), r.Date)
	row("power",
		"| Rate | Uplift | Visitors per variant | Classical test | Ratio | Power | Mean part used | Wrong winner "+
			"|\n|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, c := range r.Power {
		row("power", "| %s | %s | %s | %s | %.2f | %.1f %% | %.0f %% | %.2f %% |", percent(c.Base), signed(c.Uplift), thousands(c.Size),
			thousands(c.Fixed),
			float64(c.Size)/float64(c.Fixed), 100*c.Power, 100*c.Mean, 100*c.Wrong)
	}
	row("coverage", "| Interval | True rates | Visitors per variant | Covered |\n|---|---|---:|---:|")
	for _, c := range r.Coverage {
		rates := percent(c.Rates[0])
		if c.Rates[1] > 0 {
			rates += ", " + percent(c.Rates[1])
		}
		row("coverage", "| %s | %s | %s | %.2f %% |", c.Interval, rates, thousands(int(c.Visitors)), 100*c.Covered)
	}
	row("regret", "| Setup | Rates | Visitors per day | Regret, even split = 100 %% |\n|---|---|---:|---:|")
	for _, c := range r.Regret {
		row("regret", "| %s | %s | %s | %.0f %% ± %.0f %% |", c.Name, c.Rates, thousands(int(c.PerDay)), 100*c.Regret, 196*c.Error)
	}
	row("ratio", "| Variants | Weights | Visitors per day | Lost in one variant | Alarms in 14 days |\n|---:|---|---:|---:|---:|")
	for _, c := range r.Ratio {
		row("ratio", "| %d | %s | %s | %s | %.2f %% |", c.Arms, c.Weights, thousands(int(c.PerDay)), percent(c.Lost), 100*c.Alarms)
	}
	text := map[string]string{}
	for name, b := range all {
		text[name] = b.String()
	}
	return text
}

func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// place finds the text between <!-- name --> and <!-- end -->.
var place = regexp.MustCompile(`(?s)<!-- (\w+) -->\n(.*?)<!-- end -->`)

func writeDocs(r results) error {
	b, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text := tables(r)
	b = place.ReplaceAllFunc(b, func(match []byte) []byte {
		name := string(place.FindSubmatch(match)[1])
		return []byte("<!-- " + name + " -->\n" + text[name] + "<!-- end -->")
	})
	if err := os.WriteFile(page, b, 0o644); err != nil {
		return err
	}
	return os.WriteFile(chart, plot(r.Peeking), 0o644)
}

// plot draws the part of A/A tests with a false winner, by days.
func plot(p peeking) []byte {
	const width, height, left, above, most = 640, 320, 50, 30, 0.5
	var b bytes.Buffer
	x := func(day int) float64 { return left + float64(day)*(width-left-20)/days }
	y := func(part float64) float64 { return above + (1-part/most)*(height-above-40) }
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n",
		width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	fmt.Fprintf(&b,
		`<text x="%d" y="18" font-size="13">A/A tests with a false winner, looked at every hour (5 %%, 5,000 visitors per day)</text>`+"\n",
		left)
	for part := 0; part <= 50; part += 10 {
		at := y(float64(part) / 100)
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%d %%</text>`+
			"\n",
			left, width-20, at, at, left-6, at+4, part)
	}
	for day := 0; day <= days; day += 2 {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", x(day), height-22, day)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">day</text>`+"\n", width/2, height-6)
	fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#888" stroke-dasharray="5 4"/>`+"\n", left, width-20,
		y(0.05), y(0.05))
	for _, line := range []struct {
		parts [days]float64
		color string
		name  string
	}{{p.Classical, "#c0392b", "classical test, p &lt; 0.05"}, {p.Ours, "#1f6fb2", "Shortline"}} {
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="2" points="%.1f,%.1f`, line.color, x(0), y(0))
		for day, part := range line.parts {
			fmt.Fprintf(&b, " %.1f,%.1f", x(day+1), y(part))
		}
		last := line.parts[days-1]
		label := y(last) - 8
		if last < 0.1 { // above the line of 5 %
			label = y(max(last, 0.05)) - 8
		}
		fmt.Fprintf(&b, `"/><text x="%d" y="%.1f" text-anchor="end" fill="%s">%s: %.1f %%</text>`+"\n", width-22, label, line.color,
			line.name, 100*last)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func TestDocs_match_the_newest_simulation(t *testing.T) {
	testkit.Source(t, "docs") // this test runs again if they change
	files, err := filepath.Glob(benchmarks + "experiments-*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no results of simulations", err)
	}
	b, err := os.ReadFile(files[len(files)-1])
	var r results
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	testkit.Must(t, err)
	text, err := os.ReadFile(page)
	testkit.Must(t, err)
	want := tables(r)
	for _, match := range place.FindAllSubmatch(text, -1) {
		name := string(match[1])
		if string(match[2]) != want[name] {
			t.Errorf("%s: the table %q is not that of %s. Run make sim.", page, name, files[len(files)-1])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("%s lacks places for %v", page, want)
	}
	if svg, err := os.ReadFile(chart); err != nil || !bytes.Equal(svg, plot(r.Peeking)) {
		t.Errorf("%s is not the chart of %s: %v", chart, files[len(files)-1], err)
	}
}
