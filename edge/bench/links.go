//go:build linux

package main

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
	"github.com/shortline/shortline/edge/internal/table"
	record "github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

const destinationTail = "?ref=newsletter&v=2"

// destination returns a destination of typical length.
func destination(n uint32) string {
	return fmt.Sprintf("https://www.example-shop.com/en/products/category/some-descriptive-name-of-a-thing-%07d%s", n, destinationTail)
}

// linkOf returns a link without rules and variants: number i of a class, on a domain.
func linkOf(num, domain uint64, class byte, i uint32) record.Record {
	return record.Record{
		Num: num, Owner: num % 1000, Revision: num, CreatedAt: 1_750_000_000_000 + int64(num),
		Key: record.Key(domain, string(appendSlug(nil, class, i))), Destination: destination(i),
	}
}

// fill loads the links of all classes into the table.
func fill(tab *table.Table, s *settings) error {
	b := tab.NewBuilder()
	num := uint64(0)
	add := func(class byte, n int, adorn func(*record.Record)) error {
		for i := range uint32(n) {
			num++
			r := linkOf(num, 0, class, i)
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
	now := time.Now()
	rules := tenRules("", now)
	err := add(classRules, s.special, func(r *record.Record) {
		r.SmartRouting, r.Rules = true, rules
		if s.own {
			r.Rules = tenRules(strconv.FormatUint(r.Num, 36), now)
		}
	})
	if err != nil {
		return err
	}
	split := func(r *record.Record) {
		r.ABTesting = true
		for i := range 5 {
			r.Variants = append(r.Variants, record.Variant{ID: record.ID{1, byte(i)}, Target: destination(firstVariantTarget + uint32(i)),
				Weight: uint32(10 + i)})
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

// ruleCount is the number of rules of a link.
const ruleCount = 10

// ruleSubjects are what the rules ask, in their order.
var ruleSubjects = [ruleCount]string{"query", "UTM", "referrer", "language", "city", "country", "OS", "browser", "device", "time"}

// tenRules returns rules on ten different subjects. Each matches some of the requests of ruleRequests, none matches all, and
// some requests match none. Each rule is nested and has a second subject, which is true for most visitors. own is a part of
// one value; rules with different own have different conditions.
func tenRules(own string, now time.Time) []record.Rule {
	clock := func(d time.Duration) string { return now.UTC().Add(d).Format("15:04") }
	usual := fmt.Sprintf(
		`{"operator":"OR","conditions":[{"type":"time","operator":"between",`+
			`"value":{"start":"%s","end":"%s"}},{"type":"country","operator":"in","value":["AQ","BV"]}]}`,
		clock(-11*time.Hour), clock(11*time.Hour))
	subjects := [ruleCount]string{
		`{"type":"query","operator":"equals","value":{"name":"shelf","value":"window"}}`,
		`{"type":"utm_source","operator":"in","value":["newsletter","letter-` + own + `"]}`,
		`{"type":"referer","operator":"contains","value":"partner.example"}`,
		`{"type":"language","operator":"starts_with","value":"pt"}`,
		`{"type":"city","operator":"starts_with","value":"Z` + "\u00fc" + `rich"},{"type":"city","operator":"starts_with","value":"` +
			rareCity + `"}`,
		`{"type":"country","operator":"in","value":["JP","KR","BR","CN"]}`,
		`{"type":"os","operator":"equals","value":"iOS"}`,
		`{"type":"browser","operator":"equals","value":"Firefox"}`,
		`{"type":"device","operator":"equals","value":"MOBILE"}`,
		`{"type":"time","operator":"between","value":{"start":"` + clock(-6*time.Hour) + `","end":"` + clock(6*time.Hour) +
			`"}},{"type":"browser","operator":"equals","value":"Safari"}`,
	}
	rules := make([]record.Rule, ruleCount)
	for i, subject := range subjects {
		first := fmt.Sprintf(`{"operator":"OR","conditions":[%s]}`, subject)
		if i == ruleCount-1 {
			first = fmt.Sprintf(`{"operator":"AND","conditions":[%s]}`, subject)
		}
		rules[i] = record.Rule{
			ID: record.ID{2, byte(i)}, Name: "by " + ruleSubjects[i], Target: destination(firstRuleTarget + uint32(i)),
			Conditions: fmt.Appendf(nil, `{"operator":"AND","conditions":[%s,%s]}`, first, usual),
		}
	}
	return rules
}

// makeGeo writes a database whose networks cover the addresses of the load generator.
func makeGeo(path string) error {
	w, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "Bench-City", RecordSize: 28, IncludeReservedNetworks: true})
	if err != nil {
		return err
	}
	countries := []string{"US", "DE", "GB", "FR", "IN", "CA", "NL", "JP", "BR", "CH"}
	for i := 1 << 8; i < 223<<8; i++ {
		addr := netip.AddrFrom4([4]byte{byte(i >> 8), byte(i), 0, 0})
		code, city := countries[i%len(countries)], fmt.Sprint("City ", i%5000)
		if slices.ContainsFunc(rareCityNetworks, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			code, city = "CH", rareCity
		}
		_, network, err := net.ParseCIDR(addr.String() + "/16")
		if err != nil {
			return err
		}
		err = w.Insert(network, mmdbtype.Map{
			"country": mmdbtype.Map{"iso_code": mmdbtype.String(code)},
			"subdivisions": mmdbtype.Slice{mmdbtype.Map{"iso_code": mmdbtype.String(fmt.Sprint(i % 50)),
				"names": mmdbtype.Map{"en": mmdbtype.String(fmt.Sprint("Region ", i%50))}}},
			"city": mmdbtype.Map{"names": mmdbtype.Map{"en": mmdbtype.String(city)}},
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
