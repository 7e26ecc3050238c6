package systemapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
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

var privacyResource = kit.Resource{
	Tag: "Privacy", About: "Erasing the data of a visitor. Administrators only.",
	Read: kit.Needs(kit.AnyRole, 0), Change: kit.Needs(kit.AnyRole, 0),
}

func (s *server) registerPrivacy() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: "/api/privacy/erase", ID: "eraseVisitor",
		Summary: "Erase the data of a visitor", Tag: "Privacy",
		Need: kit.Admin, SessionOnly: true, Status: http.StatusOK, Timeout: -1}.
		About("Removes an address of a visitor, with the visitor number and User-Agent, from clicks, webhook deliveries and lockouts. The "+
			"clicks still count. Requires the session of an administrator.").
		Example(`{"ip":"203.0.113.77"}`),
		func(ctx context.Context, in *eraseIn) (*kit.Body[Erasure], error) {
			e, err := s.Privacy.Erase(ctx, kit.Principal(ctx), in.Body.IP)
			if err != nil {
				return nil, err
			}
			return kit.NewBody(Erasure{e.Clicks, e.Deliveries, e.Logs, e.LinkLockouts}), nil
		})
}
