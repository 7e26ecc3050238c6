package links

import (
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// maxHashCost limits the cost of password hashes from other services, because edges compute them for visitors. Each step doubles the time.
const maxHashCost = 12

// draft returns the new link of an item, and adds its problems to v. The link has the age that it had at another service.
func (item *Item) draft(s *Service, p auth.Principal, v *problem.Fields) store.Link {
	moved := item.CreatedAt != nil && *item.CreatedAt != 0
	item.past = moved
	u, err := s.draft(p, &item.Creation)
	v.Join(err)
	switch {
	case !moved:
	case *item.CreatedAt > u.CreatedAt:
		v.Add("createdAt", "must not lie in the future")
	default:
		u.CreatedAt = *item.CreatedAt
	}
	return u
}

// applyHash gives a link the password hash of another service.
func (item *Item) applyHash(u *store.Link, v *problem.Fields) {
	cost, is := auth.HashCost(item.PasswordHash)
	switch {
	case item.Password != nil:
		v.Add("passwordHash", "cannot be set together with password")
	case !is:
		v.Add("passwordHash", "must be a bcrypt hash")
	case cost > maxHashCost:
		v.Add("passwordHash", "must have a cost of at most %d", maxHashCost)
	default:
		u.PasswordHash = item.PasswordHash
	}
}
