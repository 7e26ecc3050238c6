package imports

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// yourls reads the links of a YOURLS by its API.
type yourls struct {
	api       *API
	signature string
}

func newYOURLS(api *API, token string) Source { return &yourls{api, token} }

type yourlsLink struct {
	ShortURL  string `json:"shorturl"`
	URL       string `json:"url"`
	Title     string `json:"title"`
	Timestamp string `json:"timestamp"` // without a zone; UTC unless somebody has changed it
	Clicks    number `json:"clicks"`
}

type yourlsList struct {
	Links json.RawMessage `json:"links"` // link_1, link_2 and so on; an empty list without links
	Stats struct {
		TotalLinks number `json:"total_links"`
	} `json:"stats"`
	StatusCode number `json:"statusCode"`
	ErrorCode  number `json:"errorCode"`
	Message    string `json:"message"`
}

const yourlsPage = 500

// Pages implements Source. The cursor is the number of links before a page. The newest links come first, so a link that is made
// meanwhile moves others to a later page, and none is missed.
func (y *yourls) Pages(ctx context.Context, cursor string) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for before := atoi(cursor); ; {
			var list yourlsList
			form := url.Values{"signature": {y.signature}, "action": {"stats"}, "format": {"json"}, "filter": {"last"},
				"limit": {strconv.Itoa(yourlsPage)}, "start": {strconv.Itoa(before)}}
			err := y.api.post(ctx, "/yourls-api.php", form, &list)
			if code := cmp.Or(list.ErrorCode, list.StatusCode); err == nil && code != 0 && code != http.StatusOK {
				err = &Refusal{Host: y.api.Base.Host, Status: int(code), Message: quoted(list.Message)}
			}
			if err != nil {
				yield(Page{}, err)
				return
			}
			page := Page{Total: int(list.Stats.TotalLinks)}
			links, err := list.links()
			if err != nil {
				yield(Page{}, err)
				return
			}
			for _, one := range links {
				page.Records = append(page.Records, one.asRecord())
			}
			if before += len(page.Records); len(page.Records) > 0 && before < page.Total {
				page.Next = strconv.Itoa(before)
			}
			if !yield(page, nil) || page.Next == "" {
				return
			}
		}
	}
}

// links returns the links in their order.
func (l *yourlsList) links() (list []yourlsLink, err error) {
	var none []struct{}
	if len(l.Links) == 0 || json.Unmarshal(l.Links, &none) == nil && len(none) == 0 {
		return nil, nil
	}
	var named map[string]yourlsLink
	if err := json.Unmarshal(l.Links, &named); err != nil {
		return nil, fmt.Errorf("the list of links cannot be read: %w", err)
	}
	place := func(name string) int { return atoi(strings.TrimPrefix(name, "link_")) }
	for _, name := range slices.SortedFunc(maps.Keys(named), func(a, b string) int { return cmp.Compare(place(a), place(b)) }) {
		list = append(list, named[name])
	}
	return list, nil
}

func (l *yourlsLink) asRecord() Record {
	r := Record{Address: addressOf(l.ShortURL), Destination: l.URL, Title: l.Title, Clicks: int64(l.Clicks)}
	r.Address.Slug = r.Address.Slug[strings.LastIndexByte(r.Address.Slug, '/')+1:] // it can be installed below a path
	r.ID = r.Address.String()
	r.times(timeField{"creation date", l.Timestamp, &r.Created})
	return r
}
