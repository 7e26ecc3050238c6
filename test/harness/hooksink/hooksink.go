// Package hooksink receives webhooks. A script chooses its answers. It verifies signatures with independent code, and
// records the order and the number of deliveries.
package hooksink

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Delivery is one received request.
type Delivery struct {
	ID      string // X-Webhook-Delivery-ID
	Event   string
	Attempt int
	Body    []byte
	At      time.Time
	Signed  bool // whether X-Webhook-Signature matches the body
	Status  int  // status of the answer; 0 if the connection was reset instead
}

// Answer is the answer to a delivery.
type Answer struct {
	Status  int           // 0 means 200
	After   time.Duration // delay before the answer
	Cut     bool          // no answer: the connection is reset
	Endless bool          // the body does not end until the client disconnects
}

// Sink is an http.Handler. It is safe for concurrent use.
type Sink struct {
	secret []byte
	script func(Delivery) Answer

	mu   sync.Mutex
	came []Delivery
}

// New returns a sink that verifies signatures with secret. script chooses the answers; nil answers 200 to all.
func New(secret string, script func(Delivery) Answer) *Sink {
	if script == nil {
		script = func(Delivery) Answer { return Answer{} }
	}
	return &Sink{secret: []byte(secret), script: script}
}

const maxBody = 1 << 20

// ServeHTTP receives a delivery.
func (s *Sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return // an incomplete request is not recorded
	}
	mac := hmac.New(sha256.New, s.secret)
	mac.Write(body)
	attempt, _ := strconv.Atoi(r.Header.Get("X-Webhook-Attempt")) // a missing or invalid header is recorded as 0
	d := Delivery{
		ID: r.Header.Get("X-Webhook-Delivery-ID"), Event: r.Header.Get("X-Webhook-Event"), Attempt: attempt, Body: body, At: time.Now(),
		Signed: hmac.Equal([]byte(r.Header.Get("X-Webhook-Signature")), []byte("sha256="+hex.EncodeToString(mac.Sum(nil)))),
	}
	a := s.script(d)
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	if d.Status = a.Status; a.Cut {
		d.Status = 0
	}
	s.mu.Lock()
	s.came = append(s.came, d)
	s.mu.Unlock()
	if a.After > 0 {
		select {
		case <-time.After(a.After):
		case <-r.Context().Done():
			return
		}
	}
	if a.Cut {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(a.Status)
	for chunk := make([]byte, 64<<10); a.Endless; {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// Came returns all deliveries so far, in order.
func (s *Sink) Came() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.came)
}

// Account summarizes the deliveries.
type Account struct {
	Requests   int
	Deliveries int // distinct IDs
	Again      int // requests for an ID that had already been answered with 2xx
	Unsigned   int
}

// Account summarizes the deliveries so far.
func (s *Sink) Account() Account {
	var a Account
	seen, done := map[string]bool{}, map[string]bool{}
	for _, d := range s.Came() {
		a.Requests++
		if done[d.ID] {
			a.Again++
		}
		if !d.Signed {
			a.Unsigned++
		}
		seen[d.ID] = true
		if d.Status/100 == 2 {
			done[d.ID] = true
		}
	}
	a.Deliveries = len(seen)
	return a
}
