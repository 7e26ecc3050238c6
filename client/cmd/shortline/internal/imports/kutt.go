package imports

import (
	"context"
	"iter"
	"net/url"
	"strconv"
)

// kutt reads the links of a user of Kutt by version 2 of its API.
type kutt struct{ api *API }

func newKutt(api *API, token string) Source {
	api.Header.Set("X-Api-Key", token)
	return &kutt{api}
}

type kuttLink struct {
	ID          string  `json:"id"`
	Address     string  `json:"address"`
	Link        string  `json:"link"`
	Target      string  `json:"target"`
	Description *string `json:"description"`
	Banned      bool    `json:"banned"`
	Password    bool    `json:"password"`
	CreatedAt   string  `json:"created_at"`
	ExpireIn    *string `json:"expire_in"` // an instant
	VisitCount  number  `json:"visit_count"`
}

// Pages implements Source. The cursor is the number of links before a page. The newest links come first, so a link that is made
// meanwhile moves others to a later page, and none is missed.
func (k *kutt) Pages(ctx context.Context, cursor string) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for before := atoi(cursor); ; {
			var list struct {
				Data  []kuttLink `json:"data"`
				Total int        `json:"total"`
			}
			query := url.Values{"limit": {"50"}, "skip": {strconv.Itoa(before)}}
			if err := k.api.get(ctx, "/api/v2/links", query, &list); err != nil {
				yield(Page{}, err)
				return
			}
			page := Page{Total: list.Total}
			for i := range list.Data {
				page.Records = append(page.Records, list.Data[i].asRecord())
			}
			if before += len(list.Data); len(list.Data) > 0 && before < list.Total {
				page.Next = strconv.Itoa(before)
			}
			if !yield(page, nil) || page.Next == "" {
				return
			}
		}
	}
}

func (l *kuttLink) asRecord() Record {
	r := Record{ID: l.ID, Address: addressOf(l.Link), Destination: l.Target, Notes: deref(l.Description), Clicks: int64(l.VisitCount)}
	if l.Address != "" {
		r.Address.Slug = l.Address
	}
	r.times(timeField{"creation date", l.CreatedAt, &r.Created}, timeField{"end", deref(l.ExpireIn), &r.Expires})
	if l.Banned {
		r.Refused = "an administrator of Kutt has banned it"
	}
	if l.Password {
		r.guard()
	}
	return r
}
