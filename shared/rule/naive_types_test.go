package rule_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// naiveTypes decides the types whose value is not compared as text, or not as a whole.
var naiveTypes = map[string]func(op string, value any, v *visitor, zone *time.Location) bool{
	"ip": func(op string, value any, v *visitor, _ *time.Location) bool {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		found := false
		for _, one := range list {
			found = found || naiveNetwork(strings.TrimSpace(one.(string))).Contains(v.ip.Unmap())
		}
		return found == (op == "in")
	},
	"query": func(op string, value any, v *visitor, _ *time.Location) bool {
		object := value.(map[string]any)
		return naiveTexts("query", op, object["value"], v.params[strings.TrimSpace(object["name"].(string))], v)
	},
	"date": func(op string, value any, v *visitor, zone *time.Location) bool {
		object, ok := value.(map[string]any)
		if !ok {
			object = map[string]any{"start": value}
		}
		if name, _ := object["timezone"].(string); name != "" {
			loc, err := time.LoadLocation(name)
			if err != nil {
				panic(err)
			}
			zone = loc
		}
		now, start, end := time.UnixMilli(v.now), naiveDate(object["start"], zone), naiveDate(object["end"], zone)
		switch {
		case op == "after":
			return !now.Before(start)
		case op == "between":
			return !now.Before(start) && now.Before(end)
		case object["start"] == nil:
			return now.Before(end)
		}
		return now.Before(start)
	},
	"percentage": func(_ string, value any, v *visitor, _ *time.Location) bool {
		limit, ok := new(big.Rat).SetString(fmt.Sprint(value))
		if !ok {
			panic(fmt.Sprint("not a number: ", value))
		}
		// The visitor's place among all visitors is share / 2^64, in whole millionths.
		place := new(big.Int).Mul(new(big.Int).SetUint64(v.share), big.NewInt(1_000_000))
		place.Rsh(place, 64)
		return new(big.Rat).SetFrac(place, big.NewInt(10_000)).Cmp(limit) < 0
	},
}

func naiveNetwork(s string) netip.Prefix {
	if a, err := netip.ParseAddr(s); err == nil {
		return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen())
	}
	n := netip.MustParsePrefix(s)
	if n.Addr().Is4In6() && n.Bits() >= 96 {
		return netip.PrefixFrom(n.Addr().Unmap(), n.Bits()-96)
	}
	return n
}

func naiveDate(value any, zone *time.Location) time.Time {
	s, _ := value.(string)
	if s == "" {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t.Truncate(time.Millisecond)
		}
	}
	panic("not a date: " + s)
}

// address returns one of few addresses, so that networks often contain it.
func (a author) address() netip.Addr {
	switch a.IntN(4) {
	case 0:
		return netip.AddrFrom4([4]byte{10, byte(a.IntN(2)), byte(a.IntN(3)) * 127, byte(a.IntN(4)) * 85})
	case 1:
		return pick(a, netip.IPv4Unspecified(), netip.MustParseAddr("255.255.255.255"))
	case 2:
		return pick(a, netip.IPv6Unspecified(), netip.MustParseAddr("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
			netip.MustParseAddr("::fffe:ffff:ffff"), netip.MustParseAddr("::1:0:0:0"))
	}
	return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 0, byte(a.IntN(2)), 7: byte(a.IntN(2)) * 255, 8: byte(a.IntN(2)) * 255,
		15: byte(a.IntN(3))})
}

func (a author) network() string {
	ip := a.address()
	n := netip.PrefixFrom(ip, a.IntN(ip.BitLen()+1))
	switch a.IntN(4) {
	case 0:
		return ip.String() + pick(a, "", " ")
	case 1:
		if ip.Is4() {
			return fmt.Sprintf("::ffff:%s/%d", ip, 96+n.Bits())
		}
	case 2:
		return n.Masked().String()
	}
	return n.String()
}

func (a author) date() string {
	t := time.UnixMilli(a.Int64N(4_000_000_000_000) - 1_000_000_000_000)
	return t.In(time.FixedZone("", 60*(a.IntN(1440)-720))).Format(pick(a, time.RFC3339Nano, "2006-01-02T15:04:05Z07:00",
		"2006-01-02T15:04:05.999", "2006-01-02T15:04", "2006-01-02"))
}

// special returns an operator and a value of the types ip, date and percentage.
func (a author) special(typ string) (op string, value any) {
	switch typ {
	case "ip":
		list := make([]any, 1+a.IntN(12))
		for i := range list {
			list[i] = a.network()
		}
		return pick(a, "in", "not_in"), pick[any](a, list, list[0])
	case "percentage":
		value := pick(a, "0", "100", "0.0001", "99.9999", "50", fmt.Sprint(a.IntN(100)), fmt.Sprintf("%d.%0*d", a.IntN(100), 1+a.IntN(4),
			a.IntN(10)))
		return "less_than", pick[any](a, value, json.Number(value))
	}
	zone := pick[any](a, nil, "", "UTC", "America/New_York", "Asia/Kolkata")
	switch op = pick(a, timeOps...); {
	case op == "between":
		// Dates of the same form, and an hour at least between them.
		layout := pick(a, time.RFC3339, "2006-01-02T15:04")
		first, more := a.Int64N(2_000_000_000), 3600+a.Int64N(2_000_000_000)
		return op, map[string]any{"start": time.Unix(first, 0).Format(layout), "end": time.Unix(first+more, 0).Format(layout),
			"timezone": zone}
	case a.IntN(2) == 0:
		return op, a.date()
	case op == "before" && a.IntN(2) == 0:
		return op, map[string]any{"end": a.date(), "timezone": zone}
	}
	return op, map[string]any{"start": a.date(), "timezone": zone}
}

func (a author) param() string { return pick(a, "ref", "REF", "a b", "é") }

// describe sets the facts of a visitor that are not texts.
func (a author) describe(v *visitor) {
	if a.IntN(5) > 0 {
		v.ip = a.address()
	}
	v.params = map[string]string{}
	for range a.IntN(4) {
		v.params[a.param()] = a.word()
	}
	v.share = a.Uint64()
	if a.IntN(8) == 0 {
		v.share = pick(a, 0, ^uint64(0), 1<<63, 1<<63-1)
	}
}

func TestEval_special_types(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	testkit.Must(t, err)
	for _, c := range []struct {
		typ, op, value string
		visitor        visitor
		want           bool
	}{
		{"ip", "in", `"192.0.2.0/24"`, visitor{ip: netip.MustParseAddr("192.0.2.255")}, true},
		{"ip", "in", `"192.0.2.9/24"`, visitor{ip: netip.MustParseAddr("192.0.2.1")}, true},
		{"ip", "in", `["192.0.2.0/25","192.0.3.0/24"]`, visitor{ip: netip.MustParseAddr("192.0.2.128")}, false},
		{"ip", "in", `["0.0.0.0/0"]`, visitor{ip: netip.MustParseAddr("::1")}, false},
		{"ip", "in", `["::/0"]`, visitor{ip: netip.MustParseAddr("192.0.2.1")}, false},
		{"ip", "in", `["::/0"]`, visitor{ip: netip.MustParseAddr("2001:db8::1")}, true},
		{"ip", "in", `["::/0"]`, visitor{ip: netip.MustParseAddr("::1:0:0:0")}, true},
		{"ip", "in", `["::ffff:192.0.2.1"]`, visitor{ip: netip.MustParseAddr("192.0.2.1")}, true},
		{"ip", "in", `["192.0.2.1"]`, visitor{ip: netip.MustParseAddr("::ffff:192.0.2.1")}, true},
		{"ip", "in", `["2001:db8::/32"]`, visitor{ip: netip.MustParseAddr("2001:db8:ffff::1")}, true},
		{"ip", "in", `["0.0.0.0/0","::/0"]`, visitor{}, false},
		{"ip", "not_in", `["0.0.0.0/0","::/0"]`, visitor{}, true},
		{"ip", "not_in", `["192.0.2.0/24"]`, visitor{ip: netip.MustParseAddr("192.0.2.255")}, false},

		{"query", "equals", `{"name":"ref","value":"Mail"}`, visitor{params: map[string]string{"ref": "mail"}}, true},
		{"query", "equals", `{"name":"REF","value":"mail"}`, visitor{params: map[string]string{"ref": "mail"}}, false},
		{"query", "not_equals", `{"name":"REF","value":"mail"}`, visitor{params: map[string]string{"ref": "mail"}}, true},
		{"query", "contains", `{"name":"ref","value":"ai"}`, visitor{params: map[string]string{"ref": "mail"}}, true},
		{"query", "not_in", `{"name":"ref","value":["a","b"]}`, visitor{params: map[string]string{"ref": "b"}}, false},

		{"date", "before", `"2026-12-24T18:00:00+01:00"`, visitor{now: at(t, "2026-12-24T16:59:59.999Z")}, true},
		{"date", "before", `"2026-12-24T18:00:00+01:00"`, visitor{now: at(t, "2026-12-24T17:00:00Z")}, false},
		{"date", "after", `"2026-12-24T18:00:00+01:00"`, visitor{now: at(t, "2026-12-24T17:00:00Z")}, true},
		{"date", "after", `"2026-12-24T18:00:00+01:00"`, visitor{now: at(t, "2026-12-24T16:59:59.999Z")}, false},
		{"date", "after", `"2026-12-24T18:00"`, visitor{now: at(t, "2026-12-24T17:00:00Z")}, true}, // the default zone, Berlin
		{"date", "after", `{"start":"2026-12-24","timezone":"Asia/Tokyo"}`, visitor{now: at(t, "2026-12-23T15:00:00Z")}, true},
		{"date", "after", `{"start":"2026-12-24","timezone":"Asia/Tokyo"}`, visitor{now: at(t, "2026-12-23T14:59:59.999Z")}, false},
		{"date", "between", `{"start":"2026-12-24","end":"2026-12-26"}`, visitor{now: at(t, "2026-12-23T23:00:00Z")}, true},
		{"date", "between", `{"start":"2026-12-24","end":"2026-12-26"}`, visitor{now: at(t, "2026-12-25T22:59:59.999Z")}, true},
		{"date", "between", `{"start":"2026-12-24","end":"2026-12-26"}`, visitor{now: at(t, "2026-12-25T23:00:00Z")}, false},
		// The clock of New York shows 01:30 twice on 1 November 2026, at 05:30 and at 06:30 UTC.
		{"date", "after", `{"start":"2026-11-01T01:30","timezone":"America/New_York"}`, visitor{now: at(t, "2026-11-01T05:30:00Z")}, true},
		{"date", "after", `{"start":"2026-11-01T01:30","timezone":"America/New_York"}`, visitor{now: at(t, "2026-11-01T05:29:59Z")}, false},
		// The start is absolute and the end local, so only the compiler sees that nothing is between them.
		{"date", "between", `{"start":"2026-12-24T00:00:00Z","end":"2026-12-24"}`, visitor{now: at(t, "2026-12-23T23:30:00Z")}, false},

		{"visitor", "equals", `"new"`, visitor{facts: [rule.Fields]string{rule.FieldVisitor: "new"}}, true},
		{"visitor", "not_equals", `"new"`, visitor{facts: [rule.Fields]string{rule.FieldVisitor: "returning"}}, true},

		{"percentage", "less_than", `0`, visitor{share: 0}, false},
		{"percentage", "less_than", `"0.0001"`, visitor{share: 0}, true},
		{"percentage", "less_than", `12.5`, visitor{share: 1<<61 - 1}, true},
		{"percentage", "less_than", `12.5`, visitor{share: 1 << 61}, false},
		{"percentage", "less_than", `100`, visitor{share: ^uint64(0)}, true},
	} {
		if got := compile(t, leaf(c.typ, c.op, c.value), berlin).Eval(&c.visitor); got != c.want {
			t.Errorf("%s %s %s for %+v: %v", c.typ, c.op, c.value, c.visitor, got)
		}
	}
}

func TestParse_special_types_name_their_problems(t *testing.T) {
	t.Parallel()
	const in = "conditions.conditions.0.value"
	const network = "value must be an IP address or a network, such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32"
	const date = " a date such as 2026-12-24T18:00:00+01:00, or without an offset 2026-12-24T18:00 or 2026-12-24"
	const percentage = "value must be a percentage from 0 to 100 with at most 4 decimals, such as 12.5"
	for _, c := range []struct {
		typ, op, value string
		want           []string
	}{
		{"ip", "in", `["192.0.2.1","192.0.2","10.0.0.0/33","fe80::1%eth0",7]`, []string{in + ".1", network, in + ".2", network, in + ".3",
			network, in + ".4", network}},
		{"ip", "in", `""`, []string{in, network}},
		{"ip", "in", `[]`, []string{in, "value must list at least one entry"}},
		{"ip", "in", `{}`, []string{in, "value must be an IP address, a network such as 192.0.2.0/24, or a list of them"}},
		{"continent", "in", `["EU","Europe"]`, []string{in + ".1", "value must be one of AF, AN, AS, EU, NA, OC, SA"}},
		{"visitor", "equals", `"old"`, []string{in, "value must be new or returning"}},
		{"query", "equals", `"ref"`, []string{in, "value must be {name, value} with the name of a query parameter"}},
		{"query", "equals", `{}`, []string{in + ".name", "name is required: the name of a query parameter", in + ".value",
			"value is required"}},
		{"query", "equals", `{"name":7,"value":["a"]}`, []string{in + ".name", "name must be a string",
			in + ".value", "operator 'equals' takes one string; use 'in' or 'not_in' for a list"}},
		{"query", "equals", `{"name":"` + strings.Repeat("n", 101) + `","value":"a","other":1}`, []string{
			in + ".other", "key 'other' is not known; use name, value", in + ".name", "name must be at most 100 bytes long"}},
		{"date", "before", `7`, []string{in, "value must be a date, or {start} with one"}},
		{"date", "before", `"24.12.2026"`, []string{in, "value must be" + date}},
		{"date", "before", `"2026-02-30"`, []string{in, "value must be" + date}},
		{"date", "between", `"2026-12-24"`, []string{in, "value must be {start, end} with dates"}},
		{"date", "between", `{"start":"2026-12-24","timezone":"Mars/Olympus"}`, []string{
			in + ".timezone", "timezone must be the name of a time zone (IANA), such as Europe/Berlin", in + ".end",
			"end is required:" + date}},
		{"date", "between", `{"start":"2026-12-24","end":"2026-12-24"}`, []string{in + ".end", "end must be later than start"}},
		{"date", "after", `{"start":"2026-12-24","end":"2026-12-25"}`,
			[]string{in + ".end", "operator 'after' takes one date; leave out end, or use 'between'"}},
		{"percentage", "less_than", `100.0001`, []string{in, percentage}},
		{"percentage", "less_than", `-1`, []string{in, percentage}},
		{"percentage", "less_than", `12.34567`, []string{in, percentage}},
		{"percentage", "less_than", `1e1`, []string{in, percentage}},
		{"percentage", "less_than", `"12."`, []string{in, percentage}},
		{"percentage", "less_than", `"half"`, []string{in, percentage}},
		{"percentage", "less_than", `99999999999999999999`, []string{in, percentage}},
		{"percentage", "less_than", `[5]`, []string{in, percentage}},
	} {
		var got []string
		for _, p := range problems(t, leaf(c.typ, c.op, c.value)) {
			got = append(got, p.Path, p.Message)
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s %s %s:\n got %q\nwant %q", c.typ, c.op, c.value, got, c.want)
		}
	}
}

// FuzzAddresses compares the ranges of networks with netip for one address.
func FuzzAddresses(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, seed1, seed2 uint64) {
		a := author{rand.New(rand.NewPCG(seed1, seed2))}
		list := make([]any, 1+a.IntN(40))
		for i := range list {
			list[i] = a.network()
		}
		src, err := json.Marshal(list)
		testkit.Must(t, err)
		p := compile(t, leaf("ip", "in", string(src)), nil)
		for range 50 {
			v := &visitor{ip: a.address()}
			if got, want := p.Eval(v), naiveTypes["ip"]("in", list, v, nil); got != want {
				t.Fatalf("%s in %s: %v, want %v", v.ip, src, got, want)
			}
		}
	})
}
