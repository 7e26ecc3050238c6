package visitor_test

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
)

var builtAt = time.Date(2026, 6, 5, 12, 0, 0, 0, time.UTC)

func nested(country, code, region, city string) mmdbtype.Map {
	en := func(name string) mmdbtype.Map {
		return mmdbtype.Map{"names": mmdbtype.Map{"en": mmdbtype.String(name), "de": mmdbtype.String("auf Deutsch")}}
	}
	m := mmdbtype.Map{
		"continent": mmdbtype.Map{"code": mmdbtype.String("XX")},
		"country":   mmdbtype.Map{"iso_code": mmdbtype.String(country), "geoname_id": mmdbtype.Uint32(1)},
		"location":  mmdbtype.Map{"latitude": mmdbtype.Float64(1.5)},
	}
	if city != "" {
		m["city"] = en(city)
	}
	if region != "" {
		sub := en(region)
		sub["iso_code"] = mmdbtype.String(code)
		m["subdivisions"] = mmdbtype.Slice{sub, en("a second level")}
	}
	return m
}

func flat(country, region, city string) mmdbtype.Map {
	return mmdbtype.Map{
		"country_code": mmdbtype.String(country), "state1": mmdbtype.String(region), "city": mmdbtype.String(city),
		"latitude": mmdbtype.Float32(1.5), "postcode": mmdbtype.String(""),
	}
}

// database returns the bytes of a MaxMind DB.
func database(t testing.TB, kind string, networks map[string]mmdbtype.Map, size int) []byte {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{
		DatabaseType: kind, BuildEpoch: builtAt.Unix(), RecordSize: size, IncludeReservedNetworks: true,
	})
	testkit.Must(t, err)
	// In the writer, later networks replace earlier ones, so insert the wider ones first.
	order := slices.SortedFunc(maps.Keys(networks), func(a, b string) int {
		return netip.MustParsePrefix(a).Bits() - netip.MustParsePrefix(b).Bits()
	})
	for _, cidr := range order {
		_, network, err := net.ParseCIDR(cidr)
		testkit.Must(t, err)
		testkit.Must(t, tree.Insert(network, networks[cidr]))
	}
	var b bytes.Buffer
	if _, err := tree.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// replace writes a database and renames it into place. It sets the modification time, so that a test need not wait for
// the clock of the file system.
func replace(t testing.TB, path string, content []byte, at time.Time) {
	t.Helper()
	tmp := path + ".new"
	testkit.Must(t, os.WriteFile(tmp, content, 0o600))
	testkit.Must(t, os.Chtimes(tmp, at, at))
	testkit.Must(t, os.Rename(tmp, path))
}

func open(t testing.TB, content ...[]byte) *visitor.Geo {
	t.Helper()
	var paths []string
	for i, c := range content {
		paths = append(paths, filepath.Join(t.TempDir(), string(rune('a'+i))+".mmdb"))
		replace(t, paths[i], c, builtAt)
	}
	g, err := visitor.OpenGeo(strings.Join(paths, ", "))
	testkit.Must(t, err)
	return g
}

// wantPlaces compares places. A place without a continent is wanted with that of its country.
func wantPlaces(t *testing.T, g *visitor.Geo, want map[string]visitor.Place) {
	t.Helper()
	for addr, place := range want {
		if place.Continent == "" {
			place.Continent = visitor.ContinentOf(place.Country)
		}
		if got := g.Lookup(netip.MustParseAddr(addr)); got != place {
			t.Errorf("%s: got %+v, want %+v", addr, got, place)
		}
	}
}

var california = visitor.Place{Country: "US", RegionCode: "US-CA", RegionName: "California", City: "San José", Continent: "NA"}

func TestGeo_nested_layout(t *testing.T) {
	t.Parallel()
	for _, size := range []int{24, 28, 32} {
		g := open(t, database(t, "GeoIP2-City", map[string]mmdbtype.Map{
			"1.0.0.0/8":         nested("AU", "", "", ""),
			"1.2.0.0/16":        nested("US", "CA", "California", "San José"),
			"1.2.3.128/25":      nested("DE", "BE", "Land Berlin", "Berlin"),
			"1.2.3.129/32":      nested("DE", "BY", "Bavaria", "Munich"),
			"255.255.255.0/24":  nested("ZZ", "", "", ""),
			"2001:db8::/32":     nested("FR", "IDF", "Île-de-France", "Paris"),
			"2001:db8:5::/48":   nested("JP", "13", "Tokyo", ""),
			"2001:db8:6::/65":   nested("KR", "", "", "Seoul"),
			"ffff:ffff::/32":    nested("YY", "", "", ""),
			"2001:db8:7::1/128": nested("IT", "", "", ""),
		}, size))
		france := visitor.Place{Country: "FR", RegionCode: "FR-IDF", RegionName: "Île-de-France", City: "Paris"}
		wantPlaces(t, g, map[string]visitor.Place{
			"0.255.255.255": {}, "1.0.0.0": {Country: "AU"}, "1.1.255.255": {Country: "AU"}, "1.2.0.0": california, "1.2.3.127": california,
			"1.2.3.128": {Country: "DE", RegionCode: "DE-BE", RegionName: "Land Berlin", City: "Berlin"},
			"1.2.3.129": {Country: "DE", RegionCode: "DE-BY", RegionName: "Bavaria", City: "Munich"},
			"1.2.3.130": {Country: "DE", RegionCode: "DE-BE", RegionName: "Land Berlin", City: "Berlin"},
			"1.2.4.0":   california, "1.3.0.0": {Country: "AU"}, "1.255.255.255": {Country: "AU"}, "2.0.0.0": {},
			"255.255.254.255": {}, "255.255.255.255": {Country: "ZZ"}, "::ffff:1.2.4.0": california,
			"2001:db7:ffff::1": {}, "2001:db8::": france, "2001:db8:4:ffff::1": france,
			"2001:db8:5::1": {Country: "JP", RegionCode: "JP-13",
				RegionName: "Tokyo"},
			"2001:db8:6::1": {Country: "KR", City: "Seoul"}, "2001:db8:6:1::": france, "2001:db8:ffff:ffff:ffff::": france,
			"2001:db9::":                 {},
			"ffff:ffff:ffff:ffff:ffff::": {Country: "YY"}, "::1": {},
		})
		if place := g.Lookup(netip.Addr{}); place != (visitor.Place{}) {
			t.Errorf("the zero address is in %+v", place)
		}
		if got := g.Version(); got != "GeoIP2-City/2026-06-05T12:00:00Z" {
			t.Errorf("version %q", got)
		}
	}
}

func TestGeo_flat_layout(t *testing.T) {
	t.Parallel()
	g := open(t, database(t, "city ipv4", map[string]mmdbtype.Map{
		"1.2.0.0/16":    flat("US", "California", "San José"),
		"2001:db8::/32": flat("FR", "", ""),
	}, 28))
	wantPlaces(t, g, map[string]visitor.Place{
		"1.2.3.4": {Country: "US", RegionName: "California", City: "San José"}, "2001:db8::1": {Country: "FR"}, "9.9.9.9": {},
	})
	g = open(t, database(t, "country", map[string]mmdbtype.Map{"1.0.0.0/8": {"country_code": mmdbtype.String("AU")}}, 24))
	wantPlaces(t, g, map[string]visitor.Place{"1.2.3.4": {Country: "AU"}})
}

func TestGeo_continents(t *testing.T) {
	t.Parallel()
	record := func(continent, country string) mmdbtype.Map {
		return mmdbtype.Map{"continent": mmdbtype.Map{"code": mmdbtype.String(continent)},
			"country": mmdbtype.Map{"iso_code": mmdbtype.String(country)}}
	}
	g := open(t, database(t, "GeoIP2-Country", map[string]mmdbtype.Map{
		"1.0.0.0/16": record("EU", "DE"), "1.1.0.0/16": record("EU", ""), "1.2.0.0/16": record("AS", "RU"), "1.3.0.0/16": record("", "RU"),
		"1.4.0.0/16": record("eu", "BR"), "1.5.0.0/16": record("??", "??"), "1.6.0.0/16": record("AN", "AQ"),
	}, 24))
	for addr, want := range map[string]string{
		"1.0.0.1": "EU", "1.1.0.1": "EU", "1.2.0.1": "AS", "1.3.0.1": "EU", "1.4.0.1": "SA", "1.5.0.1": "", "1.6.0.1": "AN", "9.9.9.9": "",
	} {
		var v visitor.Visitor
		v.Reset(visitor.Input{IP: netip.MustParseAddr(addr)}, g, nil)
		if got := v.Fact(rule.FieldContinent); got != want {
			t.Errorf("%s: %q, want %q", addr, got, want)
		}
	}
}

func TestContinentOf(t *testing.T) {
	t.Parallel()
	for country, want := range map[string]string{
		"US": "NA", "de": "EU", "BR": "SA", "JP": "AS", "NZ": "OC", "ZA": "AF", "AQ": "AN", "TR": "AS", "XX": "", "": "", "D": "",
		"O ": "", "USA": "",
	} {
		if got := visitor.ContinentOf(country); got != want {
			t.Errorf("%q: %q, want %q", country, got, want)
		}
	}
	known := 0
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			if visitor.ContinentOf(string(a)+string(b)) != "" {
				known++
			}
		}
	}
	if known != 250 { // ISO 3166-1 has 249, and Kosovo uses XK
		t.Errorf("%d countries", known)
	}
}

func TestGeo_several_files_the_first_that_knows(t *testing.T) {
	t.Parallel()
	g := open(t,
		database(t, "A", map[string]mmdbtype.Map{"1.2.0.0/16": flat("US", "California", "San José")}, 24),
		database(t, "B", map[string]mmdbtype.Map{"1.0.0.0/8": nested("AU", "", "", ""), "2001:db8::/32": nested("FR", "", "", "")}, 24))
	wantPlaces(t, g, map[string]visitor.Place{
		"1.2.3.4": {Country: "US", RegionName: "California", City: "San José"}, "1.3.0.0": {Country: "AU"}, "2001:db8::1": {Country: "FR"},
	})
	if got := g.Version(); got != "A/2026-06-05T12:00:00Z,B/2026-06-05T12:00:00Z" {
		t.Errorf("version %q", got)
	}
}

func TestGeo_without_a_database(t *testing.T) {
	t.Parallel()
	none, err := visitor.OpenGeo(" ")
	testkit.Must(t, err)
	for _, g := range []*visitor.Geo{nil, none} {
		if place := g.Lookup(netip.MustParseAddr("1.2.3.4")); place != (visitor.Place{}) || g.Version() != "" {
			t.Errorf("got %+v, %q", place, g.Version())
		}
		if changed, err := g.Reload(); changed || err != nil {
			t.Errorf("reload: %v, %v", changed, err)
		}
	}
}

func TestOpenGeo_refuses(t *testing.T) {
	t.Parallel()
	good := database(t, "GeoIP2-City", map[string]mmdbtype.Map{"1.2.0.0/16": nested("US", "CA", "California", "San José")}, 24)
	long := database(t, "x", map[string]mmdbtype.Map{"1.2.0.0/16": flat("US", strings.Repeat("x", 256), "")}, 24)
	for name, content := range map[string][]byte{
		"empty":           {},
		"no_database":     []byte("<html>404</html>"),
		"cut_off":         good[:len(good)-20],
		"no_networks":     database(t, "x", nil, 24),
		"an_alien_layout": database(t, "x", map[string]mmdbtype.Map{"1.0.0.0/8": {"autonomous_system_number": mmdbtype.Uint32(1)}}, 24),
		"overlong_names":  long,
		"wrong_data_types": database(t, "x", map[string]mmdbtype.Map{"1.0.0.0/8": flat("US", "", ""),
			"2.0.0.0/8": {"country_code": mmdbtype.Uint32(1)}}, 24),
	} {
		path := filepath.Join(t.TempDir(), "x.mmdb")
		replace(t, path, content, builtAt)
		if g, err := visitor.OpenGeo(path); err == nil || g != nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, %v", name, g, err)
		}
	}
	if _, err := visitor.OpenGeo(filepath.Join(t.TempDir(), "none.mmdb")); err == nil {
		t.Error("a missing file: no error")
	}
	if _, err := visitor.OpenGeo(t.TempDir()); err == nil {
		t.Error("a folder: no error")
	}
}

func TestGeo_Reload(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "geo.mmdb")
	first := database(t, "one", map[string]mmdbtype.Map{"1.2.0.0/16": flat("US", "", "")}, 24)
	second := database(t, "two", map[string]mmdbtype.Map{"1.2.0.0/16": flat("CA", "", "")}, 24)
	replace(t, path, first, builtAt)
	g, err := visitor.OpenGeo(path)
	testkit.Must(t, err)
	step := func(what string, wantChanged, wantErr bool, country string) {
		t.Helper()
		if changed, err := g.Reload(); changed != wantChanged || (err != nil) != wantErr {
			t.Errorf("%s: changed %v, error %v", what, changed, err)
		}
		wantPlaces(t, g, map[string]visitor.Place{"1.2.3.4": {Country: country}})
	}
	step("unchanged", false, false, "US")
	kept := g.Lookup(netip.MustParseAddr("1.2.3.4"))

	replace(t, path, second, builtAt.Add(time.Second))
	step("replaced", true, false, "CA")
	if kept.Country != "US" {
		t.Errorf("a place from before the reload became %+v", kept)
	}

	replace(t, path, second[:len(second)/2], builtAt.Add(2*time.Second))
	step("damaged", false, true, "CA")
	step("damaged still", false, false, "CA")

	if err := os.Truncate(path, 0); err != nil { // in place: a process that had mapped the file would crash
		t.Fatal(err)
	}
	step("truncated", false, true, "CA")

	testkit.Must(t, os.Remove(path))
	step("missing", false, true, "CA")

	replace(t, path, first, builtAt.Add(3*time.Second))
	step("back", true, false, "US")
}

func TestGeo_Run(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "geo.mmdb")
	replace(t, path, database(t, "one", map[string]mmdbtype.Map{"1.2.0.0/16": flat("US", "", "")}, 24), builtAt)
	second := database(t, "two", map[string]mmdbtype.Map{"1.2.0.0/16": flat("CA", "", "")}, 24)

	synctest.Test(t, func(t *testing.T) { // sleeps do not take real time here
		g, err := visitor.OpenGeo(path)
		testkit.Must(t, err)
		var log bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- g.Run(ctx, slog.New(slog.NewTextHandler(&log, nil))) }()

		replace(t, path, []byte("not a database"), builtAt.Add(time.Second))
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		wantPlaces(t, g, map[string]visitor.Place{"1.2.3.4": {Country: "US"}})
		if _, failures := g.Looks(); failures != 1 {
			t.Errorf("%d failures for one bad file", failures)
		}
		if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
			t.Errorf("%d errors logged:\n%s", n, &log)
		}

		replace(t, path, second, builtAt.Add(2*time.Second))
		time.Sleep(time.Minute)
		synctest.Wait()
		wantPlaces(t, g, map[string]visitor.Place{"1.2.3.4": {Country: "CA"}})
		if last, _ := g.Looks(); time.Since(last) > time.Minute {
			t.Errorf("last success %v ago", time.Since(last))
		}

		testkit.Must(t, os.Remove(path))
		time.Sleep(time.Minute)
		synctest.Wait()
		wantPlaces(t, g, map[string]visitor.Place{"1.2.3.4": {Country: "CA"}})

		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestGeo_Lookup_allocates_nothing(t *testing.T) {
	g := open(t, database(t, "GeoIP2-City", map[string]mmdbtype.Map{"1.2.0.0/16": nested("US", "CA", "California", "San José"),
		"2001:db8::/32": nested("FR", "", "", "")}, 24))
	v4, v6 := netip.MustParseAddr("1.2.3.4"), netip.MustParseAddr("2001:db8::1")
	var sink visitor.Place
	if n := testing.AllocsPerRun(100, func() { sink = g.Lookup(v4); sink = g.Lookup(v6) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	_ = sink
}

func FuzzOpenGeo(f *testing.F) {
	f.Add(database(f, "GeoIP2-City", map[string]mmdbtype.Map{"1.2.0.0/16": nested("US", "CA", "California", "San José"),
		"2001:db8::/32": nested("FR", "", "", "")}, 24))
	f.Add(database(f, "city", map[string]mmdbtype.Map{"1.2.0.0/16": flat("US", "California", "San José"), "1.2.4.0/24": flat("", "", "")},
		28))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "x.mmdb")
		testkit.Must(t, os.WriteFile(path, content, 0o600))
		g, err := visitor.OpenGeo(path)
		if err != nil {
			return
		}
		for _, addr := range []string{"0.0.0.0", "1.2.3.4", "255.255.255.255", "::", "2001:db8::1", "ffff:ffff:ffff:ffff::"} {
			g.Lookup(netip.MustParseAddr(addr))
		}
	})
}

// BenchmarkGeo_Lookup looks up addresses all over a database of a million networks, and always the same address.
func BenchmarkGeo_Lookup(b *testing.B) {
	networks := map[string]mmdbtype.Map{}
	places := make([]mmdbtype.Map, 2000)
	for i := range places {
		places[i] = nested("US", "CA", "California", "City "+string(rune('A'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676)))
	}
	addrs := make([]netip.Addr, 1<<16)
	for i := range addrs {
		a := netip.AddrFrom4([4]byte{byte(20 + i>>13), byte(i >> 5), byte(i << 3), 0})
		networks[a.String()+"/22"] = places[i*7919%len(places)]
		addrs[i*40503%len(addrs)] = a.Next()
	}
	g := open(b, database(b, "x", networks, 28))
	b.Run("anywhere", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			g.Lookup(addrs[i%len(addrs)])
		}
	})
	b.Run("same", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			g.Lookup(addrs[1])
		}
	})
}
