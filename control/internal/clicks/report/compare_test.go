package report_test

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shortline/shortline/control/internal/clicks/report"
)

// report compares totals, series, series of people and bots, lists, and the links with the most clicks.
func (c *combinations) report(s *report.Service, q combination, want, compared truth) string {
	a := q.ask()
	a.Series = "people,bots"
	var got *report.Report
	var top []report.TopLink
	if q.scope == ofLink {
		r, _, err := s.Link(c.Context(), q.who(), linkID(q.number), a)
		if err != nil {
			return err.Error()
		}
		got = r
	} else {
		o, err := s.Overview(c.Context(), q.who(), a)
		if err != nil {
			return err.Error()
		}
		got, top = &o.Report, o.TopURLs
		var expect []report.TopLink
		for _, n := range want.all.top() {
			expect = append(expect, report.TopLink{ID: linkID(n), Domain: cmp.Or(domainOf(n), "sho.rt"), Slug: fmt.Sprint("link", n),
				Clicks: want.all.links[n].clicks})
		}
		if !slices.Equal(top, expect) {
			return fmt.Sprintf("top links %+v, want %+v", top, expect)
		}
	}
	if wrong := want.differs(got); wrong != "" {
		return wrong
	}
	if q.compare != "" {
		if wrong := compared.differs(&got.Comparison.Figures); wrong != "" {
			return "compared: " + wrong
		}
	}
	return ""
}

// heatmap compares the clicks by weekday and hour.
func (c *combinations) heatmap(s *report.Service, q combination, want, compared truth) string {
	id := ""
	if q.scope == ofLink {
		id = linkID(q.number)
	}
	heat, err := s.Heatmap(c.Context(), q.who(), id, q.ask())
	if err != nil {
		return "heat map: " + err.Error()
	}
	differs := func(heat *report.Heatmap, want *expected) string {
		if heat.TotalClicks != want.all.clicks {
			return fmt.Sprintf("heat map of %d clicks, want %d", heat.TotalClicks, want.all.clicks)
		}
		for d, day := range heat.Weekdays {
			if !slices.Equal(day.Hours, want.hours[d][:]) {
				return fmt.Sprintf("%s is %v, want %v", day.Weekday, day.Hours, want.hours[d])
			}
		}
		return ""
	}
	wrong := differs(heat, want.all)
	if q.compare != "" && wrong == "" {
		wrong = differs(&heat.Comparison.Figures, compared.all)
	}
	return wrong
}

// groups compares the clicks by tag, bundle or domain. Only reports about several links have groups. One grouping needs as
// many statements as all other reports together, so each combination has one.
func (c *combinations) groups(s *report.Service, q combination, want, compared truth) string {
	if q.scope == ofLink {
		return ""
	}
	got, err := s.Groups(c.Context(), q.who(), q.by, q.ask())
	if err != nil {
		return q.by + ": " + err.Error()
	}
	wrong := q.differs(got, want.all)
	if q.compare != "" && wrong == "" {
		wrong = q.differs(&got.Comparison.Figures, compared.all)
	}
	return wrong
}

// domains are the expected groups by domain.
func (q combination) domains(want *expected) (list []report.Group) {
	list = append(list, want.group("sho.rt", func(link int) bool {
		return domainOf(link) == "" && (q.scope != ofUser || 1+link%3 == q.number)
	}))
	for user := 1; user <= 3; user++ {
		if q.scope == ofUser && user != q.number {
			continue
		}
		for _, name := range domains {
			list = append(list, want.group(name, func(link int) bool { return domainOf(link) == name && 1+link%3 == user }))
		}
	}
	return list
}

func (q combination) differs(got *report.Groups, want *expected) string {
	var list []report.Group
	for user := 1; user <= 3; user++ {
		own := func(link int) bool { return 1+link%3 == user }
		if q.scope == ofUser && user != q.number {
			continue
		}
		for name, in := range groupings[got.By] {
			list = append(list, want.group(name, func(link int) bool { return own(link) && in(link) }))
		}
	}
	if got.By == "domain" {
		list = q.domains(want)
	}
	slices.SortStableFunc(list, func(a, b report.Group) int {
		return cmp.Or(cmp.Compare(b.Clicks, a.Clicks), cmp.Compare(a.Name, b.Name))
	})
	text := func(list []report.Group) (out []string) {
		for _, g := range list {
			out = append(out, fmt.Sprint(g.Name, " ", g.URLCount, " links, ", g.Clicks, " clicks, ", *g.UniqueVisitors, " visitors, ",
				g.Percentage, "%"))
		}
		return out
	}
	if got, want := text(got.Groups), text(list); !slices.Equal(got, want) {
		return fmt.Sprintf("%q, want %q", got, want)
	}
	if got.TotalClicks != want.all.clicks {
		return fmt.Sprintf("%d clicks, want %d", got.TotalClicks, want.all.clicks)
	}
	return ""
}
