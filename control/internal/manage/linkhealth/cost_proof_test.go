//go:build proof

package linkhealth_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/manage/linkhealth"
	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// 100,000 destinations a day take at most 2 % of a processor on SQLite. Each destination has a host of its own, with TLS. The time
// includes that of the servers, which run in this process. SHORTLINE_DESTINATIONS sets the number of destinations.
func TestCost_of_destinations(t *testing.T) {
	many := 5000
	if n, err := strconv.Atoi(os.Getenv("SHORTLINE_DESTINATIONS")); err == nil {
		many = n
	}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	testkit.Must(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Listener.Close()
	server.Listener = l
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(l.Addr().String())

	st := storetest.Open(t)
	w := newWorld(t, st)
	client := outbound.New(outbound.Policy{AllowPrivate: true, Timeout: 10 * time.Second, TLS: &tls.Config{InsecureSkipVerify: true}})
	s := linkhealth.New(linkhealth.Config{Settings: linkhealth.Settings{Enabled: true}, BaseURL: "https://sho.rt", Client: client,
		Now: w.now}, st)
	t.Cleanup(s.Close)
	for from := 0; from < many; from += 1000 {
		w.tx(func(tx *store.Tx) error {
			var list []*store.Link
			for i := from; i < min(many, from+1000); i++ {
				list = append(list, &store.Link{ID: store.NewID(), UserID: w.user.ID, Workspace: w.user.Num, Slug: fmt.Sprintf("link%06d", i),
					OriginalURL: fmt.Sprintf("https://127.%d.%d.%d:%s/a/page?of=%d", 1+i>>16, i>>8&255, i&255, port, i), Active: true,
					CreatedAt: 1, UpdatedAt: 1})
			}
			return tx.InsertLinks(t.Context(), list)
		})
	}
	measure := func(what string, f func()) time.Duration {
		before := processorTime(t)
		f()
		each := (processorTime(t) - before) / time.Duration(many)
		t.Logf("%s: %v of processor time for each destination, %.3f %% of a processor for 100,000 a day", what, each,
			100*100_000*each.Seconds()/(24*time.Hour).Seconds())
		return each
	}
	measure("noting the destinations of new links", func() { w.work(s) })
	w.pass(time.Hour)
	measure("the first questions, whose answers links get to know", func() { w.work(s) })
	w.pass(25 * time.Hour)
	each := measure("the questions of another day", func() { w.work(s) })
	if share := 100_000 * each.Seconds() / (24 * time.Hour).Seconds(); share > 0.02 {
		t.Errorf("100,000 destinations a day need %.2f %% of a processor", 100*share)
	}
	n := 0
	testkit.Must(t, st.Row(t.Context(), `SELECT count(*) FROM link_health WHERE health = 'ok'`).Scan(&n))
	testkit.Equal(t, n, many, "links whose destination works")
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	testkit.Must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
