//go:build linux

package main

import (
	"bytes"
	"fmt"
	"html"
)

// plot draws the processor time per request as bars, with the budget marked, in SVG.
func plot(r *result) []byte {
	const width, left, right, row, top = 860, 330, 150, 34, 64
	var b bytes.Buffer
	height := top + row*(len(r.Ratios)+1) + 30
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="system-ui, sans-serif" `+
			`font-size="14">`+"\n", width, height)
	fmt.Fprintf(&b,
		`<rect width="%d" height="%d" fill="#fff"/><text x="16" y="28" font-size="17" font-weight="600">Processor time per request, bare `+
			`fasthttp = 1</text>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="16" y="48" fill="#667">%s; %s; lower is better; red line: budget</text>`+"\n", html.EscapeString(r.Date),
		html.EscapeString(r.Machine))
	most := 1.0
	for _, x := range r.Ratios {
		most = max(most, 1/x.Low)
		if x.Budget > 0 {
			most = max(most, 1/x.Budget)
		}
	}
	scale := float64(width-left-right) / most
	bar := func(i int, name string, cost float64, fill string, note string) {
		y := top + row*i
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, left-10, y+20, html.EscapeString(name))
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="22" fill="%s"/>`, left, y+4, cost*scale, fill)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" fill="#334">%s</text>`+"\n", float64(left)+most*scale+10, y+20, html.EscapeString(note))
	}
	bar(0, "bare fasthttp, a constant redirect", 1, "#9aa5b8", "1.00")
	for i, x := range r.Ratios {
		fill := "#2456e6"
		if x.Budget == 0 {
			fill = "#c58a2b"
		}
		bar(i+1, x.Name+"  "+x.What, 1/x.Ratio, fill, fmt.Sprintf("%.2f  (ratio %.3f)", 1/x.Ratio, x.Ratio))
		if x.Budget > 0 {
			at := float64(left) + scale/x.Budget
			fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#d22" stroke-width="2"/>`+"\n", at, at, top+row*(i+1)+1,
				top+row*(i+1)+29)
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
