package visitor_test

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maxmind/mmdbwriter/mmdbtype"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
)

func charts(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "geo-*.chart"))
	testkit.Must(t, err)
	return found
}

func TestGeo_cache_answers_like_the_database_and_follows_it(t *testing.T) {
	t.Parallel()
	dir, cache := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "city.mmdb")
	write := func(country string) {
		t.Helper()
		db := database(t, "City", map[string]mmdbtype.Map{
			"203.0.112.0/24": flat(country, "Region", "Town"), "2001:db9::/48": flat(country, "", "Village"),
		}, 28)
		testkit.Must(t, os.WriteFile(path+".new", db, 0o600))
		testkit.Must(t, os.Rename(path+".new", path))
	}
	open := func() *visitor.Geo {
		t.Helper()
		g, err := visitor.OpenGeoWith(visitor.GeoConfig{Path: path, Cache: cache})
		testkit.Must(t, err)
		return g
	}
	check := func(what, country string, g *visitor.Geo) {
		t.Helper()
		for addr, city := range map[string]string{"203.0.112.7": "Town", "2001:db9::1": "Village", "203.0.113.1": ""} {
			p := g.Lookup(netip.MustParseAddr(addr))
			if p.City != city || (city != "") != (p.Country == country) {
				t.Errorf("%s: %s is in %+v", what, addr, p)
			}
		}
		if g.Version() == "" {
			t.Errorf("%s: no version", what)
		}
	}
	write("AA")
	check("made", "AA", open())
	if len(charts(t, cache)) != 1 {
		t.Fatal("no cache file was written")
	}
	check("kept", "AA", open())

	write("BB")
	later := time.Now().Add(time.Hour)
	testkit.Must(t, os.Chtimes(path, later, later))
	check("replaced", "BB", open())
	check("kept again", "BB", open())

	chart := charts(t, cache)[0]
	good, err := os.ReadFile(chart)
	testkit.Must(t, err)
	for name, bad := range map[string][]byte{
		"empty": {}, "cut": good[:len(good)/2], "short": good[:10],
		"flipped": append(append([]byte(nil), good[:len(good)-3]...), good[len(good)-3]^1, good[len(good)-2], good[len(good)-1]),
	} {
		// Write a new file, because the old one may be mapped.
		testkit.Must(t, os.Remove(chart))
		testkit.Must(t, os.WriteFile(chart, bad, 0o600))
		check(name, "BB", open())
	}
}

func TestGeo_waits_for_files_that_are_not_there_yet(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "city.mmdb")
	db := database(t, "City", map[string]mmdbtype.Map{"203.0.112.0/24": flat("AA", "", "Town")}, 28)
	synctest.Test(t, func(t *testing.T) {
		g, err := visitor.OpenGeoWith(visitor.GeoConfig{Path: path, Await: true})
		testkit.Must(t, err)
		addr := netip.MustParseAddr("203.0.112.1")
		if p := g.Lookup(addr); p != (visitor.Place{}) {
			t.Fatalf("%+v without a database", p)
		}
		go g.Run(t.Context(), slog.New(slog.DiscardHandler))
		time.Sleep(time.Minute)
		testkit.Must(t, os.WriteFile(path, db, 0o600))
		time.Sleep(time.Minute)
		if p := g.Lookup(addr); p.City != "Town" {
			t.Fatalf("a minute after the file appeared: %+v", p)
		}
	})
}
