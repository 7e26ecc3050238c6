package client_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
)

const clicked = `{"event":"url.clicked","timestamp":"2027-01-31T12:00:00.000Z","data":{"urlId":"7","slug":"spring","clickData":{"country":"DE"}}}`

func TestWebhookReceiver(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)
	const secret, second = "whsec_c2VjcmV0IG9mIGEgd2ViaG9vaw==", "plain secret"
	sign := func(secret string, age time.Duration) http.Header {
		return client.SignWebhook(secret, "d1", now.Add(-age), []byte(clicked))
	}
	both := sign(secret, 0)
	both.Set("webhook-signature", "v1,AAAA "+both.Get("webhook-signature"))
	other := sign(secret, 0)
	other.Set("webhook-id", "d2")
	noTime := sign(secret, 0)
	noTime.Del("webhook-timestamp")
	for name, test := range map[string]struct {
		header  http.Header
		body    string
		secrets []string
		want    error
	}{
		"a delivery":                   {sign(secret, 0), clicked, []string{secret}, nil},
		"a secret that is text":        {sign(second, 0), clicked, []string{second}, nil},
		"the old secret":               {sign(second, 0), clicked, []string{secret, second}, nil},
		"several signatures":           {both, clicked, []string{secret}, nil},
		"another secret":               {sign(second, 0), clicked, []string{secret}, client.ErrSignature},
		"no secret":                    {sign("", 0), clicked, []string{""}, client.ErrSignature},
		"another body":                 {sign(secret, 0), clicked + " ", []string{secret}, client.ErrSignature},
		"another id":                   {other, clicked, []string{secret}, client.ErrSignature},
		"no time":                      {noTime, clicked, []string{secret}, client.ErrSignature},
		"no signature":                 {http.Header{}, clicked, []string{secret}, client.ErrSignature},
		"a delivery of some time ago":  {sign(secret, 4*time.Minute), clicked, []string{secret}, nil},
		"a recorded delivery":          {sign(secret, 6*time.Minute), clicked, []string{secret}, client.ErrTooOld},
		"a delivery from the future":   {sign(secret, -6*time.Minute), clicked, []string{secret}, client.ErrTooOld},
		"one from a clock that is off": {sign(secret, -4*time.Minute), clicked, []string{secret}, nil},
	} {
		receiver := client.WebhookReceiver{Secrets: test.secrets, Now: func() time.Time { return now }}
		event, err := receiver.Read(test.header, []byte(test.body))
		if !errors.Is(err, test.want) || (event == nil) != (test.want != nil) {
			t.Errorf("%s: got %v, %v", name, event, err)
		}
	}
}

func TestWebhookEvent_payload(t *testing.T) {
	t.Parallel()
	var event client.WebhookEvent
	if err := json.Unmarshal([]byte(clicked), &event); err != nil {
		t.Fatal(err)
	}
	payload, err := event.Payload()
	if err != nil {
		t.Fatal(err)
	}
	click, ok := payload.(*client.LinkClicked)
	if !ok || click.Slug != "spring" || *click.ClickData.Country != "DE" {
		t.Errorf("the payload is %+v", payload)
	}
	event.Event = "moon.full"
	if payload, err = event.Payload(); err != nil || string(payload.(json.RawMessage)) != string(event.Data) {
		t.Errorf("the payload of an unknown event is %v, %v", payload, err)
	}
	event.Event, event.Data = client.EventURLClicked, []byte("1")
	if _, err = event.Payload(); err == nil {
		t.Error("a number is a payload")
	}
}
