package controlclient

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/shortline/shortline/shared/lockout"
)

// maxAnswerBytes bounds the size of an answer, far above lockout.MaxStates states and limit.MaxTotals totals.
const maxAnswerBytes = 1 << 20

// ReportAttempts implements lockout.Exchange.
func (c *Client) ReportAttempts(ctx context.Context, r lockout.Report) ([]lockout.State, error) {
	var answer lockout.Changes
	if err := c.post(ctx, "guesses", r, &answer, lockout.ErrBusy, lockout.ErrUnsupported); err != nil {
		return nil, fmt.Errorf("report password attempts: %w", err)
	}
	return answer.States, nil
}

// StateChanges implements lockout.Exchange.
func (c *Client) StateChanges(ctx context.Context, after uint64) (lockout.Changes, error) {
	query := url.Values{"after": {strconv.FormatUint(after, 10)}}
	res, err := c.call(ctx, http.MethodGet, "guesses?"+query.Encode(), nil, nil)
	if err != nil {
		return lockout.Changes{}, err
	}
	changes := lockout.Changes{Next: after}
	if err := readAnswer(res, &changes, lockout.ErrBusy, lockout.ErrUnsupported); err != nil {
		return lockout.Changes{}, fmt.Errorf("ask for lockout changes: %w", err)
	}
	return changes, nil
}

// post sends a report as JSON and decodes the answer into to. The error wraps busy or unsupported if the control plane
// answers so.
func (c *Client) post(ctx context.Context, path string, report, to any, busy, unsupported error) error {
	body, err := json.Marshal(report)
	if err != nil {
		return err
	}
	res, err := c.call(ctx, http.MethodPost, path, body, http.Header{"Content-Type": {"application/json"}})
	if err != nil {
		return err
	}
	return readAnswer(res, to, busy, unsupported)
}

// readAnswer decodes an answer into to and closes it. An answer without a body leaves to unchanged.
func readAnswer(res *http.Response, to any, busy, unsupported error) error {
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNoContent:
		return res.Body.Close()
	case http.StatusNotFound, http.StatusMethodNotAllowed: // an older control plane
		return fmt.Errorf("%w: %w", unsupported, refusal(res))
	case http.StatusTooManyRequests:
		return fmt.Errorf("%w: %w", busy, refusal(res))
	default:
		return refusal(res)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
