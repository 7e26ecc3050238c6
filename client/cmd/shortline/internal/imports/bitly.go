package imports

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strings"
)

// bitly reads the links of an account by version 4 of Bitly's API.
type bitly struct{ api *API }

func newBitly(api *API, token string) Source {
	api.Header.Set("Authorization", "Bearer "+token)
	return &bitly{api}
}

type bitlyGroups struct {
	Groups []struct {
		GUID string `json:"guid"`
	} `json:"groups"`
}

type bitlyList struct {
	Links      []bitlyLink `json:"links"`
	Pagination struct {
		Total       int    `json:"total"`
		Next        string `json:"next"`
		SearchAfter string `json:"search_after"`
	} `json:"pagination"`
}

type bitlyLink struct {
	ID             string            `json:"id"` // such as bit.ly/3xyz
	Link           string            `json:"link"`
	LongURL        string            `json:"long_url"`
	Title          string            `json:"title"`
	CreatedAt      string            `json:"created_at"`
	CustomBitlinks []string          `json:"custom_bitlinks"`
	Tags           []string          `json:"tags"`
	Deeplinks      []json.RawMessage `json:"deeplinks"`
	Archived       bool              `json:"archived"`
	ExpirationAt   string            `json:"expiration_at"`
}

// Pages implements Source. It reads one group after the other, also archived links, because those still lead visitors.
func (b *bitly) Pages(ctx context.Context, cursor string) iter.Seq2[Page, error] {
	groups := func() (names []string, err error) {
		var list bitlyGroups
		err = b.api.get(ctx, "/v4/groups", nil, &list)
		for _, one := range list.Groups {
			names = append(names, one.GUID)
		}
		return names, err
	}
	return grouped(cursor, groups, func(group, after string) (Page, string, error) { return b.page(ctx, group, after) })
}

func (b *bitly) page(ctx context.Context, group, after string) (page Page, next string, err error) {
	query := url.Values{"size": {"100"}, "archived": {"both"}}
	if number, numbered := strings.CutPrefix(after, "page="); numbered {
		query.Set("page", number)
	} else if after != "" {
		query.Set("search_after", after)
	}
	var list bitlyList
	if err := b.api.get(ctx, "/v4/groups/"+url.PathEscape(group)+"/bitlinks", query, &list); err != nil {
		return page, "", err
	}
	page.Total = list.Pagination.Total
	for i := range list.Links {
		page.Records = append(page.Records, list.Links[i].asRecord())
	}
	if list.Pagination.Next != "" && len(list.Links) > 0 {
		next = list.Pagination.SearchAfter
		if address, err := url.Parse(list.Pagination.Next); next == "" && err == nil {
			if next = address.Query().Get("search_after"); next == "" { // an earlier form of its pages
				next = "page=" + address.Query().Get("page")
			}
		}
	}
	return page, next, nil
}

// asRecord converts a link. A custom back-half is its address, and the one that Bitly has made up stays valid as an alias.
func (l *bitlyLink) asRecord() Record {
	r := Record{ID: l.ID, Address: addressOf(l.ID), Destination: l.LongURL, Title: l.Title, Tags: l.Tags}
	if l.ID == "" {
		r.Address = addressOf(l.Link)
		r.ID = r.Address.String()
	}
	for i, custom := range l.CustomBitlinks {
		if address := addressOf(custom); i == 0 {
			r.Aliases = append(r.Aliases, r.Address)
			r.Address = address
		} else {
			r.Aliases = append(r.Aliases, address)
		}
	}
	r.times(timeField{"creation date", l.CreatedAt, &r.Created}, timeField{"end", l.ExpirationAt, &r.Expires})
	if len(l.Deeplinks) > 0 {
		r.lose("links into apps are not imported")
	}
	if strings.TrimSpace(l.LongURL) == "" {
		r.Refused = "Bitly tells no destination, so the link was deleted or is a page of Bitly"
	}
	return r
}
