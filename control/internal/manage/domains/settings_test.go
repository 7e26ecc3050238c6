package domains_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A name is for CNAME records and an address for A and AAAA records. What exists on this machine only is neither.
func TestConsoleDNS_records_lead_to_hosts_that_visitors_reach(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t)
	for base, want := range map[string]string{
		"https://sho.example":     "sho.example []",
		"http://203.0.113.7:8080": " [203.0.113.7]",
		"http://10.0.0.7":         " [10.0.0.7]", // a network may be all that visitors come from
		"http://[2001:db8::7]":    " [2001:db8::7]",
		"http://127.0.0.1:8080":   " []",
		"http://[::1]:8080":       " []",
		"http://0.0.0.0:8080":     " []",
		"http://localhost:8080":   " []",
		"http://sho.localhost":    " []",
	} {
		s, err := domains.FromSettings(&domains.Settings{Most: 1}, base, "https://console.example", link.Policy{},
			slog.New(slog.DiscardHandler), st)
		testkit.Must(t, err)
		if got := fmt.Sprint(s.Targets().Hostname, " ", s.Targets().Addresses); got != want {
			t.Errorf("%s: %q, want %q", base, got, want)
		}
	}
}
