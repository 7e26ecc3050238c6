package main

import (
	"maps"
	"slices"
)

// Colours for states that appear on several dashboards. They suit the dark and the light theme.
const (
	good    = "green"
	warning = "orange"
	bad     = "red"
	calm    = "blue"
	faint   = "#808080"
)

func stat(title, about, unit string, q question, steps ...step) panel {
	return panel{title: title, about: about, kind: "stat", unit: unit, width: 4, high: 4, ask: []question{q}, steps: steps}
}

func chart(title, about, unit string, ask ...question) panel {
	return panel{title: title, about: about, kind: "timeseries", unit: unit, width: 12, high: 8, ask: ask}
}

func bars(title, about string, q question) panel {
	return panel{title: title, about: about, kind: "barchart", unit: "short", width: 8, high: 8, ask: []question{q}}
}

func table(title, about, unit string, ask ...question) panel {
	return panel{title: title, about: about, kind: "table", unit: unit, width: 12, high: 9, ask: ask}
}

func (p panel) wide(n int) panel { p.width = n; return p }

func (p panel) render(id, x, y int) object {
	at := object{"x": x, "y": y, "w": p.width, "h": p.high}
	var targets []any
	for i, q := range p.ask {
		targets = append(targets, q.target(string(rune('A'+i))))
	}
	from := p.ask[0].from.ref()
	var changes []any
	if p.join != "" {
		from = mixed
		changes = append(changes, object{"id": "joinByField", "options": object{"byField": p.join, "mode": "outerTabular"}})
	}
	if p.ask[0].from == metrics && p.kind == "table" {
		p.hide = append(p.hide, "Time", "__name__", "job")
	}
	if len(p.hide)+len(p.names) > 0 {
		hidden, names := object{}, object{}
		for _, h := range p.hide {
			hidden[h] = true
		}
		for old, name := range p.names {
			names[old] = name
		}
		changes = append(changes,
			object{"id": "organize", "options": object{"excludeByName": hidden, "indexByName": object{}, "renameByName": names}})
	}
	if changes == nil {
		changes = []any{}
	}
	return object{
		"id": id, "type": p.kind, "title": p.title, "description": p.about, "gridPos": at, "datasource": from, "targets": targets,
		"fieldConfig": object{"defaults": p.defaults(), "overrides": p.overrides()}, "options": p.options(), "transformations": changes,
	}
}

func (p panel) defaults() object {
	steps := []any{object{"color": good, "value": nil}}
	if len(p.steps) > 0 {
		steps = nil
		for i, s := range p.steps {
			if i == 0 {
				steps = append(steps, object{"color": s.color, "value": nil})
				continue
			}
			steps = append(steps, object{"color": s.color, "value": s.from})
		}
	}
	d := object{
		"unit": p.unit, "color": object{"mode": "palette-classic"}, "mappings": []any{}, "noValue": "–",
		"thresholds": object{"mode": "absolute", "steps": steps},
	}
	if p.min != nil {
		d["min"] = *p.min
	}
	if p.max != nil {
		d["max"] = *p.max
	}
	switch p.kind {
	case "timeseries":
		stack, fill, style := "none", 10, "off"
		if p.stacked {
			stack, fill = "normal", 35
		}
		if len(p.steps) > 0 {
			style = "dashed"
		}
		d["custom"] = object{
			"drawStyle": "line", "lineWidth": 1, "fillOpacity": fill, "showPoints": "never", "spanNulls": false,
			"stacking": object{"mode": stack, "group": "A"}, "thresholdsStyle": object{"mode": style}, "axisSoftMin": 0,
		}
	case "stat":
		d["color"] = object{"mode": "thresholds"}
		if len(p.steps) == 0 {
			d["color"] = object{"mode": "fixed", "fixedColor": calm}
		}
	case "barchart":
		d["color"] = object{"mode": "fixed", "fixedColor": calm}
		d["custom"] = object{"fillOpacity": 80, "lineWidth": 0, "axisSoftMin": 0}
	case "table":
		d["custom"] = object{"align": "auto", "cellOptions": object{"type": "auto"}, "filterable": false}
		d["color"] = object{"mode": "thresholds"}
	case "geomap":
		d["color"] = object{"mode": "continuous-BlPu"}
	}
	return d
}

func (p panel) overrides() []any {
	out := []any{}
	add := func(name string, id string, value any) {
		out = append(out, object{"matcher": object{"id": "byName", "options": name}, "properties": []any{object{"id": id, "value": value}}})
	}
	for _, name := range slices.Sorted(maps.Keys(p.colors)) {
		add(name, "color", object{"mode": "fixed", "fixedColor": p.colors[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(p.units)) {
		add(name, "unit", p.units[name])
	}
	for _, name := range slices.Sorted(maps.Keys(p.links)) {
		add(name, "links", []any{object{"title": "Open", "url": p.links[name], "targetBlank": false}})
	}
	return out
}

func (p panel) options() object {
	reduce := object{"calcs": []string{"lastNotNull"}, "fields": "", "values": false}
	switch p.kind {
	case "timeseries":
		return object{
			"legend":  object{"displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": []string{}},
			"tooltip": object{"mode": "multi", "sort": "desc"},
		}
	case "stat":
		return object{"reduceOptions": reduce, "colorMode": "value", "graphMode": "area", "justifyMode": "auto", "textMode": "auto",
			"orientation": "auto"}
	case "barchart":
		return object{
			"orientation": "horizontal", "showValue": "auto", "stacking": "none", "barWidth": 0.8, "groupWidth": 0.7,
			"xTickLabelRotation": 0,
			"legend":             object{"displayMode": "list", "placement": "bottom", "showLegend": false, "calcs": []string{}},
			"tooltip":            object{"mode": "single", "sort": "none"},
		}
	case "piechart":
		return object{
			"pieType": "donut", "displayLabels": []string{"percent"}, "reduceOptions": object{"calcs": []string{"lastNotNull"},
				"fields": "",
				"values": true},
			"legend":  object{"displayMode": "table", "placement": "right", "showLegend": true, "values": []string{"value", "percent"}},
			"tooltip": object{"mode": "single", "sort": "none"},
		}
	case "geomap":
		return world()
	}
	return object{"showHeader": true, "cellHeight": "sm", "footer": object{"show": false, "reducer": []string{"sum"}, "countRows": false,
		"fields": ""}}
}

// world draws a disc on each country. The outlines are a file of Grafana's own, so no map server is contacted.
func world() object {
	return object{
		"view": object{"id": "coords", "lat": 25, "lon": 10, "zoom": 1.4, "allLayers": true},
		"controls": object{"showZoom": true, "mouseWheelZoom": false, "showAttribution": false, "showScale": false, "showMeasure": false,
			"showDebug": false},
		"tooltip": object{"mode": "details"},
		"basemap": object{"type": "xyz", "name": "None", "config": object{"url": "data:,", "attribution": ""}},
		"layers": []any{
			object{"type": "geojson", "name": "Countries", "tooltip": false, "config": object{
				"src": "public/maps/countries.geojson", "rules": []any{},
				"style": object{"color": object{"fixed": faint}, "opacity": 0.25, "lineWidth": 1,
					"size": object{"fixed": 5, "min": 2, "max": 15}},
			}},
			object{"type": "markers", "name": "Clicks", "tooltip": true,
				"location": object{"mode": "lookup", "lookup": "country", "gazetteer": "public/gazetteer/countries.json"},
				"config": object{"showLegend": false, "style": object{
					"size": object{"field": "clicks", "fixed": 5, "min": 4, "max": 28}, "color": object{"field": "clicks", "fixed": calm},
					"opacity": 0.6,
					"symbol":  object{"mode": "fixed", "fixed": "img/icons/marker/circle.svg"},
				}}},
		},
	}
}
