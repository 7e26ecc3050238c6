// Command shop is an online shop for tests, see package shoptest. It reads its configuration from the first line of its input,
// and ends with its input.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/shortline/shortline/shared/testing/shoptest"
)

// Visitors and orders are tried again for patience. A test kills programs for a few seconds.
const (
	patience = 3 * time.Minute
	pause    = 100 * time.Millisecond
)

// agents are the visitors' browsers. None of them is a known bot.
var agents = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
}

func main() {
	log.SetFlags(0)
	input := json.NewDecoder(os.Stdin)
	s := &shop{client: &http.Client{Timeout: 10 * time.Second}}
	if err := input.Decode(&s.cfg); err != nil {
		log.Fatal("read the configuration: ", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // returns when the test ends
		os.Exit(1)
	}()
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.client.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	if err := s.run(); err != nil {
		log.Fatal(err)
	}
}

// shop is the state of the program.
type shop struct {
	cfg    shoptest.Config
	client *http.Client
	ledger *os.File

	mu      sync.Mutex // protects the fields below and writes to ledger
	sales   shoptest.Sales
	visited int
}

func (s *shop) run() (err error) {
	s.sales = shoptest.Sales{Visitors: map[string]int{}, Orders: map[string]int{}}
	if s.ledger, err = os.OpenFile(s.cfg.Ledger, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return err
	}
	numbers, failed := make(chan int), make(chan error, 1)
	var work sync.WaitGroup
	for range max(s.cfg.Workers, 1) {
		work.Go(func() {
			for i := range numbers {
				if err := s.serve(i); err != nil {
					select {
					case failed <- fmt.Errorf("visitor %d: %w", i, err):
					default: // the first error is enough
					}
				}
			}
		})
	}
	for i := range s.cfg.Visitors {
		select {
		case numbers <- s.cfg.First + i:
		case err := <-failed:
			return err
		}
	}
	close(numbers)
	work.Wait()
	select {
	case err := <-failed:
		return err
	default:
	}
	if err := s.ledger.Close(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(s.sales)
}

// serve leads one visitor through the short link into the shop, and reports the order if the visitor buys.
func (s *shop) serve(i int) error {
	page, click, err := s.visit(i)
	if err != nil {
		return err
	}
	rate, ok := s.cfg.Rates[page]
	if !ok {
		return fmt.Errorf("arrived at %q", page)
	}
	if click == "" { // the edge could not record the click, so the shop could not report an order
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sales.Unnamed++
		return nil
	}
	chance := rand.New(rand.NewPCG(s.cfg.Seed, uint64(i)))
	buys := chance.Float64() < rate
	o := shoptest.Order{Number: "order-" + strconv.Itoa(i), Click: click, Page: page, Cents: 500 + chance.Int64N(20_000), Currency: "EUR"}
	if err := s.note(o, buys); err != nil || !buys {
		return err
	}
	if err := s.report(i, o, "accepted", "duplicate"); err != nil {
		return err
	}
	if chance.Float64() < 0.1 { // shops repeat requests whose answers they have lost
		s.mu.Lock()
		s.sales.Resent++
		s.mu.Unlock()
		return s.report(i, o, "duplicate", "accepted")
	}
	return nil
}

// note counts a visitor, and writes the order to the ledger.
func (s *shop) note(o shoptest.Order, buys bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visited++
	s.sales.Visitors[o.Page]++
	if s.visited%100 == 0 {
		fmt.Println(s.visited)
	}
	if !buys {
		return nil
	}
	s.sales.Orders[o.Page]++
	return json.NewEncoder(s.ledger).Encode(o)
}

// visit follows the short link until an edge redirects, and returns the page and the click id of the destination.
func (s *shop) visit(i int) (page, click string, err error) {
	err = s.retry(i, s.cfg.Links, func(link string) error {
		req, err := http.NewRequest(http.MethodGet, link, nil)
		if err != nil {
			return err
		}
		req.Host = s.cfg.Host
		req.Header.Set("User-Agent", agents[i%len(agents)])
		req.Header.Set("X-Forwarded-For", addressOf(i))
		_, header, err := s.do(req, http.StatusFound)
		if err != nil {
			return err
		}
		to, err := url.Parse(header.Get("Location"))
		if err != nil {
			return err
		}
		page, click = to.Path, to.Query().Get("sl_click")
		return nil
	})
	return page, click, err
}

// report sends the conversion of an order until it has one of the verdicts.
func (s *shop) report(i int, o shoptest.Order, verdicts ...string) error {
	body, err := json.Marshal(map[string]any{
		"clickId": o.Click, "name": s.cfg.Goal, "value": json.Number(fmt.Sprintf("%d.%02d", o.Cents/100, o.Cents%100)),
		"currency":   o.Currency,
		"externalId": o.Number,
	})
	if err != nil {
		return err
	}
	bases, request := s.cfg.API, s.fromServer
	if s.cfg.Publishable != "" && i%3 == 0 {
		bases, request = s.cfg.Links, s.fromBrowser
	}
	return s.retry(i, bases, func(base string) error {
		req, err := request(i, base, body)
		if err != nil {
			return err
		}
		answer, _, err := s.do(req, http.StatusAccepted)
		if err != nil {
			return err
		}
		var verdict struct{ Results []struct{ Verdict string } }
		if err := json.Unmarshal(answer, &verdict); err != nil {
			return err
		}
		if len(verdict.Results) != 1 || !slices.Contains(verdicts, verdict.Results[0].Verdict) {
			return fmt.Errorf("%s: %s", body, answer)
		}
		return nil
	})
}

// fromServer returns the request with which the shop reports an order to a control plane.
func (s *shop) fromServer(_ int, base string, body []byte) (*http.Request, error) {
	req, err := http.NewRequest(http.MethodPost, base+"/api/conversions", bytes.NewReader(body))
	if err == nil {
		req.Header.Set("Authorization", "Bearer "+s.cfg.Key)
		req.Header.Set("Content-Type", "application/json")
	}
	return req, err
}

// fromBrowser returns the request with which a page of the shop reports an order to the edge of a link.
func (s *shop) fromBrowser(i int, link string, body []byte) (*http.Request, error) {
	to, err := url.Parse(link)
	if err != nil {
		return nil, err
	}
	to.Path, to.RawQuery = "/c", "key="+s.cfg.Publishable
	req, err := http.NewRequest(http.MethodPost, to.String(), bytes.NewReader(body))
	if err == nil {
		req.Host = s.cfg.Host
		req.Header.Set("Origin", s.cfg.Origin)
		req.Header.Set("Content-Type", "text/plain")
		req.Header.Set("X-Forwarded-For", addressOf(i))
	}
	return req, err
}

// addressOf returns the IP address of a visitor.
func addressOf(i int) string { return fmt.Sprintf("11.%d.%d.%d", i>>16&255, i>>8&255, i&255) }

func (s *shop) do(req *http.Request, want int) ([]byte, http.Header, error) {
	res, err := s.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != want {
		err = fmt.Errorf("%s %s: %s: %.300s", req.Method, req.URL, res.Status, body)
	}
	return body, res.Header, err
}

// retry calls f with one address after the other until it succeeds.
func (s *shop) retry(i int, addresses []string, f func(address string) error) error {
	for began := time.Now(); ; i++ {
		err := f(addresses[i%len(addresses)])
		if err == nil || time.Since(began) > patience {
			return err
		}
		s.mu.Lock()
		s.sales.Retries++
		s.mu.Unlock()
		time.Sleep(pause)
	}
}
