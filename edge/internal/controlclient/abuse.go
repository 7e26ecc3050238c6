package controlclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/shortline/shortline/shared/abuse"
)

var _ abuse.ReportSink = (*Client)(nil)

// Accept implements abuse.ReportSink.
func (c *Client) Accept(ctx context.Context, r abuse.Report) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	res, err := c.call(ctx, http.MethodPost, "reports", body, http.Header{"Content-Type": {"application/json"}})
	if err != nil {
		return fmt.Errorf("send an abuse report: %w", err)
	}
	switch res.StatusCode {
	case http.StatusNoContent:
		return res.Body.Close()
	case http.StatusTooManyRequests:
		return fmt.Errorf("%w: %w", abuse.ErrBusy, refusal(res))
	case http.StatusGone:
		return fmt.Errorf("%w: %w", abuse.ErrUnknown, refusal(res))
	case http.StatusNotFound, http.StatusMethodNotAllowed: // an older control plane
		return fmt.Errorf("%w: %w", abuse.ErrUnsupported, refusal(res))
	}
	return refusal(res)
}
