package imports

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// verification is what an edge says about links.
type verification struct {
	Asked int      `json:"asked"`
	Right int      `json:"right"`
	Wrong []string `json:"wrong"` // a sentence for each link that leads elsewhere, without a period
}

const (
	askAtOnce = 8
	askAgain  = 10          // until edges have a link
	askAfter  = time.Second // between two attempts
)

// verify asks an edge where up to count of the imported links lead. The edge is the one at the address of the Shortline, also for
// links on custom domains, whose names may still lead to the other service. It asks with HEAD, which counts as no click.
func (e *engine) verify(ctx context.Context, results []Result, count int) (*verification, error) {
	var list []*Result
	for i := range results {
		switch r := &results[i]; r.Outcome {
		case Created, Renamed, Updated, Unchanged:
			if r.Asked && r.ShortURL != "" {
				list = append(list, r)
			}
		}
	}
	rand.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	list = list[:min(len(list), count)]
	v := &verification{Asked: len(list), Wrong: []string{}}
	var mu sync.Mutex
	var all sync.WaitGroup
	turns := make(chan struct{}, askAtOnce)
	for _, r := range list {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			problem := e.leads(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			if problem == "" {
				v.Right++
			} else {
				v.Wrong = append(v.Wrong, problem)
			}
			e.app.Progress("asking the edge about %d links …", v.Asked)
		})
	}
	all.Wait()
	e.app.Done()
	slices.Sort(v.Wrong)
	return v, ctx.Err()
}

// leads asks where a link leads. It returns the problem, or "".
func (e *engine) leads(ctx context.Context, r *Result) string {
	problem := ""
	for attempt := range askAgain {
		if attempt > 0 && e.app.Wait(ctx, askAfter) != nil {
			return problem
		}
		location, status, err := e.head(ctx, r.ShortURL)
		switch {
		case err != nil:
			problem = fmt.Sprintf("%s: %v", r.ShortURL, err)
		case location == "":
			problem = fmt.Sprintf("%s answers %d instead of leading to %s", r.ShortURL, status, r.Destination)
		case same(location, r.Destination):
			return ""
		default:
			problem = fmt.Sprintf("%s leads to %s instead of %s", r.ShortURL, location, r.Destination)
		}
	}
	return problem
}

func (e *engine) head(ctx context.Context, shortURL string) (location string, status int, err error) {
	short, err := url.Parse(shortURL)
	if err != nil {
		return "", 0, err
	}
	address := *e.remote.Base
	address.Path, address.RawPath = short.Path, short.RawPath
	ctx, cancel := context.WithTimeout(ctx, e.app.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, address.String(), nil)
	if err != nil {
		return "", 0, err
	}
	if req.Host = short.Host; short.Hostname() == address.Hostname() {
		req.Host = address.Host
	}
	req.Header.Set("User-Agent", "shortline-import (bot)")
	h := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if e.app.HTTP != nil {
		h.Transport = e.app.HTTP.Transport
	}
	res, err := h.Do(req)
	if err != nil {
		return "", 0, e.remote.Failed(ctx, err)
	}
	_ = res.Body.Close() // HEAD has none
	return res.Header.Get("Location"), res.StatusCode, nil
}

// same compares destinations as browsers do: without regard to the case of the host, to escapes, and to a missing path.
func same(a, b string) bool {
	x, err := url.Parse(a)
	y, err2 := url.Parse(b)
	if err != nil || err2 != nil {
		return a == b
	}
	return plain(x) == plain(y)
}

func plain(u *url.URL) string {
	path := u.Path
	if path == "" {
		path = "/"
	}
	query, err := url.QueryUnescape(u.RawQuery)
	if err != nil {
		query = u.RawQuery
	}
	host, err := url.PathUnescape(u.Host)
	if err != nil {
		host = u.Host
	}
	return (&url.URL{Scheme: u.Scheme, Host: strings.ToLower(host), Path: path, RawQuery: query, Fragment: u.Fragment}).String()
}
