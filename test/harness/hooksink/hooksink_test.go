package hooksink_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/hooksink"
)

func TestSink_counts_errors(t *testing.T) {
	t.Parallel()
	s := hooksink.New("secret", func(d hooksink.Delivery) hooksink.Answer {
		return hooksink.Answer{Status: map[bool]int{true: 200, false: 503}[d.Attempt > 1], Cut: d.ID == "cut"}
	})
	server := httptest.NewServer(s)
	defer server.Close()
	send := func(id string, attempt int, key string) int {
		t.Helper()
		body := `{"id":"` + id + `"}`
		req, err := http.NewRequest("POST", server.URL+"/hook", strings.NewReader(body))
		testkit.Must(t, err)
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(body))
		req.Header.Set("X-Webhook-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
		req.Header.Set("X-Webhook-Delivery-ID", id)
		req.Header.Set("X-Webhook-Event", "url.clicked")
		req.Header.Set("X-Webhook-Attempt", strconv.Itoa(attempt))
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return 0
		}
		res.Body.Close()
		return res.StatusCode
	}
	for i, want := range []int{send("a", 1, "secret") - 503, send("a", 2, "secret") - 200, send("b", 1, "wrong") - 503,
		send("a", 2, "secret") - 200, send("cut", 1, "secret")} {
		if want != 0 {
			t.Errorf("answer %d: the status is off by %d", i, want)
		}
	}
	if got, want := s.Account(), (hooksink.Account{Requests: 5, Deliveries: 3, Again: 1, Unsigned: 1}); got != want {
		t.Errorf("account %+v, want %+v", got, want)
	}
}
