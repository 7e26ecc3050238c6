package client_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
)

func TestRetry(t *testing.T) {
	t.Parallel()
	asks := func(after string) answer { return answer{status: 429, header: map[string]string{"Retry-After": after}} }
	running := answer{status: 409, header: map[string]string{"Retry-After": "1"}, body: `{"code":"IDEMPOTENCY_RUNNING"}`}
	lost := answer{cut: true}
	const in9Seconds, anHourAgo = "Sun, 31 Jan 2027 12:00:09 GMT", "Sun, 31 Jan 2027 11:00:00 GMT"
	get := func(c *client.Client) error { _, err := c.Links.Get(context.Background(), "1"); return err }
	create := func(c *client.Client) error {
		_, err := c.Links.Create(context.Background(), client.CreateLink{})
		return err
	}
	patch := func(c *client.Client) error {
		_, err := c.Links.Update(context.Background(), "1", client.UpdateLink{})
		return err
	}
	put := func(c *client.Client) error {
		_, err := c.Links.Put(context.Background(), "1", client.UpdateLink{})
		return err
	}
	putVersion := func(c *client.Client) error {
		_, err := c.Links.Put(context.Background(), "1", client.UpdateLink{}, client.IfMatch(`"1"`))
		return err
	}
	login := func(c *client.Client) error {
		_, err := c.Account.Login(context.Background(), client.SignIn{})
		return err
	}
	// With this jitter, a wait is three quarters of the longest one.
	const first, second, third = 375 * time.Millisecond, 750 * time.Millisecond, 1500 * time.Millisecond
	answers := func(answers ...answer) []answer { return answers }
	waits := func(waits ...time.Duration) []time.Duration { return waits }
	for name, test := range map[string]struct {
		call    func(*client.Client) error
		answers []answer
		waits   []time.Duration
		status  int  // of the error, or 0
		fails   bool // with another error
	}{
		"success is not repeated":                 {call: get, answers: answers(link)},
		"a busy server is asked again":            {call: get, answers: answers(busy, busy, link), waits: waits(first, second)},
		"attempts are limited":                    {call: get, answers: answers(busy), waits: waits(first, second, third), status: 503},
		"seconds of Retry-After":                  {call: get, answers: answers(asks("7"), link), waits: waits(7 * time.Second)},
		"a date in Retry-After":                   {call: get, answers: answers(asks(in9Seconds), link), waits: waits(9 * time.Second)},
		"a date that is over":                     {call: get, answers: answers(asks(anHourAgo), link), waits: waits(first)},
		"Retry-After that is too long":            {call: get, answers: answers(asks("3600")), status: 429},
		"a lost answer to GET":                    {call: get, answers: answers(lost, link), waits: waits(first)},
		"a lost answer to POST with a key":        {call: create, answers: answers(lost, link), waits: waits(first)},
		"a lost answer to PUT":                    {call: put, answers: answers(lost, link), waits: waits(first)},
		"a lost answer to PUT with a version":     {call: putVersion, answers: answers(lost, link), fails: true},
		"a lost answer to PATCH":                  {call: patch, answers: answers(lost, link), fails: true},
		"a lost answer to POST without a key":     {call: login, answers: answers(lost, link), fails: true},
		"a limit of PATCH":                        {call: patch, answers: answers(asks("1"), link), waits: waits(time.Second)},
		"the first request with this key runs":    {call: create, answers: answers(running, link), waits: waits(time.Second)},
		"a refused request":                       {call: get, answers: answers(answer{status: 403}), status: 403},
		"an error of the server that is no delay": {call: get, answers: answers(answer{status: 500}), status: 500},
		"an answer that is not JSON":              {call: get, answers: answers(answer{status: 200, body: "<html>"}), fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, s, waits := start(t, test.answers...)
			err := test.call(c)
			if !slices.Equal(*waits, test.waits) {
				t.Errorf("waited %v, want %v", *waits, test.waits)
			}
			if test.fails == (err == nil) && test.status == 0 || test.status != 0 && !client.HasStatus(err, test.status) {
				t.Errorf("the error is %v", err)
			}
			if keys := keysOf(s.requests()); len(keys) > 1 {
				t.Errorf("the attempts have different keys: %v", keys)
			}
			for _, body := range s.bodies() {
				if body != s.bodies()[0] {
					t.Errorf("the attempts have different bodies: %q", s.bodies())
				}
			}
		})
	}
}

func keysOf(requests []*http.Request) (keys []string) {
	for _, r := range requests {
		if key := r.Header.Get("Idempotency-Key"); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

func TestRetry_key_of_the_caller(t *testing.T) {
	t.Parallel()
	c, s, _ := start(t, busy, answer{status: 201, header: map[string]string{"Idempotency-Replayed": "true"}, body: `{}`})
	var meta client.Meta
	if _, err := c.Tags.Create(t.Context(), client.CreateTag{Name: "a"}, client.IdempotencyKey("mine"), client.Into(&meta)); err != nil {
		t.Fatal(err)
	}
	if keys := keysOf(s.requests()); !slices.Equal(keys, []string{"mine"}) || !meta.Replayed || meta.Attempts != 2 {
		t.Errorf("sent %v, got %+v", keys, meta)
	}
}

// A deletion whose answer was lost finds nothing when it is repeated.
func TestRetry_deletion_that_took_effect(t *testing.T) {
	t.Parallel()
	c, _, _ := start(t, answer{cut: true}, answer{status: 404})
	if err := c.Tags.Delete(t.Context(), "1"); err != nil {
		t.Errorf("repeated: %v", err)
	}
	for name, before := range map[string][]answer{"not repeated": nil, "repeated after a refusal": {{status: 429}, busy}} {
		c, _, _ = start(t, append(before, answer{status: 404})...)
		if err := c.Tags.Delete(t.Context(), "1"); !client.HasStatus(err, 404) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nothing was sent if nothing listens, so any request can be repeated.
func TestRetry_connection_refused(t *testing.T) {
	t.Parallel()
	waits := &naps{}
	c := client.New(unused(t), client.WithRetry(waits.policy()))
	if _, err := c.Links.Update(t.Context(), "1", client.UpdateLink{}); err == nil || len(*waits) != 3 {
		t.Errorf("waited %v, %v", *waits, err)
	}
}

func TestRetry_ends_with_the_context(t *testing.T) {
	t.Parallel()
	s := serve(t, answer{status: 429, header: map[string]string{"Retry-After": "50"}})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	r := client.DefaultRetry
	over := errors.New("over")
	r.Jitter = func() float64 { cancel(over); return 0 } // just before the wait
	_, err := client.New(s.URL, client.WithRetry(r)).Links.Get(ctx, "1")
	if !errors.Is(err, over) || !client.HasStatus(err, 429) || len(s.requests()) != 1 {
		t.Errorf("the error is %v after %d requests", err, len(s.requests()))
	}
}
