package report

import "github.com/shortline/shortline/client/cmd/shortline/internal/output"

// breakdown is a list of a report.
type breakdown struct {
	name  string // value of --by
	title string
	path  string // in the report
	key   string // of the name in a row
	more  bool   // shown only with --by
}

var breakdowns = []breakdown{
	{"link", "Links", "topUrls", "slug", false},
	{"country", "Countries", "countries", "name", false},
	{"region", "Regions", "regions", "name", true},
	{"city", "Cities", "cities", "name", true},
	{"device", "Devices", "devices", "name", false},
	{"os", "Operating systems", "operatingSystems", "name", true},
	{"browser", "Browsers", "browsers", "name", false},
	{"language", "Languages", "languages", "name", true},
	{"site", "Sites", "sites", "name", false},
	{"referer", "Referring pages", "referers", "referer", true},
	{"utm-source", "utm_source", "utmSources", "value", true},
	{"utm-medium", "utm_medium", "utmMediums", "value", true},
	{"utm-campaign", "utm_campaign", "utmCampaigns", "value", false},
	{"utm-term", "utm_term", "utmTerms", "value", true},
	{"utm-content", "utm_content", "utmContents", "value", true},
}

func breakdownNames() []string {
	names := make([]string, len(breakdowns))
	for i, one := range breakdowns {
		names[i] = one.name
	}
	return names
}

func breakdownOf(name string) breakdown {
	for _, one := range breakdowns {
		if one.name == name {
			return one
		}
	}
	return breakdown{}
}

func (b breakdown) columns(goal bool) []output.Column {
	columns := []output.Column{{Head: "NAME", Field: b.key}, {Head: "CLICKS", Field: "clicks"}}
	if b.name != "link" {
		columns = append(columns, output.Column{Head: "SHARE", Field: "percentage"})
	}
	return append(columns, conversions(goal)...)
}

func dayColumns(goal bool) []output.Column {
	return append([]output.Column{
		{Head: "DATE", Field: "date"}, {Head: "CLICKS", Field: "clicks"}, {Head: "VISITORS", Field: "uniqueVisitors"},
	}, conversions(goal)...)
}

func conversions(goal bool) []output.Column {
	if !goal {
		return nil
	}
	return []output.Column{{Head: "CONVERSIONS", Field: "conversions"}, {Head: "RATE", Field: "conversionRate"}}
}
