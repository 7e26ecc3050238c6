package main

import (
	"encoding/json"
	"fmt"
)

// The data sources that deploy/grafana provisions, by uid. Each dashboard has a variable for the ones it uses, so that
// it can be moved to others.
const (
	clicksUID  = "shortline-clicks"
	linksUID   = "shortline-links"
	metricsUID = "shortline-metrics"
)

type object = map[string]any

// source is a variable of a dashboard that holds a data source.
type source struct{ variable, label, kind, uid string }

var (
	clicks  = source{"clicks", "Clicks", "grafana-clickhouse-datasource", clicksUID}
	links   = source{"links", "Links", "grafana-postgresql-datasource", linksUID}
	metrics = source{"metrics", "Metrics", "prometheus", metricsUID}
	mixed   = object{"type": "datasource", "uid": "-- Mixed --"}
)

func (s source) ref() object { return object{"type": s.kind, "uid": "${" + s.variable + "}"} }

func (s source) asVariable() object {
	return object{
		"name": s.variable, "label": s.label, "type": "datasource", "query": s.kind, "hide": 2, "refresh": 1, "regex": "",
		"current": object{"text": s.label, "value": s.uid}, "options": []any{}, "includeAll": false, "multi": false,
	}
}

// question is what one target of a panel asks.
type question struct {
	from   source
	text   string
	legend string // metrics only
	series bool   // a time series, else a table or a single moment
}

func (q question) target(ref string) object {
	t := object{"refId": ref, "datasource": q.from.ref()}
	switch {
	case q.from == metrics:
		t["expr"], t["legendFormat"], t["editorMode"] = q.text, q.legend, "code"
		t["range"], t["instant"] = q.series, !q.series
		if !q.series {
			t["format"] = "table"
		}
	case q.from == clicks:
		t["rawSql"], t["editorType"], t["queryType"], t["format"] = q.text, "sql", "table", 1
		if q.series {
			t["queryType"], t["format"] = "timeseries", 0
		}
	default:
		t["rawSql"], t["editorMode"], t["rawQuery"], t["format"] = q.text, "code", true, "table"
	}
	return t
}

// panel is one panel. Its width is out of 24.
type panel struct {
	title, about string
	kind         string // timeseries, stat, table, barchart, piechart, geomap
	unit         string
	width, high  int
	ask          []question
	steps        []step            // thresholds, the first from the bottom up
	colors       map[string]string // by name of series
	stacked      bool
	join         string            // the column by which the answers of several sources are joined
	links        map[string]string // addresses by column
	units        map[string]string // other units by column
	hide         []string          // columns
	names        map[string]string // other names of columns
	min, max     *float64
}

// step begins a colour at a value; the first has none.
type step struct {
	color string
	from  float64
}

// variable is one of a dashboard's own.
type variable = object

// dashboard is one page.
type dashboard struct {
	file             string // its name in deploy/grafana/dashboards
	uid, title, text string
	from             string // the default range
	refresh          string
	sources          []source
	variables        []variable
	panels           []panel
}

// All lists the dashboards in the order in which an operator reads them.
func allDashboards() []dashboard {
	return []dashboard{overview(), oneLink(), experiments(), routing(), fleet(), pipeline(), deliveries(), control()}
}

// JSON renders the dashboard as Grafana keeps it.
func (d dashboard) json() ([]byte, error) {
	var list []any
	for _, s := range d.sources {
		list = append(list, s.asVariable())
	}
	for _, v := range d.variables {
		list = append(list, v)
	}
	var panels []any
	x, y, high := 0, 0, 0
	for i, p := range d.panels {
		if x+p.width > 24 {
			x, y, high = 0, y+high, 0
		}
		panels = append(panels, p.render(i+1, x, y))
		x, high = x+p.width, max(high, p.high)
	}
	b, err := json.MarshalIndent(object{
		"id": nil, "uid": d.uid, "title": "Shortline / " + d.title, "description": d.text, "tags": []string{"shortline"},
		"schemaVersion": 41, "version": 1, "editable": true, "graphTooltip": 1, "timezone": "browser", "fiscalYearStartMonth": 0,
		"time": object{"from": d.from, "to": "now"}, "timepicker": object{}, "refresh": d.refresh, "weekStart": "",
		"annotations": object{"list": []any{}}, "templating": object{"list": list}, "panels": panels,
		"links": []any{object{
			"title": "Shortline", "type": "dashboards", "tags": []string{"shortline"}, "asDropdown": true, "includeVars": false,
			"keepTime": true, "targetBlank": false, "icon": "external link", "tooltip": "", "url": "",
		}},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("render dashboard %s: %w", d.uid, err)
	}
	return append(b, '\n'), nil
}

// choice is a variable with fixed values; the first is the default.
func choice(name, label string, options ...[2]string) variable {
	var list []any
	text := ""
	for i, o := range options {
		list = append(list, object{"text": o[0], "value": o[1], "selected": i == 0})
		if i > 0 {
			text += ", "
		}
		text += o[0] + " : " + o[1]
	}
	return variable{
		"name": name, "label": label, "type": "custom", "query": text, "options": list, "hide": 0, "multi": false, "includeAll": false,
		"current": object{"text": options[0][0], "value": options[0][1], "selected": true},
	}
}

// ask is a variable whose values a data source has.
func ask(name, label string, from source, text string, more object) variable {
	v := variable{
		"name": name, "label": label, "type": "query", "datasource": from.ref(), "definition": text, "refresh": 2, "sort": 0, "regex": "",
		"hide": 0, "multi": false, "includeAll": false, "options": []any{}, "current": object{},
	}
	switch from {
	case metrics:
		v["query"] = object{"query": text, "refId": name}
	case clicks:
		v["query"] = object{"rawSql": text, "editorType": "sql", "queryType": "table", "format": 1}
	default:
		v["query"] = text
	}
	for k, x := range more {
		v[k] = x
	}
	return v
}

// everything makes a variable of several values, all of them unless some are picked.
func everything(hide int) object {
	return object{"multi": true, "includeAll": true, "current": object{"text": "All", "value": "$__all"}, "hide": hide}
}

func text(name, label string) variable {
	return variable{"name": name, "label": label, "type": "textbox", "query": "", "hide": 0, "current": object{"text": "", "value": ""}, "options": []any{}}
}

func link(uid, variables string) string { return "/d/" + uid + "?${__url_time_range}" + variables }

func number(f float64) *float64 { return &f }
