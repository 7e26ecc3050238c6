package main

import (
	"encoding/json"
	"fmt"
)

// UIDs of the data sources that deploy/grafana/provisioning defines. A dashboard reads its data sources from variables,
// so it also works with others.
const (
	clicksUID  = "shortline-clicks"
	linksUID   = "shortline-links"
	metricsUID = "shortline-metrics"
)

type object = map[string]any

// source is a dashboard variable that holds a data source.
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

// question is one query of a panel.
type question struct {
	from   source
	text   string
	legend string // only for metrics
	series bool   // a time series; otherwise a table or an instant value
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

// panel is one panel. Grafana divides a row into 24 columns.
type panel struct {
	title, about string
	kind         string // timeseries, stat, table, barchart, piechart, geomap
	unit         string
	width, high  int
	ask          []question
	steps        []step            // thresholds, in ascending order
	colors       map[string]string // by series name
	stacked      bool
	join         string            // the column that joins the results of several sources
	links        map[string]string // URLs by column
	units        map[string]string // units by column, where they differ from unit
	hide         []string          // columns
	names        map[string]string // new column names by old name
	min, max     *float64
}

// step is a colour that applies from a value on. Grafana ignores the value of the first step.
type step struct {
	color string
	from  float64
}

// variable is a dashboard variable in Grafana's JSON.
type variable = object

// dashboard is one dashboard.
type dashboard struct {
	file             string // its file name
	uid, title, text string
	from             string // start of the default time range
	refresh          string
	sources          []source
	variables        []variable
	panels           []panel
}

// All lists the dashboards in the order in which an operator reads them.
func allDashboards() []dashboard {
	return []dashboard{health(), overview(), oneLink(), experiments(), routing(), fleet(), pipeline(), conversions(),
		deliveries(), control(), loadTest()}
}

// json renders the dashboard in Grafana's format.
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

// choice is a variable with fixed options; the first is the default.
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

// queryVariable is a variable whose values come from a query.
func queryVariable(name, label string, from source, text string, more object) variable {
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

// everything lets a variable have several values; the default is all.
func everything(hide int) object {
	return object{"multi": true, "includeAll": true, "current": object{"text": "All", "value": "$__all"}, "hide": hide}
}

func text(name, label string) variable {
	return variable{"name": name, "label": label, "type": "textbox", "query": "", "hide": 0, "current": object{"text": "", "value": ""},
		"options": []any{}}
}

func link(uid, variables string) string { return "/d/" + uid + "?${__url_time_range}" + variables }

func number(f float64) *float64 { return &f }
