package imports

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/shortline/shortline/client"
)

// dub reads the links of a workspace of Dub.
type dub struct{ api *API }

func newDub(api *API, token string) Source {
	api.Header.Set("Authorization", "Bearer "+token)
	return &dub{api}
}

type dubLink struct {
	ID         string  `json:"id"`
	Domain     string  `json:"domain"`
	Key        string  `json:"key"`
	URL        string  `json:"url"`
	ExpiresAt  *string `json:"expiresAt"`
	ExpiredURL *string `json:"expiredUrl"`
	DisabledAt *string `json:"disabledAt"`
	Password   *string `json:"password"`
	Title      *string `json:"title"`
	Comments   *string `json:"comments"`
	IOS        *string `json:"ios"`
	Android    *string `json:"android"`
	Tags       []struct {
		Name string `json:"name"`
	} `json:"tags"`
	Geo       map[string]string `json:"geo"` // destinations by country
	Rewrite   bool              `json:"rewrite"`
	Clicks    int64             `json:"clicks"`
	CreatedAt string            `json:"createdAt"`
	Variants  []struct{}        `json:"testVariants"`
}

const dubPage = 100

// Pages implements Source. The cursor is the number of a page; the oldest links come first, so that new ones move no page.
func (d *dub) Pages(ctx context.Context, cursor string) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for number := max(1, atoi(cursor)); ; number++ {
			var list []dubLink
			query := url.Values{"page": {strconv.Itoa(number)}, "pageSize": {strconv.Itoa(dubPage)}, "sortBy": {"createdAt"},
				"sortOrder": {"asc"}, "showArchived": {"true"}}
			if err := d.api.get(ctx, "/links", query, &list); err != nil {
				yield(Page{}, err)
				return
			}
			var page Page
			for i := range list {
				page.Records = append(page.Records, list[i].asRecord())
			}
			if len(list) == dubPage {
				page.Next = strconv.Itoa(number + 1)
			}
			if !yield(page, nil) || page.Next == "" {
				return
			}
		}
	}
}

func (l *dubLink) asRecord() Record {
	r := Record{ID: l.ID, Address: Address{strings.ToLower(l.Domain), l.Key}, Destination: l.URL, Title: deref(l.Title),
		Notes: deref(l.Comments), ExpiredURL: deref(l.ExpiredURL), Clicks: l.Clicks, Inactive: deref(l.DisabledAt) != "", Tags: []string{}}
	for _, tag := range l.Tags {
		r.Tags = append(r.Tags, tag.Name)
	}
	r.times(timeField{"creation date", l.CreatedAt, &r.Created}, timeField{"end", deref(l.ExpiresAt), &r.Expires})
	if l.Key == "_root" {
		r.Refused = "it is the start page of a domain; set it with: shortline domains update"
	}
	if deref(l.Password) != "" {
		r.guard()
	}
	if l.Rewrite {
		r.lose("the destination is no longer shown below the short URL")
	}
	if len(l.Variants) > 0 {
		r.lose("the variants of the test are not imported")
	}
	r.targets(deref(l.IOS), deref(l.Android), l.Geo)
	return r
}

// targets adds rules for devices and countries, in the order in which Dub and Short.io try them.
func (r *Record) targets(ios, android string, countries map[string]string) {
	add := func(name, to string, c client.Condition) {
		if to != "" {
			r.Rules = append(r.Rules, client.DraftRule{Name: name, TargetURL: to, Conditions: client.And(c)})
		}
	}
	add("iOS", ios, client.OS("iOS"))
	add("Android", android, client.OS("Android"))
	for _, country := range slices.SortedFunc(maps.Keys(countries), cmp.Compare[string]) {
		add("Country "+country, countries[country], client.Country(country))
	}
	for i := range r.Rules {
		r.Rules[i].Priority = client.Set(len(r.Rules) - i)
	}
}
