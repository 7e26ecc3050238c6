package links

import (
	"context"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
)

const (
	tellEvery = 5 * time.Second
	tellBatch = 200
)

// timedNames are the events of webhooks by those of the store.
var timedNames = map[string]string{
	store.LinkStarted: webhooks.LinkStarted, store.LinkExpired: webhooks.LinkExpired, store.LinkExhausted: webhooks.LinkExhausted,
}

// TellDue tells webhooks which links have started, ended or had all their clicks. An event is deleted in the transaction that stores
// its deliveries, so it is told once, by whichever process.
func (s *Service) TellDue(ctx context.Context) error {
	for {
		if more, err := s.tellDue(ctx); err != nil || !more {
			return err
		}
	}
}

func (s *Service) tellDue(ctx context.Context) (more bool, err error) {
	now := s.cfg.Now().UnixMilli()
	// Reading first spares the database a write every few seconds.
	if some, err := s.store.AnyLinkDue(ctx, now); err != nil || !some {
		return false, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		due, err := tx.TakeLinksDue(ctx, now, tellBatch)
		if err != nil {
			return err
		}
		more = len(due) == tellBatch
		nums := make([]uint64, len(due))
		for i, d := range due {
			nums[i] = d.Link
		}
		list, err := tx.LinksByNum(ctx, nums)
		if err != nil {
			return err
		}
		var events []webhooks.Event
		for _, d := range due {
			u, ok := list[d.Link]
			if !ok {
				continue
			}
			// A panic costs only the event of this link: the transaction deletes what it has taken.
			_ = job.Contain(s.cfg.Logger, func() error {
				events = append(events, timedEvent(tx.Conn, &u, d, now))
				return nil
			})
		}
		return webhooks.Emit(ctx, tx, events...)
	})
	return more, err
}

func timedEvent(c store.Conn, u *store.Link, d store.LinkDue, now int64) webhooks.Event {
	data := webhooks.LinkTimed{
		URLID: u.ID, Slug: u.Slug, OriginalURL: u.OriginalURL, Title: analytics.OrNull(u.Title), UserID: u.UserID, Status: u.Status(now),
		At: instant(d.At), Address: webhooks.AddressOf(c, u), StartsAt: instantOrNull(u.StartsAt), ExpiresAt: instantOrNull(u.ExpiresAt),
	}
	if u.MaxClicks != 0 {
		data.MaxClicks = &u.MaxClicks
	}
	return webhooks.Event{Name: timedNames[d.Event], Workspace: u.Workspace, Data: data}
}

func instantOrNull(ms int64) *string {
	if ms == 0 {
		return nil
	}
	text := instant(ms)
	return &text
}
