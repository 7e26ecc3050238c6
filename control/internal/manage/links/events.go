package links

import (
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/store"
)

// Updated returns the webhook event for a changed link.
func Updated(c store.Conn, u *store.Link, changes map[string]webhooks.Change) webhooks.Event {
	return webhooks.Event{Name: webhooks.URLUpdated, Workspace: u.Workspace, Data: webhooks.LinkUpdated{
		ID: u.ID, Slug: u.Slug, Changes: changes, URLID: u.ID, OriginalURL: u.OriginalURL, UserID: u.UserID,
		Address: webhooks.AddressOf(c, u),
	}}
}

func createdEvent(c store.Conn, u *store.Link) webhooks.Event {
	return webhooks.Event{Name: webhooks.URLCreated, Workspace: u.Workspace, Data: webhooks.LinkCreated{
		ID: u.ID, Slug: u.Slug, OriginalURL: u.OriginalURL, Title: analytics.OrNull(u.Title), UserID: u.UserID,
		CreatedAt: instant(u.CreatedAt),
		URLID:     u.ID, Address: webhooks.AddressOf(c, u),
	}}
}

func restoredEvent(c store.Conn, u *store.Link) webhooks.Event {
	return webhooks.Event{Name: webhooks.URLRestored, Workspace: u.Workspace, Data: webhooks.LinkRestored{
		ID: u.ID, Slug: u.Slug, OriginalURL: u.OriginalURL, UserID: u.UserID, URLID: u.ID, Address: webhooks.AddressOf(c, u),
	}}
}

func deletedEvent(c store.Conn, u *store.Link) webhooks.Event {
	return webhooks.Event{Name: webhooks.URLDeleted, Workspace: u.Workspace, Data: webhooks.LinkDeleted{
		ID: u.ID, Slug: u.Slug, OriginalURL: u.OriginalURL, UserID: u.UserID, URLID: u.ID, Address: webhooks.AddressOf(c, u),
	}}
}
