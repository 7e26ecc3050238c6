package api

import (
	"context"
	"net/http"
)

// Erasure is what was erased of a visitor.
type Erasure struct {
	Clicks            int64 `json:"clicks" doc:"Clicks whose address, visitor number and User-Agent were removed. The clicks still count."`
	WebhookDeliveries int64 `json:"webhookDeliveries" doc:"Deliveries that wait and go out without the address."`
	WebhookLogs       int64 `json:"webhookLogs" doc:"Entries of the delivery log that were deleted."`
	PasswordAttempts  int64 `json:"passwordAttempts" doc:"Lockout entries of the address that were deleted, one for each link."`
}

type eraseIn struct {
	Body struct {
		IP string `json:"ip" doc:"An IPv4 or IPv6 address." example:"203.0.113.77"`
	}
}

func (s *Server) registerPrivacy() {
	handle(s, endpoint{Method: http.MethodPost, Path: "/api/privacy/erase", ID: "eraseVisitor", Summary: "Erase what is stored of a visitor", Tag: "Privacy",
		Need: admin, SessionOnly: true, Status: http.StatusOK, Timeout: -1},
		func(ctx context.Context, in *eraseIn) (*body[Erasure], error) {
			e, err := s.Privacy.Erase(ctx, principal(ctx), in.Body.IP)
			if err != nil {
				return nil, err
			}
			return &body[Erasure]{Erasure{e.Clicks, e.Deliveries, e.Logs, e.LinkLockouts}}, nil
		})
}
