package links

import (
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/webhooks"
)

// Updated is what webhooks are told of a changed link. urlId, originalUrl and userId are for receivers that read these
// names.
func Updated(u *store.URL, changes map[string]Change) webhooks.Event {
	return webhooks.Event{Name: webhooks.URLUpdated, OwnerID: u.UserID, Data: struct {
		ID          string            `json:"id"`
		Slug        string            `json:"slug"`
		Changes     map[string]Change `json:"changes"`
		URLID       string            `json:"urlId"`
		OriginalURL string            `json:"originalUrl"`
		UserID      string            `json:"userId"`
	}{u.ID, u.Slug, changes, u.ID, u.OriginalURL, u.UserID}}
}

func createdEvent(u *store.URL) webhooks.Event {
	return webhooks.Event{Name: webhooks.URLCreated, OwnerID: u.UserID, Data: struct {
		ID          string  `json:"id"`
		Slug        string  `json:"slug"`
		OriginalURL string  `json:"originalUrl"`
		Title       *string `json:"title"`
		UserID      string  `json:"userId"`
		CreatedAt   string  `json:"createdAt"`
		URLID       string  `json:"urlId"` // the same as id
	}{u.ID, u.Slug, u.OriginalURL, orNull(u.Title), u.UserID, instant(u.CreatedAt), u.ID}}
}

func deletedEvent(u *store.URL) webhooks.Event {
	return webhooks.Event{Name: webhooks.URLDeleted, OwnerID: u.UserID, Data: struct {
		ID          string `json:"id"`
		Slug        string `json:"slug"`
		OriginalURL string `json:"originalUrl"`
		UserID      string `json:"userId"`
		URLID       string `json:"urlId"` // the same as id
	}{u.ID, u.Slug, u.OriginalURL, u.UserID, u.ID}}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
