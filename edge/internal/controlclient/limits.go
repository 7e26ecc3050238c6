package controlclient

import (
	"context"
	"fmt"

	"github.com/shortline/shortline/shared/limit"
)

// ShareCounts implements limit.Exchange.
func (c *Client) ShareCounts(ctx context.Context, r limit.Report) (limit.Answer, error) {
	var answer limit.Answer
	if err := c.post(ctx, "limits", r, &answer, limit.ErrBusy, limit.ErrUnsupported); err != nil {
		return limit.Answer{}, fmt.Errorf("share counts of limited links: %w", err)
	}
	return answer, nil
}
