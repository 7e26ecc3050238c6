package controlclient

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/shortline/shortline/shared/guess"
)

// maxStandings bounds what is read of an answer, far above what guess.MaxStandings take.
const maxStandings = 1 << 20

// Tell is guess.Exchange's.
func (c *Client) Tell(ctx context.Context, r guess.Report) ([]guess.Standing, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	res, err := c.call(ctx, http.MethodPost, "guesses", body, http.Header{"Content-Type": {"application/json"}})
	if err != nil {
		return nil, err
	}
	var answer guess.News
	if err := readGuesses(res, &answer); err != nil {
		return nil, fmt.Errorf("tell of guesses: %w", err)
	}
	return answer.Standings, nil
}

// News is guess.Exchange's.
func (c *Client) News(ctx context.Context, after uint64) (guess.News, error) {
	query := url.Values{"after": {strconv.FormatUint(after, 10)}}
	res, err := c.call(ctx, http.MethodGet, "guesses?"+query.Encode(), nil, nil)
	if err != nil {
		return guess.News{}, err
	}
	news := guess.News{Next: after}
	if err := readGuesses(res, &news); err != nil {
		return guess.News{}, fmt.Errorf("ask for guesses: %w", err)
	}
	return news, nil
}

// readGuesses reads an answer and closes it. One without a body leaves to as it is.
func readGuesses(res *http.Response, to *guess.News) error {
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNoContent:
		return res.Body.Close()
	case http.StatusNotFound, http.StatusMethodNotAllowed: // an older control plane
		return fmt.Errorf("%w: %w", guess.ErrNone, refusal(res))
	case http.StatusTooManyRequests:
		return fmt.Errorf("%w: %w", guess.ErrBusy, refusal(res))
	default:
		return refusal(res)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxStandings))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
