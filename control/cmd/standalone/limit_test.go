package main_test

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testkit"
)

const (
	destination = "https://example.com/destination"
	browser     = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
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
				c, err := net.DialTimeout("tcp", p.Addr, 10*time.Second)
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
	request := []byte("GET /" + slug + " HTTP/1.1\r\nHost: sho.rt\r\nUser-Agent: " + browser + "\r\n\r\n")
	for _, c := range conns {
		group.Go(func() {
			defer c.Close()
			<-begin
			_ = c.SetDeadline(time.Now().Add(30 * time.Second))
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
	visits, limit := 10_000, int64(6000)
	if testing.Short() {
		visits, limit = 2000, 1200
	}
	p := start(t)
	c := p.Login()
	exhausted := func(u created) {
		t.Helper()
		testkit.Within(t, 5*time.Second, u.Slug+" is exhausted", func() bool {
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
	testkit.Within(t, 30*time.Second, "the report has the clicks", func() bool { return c.reportTotal(exact.ID) == limit })

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
	testkit.Within(t, 10*time.Second, "the higher limit is used up", func() bool {
		_, to := p.follow(killed.Slug, map[string]string{"User-Agent": browser})
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
		p.follow(lower.Slug, map[string]string{"User-Agent": browser})
	}
	testkit.Within(t, 5*time.Second, "the clicks are shared", func() bool {
		var got struct{ Status string }
		c.Do("PUT", "/api/urls/"+lower.ID, map[string]any{"maxClicks": 3}, 200, &got)
		c.Do("GET", "/api/urls/"+lower.ID, nil, 200, &got)
		if got.Status == "EXHAUSTED" {
			return true
		}
		c.Do("PUT", "/api/urls/"+lower.ID, map[string]any{"maxClicks": 10}, 200, nil)
		return false
	})
	if code, _ := p.follow(lower.Slug, map[string]string{"User-Agent": browser}); code != http.StatusGone {
		t.Errorf("a visit of a link whose limit was lowered gets %d", code)
	}
}

func TestE2E_explain_agrees_about_the_life_of_links(t *testing.T) {
	p := start(t)
	c := p.Login()
	const over = "https://example.com/over"
	now := time.Now()
	instant := func(d time.Duration) string { return now.Add(d).UTC().Format(time.RFC3339) }
	past := map[string]any{"expiresAt": instant(-time.Hour)}
	type explained struct {
		Outcome string
		Status  int
	}
	explain := func(u created, at string) (e explained) {
		t.Helper()
		body := map[string]any{"userAgent": browser}
		if at != "" {
			body["time"] = at
		}
		c.Do("POST", "/api/urls/"+u.ID+"/explain", body, 200, &e)
		return e
	}
	links := map[string]created{}
	for name, q := range map[string]struct {
		fields, change map[string]any
		want           explained
		location       string
	}{
		"scheduled":               {map[string]any{"startsAt": instant(time.Hour)}, nil, explained{"ABSENT", 404}, ""},
		"expired":                 {nil, past, explained{"GONE", 410}, ""},
		"expired with an address": {map[string]any{"expiredUrl": over, "redirectCode": 301}, past, explained{"ENDED", 302}, over},
		"permanent":               {map[string]any{"redirectCode": 308}, nil, explained{"REDIRECT", 308}, destination},
		"limited":                 {map[string]any{"maxClicks": 1, "expiredUrl": over}, nil, explained{"REDIRECT", 302}, destination},
	} {
		u := c.CreateURL(destination, q.fields)
		if q.change != nil {
			c.Do("PUT", "/api/urls/"+u.ID, q.change, 200, nil)
		}
		links[name] = u
		if e := explain(u, ""); e != q.want {
			t.Errorf("%s: explained as %v, want %v", name, e, q.want)
		}
		if status, location := p.follow(u.Slug, map[string]string{"User-Agent": browser}); status != q.want.Status || location != q.location {
			t.Errorf("%s: the edge answers %d %s, want %v %s", name, status, location, q.want, q.location)
		}
	}
	if e := explain(links["scheduled"], instant(2*time.Hour)); e != (explained{"REDIRECT", 302}) {
		t.Errorf("after the start: %v", e)
	}
	testkit.Within(t, 5*time.Second, "the limit is explained", func() bool { return explain(links["limited"], "") == explained{"ENDED", 302} })
	if status, location := p.follow(links["limited"].Slug, map[string]string{"User-Agent": browser}); status != 302 || location != over {
		t.Errorf("after the limit the edge answers %d %s", status, location)
	}
	p.Kill() // everything above must come back from the disk
	p.Start()
	for name, want := range map[string]int{"scheduled": 404, "expired": 410, "permanent": 308} {
		if status, _ := p.follow(links[name].Slug, map[string]string{"User-Agent": browser}); status != want {
			t.Errorf("%s after a restart: %d, want %d", name, status, want)
		}
	}
	for _, name := range []string{"limited", "expired with an address"} {
		if _, location := p.follow(links[name].Slug, map[string]string{"User-Agent": browser}); location != over {
			t.Errorf("%s after a restart leads to %q", name, location)
		}
	}
}

func TestE2E_maxClicks_survives_the_trash(t *testing.T) {
	p := start(t)
	c := p.Login()
	u := c.CreateURL(destination, map[string]any{"maxClicks": 3})
	p.published(u.Slug)
	follow := func() int {
		status, _ := p.follow(u.Slug, map[string]string{"User-Agent": browser})
		return status
	}
	for range 2 {
		if status := follow(); status != http.StatusFound {
			t.Fatalf("a visit before the limit gets %d", status)
		}
	}
	c.Do("DELETE", "/api/urls/"+u.ID, nil, 204, nil)
	testkit.Within(t, 5*time.Second, "the link is gone", func() bool { return follow() == http.StatusNotFound })
	c.Do("POST", "/api/urls/"+u.ID+"/restore", map[string]any{}, 200, nil)
	p.published(u.Slug)
	if status := follow(); status != http.StatusFound {
		t.Errorf("the third visit gets %d after the restore", status)
	}
	if status := follow(); status != http.StatusGone {
		t.Errorf("the fourth visit gets %d", status)
	}
}
