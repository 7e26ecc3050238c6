package imports

import (
	"context"
	"encoding/json"
	"fmt"
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

// bitlyCursor is a place in the links of a group.
type bitlyCursor struct {
	Group string `json:"group"`
	After string `json:"after"`
}

// Pages implements Source. It reads one group after the other, also archived links, because those still lead visitors.
func (b *bitly) Pages(ctx context.Context, cursor string) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		var at bitlyCursor
		if cursor != "" && json.Unmarshal([]byte(cursor), &at) != nil {
			yield(Page{}, fmt.Errorf("the place %s is damaged; add --restart", quoted(cursor)))
			return
		}
		var groups bitlyGroups
		if err := b.api.get(ctx, "/v4/groups", nil, &groups); err != nil {
			yield(Page{}, err)
			return
		}
		known := at.Group == ""
		for i, group := range groups.Groups {
			if known = known || group.GUID == at.Group; !known {
				continue
			}
			if group.GUID != at.Group {
				at = bitlyCursor{Group: group.GUID}
			}
			for {
				page, after, err := b.page(ctx, at)
				switch {
				case err != nil:
				case after != "":
					page.Next = (bitlyCursor{at.Group, after}).String()
				case i+1 < len(groups.Groups):
					page.Next = (bitlyCursor{Group: groups.Groups[i+1].GUID}).String()
				}
				if !yield(page, err) || err != nil {
					return
				}
				if at.After = after; after == "" {
					break
				}
			}
		}
		if !known {
			yield(Page{}, fmt.Errorf("the group %s no longer exists; add --restart", quoted(at.Group)))
		}
	}
}

// String returns the cursor as a text.
func (c bitlyCursor) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(text)
}

func (b *bitly) page(ctx context.Context, at bitlyCursor) (page Page, after string, err error) {
	query := url.Values{"size": {"100"}, "archived": {"both"}}
	if at.After != "" {
		query.Set("search_after", at.After)
	}
	var list bitlyList
	if err := b.api.get(ctx, "/v4/groups/"+url.PathEscape(at.Group)+"/bitlinks", query, &list); err != nil {
		return page, "", err
	}
	page.Total = list.Pagination.Total
	for i := range list.Links {
		page.Records = append(page.Records, list.Links[i].record())
	}
	if list.Pagination.Next != "" && len(list.Links) > 0 {
		after = list.Pagination.SearchAfter
		if next, err := url.Parse(list.Pagination.Next); after == "" && err == nil {
			after = next.Query().Get("search_after")
		}
	}
	if after != "" && after == at.After {
		return page, "", fmt.Errorf("%s repeats the same page", b.api.Base.Host)
	}
	return page, after, nil
}

// record converts a link. A custom back-half is its address, and the one that Bitly has made up stays valid as an alias.
func (l *bitlyLink) record() Record {
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
