package imports

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/shortline/shortline/client"
)

// shlink reads a Shlink by version 3 of its REST API.
type shlink struct{ api *API }

func newShlink(api *API, token string) Source {
	api.Header.Set("X-Api-Key", token)
	return &shlink{api}
}

type shlinkList struct {
	ShortURLs struct {
		Data       []shlinkLink `json:"data"`
		Pagination struct {
			CurrentPage int `json:"currentPage"`
			PagesCount  int `json:"pagesCount"`
			TotalItems  int `json:"totalItems"`
		} `json:"pagination"`
	} `json:"shortUrls"`
}

type shlinkLink struct {
	ShortCode     string   `json:"shortCode"`
	ShortURL      string   `json:"shortUrl"`
	LongURL       string   `json:"longUrl"`
	DateCreated   string   `json:"dateCreated"`
	Tags          []string `json:"tags"`
	Domain        *string  `json:"domain"`
	Title         *string  `json:"title"`
	VisitsCount   int64    `json:"visitsCount"` // before Shlink 4
	VisitsSummary struct {
		Total int64 `json:"total"`
	} `json:"visitsSummary"`
	Meta struct {
		ValidSince *string `json:"validSince"`
		ValidUntil *string `json:"validUntil"`
		MaxVisits  *int64  `json:"maxVisits"`
	} `json:"meta"`
	HasRedirectRules bool `json:"hasRedirectRules"`
}

// Pages implements Source. The cursor is the number of a page; the oldest links come first, so that new ones move no page.
func (s *shlink) Pages(ctx context.Context, cursor string) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for number := max(1, atoi(cursor)); ; number++ {
			var list shlinkList
			query := url.Values{"page": {strconv.Itoa(number)}, "itemsPerPage": {"100"}, "orderBy": {"dateCreated-ASC"}}
			if err := s.api.get(ctx, "/rest/v3/short-urls", query, &list); err != nil {
				yield(Page{}, err)
				return
			}
			page := Page{Total: list.ShortURLs.Pagination.TotalItems}
			for i := range list.ShortURLs.Data {
				record, err := s.asRecord(ctx, &list.ShortURLs.Data[i])
				if err != nil {
					yield(Page{}, err)
					return
				}
				page.Records = append(page.Records, record)
			}
			if number < list.ShortURLs.Pagination.PagesCount && len(page.Records) > 0 {
				page.Next = strconv.Itoa(number + 1)
			}
			if !yield(page, nil) || page.Next == "" {
				return
			}
		}
	}
}

func (s *shlink) asRecord(ctx context.Context, l *shlinkLink) (Record, error) {
	r := Record{Address: addressOf(l.ShortURL), Destination: l.LongURL, Tags: l.Tags, Title: deref(l.Title),
		Clicks: max(l.VisitsSummary.Total, l.VisitsCount), MaxClicks: deref(l.Meta.MaxVisits)}
	r.Address.Slug = l.ShortCode // shortUrl can have a path before it
	r.ID = r.Address.String()
	r.times(timeField{"creation date", l.DateCreated, &r.Created}, timeField{"validSince", deref(l.Meta.ValidSince), &r.Starts},
		timeField{"validUntil", deref(l.Meta.ValidUntil), &r.Expires})
	if r.MaxClicks > 0 && r.Clicks > 0 {
		r.lose("the limit of visits counts from 0 again")
	}
	if !l.HasRedirectRules {
		return r, nil
	}
	query := url.Values{}
	if l.Domain != nil {
		query.Set("domain", *l.Domain)
	}
	var rules shlinkRules
	if err := s.api.get(ctx, "/rest/v3/short-urls/"+url.PathEscape(l.ShortCode)+"/redirect-rules", query, &rules); err != nil {
		return r, err
	}
	for i, one := range rules.RedirectRules {
		one.addTo(&r, i, len(rules.RedirectRules))
	}
	return r, nil
}

type shlinkRules struct {
	RedirectRules []shlinkRule `json:"redirectRules"`
}

type shlinkRule struct {
	LongURL    string            `json:"longUrl"`
	Priority   int               `json:"priority"` // 1 is tried first
	Conditions []shlinkCondition `json:"conditions"`
}

type shlinkCondition struct {
	Type       string  `json:"type"`
	MatchKey   *string `json:"matchKey"`
	MatchValue *string `json:"matchValue"`
}

// addTo adds the rule to a record. A rule with a condition that Shortline does not have is lost as a whole, because it would match more
// visitors without that condition.
func (s *shlinkRule) addTo(r *Record, nth, count int) {
	group := client.And()
	for _, c := range s.Conditions {
		member, why := c.condition()
		if why != "" {
			r.lose("the rule to " + quoted(s.LongURL) + ": " + why)
			return
		}
		group.Members = append(group.Members, member)
	}
	name := "Shlink rule " + strconv.Itoa(nth+1)
	r.Rules = append(r.Rules, client.DraftRule{Name: name, TargetURL: s.LongURL, Conditions: group, Priority: client.Set(count - nth)})
}

// shlinkSystems are the devices of Shlink that are operating systems, with their names here.
var shlinkSystems = map[string]string{"android": "Android", "ios": "iOS", "windows": "Windows", "macos": "macOS", "linux": "Linux",
	"chromeos": "ChromeOS"}

func (c *shlinkCondition) condition() (m client.Matcher, why string) {
	value, key := deref(c.MatchValue), deref(c.MatchKey)
	switch c.Type {
	case "device":
		if system := shlinkSystems[value]; system != "" {
			return client.OS(system), ""
		}
		switch value {
		case "mobile":
			return client.OnDevice(client.DeviceMobile, client.DeviceTablet), ""
		case "desktop":
			return client.OnDevice(client.DeviceDesktop), ""
		}
		return nil, "there is no device " + quoted(value)
	case "language":
		if !strings.Contains(value, "-") { // any region
			return client.Or(client.Language(value), client.Match(client.ConditionTypeLanguage, client.StartsWith, value+"-")), ""
		}
		return client.Language(value), ""
	case "query-param":
		return client.Query(key, client.Equals, value), ""
	case "ip-address":
		if strings.Contains(value, "*") {
			return nil, "addresses with * have no equivalent"
		}
		return client.IP(value), ""
	case "geolocation-country-code":
		return client.Country(value), ""
	case "geolocation-city-name":
		return client.City(value), ""
	case "before-date":
		return client.Date(client.Before, client.Span{Start: value}), ""
	case "after-date":
		return client.Date(client.After, client.Span{Start: value}), ""
	}
	return nil, "conditions of the type " + quoted(c.Type) + " have no equivalent"
}

// atoi returns the number of a cursor, or 0.
func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// deref returns the value of a field that can be null.
func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// number is a number that a service sends as a number or as a text.
type number int64

// UnmarshalJSON reads both forms; null and an empty text are 0.
func (n *number) UnmarshalJSON(text []byte) error {
	plain := strings.Trim(string(text), `"`)
	if plain == "" || plain == "null" {
		return nil
	}
	v, err := json.Number(plain).Int64()
	*n = number(v)
	return err
}
