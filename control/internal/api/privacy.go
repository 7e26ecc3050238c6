package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// Erasure has the numbers of erased records of a visitor.
type Erasure struct {
	Clicks            int64 `json:"clicks" doc:"Clicks whose address, visitor number and User-Agent were removed. The clicks still count."`
	WebhookDeliveries int64 `json:"webhookDeliveries" doc:"Pending deliveries from which the address was removed."`
	WebhookLogs       int64 `json:"webhookLogs" doc:"Deleted entries of the delivery log."`
	PasswordAttempts  int64 `json:"passwordAttempts" doc:"Deleted lockout entries of the address, one per link."`
}

type eraseIn struct {
	Body struct {
		IP string `json:"ip" doc:"An IPv4 or IPv6 address." example:"203.0.113.77"`
	}
}

func (s *Server) registerPrivacy() {
	doc := s.huma.OpenAPI()
	doc.Tags = append(slices.Clip(doc.Tags), &huma.Tag{Name: "Privacy", Description: "Erasing the data of a visitor. Administrators only."})
	handle(s, endpoint{Method: http.MethodPost, Path: "/api/privacy/erase", ID: "eraseVisitor", Summary: "Erase the data of a visitor", Tag: "Privacy",
		Need: admin, SessionOnly: true, Status: http.StatusOK, Timeout: -1},
		func(ctx context.Context, in *eraseIn) (*body[Erasure], error) {
			e, err := s.Privacy.Erase(ctx, principal(ctx), in.Body.IP)
			if err != nil {
				return nil, err
			}
			return &body[Erasure]{Erasure{e.Clicks, e.Deliveries, e.Logs, e.LinkLockouts}}, nil
		})
}
