package imports

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strings"
	"time"
)

// shortio reads the links of all domains of an account of Short.io.
type shortio struct {
	api   *API
	hosts map[string]string // by id of the domain
}

func newShortio(api *API, token string) Source {
	api.Header.Set("Authorization", token)
	return &shortio{api, map[string]string{}}
}

type shortioLink struct {
	ID           text     `json:"id"` // a number before 2024
	IDString     string   `json:"idString"`
	Path         string   `json:"path"`
	OriginalURL  string   `json:"originalURL"`
	Title        *string  `json:"title"`
	CreatedAt    text     `json:"createdAt"`
	ExpiresAt    text     `json:"expiresAt"` // milliseconds or a date
	ExpiredURL   *string  `json:"expiredURL"`
	Tags         []string `json:"tags"`
	RedirectType number   `json:"redirectType"`
	ClicksLimit  number   `json:"clicksLimit"`
	HasPassword  bool     `json:"hasPassword"`
	IPhoneURL    *string  `json:"iphoneURL"`
	AndroidURL   *string  `json:"androidURL"`
	Cloaking     bool     `json:"cloaking"`
}

// Pages implements Source. Within a domain, the cursor is the token of the next page.
func (s *shortio) Pages(ctx context.Context, cursor string) iter.Seq2[Page, error] {
	return grouped(cursor, func() ([]string, error) { return s.domains(ctx) }, func(domain, after string) (Page, string, error) {
		return s.page(ctx, domain, after)
	})
}

func (s *shortio) domains(ctx context.Context) (ids []string, err error) {
	var list []struct {
		ID       text   `json:"id"`
		Hostname string `json:"hostname"`
	}
	err = s.api.get(ctx, "/api/domains", nil, &list)
	for _, one := range list {
		ids, s.hosts[string(one.ID)] = append(ids, string(one.ID)), strings.ToLower(one.Hostname)
	}
	return ids, err
}

func (s *shortio) page(ctx context.Context, domain, after string) (page Page, next string, err error) {
	query := url.Values{"domain_id": {domain}, "limit": {"100"}, "dateSortOrder": {"asc"}}
	if after != "" {
		query.Set("pageToken", after)
	}
	var list struct {
		Links         []shortioLink `json:"links"`
		NextPageToken *text         `json:"nextPageToken"`
	}
	if err := s.api.get(ctx, "/api/links", query, &list); err != nil {
		return page, "", err
	}
	for i := range list.Links {
		page.Records = append(page.Records, list.Links[i].asRecord(s.hosts[domain]))
	}
	if len(list.Links) > 0 {
		next = string(deref(list.NextPageToken))
	}
	return page, next, nil
}

func (l *shortioLink) asRecord(host string) Record {
	r := Record{ID: l.IDString, Address: Address{host, l.Path}, Destination: l.OriginalURL, Title: deref(l.Title), Tags: l.Tags,
		ExpiredURL: deref(l.ExpiredURL), MaxClicks: int64(l.ClicksLimit)}
	if r.ID == "" {
		r.ID = string(l.ID)
	}
	switch l.RedirectType {
	case 301, 302, 307, 308:
		r.Code = int(l.RedirectType)
	}
	r.times(timeField{"creation date", l.CreatedAt.date(), &r.Created}, timeField{"end", l.ExpiresAt.date(), &r.Expires})
	switch {
	case l.Path == "":
		r.Refused = "it is the start page of a domain; set it with: shortline domains update"
	case l.HasPassword:
		r.guard()
	}
	if r.MaxClicks > 0 {
		r.lose("the limit of clicks counts from 0 again")
	}
	if l.Cloaking {
		r.lose("the destination is no longer shown below the short URL")
	}
	r.targets(deref(l.IPhoneURL), deref(l.AndroidURL), nil)
	return r
}

// text is a text that a service also sends as a number.
type text string

// UnmarshalJSON reads both forms; null is "".
func (t *text) UnmarshalJSON(raw []byte) error {
	var plain string
	switch {
	case string(raw) == "null":
	case json.Unmarshal(raw, &plain) == nil:
		*t = text(plain)
	default:
		*t = text(raw)
	}
	return nil
}

// date returns a time as a text. A number is a time in milliseconds.
func (t text) date() string {
	ms, err := json.Number(t).Int64()
	if err != nil || ms == 0 {
		return strings.TrimSpace(string(t))
	}
	return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano)
}
