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

// maxStatesBytes bounds the size of an answer, far above lockout.MaxStates states.
const maxStatesBytes = 1 << 20

// ReportAttempts implements lockout.Exchange.
func (c *Client) ReportAttempts(ctx context.Context, r lockout.Report) ([]lockout.State, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	res, err := c.call(ctx, http.MethodPost, "guesses", body, http.Header{"Content-Type": {"application/json"}})
	if err != nil {
		return nil, err
	}
	var answer lockout.Changes
	if err := readStates(res, &answer); err != nil {
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
	if err := readStates(res, &changes); err != nil {
		return lockout.Changes{}, fmt.Errorf("ask for lockout changes: %w", err)
	}
	return changes, nil
}

// readStates decodes an answer into to and closes it. An answer without a body leaves to unchanged.
func readStates(res *http.Response, to *lockout.Changes) error {
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNoContent:
		return res.Body.Close()
	case http.StatusNotFound, http.StatusMethodNotAllowed: // an older control plane
		return fmt.Errorf("%w: %w", lockout.ErrUnsupported, refusal(res))
	case http.StatusTooManyRequests:
		return fmt.Errorf("%w: %w", lockout.ErrBusy, refusal(res))
	default:
		return refusal(res)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxStatesBytes))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
