package rule

import "encoding/json"

// Template is a condition group for a common purpose, ready to use in a rule.
type Template struct {
	Key         string          `json:"key"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Conditions  json.RawMessage `json:"conditions"`
}

// Templates returns the templates in display order. The caller owns the result.
func Templates() []Template {
	return []Template{
		{
			Key:         "APP_DOWNLOAD_IOS",
			Name:        "App download, iOS",
			Description: "Visitors on an iPhone or iPad, for a link to the App Store.",
			Conditions:  json.RawMessage(`{"operator":"AND","conditions":[{"type":"os","operator":"equals","value":"iOS"}]}`),
		},
		{
			Key:         "APP_DOWNLOAD_ANDROID",
			Name:        "App download, Android",
			Description: "Visitors on an Android device, for a link to Google Play.",
			Conditions:  json.RawMessage(`{"operator":"AND","conditions":[{"type":"os","operator":"equals","value":"Android"}]}`),
		},
		{
			Key:         "MULTILANG_TW",
			Name:        "Traditional Chinese",
			Description: "Visitors whose browser prefers Traditional Chinese.",
			Conditions: json.RawMessage(`{"operator":"OR","conditions":[` +
				`{"type":"language","operator":"in","value":["zh-TW","zh-HK","zh-MO"]},` +
				`{"type":"language","operator":"starts_with","value":"zh-Hant"}]}`),
		},
		{
			Key:         "MULTILANG_CN",
			Name:        "Simplified Chinese",
			Description: "Visitors whose browser prefers Simplified Chinese, or Chinese without a script or region.",
			Conditions: json.RawMessage(`{"operator":"OR","conditions":[` +
				`{"type":"language","operator":"in","value":["zh-CN","zh-SG","zh-MY","zh"]},` +
				`{"type":"language","operator":"starts_with","value":"zh-Hans"}]}`),
		},
		{
			Key:         "BUSINESS_HOURS",
			Name:        "Business hours",
			Description: "Visits from 09:00 to 18:00 on Monday to Friday, in the service's time zone.",
			Conditions: json.RawMessage(`{"operator":"AND","conditions":[` +
				`{"type":"time","operator":"between","value":{"start":"09:00","end":"18:00"}},` +
				`{"type":"day_of_week","operator":"in","value":[1,2,3,4,5]}]}`),
		},
		{
			Key:         "MOBILE_ONLY",
			Name:        "Mobile only",
			Description: "Visitors on a phone.",
			Conditions:  json.RawMessage(`{"operator":"AND","conditions":[{"type":"device","operator":"equals","value":"MOBILE"}]}`),
		},
		{
			Key:         "DESKTOP_ONLY",
			Name:        "Desktop only",
			Description: "Visitors on a desktop or laptop computer.",
			Conditions:  json.RawMessage(`{"operator":"AND","conditions":[{"type":"device","operator":"equals","value":"DESKTOP"}]}`),
		},
	}
}
