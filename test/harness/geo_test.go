package harness_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
	"github.com/shortline/shortline/test/harness/load"
	"github.com/shortline/shortline/test/harness/plane"
)

// geoDatabase returns a database that maps 203.0.113.0/24 to a country.
func geoDatabase(t *testing.T, country string) []byte {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "Country", IncludeReservedNetworks: true})
	if err != nil {
		t.Fatal(err)
	}
	_, network, err := net.ParseCIDR("203.0.113.0/24")
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Insert(network, mmdbtype.Map{"country": mmdbtype.Map{"iso_code": mmdbtype.String(country)}}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := tree.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestGeo_database_in_place damages an edge's geo database under load: it truncates the file, cuts it in the middle,
// overwrites it in place, and replaces it by a rename. The edge must survive, answer every request, and use the last
// valid database until there is a complete one again.
func TestGeo_database_in_place(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long: the edge checks the file every 15 s")
	}
	t.Parallel()
	german, french := geoDatabase(t, "DE"), geoDatabase(t, "FR")
	path := filepath.Join(t.TempDir(), "geo.mmdb")
	write := func(content []byte) { // overwrites the existing file
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(german)
	p, err := plane.New(testkit.FreeAddr(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	r := link.Record{Num: 1, Owner: 1, Key: "placed", Destination: "https://example.com/nowhere", CreatedAt: 1, SmartRouting: true}
	for i, country := range []string{"DE", "FR"} {
		r.Rules = append(r.Rules, link.Rule{ID: link.ID{byte(i + 1)}, Name: country, Target: "https://example.com/" + country,
			Conditions: fmt.Appendf(nil, `{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":%q}]}`, country)})
	}
	p.Publish(r)
	f := fleet.Start(t, fleet.Config{Edges: 1, Plane: p, EdgeEnv: []string{"GEO_DB=" + path, "TRUSTED_PROXIES=127.0.0.1"}})
	e := f.Edges[0]
	place := func() string {
		status, header, err := ask(e.Addr, "HEAD /placed HTTP/1.1\r\nHost: sho.rt\r\nX-Forwarded-For: 203.0.113.7\r\nConnection: close\r\n\r\n")
		if err != nil || status != http.StatusFound {
			return fmt.Sprint(status, err)
		}
		for _, line := range header {
			if to, ok := strings.CutPrefix(line, "Location: https://example.com/"); ok {
				return to
			}
		}
		return ""
	}
	if got := place(); got != "DE" {
		t.Fatalf("place before the first fault: %s", got)
	}
	refused := func() int { return strings.Count(e.Log(), "geo database rejected") }
	c := newCrowd(t)
	res := c.during(load.Config{Addrs: f.EdgeAddrs(), Slugs: []string{"placed"}, Clients: 4, Rate: 500}, func() {
		stays := func(what string, over func() bool) {
			t.Helper()
			testkit.Within(t, 2*time.Minute, what, func() bool {
				if got := place(); got != "DE" {
					t.Fatalf("%s: the visitor's place is %s", what, got)
				}
				return over()
			})
		}
		for i, size := range []int64{0, int64(len(german)) / 2} {
			write(german)
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
			stays(fmt.Sprintf("a file of %d bytes is rejected", size), func() bool { return refused() > i })
		}
		write(french)
		testkit.Within(t, 2*time.Minute, "the edge uses the database that was written in place", func() bool { return place() == "FR" })
		if err := os.WriteFile(path+".new", german, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		testkit.Within(t, 2*time.Minute, "the edge uses the database that was renamed into place", func() bool { return place() == "DE" })
	})
	t.Logf("load: %v", res)
	if len(res.Other) > 0 || res.Broken > 0 || res.Acked == 0 || !e.Alive() || e.Starts != 1 {
		t.Errorf("redirects failed or the edge crashed: %v; %d starts", res, e.Starts)
	}
	inTopic(t, f, c)
}
