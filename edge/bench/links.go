//go:build linux

package main

import (
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
	"github.com/shortline/shortline/edge/internal/table"
	record "github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// destination returns a destination of typical length.
func destination(n uint32) string {
	return fmt.Sprintf("https://www.example-shop.com/en/products/category/some-descriptive-name-of-a-thing-%07d?ref=newsletter&v=2", n)
}

// fill loads the links of all classes into the table.
func fill(tab *table.Table, s *settings) error {
	b := tab.NewBuilder()
	num := uint64(0)
	add := func(class byte, n int, adorn func(*record.Record)) error {
		for i := range uint32(n) {
			num++
			r := record.Record{
				Num: num, Owner: num % 1000, Revision: num, CreatedAt: 1_750_000_000_000 + int64(num),
				Key: string(appendSlug(nil, class, i)), Destination: destination(i),
			}
			adorn(&r)
			if err := b.Add(&r); err != nil {
				return err
			}
		}
		return nil
	}
	if err := add(classPlain, s.links, func(*record.Record) {}); err != nil {
		return err
	}
	rules := tenRules()
	if err := add(classRules, s.special, func(r *record.Record) { r.SmartRouting, r.Rules = true, rules }); err != nil {
		return err
	}
	split := func(r *record.Record) {
		r.ABTesting = true
		for i := range 5 {
			r.Variants = append(r.Variants, record.Variant{ID: record.ID{1, byte(i)}, Target: destination(uint32(i)), Weight: uint32(10 + i)})
		}
	}
	if err := add(classVariants, s.special, split); err != nil {
		return err
	}
	if err := add(classTracked, s.special, func(r *record.Record) { split(r); r.TrackConversions = true }); err != nil {
		return err
	}
	return tab.Load(b, snapshot.Cursor{Incarnation: 1, Revision: num})
}

// warm compiles all links with rules or variants, so that no run includes the compilation.
func warm(tab *table.Table, s *settings) {
	for _, class := range []byte{classRules, classVariants, classTracked} {
		for i := range uint32(s.special) {
			if e, ok := tab.Lookup(appendSlug(nil, class, i)); ok {
				tab.Compiled(&e)
			}
		}
	}
}

// tenRules returns nested rules with device, country, language and time. For most visitors only the last one matches.
func tenRules() []record.Rule {
	conditions := func(device, countries, language, start, end string) []byte {
		return fmt.Appendf(nil, `{"operator":"AND","conditions":[{"type":"time","operator":"between","value":{"start":"%s","end":"%s"}},
			{"operator":"OR","conditions":[{"type":"country","operator":"in","value":[%s]},{"type":"language","operator":"contains","value":"%s"}]},
			{"operator":"OR","conditions":[{"type":"device","operator":"equals","value":"%s"},{"type":"os","operator":"equals","value":"ChromeOS"}]}]}`, start, end, countries, language, device)
	}
	var rules []record.Rule
	for i := range 9 {
		rules = append(rules, record.Rule{
			ID: record.ID{2, byte(i)}, Name: fmt.Sprint("rule ", i), Target: destination(uint32(i)),
			Conditions: conditions([]string{"MOBILE", "DESKTOP", "TABLET"}[i%3], `"JP","KR","BR"`, "pt", "00:00", "23:59"),
		})
	}
	all := []byte(`{"operator":"OR","conditions":[{"type":"country","operator":"not_in","value":["XX"]},{"type":"device","operator":"equals","value":"DESKTOP"}]}`)
	return append(rules, record.Rule{ID: record.ID{2, 9}, Name: "rule 9", Target: destination(9), Conditions: all})
}

// makeGeo writes a database whose networks cover the addresses of the load generator.
func makeGeo(path string) error {
	w, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "Bench-City", RecordSize: 28, IncludeReservedNetworks: true})
	if err != nil {
		return err
	}
	countries := []string{"US", "DE", "GB", "FR", "IN", "CA", "NL", "JP", "BR", "CH"}
	for i := range 60_000 {
		addr := netip.AddrFrom4([4]byte{byte(100 + i%100), byte(100 + i/100%100), byte(i / 10_000 * 40), 0})
		code := countries[i%len(countries)]
		_, network, err := net.ParseCIDR(addr.String() + "/19")
		if err != nil {
			return err
		}
		err = w.Insert(network, mmdbtype.Map{
			"country":      mmdbtype.Map{"iso_code": mmdbtype.String(code)},
			"subdivisions": mmdbtype.Slice{mmdbtype.Map{"iso_code": mmdbtype.String(fmt.Sprint(i % 50)), "names": mmdbtype.Map{"en": mmdbtype.String(fmt.Sprint("Region ", i%50))}}},
			"city":         mmdbtype.Map{"names": mmdbtype.Map{"en": mmdbtype.String(fmt.Sprint("City ", i%5000))}},
		})
		if err != nil {
			return err
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := w.WriteTo(f); err != nil {
		return err
	}
	return f.Close()
}
