package analytics

import (
	"github.com/google/uuid"

	"github.com/shortline/shortline/shared/link"
)

// ClickData is what is known of the visitor of a click, as webhook payloads show it. Unknown values are null. The
// OpenAPI document is generated from it.
type ClickData struct {
	IP                *string `json:"ip" doc:"The visitor's address, shortened or null if addresses are anonymised."`
	UserAgent         *string `json:"userAgent" doc:"The User-Agent header."`
	Referer           *string `json:"referer" doc:"The Referer header."`
	Country           *string `json:"country" doc:"ISO 3166-1 code."`
	City              *string `json:"city" doc:"English name."`
	Device            *string `json:"device" doc:"MOBILE, DESKTOP or TABLET."`
	OS                *string `json:"os" doc:"Operating system."`
	Browser           *string `json:"browser" doc:"Browser family."`
	IsBot             bool    `json:"isBot" doc:"Whether the visitor is a known bot."`
	UTMSource         *string `json:"utmSource" doc:"utm_source of this click."`
	UTMMedium         *string `json:"utmMedium" doc:"utm_medium of this click."`
	UTMCampaign       *string `json:"utmCampaign" doc:"utm_campaign of this click."`
	UTMTerm           *string `json:"utmTerm" doc:"utm_term of this click."`
	UTMContent        *string `json:"utmContent" doc:"utm_content of this click."`
	UTMID             *string `json:"utmId" doc:"utm_id of this click."`
	UTMSourcePlatform *string `json:"utmSourcePlatform" doc:"utm_source_platform of this click."`
}

// Data returns what is known of the click's visitor. It is the only conversion of these columns to JSON values: the API,
// live feeds, exports and webhooks all use it.
func (r *Row) Data() ClickData {
	ip := ""
	if r.IP.IsValid() {
		ip = r.IP.String()
	}
	return ClickData{
		OrNull(ip), OrNull(r.UserAgent), OrNull(r.Referer), OrNull(r.Country), OrNull(r.City), OrNull(r.Device), OrNull(r.OS),
		OrNull(r.Browser), r.Bot,
		OrNull(r.UTM.Source), OrNull(r.UTM.Medium), OrNull(r.UTM.Campaign), OrNull(r.UTM.Term), OrNull(r.UTM.Content), OrNull(r.UTM.ID),
		OrNull(r.UTM.SourcePlatform),
	}
}

// OrNull returns a pointer to s, or nil if s is empty.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// IDString returns an id as UUID text, or "" for the zero id.
func IDString(id link.ID) string {
	if id.IsZero() {
		return ""
	}
	return uuid.UUID(id).String()
}
