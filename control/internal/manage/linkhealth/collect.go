package linkhealth

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/shortline/shortline/control/internal/store"
)

// The cursor of the log of link changes, and that of a walk over all links, which is needed at first and if the log was trimmed.
const (
	logCursor  = "destination_log"
	walkCursor = "destination_walk"
)

// collect notes to which addresses the next links lead.
func (s *Service) collect(ctx context.Context) (more bool, err error) {
	log, err := s.store.CursorNamed(ctx, logCursor)
	if err != nil {
		return false, err
	}
	oldest, err := s.store.OldestChange(ctx)
	if err != nil {
		return false, err
	}
	head, err := s.store.Revision(ctx)
	if err != nil {
		return false, err
	}
	if log.FinishedAt == 0 || oldest > log.After+1 || log.After > head {
		return s.walk(ctx, head)
	}
	nums, through, err := s.store.ChangedLinks(ctx, log.After, pageSize)
	if err != nil {
		return false, fmt.Errorf("read changes of links: %w", err)
	}
	for len(nums) > 0 {
		some := nums[:min(pageSize, len(nums))]
		nums = nums[len(some):]
		list, err := s.store.TargetsOf(ctx, some)
		if err != nil {
			return false, err
		}
		if err := s.noteTargets(ctx, list); err != nil {
			return false, err
		}
	}
	if through == log.After { // only hosts have changed
		through = head
	}
	log.After = through
	return through < head, s.store.Tx(ctx, func(tx *store.Tx) error { return s.saveCursor(ctx, tx, log) })
}

// walk continues the walk over all links, or begins one. At its end, the log continues from the revision at its beginning.
func (s *Service) walk(ctx context.Context, head uint64) (more bool, err error) {
	at, err := s.store.CursorNamed(ctx, walkCursor)
	if err != nil {
		return false, err
	}
	if at.FinishedAt != 0 || at.Version == "" {
		at = store.Cursor{Name: walkCursor, Version: strconv.FormatUint(head, 10), StartedAt: s.nowMillis()}
	}
	list, err := s.store.TargetsAfter(ctx, at.After, pageSize)
	if err != nil {
		return false, fmt.Errorf("read destinations: %w", err)
	}
	if err := s.noteTargets(ctx, list); err != nil {
		return false, err
	}
	if more = len(list) == pageSize; more {
		at.After = list[len(list)-1].Num
	} else {
		at.FinishedAt = s.nowMillis()
	}
	return true, s.store.Tx(ctx, func(tx *store.Tx) error {
		if !more {
			from, _ := strconv.ParseUint(at.Version, 10, 64) // written above
			if err := s.saveCursor(ctx, tx, store.Cursor{Name: logCursor, After: from, FinishedAt: s.nowMillis()}); err != nil {
				return err
			}
		}
		return s.saveCursor(ctx, tx, at)
	})
}

// saveCursor moves a cursor. The lease of the job keeps other processes away, so the cursor's own lease ends at once.
func (s *Service) saveCursor(ctx context.Context, tx *store.Tx, c store.Cursor) error {
	now := s.nowMillis()
	if _, err := tx.ClaimCursor(ctx, c.Name, s.holder, now, now); err != nil {
		return err
	}
	_, err := tx.SaveCursor(ctx, c, s.holder)
	return err
}

// noteTargets stores to which addresses links lead. Links whose addresses have changed get the health of the new ones.
func (s *Service) noteTargets(ctx context.Context, links []store.LinkTargets) error {
	if len(links) == 0 {
		return nil
	}
	hosts := map[string]string{}
	for _, t := range links {
		for _, address := range t.URLs {
			hosts[address] = hostOf(address)
		}
	}
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		changed, err := tx.LeadTo(ctx, links, hosts, s.nowMillis()+firstAfter.Milliseconds())
		if err != nil || len(changed) == 0 {
			return err
		}
		return s.tell(ctx, tx, changed)
	})
}

// hostOf returns the host of an address that can be asked, or "".
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Hostname() == "" {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}
