package imports

import (
	"context"
	"iter"
	"net/url"
	"strconv"
)

// rebrandly reads the links of all workspaces of an account of Rebrandly.
type rebrandly struct{ api *API }

func newRebrandly(api *API, token string) Source {
	api.Header.Set("Apikey", token)
	return &rebrandly{api}
}

type rebrandlyLink struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Slashtag    string `json:"slashtag"`
	Destination string `json:"destination"`
	ShortURL    string `json:"shortUrl"`
	Status      string `json:"status"`
	CreatedAt   string `json:"createdAt"`
	Description string `json:"description"`
	Clicks      number `json:"clicks"`
	Tags        []struct {
		Name string `json:"name"`
	} `json:"tags"`
	Domain struct {
		FullName string `json:"fullName"`
	} `json:"domain"`
}

// rebrandlyPage is the largest number of links and of workspaces in an answer.
const rebrandlyPage = 25

// Pages implements Source. Within a workspace, the cursor is the id of the last link.
func (b *rebrandly) Pages(ctx context.Context, cursor string) iter.Seq2[Page, error] {
	return grouped(cursor, func() ([]string, error) { return b.workspaces(ctx) }, func(workspace, after string) (Page, string, error) {
		return b.page(ctx, workspace, after)
	})
}

func (b *rebrandly) workspaces(ctx context.Context) (ids []string, err error) {
	for {
		query := url.Values{"limit": {strconv.Itoa(rebrandlyPage)}, "orderBy": {"createdAt"}, "orderDir": {"asc"}}
		if len(ids) > 0 {
			query.Set("last", ids[len(ids)-1])
		}
		var list []struct {
			ID string `json:"id"`
		}
		if err := b.api.get(ctx, "/v1/workspaces", query, &list); err != nil {
			return nil, err
		}
		for _, one := range list {
			ids = append(ids, one.ID)
		}
		if len(list) < rebrandlyPage {
			return ids, nil
		}
	}
}

func (b *rebrandly) page(ctx context.Context, workspace, after string) (page Page, next string, err error) {
	b.api.Header.Set("Workspace", workspace)
	query := url.Values{"limit": {strconv.Itoa(rebrandlyPage)}, "orderBy": {"createdAt"}, "orderDir": {"asc"}}
	if after != "" {
		query.Set("last", after)
	}
	var list []rebrandlyLink
	if err := b.api.get(ctx, "/v1/links", query, &list); err != nil {
		return page, "", err
	}
	for i := range list {
		page.Records = append(page.Records, list[i].asRecord())
	}
	if len(list) == rebrandlyPage {
		next = list[len(list)-1].ID
	}
	return page, next, nil
}

func (l *rebrandlyLink) asRecord() Record {
	r := Record{ID: l.ID, Address: addressOf(l.ShortURL), Destination: l.Destination, Title: l.Title, Notes: l.Description,
		Clicks: int64(l.Clicks), Inactive: l.Status != "" && l.Status != "active"}
	if l.Slashtag != "" {
		r.Address = Address{addressOf(l.Domain.FullName).Host, l.Slashtag}
	}
	for _, tag := range l.Tags {
		r.Tags = append(r.Tags, tag.Name)
	}
	r.times(timeField{"creation date", l.CreatedAt, &r.Created})
	return r
}
