//go:build proof

package main_test

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/shared/testkit"
)

// crowd counts visits: those that were redirected to the destination, those that were not because the link had ended, and
// those without an answer.
type crowd struct{ followed, ended, lost, sent atomic.Int64 }

// crowd sends one visit on each of n connections at the same time, which are all open before. Before the request with the
// number killAt, it kills the program; 0: never. The number of requests decides, because the program may be far ahead of
// the clients that read its responses.
func (p *program) crowd(slug string, n int, killAt int64) *crowd {
	p.t.Helper()
	v := &crowd{}
	conns := make([]net.Conn, n)
	var group sync.WaitGroup
	for part := range 16 {
		group.Go(func() {
			for i := part; i < n; i += 16 {
				c, err := net.Dial("tcp", p.Addr)
				if err != nil {
					p.t.Error(err)
					return
				}
				conns[i] = c
			}
		})
	}
	group.Wait()
	if p.t.Failed() {
		p.t.FailNow()
	}
	begin := make(chan struct{})
	request := []byte("GET /" + slug + " HTTP/1.1\r\nHost: sho.rt\r\nUser-Agent: " + laptop + "\r\n\r\n")
	for _, c := range conns {
		group.Go(func() {
			defer c.Close()
			<-begin
			if v.sent.Add(1) == killAt {
				p.Kill()
			}
			_, err := c.Write(request)
			var res *http.Response
			if err == nil {
				res, err = http.ReadResponse(bufio.NewReader(c), nil)
			}
			if err != nil {
				v.lost.Add(1)
				return
			}
			res.Body.Close()
			switch {
			case res.StatusCode == http.StatusFound && res.Header.Get("Location") == destination:
				v.followed.Add(1)
			case res.StatusCode == http.StatusGone, res.StatusCode == http.StatusFound:
				v.ended.Add(1)
			default:
				p.t.Errorf("a visit got %d", res.StatusCode)
			}
		})
	}
	close(begin)
	group.Wait()
	return v
}

// TestE2E_maxClicks_is_exact visits limited links with 10,000 connections at a time. During the visits of the second link
// the process is killed. It may lose the clicks of visits that it has not answered, and grants none twice.
func TestE2E_maxClicks_is_exact(t *testing.T) {
	const visits, limit = 10_000, int64(6000)
	p := start(t)
	c := p.Login()
	exhausted := func(u created) {
		t.Helper()
		testkit.Eventually(t, u.Slug+" is exhausted", func() bool {
			var got struct{ Status string }
			c.Do("GET", "/api/urls/"+u.ID, nil, 200, &got)
			return got.Status == "EXHAUSTED"
		})
	}
	exact := c.CreateURL(destination, map[string]any{"maxClicks": limit})
	p.published(exact.Slug)
	v := p.crowd(exact.Slug, visits, 0)
	if v.followed.Load() != limit || v.ended.Load() != int64(visits)-limit {
		t.Errorf("of %d visits %d were redirected and %d got 410; want %d redirected", visits, v.followed.Load(), v.ended.Load(), limit)
	}
	exhausted(exact)
	testkit.Eventually(t, "the report has the clicks", func() bool { return c.reportTotal(exact.ID) == limit })

	killed := c.CreateURL(destination, map[string]any{"maxClicks": limit, "expiredUrl": "https://example.com/over"})
	p.published(killed.Slug)
	v = p.crowd(killed.Slug, visits, limit/2)
	p.Start()
	first, lost := v.followed.Load(), v.lost.Load()
	if first >= limit || lost == 0 {
		t.Errorf("the kill did not come in the middle: %d followed, %d without an answer", first, lost)
	}
	v = p.crowd(killed.Slug, visits, 0)
	total := first + v.followed.Load()
	t.Logf("limit %d: %d of %d visits followed, then a kill with %d visits unanswered, then %d followed", limit, first, visits, lost, v.followed.Load())
	if total > limit || total < limit-lost || v.ended.Load() == 0 {
		t.Errorf("%d followed, want %d to %d", total, limit-lost, limit)
	}
	c = &client{t: t, base: "http://" + p.Addr, token: c.token}
	exhausted(killed)

	// A higher limit begins where the count is; a lower one ends the link at once.
	c.Do("PUT", "/api/urls/"+killed.ID, map[string]any{"maxClicks": limit + 10}, 200, nil)
	p.published(killed.Slug)
	more := int64(0)
	testkit.Eventually(t, "the higher limit is used up", func() bool {
		_, to := p.follow(killed.Slug, visitor)
		if to == destination {
			more++
		}
		return more > 0 && to != destination
	})
	if more != 10 {
		t.Errorf("%d visits followed after the limit was raised by 10", more)
	}
	lower := c.CreateURL(destination, map[string]any{"maxClicks": 10})
	p.published(lower.Slug)
	for range 3 {
		p.follow(lower.Slug, visitor)
	}
	testkit.Eventually(t, "the clicks are shared", func() bool {
		var got struct{ Status string }
		c.Do("PUT", "/api/urls/"+lower.ID, map[string]any{"maxClicks": 3}, 200, &got)
		c.Do("GET", "/api/urls/"+lower.ID, nil, 200, &got)
		if got.Status == "EXHAUSTED" {
			return true
		}
		c.Do("PUT", "/api/urls/"+lower.ID, map[string]any{"maxClicks": 10}, 200, nil)
		return false
	})
	if code, _ := p.follow(lower.Slug, visitor); code != http.StatusGone {
		t.Errorf("a visit of a link whose limit was lowered gets %d", code)
	}
}
