package ascode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
)

// report is a plan, or what was applied, as JSON.
type report struct {
	Owner     string `json:"owner,omitempty"`
	Create    int    `json:"create"`
	Update    int    `json:"update"`
	Delete    int    `json:"delete"`
	Unchanged int    `json:"unchanged"`
	Refused   int    `json:"refused"`
	Drifted   int    `json:"drifted"`
	// NotInFile counts links of the owner that no file has; they are deleted only with --prune.
	NotInFile int    `json:"notInFile"`
	Steps     []step `json:"steps"`
	// Shared are changes of tags and domains.
	Shared []sharedStep `json:"shared,omitempty"`
}

func (p *plan) report(prune bool) report {
	out := report{
		Owner: p.owner, Create: p.count(create), Update: p.count(change), Unchanged: p.count(unchanged), Refused: p.count(refused),
		Drifted: p.drifted(), NotInFile: len(p.extra), Steps: []step{}, Shared: p.shared,
	}
	for i := range p.steps {
		if p.steps[i].Action != unchanged {
			out.Steps = append(out.Steps, p.steps[i])
		}
	}
	if prune {
		out.Delete = len(p.extra)
		out.Steps = append(out.Steps, p.extra...)
	}
	return out
}

var columns = []output.Column{
	{Head: "ACTION", Field: "action"}, {Head: "LINK", Field: "link", Least: 20}, {Head: "DRIFT", Field: "drift", Least: 20},
	{Head: "PROBLEM", Field: "problem", Least: 20},
}

// showPlan prints a plan: + for new links, ~ for changed ones, - for deleted ones, and ! for what is in the way.
func showPlan(a *app.App, p *plan, prune bool) error {
	r := p.report(prune)
	raw, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	var rows []output.Row
	for i := range r.Shared {
		rows = append(rows, output.Row{"action": r.Shared[i].Action, "link": r.Shared[i].Kind + " " + r.Shared[i].Name})
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		rows = append(rows, output.Row{"action": s.Action, "link": s.Link, "drift": s.Drift, "problem": s.Problem})
	}
	colours := a.Printer().Colours
	return a.Print(output.View{Raw: raw, Rows: rows, Columns: columns, Draw: func(page *output.Page) { draw(page, &r, colours) }})
}

func draw(page *output.Page, r *report, colours bool) {
	line := func(style output.Style, format string, args ...any) {
		text := output.Clean(fmt.Sprintf(format, args...))
		if colours {
			text = style.Paint(text)
		}
		page.Line("%s", text)
	}
	drawShared(r.Shared, line)
	for i := range r.Steps {
		s := &r.Steps[i]
		switch s.Action {
		case create:
			line(output.Green, "+ %s → %s", s.Link, s.To)
		case change:
			line(output.Yellow, "~ %s", s.Link)
			drawChanges(s, func(format string, args ...any) { line(output.Plain, "    "+format, args...) })
			if s.Drift != "" {
				line(output.Red, "!   drift: %s", s.Drift)
			}
		case remove:
			line(output.Red, "- %s", s.Link)
		case refused:
			line(output.Red, "! %s: %s", s.Link, s.Problem)
		}
	}
	if len(r.Steps)+len(r.Shared) > 0 {
		page.Line("")
	}
	if n := len(r.Shared); n > 0 {
		page.Line("Tags and domains to create or update: %s.", figure(n))
	}
	if r.Create+r.Update+r.Delete+r.Refused == 0 {
		page.Line("No changes. The links are as in the file.")
	} else {
		text := fmt.Sprintf("Plan: %s to create, %s to update, %s to delete, %s unchanged",
			figure(r.Create), figure(r.Update), figure(r.Delete), figure(r.Unchanged))
		if r.Refused > 0 {
			text += ", " + figure(r.Refused) + " refused"
		}
		page.Line("%s.", text)
	}
	if r.Drifted > 0 {
		page.Line("%s changed by hand since the last apply, or without an owner; apply overwrites them only with --force.", were(r.Drifted))
	}
	if r.NotInFile > r.Delete {
		page.Line("Links of this owner that are not in the file: %s; --prune deletes them.", figure(r.NotInFile))
	}
}

func drawShared(list []sharedStep, line func(style output.Style, format string, args ...any)) {
	for i := range list {
		s := &list[i]
		if s.Action == create {
			line(output.Green, "+ %s %s", s.Kind, s.Name)
			continue
		}
		line(output.Yellow, "~ %s %s", s.Kind, s.Name)
		for _, f := range s.of.fields {
			if c, has := s.Changes[f.api]; has {
				line(output.Plain, "    %s: %s → %s", f.key, shown(c.Old), shown(c.New))
			}
		}
	}
}

func figure(n int) string { return output.Number(int64(n)) }

func were(n int) string {
	if n == 1 {
		return "1 link was"
	}
	return figure(n) + " links were"
}

// drawChanges writes the old and the new values.
func drawChanges(s *step, line func(format string, args ...any)) {
	for _, name := range slices.Sorted(maps.Keys(s.Changes)) {
		c := s.Changes[name]
		switch name {
		case "notes":
			before, after := notesOf(c)
			if before == after {
				continue // only the stamp
			}
			line("notes: %s → %s", quoted(before), quoted(after))
		case "tags":
			line("tags: %s → %s", c.Old, c.New)
		case "password":
			line("password: changed")
		default:
			line("%s: %s → %s", keyOf(name), shown(c.Old), shown(c.New))
		}
	}
	drawParts("rule", s.Rules, line)
	drawParts("variant", s.Variants, line)
}

func drawParts(what string, parts []client.PartChange, line func(format string, args ...any)) {
	for _, one := range parts {
		name := one.Changes["name"]
		switch {
		case isNone(name.Old) && !isNone(name.New):
			line("+ %s %s", what, one.Name)
			continue
		case isNone(name.New) && !isNone(name.Old):
			line("- %s %s", what, one.Name)
			continue
		}
		for _, field := range slices.Sorted(maps.Keys(one.Changes)) {
			c := one.Changes[field]
			line("~ %s %s: %s: %s → %s", what, one.Name, cmp.Or(partKeys[field], field), shown(c.Old), shown(c.New))
		}
	}
}

// partKeys are the keys of files for the fields of rules and variants whose names differ.
var partKeys = map[string]string{"targetUrl": "destination", "isActive": "active", "conditions": "when"}

func isNone(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func quoted(text string) string {
	if text == "" {
		return "none"
	}
	return fmt.Sprintf("%q", text)
}

func shown(raw json.RawMessage) string {
	if isNone(raw) {
		return "none"
	}
	return string(raw)
}
