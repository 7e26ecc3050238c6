package conversion_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var now = time.UnixMilli(1_795_000_000_123)

func keys(t testing.TB, secrets ...string) *conversion.Keys {
	t.Helper()
	var list [][]byte
	for _, s := range secrets {
		list = append(list, []byte(s))
	}
	p := conversion.Period(now.UnixMilli())
	k, err := conversion.NewKeys(conversion.Derive(list, p-4, p+1))
	testkit.Must(t, err)
	return k
}

// The text of an id never changes, because ids of earlier releases must stay valid.
func TestClickID_golden(t *testing.T) {
	t.Parallel()
	id := conversion.ClickID{Link: 123456, Time: now.UnixMilli(), Tag: conversion.TagOf(click.Lane{Edge: 1 << 63, Epoch: 7, Lane: 3}, 42)}
	text, ok := id.Append(nil, keys(t, "a secret of at least 32 bytes....."))
	if want := "AAAeJAaHuVl57wU2e4T1xzbsPwSbOLy1"; !ok || string(text) != want {
		t.Errorf("%s, want %s", text, want)
	}
}

func TestClickID_survives_a_round_trip(t *testing.T) {
	t.Parallel()
	k := keys(t, "one")
	for _, id := range []conversion.ClickID{
		{Link: 1, Time: now.UnixMilli(), Tag: 0}, {Link: 1<<36 - 1, Time: now.UnixMilli() + 1, Tag: 1<<50 - 1},
		{Link: 0, Time: now.UnixMilli() - 1e9, Tag: 5},
	} {
		text, ok := id.Append(nil, k)
		if got, v := k.ParseID(string(text)); !ok || v != conversion.Accepted || got != id || len(text) != conversion.IDLength {
			t.Errorf("%+v became %+v: %v (%s)", id, got, v, text)
		}
	}
	for _, id := range []conversion.ClickID{{Link: 1 << 36, Time: now.UnixMilli()}, {Link: 1, Time: -1},
		{Link: 1, Time: now.UnixMilli(), Tag: 1 << 50}, {Link: 1, Time: 0}} {
		if text, ok := id.Append(nil, k); ok {
			t.Errorf("%+v does not fit, but became %s", id, text)
		}
	}
}

// No altered id is accepted, whichever bit is altered.
func TestParseID_refuses_altered_ids(t *testing.T) {
	t.Parallel()
	k := keys(t, "one")
	text, _ := conversion.ClickID{Link: 77, Time: now.UnixMilli(), Tag: 99}.Append(nil, k)
	for i := range text {
		for _, c := range "AZaz09-_" {
			b := []byte(string(text))
			if b[i] == byte(c) {
				continue
			}
			b[i] = byte(c)
			if id, v := k.ParseID(string(b)); v != conversion.Forged {
				t.Fatalf("%s: %v %+v", b, v, id)
			}
		}
	}
	for _, s := range []string{"", "x", string(text) + "A", string(text[:31]), strings.Repeat("=", 32), strings.Repeat("ä", 16),
		string(text[:31]) + "\n"} {
		if _, v := k.ParseID(s); v != conversion.Malformed {
			t.Errorf("%q: %v", s, v)
		}
	}
	if _, v := keys(t, "two").ParseID(string(text)); v != conversion.Forged {
		t.Errorf("with another installation's key: %v", v)
	}
	if _, v := keys(t, "two", "one").ParseID(string(text)); v != conversion.Accepted {
		t.Errorf("after ENCRYPTION_KEY was rotated: %v", v)
	}
	if _, v := (*conversion.Keys)(nil).ParseID(string(text)); v != conversion.Forged {
		t.Errorf("without keys: %v", v)
	}
}

func TestParseValue(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int64{"": 0, "null": 0, "0": 0, "49.9": 499_000, "0.0001": 1, "1.50000": 15_000, "1000000000": 1e13} {
		if got, err := conversion.ParseValue(json.RawMessage(in)); err != nil || got != want {
			t.Errorf("%s: %d %v, want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"NaN", "-1", "-0", "1e3", "1e400", "Infinity", `"5"`, "0.00001", "1000000000.0001", "1000000001",
		"9999999999999999999999", "{}", "[1]", "true", "1.", ".5"} {
		if got, err := conversion.ParseValue(json.RawMessage(in)); err == nil {
			t.Errorf("%s became %d", in, got)
		}
	}
}

func TestChecker(t *testing.T) {
	t.Parallel()
	k := keys(t, "one")
	ck := conversion.Checker{Keys: k, Window: 90 * 24 * time.Hour, Now: now}
	at := func(ago time.Duration) string {
		b, _ := conversion.ClickID{Link: 5, Time: now.Add(-ago).UnixMilli(), Tag: 1}.Append(nil, k)
		return string(b)
	}
	hour := at(time.Hour)
	for name, c := range map[string]struct {
		item conversion.Item
		want conversion.Verdict
	}{
		"good": {conversion.Item{ClickID: hour, Name: "purchase", Value: json.RawMessage("12.5"), Currency: "EUR"},
			conversion.Accepted},
		"lower case currency": {conversion.Item{ClickID: hour, Name: "purchase", Currency: "eur"}, conversion.Accepted},
		"no name":             {conversion.Item{ClickID: hour}, conversion.Invalid},
		"long name":           {conversion.Item{ClickID: hour, Name: strings.Repeat("x", 65)}, conversion.Invalid},
		"control in name":     {conversion.Item{ClickID: hour, Name: "a\x00"}, conversion.Invalid},
		"no id":               {conversion.Item{Name: "a"}, conversion.Invalid},
		"unknown currency":    {conversion.Item{ClickID: hour, Name: "a", Currency: "QQQ"}, conversion.Invalid},
		"repeatable alone":    {conversion.Item{ClickID: hour, Name: "a", Repeatable: true}, conversion.Invalid},
		"repeatable":          {conversion.Item{ClickID: hour, Name: "a", Repeatable: true, ExternalID: "1"}, conversion.Accepted},
		"no time":             {conversion.Item{ClickID: hour, Name: "a", OccurredAt: "yesterday"}, conversion.Invalid},
		"future": {conversion.Item{ClickID: hour, Name: "a", OccurredAt: now.Add(time.Hour).Format(time.RFC3339)},
			conversion.InFuture},
		"future click": {conversion.Item{ClickID: at(-time.Hour), Name: "a"}, conversion.InFuture},
		"before the click": {conversion.Item{ClickID: hour, Name: "a", OccurredAt: now.Add(-2 * time.Hour).Format(time.RFC3339)},
			conversion.BeforeClick},
		"expired": {conversion.Item{ClickID: at(91 * 24 * time.Hour), Name: "a"}, conversion.Expired},
		"late report": {conversion.Item{ClickID: at(91 * 24 * time.Hour), Name: "a",
			OccurredAt: now.Add(-90 * 24 * time.Hour).Format(time.RFC3339)}, conversion.Accepted},
		"foreign key": {conversion.Item{ClickID: strings.Repeat("A", 32), Name: "a"}, conversion.Forged},
	} {
		got, p := ck.Check(&c.item)
		v := conversion.Accepted
		if p != nil {
			v = p.Verdict
		}
		if v != c.want {
			t.Errorf("%s: %v, want %v (%+v)", name, v, c.want, p)
		}
		if p == nil && (got.Currency != strings.ToUpper(c.item.Currency) || got.Click.Link != 5) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The longest conversion fits into a record, and comes out as it went in.
func TestConversion_Event(t *testing.T) {
	t.Parallel()
	c := conversion.Conversion{
		Click: conversion.ClickID{Link: math.MaxUint64, Time: math.MaxInt64, Tag: math.MaxUint64}, Workspace: math.MaxUint64,
		Name: strings.Repeat("𐍈", 64), Value: math.MaxInt64,
		Currency: "EUR", ExternalID: strings.Repeat("<", 128), Repeatable: true, OccurredAt: math.MaxInt64, ReceivedAt: math.MaxInt64,
		Browser: true,
	}
	e := c.Event()
	e.Seq = 1
	record := click.AppendRecord(nil, &e)
	d := click.NewDecoder(&click.Batch{First: 1, Count: 1, Records: record})
	var back click.Event
	if more, err := d.Next(&back); !more || err != nil {
		t.Fatal(err)
	}
	if got, err := conversion.FromEvent(&back); err != nil || got != c {
		t.Errorf("%+v %v, want %+v", got, err, c)
	}
	if _, err := conversion.FromEvent(&click.Event{Conversion: "{"}); err == nil {
		t.Error("a damaged record was accepted")
	}
}

func TestClickID_Append_does_not_allocate(t *testing.T) {
	k, b := keys(t, "one"), make([]byte, 0, 64)
	id := conversion.ClickID{Link: 5, Time: now.UnixMilli(), Tag: 1}
	if n := testing.AllocsPerRun(1000, func() { id.Append(b, k) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkClickID_Append(b *testing.B) {
	k, buf := keys(b, "one"), make([]byte, 0, 64)
	id := conversion.ClickID{Link: 5, Time: now.UnixMilli(), Tag: 1}
	for b.Loop() {
		id.Append(buf, k)
	}
}
