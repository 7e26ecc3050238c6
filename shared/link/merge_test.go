package link_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/shortline/shortline/shared/link"
)

func TestAppendLocation(t *testing.T) {
	t.Parallel()
	presets := link.UTM{Source: "mail", Campaign: "Été & more", SourcePlatform: "x"}
	for _, c := range []struct {
		destination string
		presets     link.UTM
		query, want string
	}{
		// Nothing to add: byte for byte.
		{"https://e.com/a?b=%zz&&c#d?e", link.UTM{}, "", "https://e.com/a?b=%zz&&c#d?e"},
		{"https://e.com/?", link.UTM{}, "&&", "https://e.com/?"},
		{"https://e.com/?a&b=1&#f", link.UTM{}, "b=2&a=3&%61&%62=", "https://e.com/?a&b=1&#f"},
		{"https://e.com", link.UTM{}, "&", "https://e.com"},
		// The visitor's parameters.
		{"https://e.com", link.UTM{}, "a=1", "https://e.com?a=1"},
		{"https://e.com/#f", link.UTM{}, "a=1&a=2&b", "https://e.com/?a=1&a=2&b#f"},
		{"https://e.com/#/route?x=1", link.UTM{}, "a=1", "https://e.com/?a=1#/route?x=1"},
		{"https://e.com/?q=what?", link.UTM{}, "a=1", "https://e.com/?q=what?&a=1"},
		{"https://e.com/?&", link.UTM{}, "a=1", "https://e.com/?&a=1"},
		{"https://e.com/?", link.UTM{}, "a=1", "https://e.com/?a=1"},
		{"https://e.com/?x+y=1", link.UTM{}, "x%20y=2&X+Y=3&=4", "https://e.com/?x+y=1&X+Y=3&=4"},
		{"https://e.com/?A=1", link.UTM{}, "a=%2F&c=+%zz", "https://e.com/?A=1&a=%2F&c=+%zz"},
		// Presets.
		{"https://e.com/p", presets, "", "https://e.com/p?utm_source=mail&utm_campaign=%C3%89t%C3%A9%20%26%20more&utm_source_platform=x"},
		{"https://e.com/?utm_source=old&a=1&utm_source=older&utm_term=t", link.UTM{Source: "new", ID: "7"}, "",
			"https://e.com/?utm_source=new&a=1&utm_term=t&utm_id=7"},
		{"https://e.com/?utm%5Fsource=old", link.UTM{Source: "new"}, "", "https://e.com/?utm_source=new"},
		{"https://e.com/?&a=1", link.UTM{Source: "new"}, "", "https://e.com/?&a=1&utm_source=new"},
		// The visitor's own campaign parameters.
		{"https://e.com/", link.UTM{Source: "preset", Medium: "m"}, "utm_source=own%20one&x=1",
			"https://e.com/?utm_source=own%20one&utm_medium=m&x=1"},
		{"https://e.com/?utm_source=old&b=1", link.UTM{}, "utm_source=own&utm_source=second", "https://e.com/?utm_source=own&b=1"},
		{"https://e.com/?utm_source=old", link.UTM{Source: "preset"}, "utm_source=&utm_term", "https://e.com/?utm_source=preset&utm_term"},
		{"https://e.com/", link.UTM{}, "utm_source=&utm_source=b", "https://e.com/?utm_source=b"},
		{"https://e.com/", link.UTM{}, "utm_other=1&UTM_SOURCE=2&utm%5fid=3", "https://e.com/?utm_id=3&utm_other=1&UTM_SOURCE=2"},
		// Bytes that are not valid in a header.
		{"https://e.com/", link.UTM{Source: "a\r\nSet-Cookie: b=c#%"}, "x=\r\n\x00 \x7f\xff\"<>#&y\n=1",
			"https://e.com/?utm_source=a%0D%0ASet-Cookie%3A%20b%3Dc%23%25&x=%0D%0A%00%20%7F%FF%22%3C%3E%23&y%0A=1"},
		{"https://e.com/\r\na?b c#d\te", link.UTM{}, "x", "https://e.com/%0D%0Aa?b%20c&x#d%09e"},
	} {
		got := string(link.AppendLocation([]byte("Location: "), c.destination, c.presets, []byte(c.query)))
		if got != "Location: "+c.want {
			t.Errorf("%s + %v + %q\n got %s\nwant %s", c.destination, c.presets, c.query, got, c.want)
		}
	}
}

func TestAppendTracked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		destination string
		presets     link.UTM
		query, want string
	}{
		{"https://e.com", link.UTM{}, "", "https://e.com?id=AB-_9"},
		{"https://e.com/#f", link.UTM{}, "", "https://e.com/?id=AB-_9#f"},
		{"https://e.com/?", link.UTM{}, "", "https://e.com/?id=AB-_9"},
		{"https://e.com/?a=1&b#f?id=0", link.UTM{}, "", "https://e.com/?a=1&b&id=AB-_9#f?id=0"},
		{"https://e.com/?a=1&", link.UTM{}, "", "https://e.com/?a=1&id=AB-_9"},
		{"https://e.com/?idx=1&ID=2&xid=3", link.UTM{}, "", "https://e.com/?idx=1&ID=2&xid=3&id=AB-_9"},
		// The same name in the destination and in the visitor's query.
		{"https://e.com/?id=old&a=1&id=older", link.UTM{}, "", "https://e.com/?id=AB-_9&a=1"},
		{"https://e.com/?a=1&%69d", link.UTM{}, "x=2", "https://e.com/?a=1&id=AB-_9&x=2"},
		{"https://e.com/", link.UTM{}, "id=own&x=2&%69%64=1&id", "https://e.com/?id=AB-_9&x=2"},
		{"https://e.com/", link.UTM{}, "&&", "https://e.com/?id=AB-_9"},
		// Campaign parameters.
		{"https://e.com/?utm_source=old#f", link.UTM{Source: "s", Term: "t"}, "utm_term=own&id=2&x=1",
			"https://e.com/?utm_source=s&utm_term=own&id=AB-_9&x=1#f"},
	} {
		got := string(link.AppendTracked([]byte("Location: "), c.destination, c.presets, []byte(c.query), "id", []byte("AB-_9")))
		if got != "Location: "+c.want {
			t.Errorf("%s + %v + %q\n got %s\nwant %s", c.destination, c.presets, c.query, got, c.want)
		}
	}
}

// A link that was damaged on its way to the edge must not break a header, wherever the damage is.
func TestAppendLocation_is_visible_ASCII(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for at := range 21 {
			destination := []byte("https://example.com/a")
			destination[at] = byte(c)
			want := string(destination)
			if c <= ' ' || c >= 0x7F {
				want = fmt.Sprintf("%s%%%02X%s", destination[:at], c, destination[at+1:])
			}
			if got := string(link.AppendLocation(nil, string(destination), link.UTM{}, nil)); got != want {
				t.Fatalf("%q became %q", destination, got)
			}
		}
	}
}

type pair struct{ name, value string }

// pairs splits a query like net/url, except that an invalid escape is literal.
func pairs(query string) []pair {
	var out []pair
	for segment := range strings.SplitSeq(query, "&") {
		if segment == "" {
			continue
		}
		name, value, _ := strings.Cut(segment, "=")
		out = append(out, pair{unescape(name), unescape(value)})
	}
	return out
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	// Escape each % that begins no escape, and try again.
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		if _, err := url.QueryUnescape(s[i:min(i+3, len(s))]); s[i] == '%' && err != nil {
			b.WriteString("25")
		}
	}
	plain, err := url.QueryUnescape(b.String())
	if err != nil {
		panic(err)
	}
	return plain
}

var utmNames = []string{"utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id", "utm_source_platform"}

func values(u link.UTM) []string {
	return []string{u.Source, u.Medium, u.Campaign, u.Term, u.Content, u.ID, u.SourcePlatform}
}

// naiveMerge is the specification in its simplest form: lists of decoded pairs.
func naiveMerge(destination string, presets link.UTM, query string) (base string, list []pair, fragment string) {
	rest, fragment, hash := strings.Cut(destination, "#")
	if hash {
		fragment = "#" + fragment
	}
	base, own, _ := strings.Cut(rest, "?")
	list = pairs(own)
	visitor := pairs(query)
	for i, name := range utmNames {
		value := values(presets)[i]
		if j := slices.IndexFunc(visitor, func(p pair) bool { return p.name == name && p.value != "" }); j >= 0 {
			value = visitor[j].value
		}
		if value == "" {
			continue
		}
		visitor = slices.DeleteFunc(visitor, func(p pair) bool { return p.name == name })
		at := slices.IndexFunc(list, func(p pair) bool { return p.name == name })
		if at < 0 {
			list = append(list, pair{name, value})
			continue
		}
		list[at].value = value
		list = append(list[:at+1], slices.DeleteFunc(slices.Clone(list[at+1:]), func(p pair) bool { return p.name == name })...)
	}
	known := map[string]bool{}
	for _, p := range list {
		known[p.name] = true
	}
	for _, p := range visitor {
		if !known[p.name] {
			list = append(list, p)
		}
	}
	return base, list, fragment
}

func FuzzAppendLocation(f *testing.F) {
	f.Add("https://e.com/p?a=1&utm_source=x&%75tm_source=y#f", "mail", "Été", "utm_term=+&b=%zz&a=2&utm_source=z")
	f.Add("https://e.com/?&&=1&?", "", "a\r\nb", "&=2&c&utm_id=&utm_id=%00\r\n #\xff")
	f.Add("https://e.com", "s", "", "utm_source")
	f.Add("##", "0", "0\xa9", "2")
	f.Fuzz(func(t *testing.T, destination, source, platform, query string) {
		if _, after, ok := strings.Cut(destination, ":"); ok && !strings.HasPrefix(after, "//") {
			destination = "/" + destination // or it would be one without parameters
		}
		presets := link.UTM{Source: source, SourcePlatform: platform}
		dst := append(make([]byte, 0, 64), "prefix"...)
		got := string(link.AppendLocation(dst, destination, presets, []byte(query)))
		got, ok := strings.CutPrefix(got, "prefix")
		if !ok {
			t.Fatal("what stood in dst is gone")
		}
		clean := true
		for i := range len(got) {
			if got[i] <= ' ' || got[i] >= 0x7F {
				t.Fatalf("%q has byte %#x", got, got[i])
			}
		}
		for i := range len(destination) {
			clean = clean && destination[i] > ' ' && destination[i] < 0x7F
		}
		base, list, fragment := naiveMerge(destination, presets, query)
		rest, gotFragment, hash := strings.Cut(got, "#")
		gotBase, gotQuery, _ := strings.Cut(rest, "?")
		if hash {
			gotFragment = "#" + gotFragment
		}
		if have := pairs(gotQuery); !slices.Equal(have, list) {
			t.Fatalf("%q + %+v + %q = %q\n got %q\nwant %q", destination, presets, query, got, have, list)
		}
		if !clean {
			return
		}
		if gotBase != base || gotFragment != fragment {
			t.Fatalf("%q became %q", destination, got)
		}
		_, own, _ := strings.Cut(strings.TrimSuffix(destination, fragment), "?")
		if slices.Equal(list, pairs(own)) && presets.IsZero() && !strings.Contains(unescape(query), "utm_") && got != destination {
			t.Fatalf("nothing to add, but %q became %q", destination, got)
		}
	})
}

func TestVisitorUTM(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]link.UTM{
		"": {}, "a=1&utm_source": {}, "utm_source=&utm_source=b&utm_source=c": {Source: "b"},
		"utm_source=a&utm_medium=b&utm_campaign=c&utm_term=d&utm_content=e&utm_id=f&utm_source_platform=g": {
			Source: "a", Medium: "b", Campaign: "c", Term: "d", Content: "e", ID: "f", SourcePlatform: "g"},
		"&&utm%5Fterm=one+two%20%C3%A9%zz%&UTM_ID=1": {Term: "one two é%zz%"},
		"utm_content=a=b=c&utm_id=%41%42":            {Content: "a=b=c", ID: "AB"},
	} {
		for _, scratch := range [][]byte{nil, make([]byte, 0, 3), make([]byte, 0, 100)} {
			if got, _ := link.VisitorUTM([]byte(query), scratch); got != want {
				t.Errorf("%q: %+v", query, got)
			}
		}
	}
}

// The strings must alias the memory that the comment names, without a copy.
func TestVisitorUTM_aliases_its_input(t *testing.T) {
	t.Parallel()
	query := []byte("utm_source=abc&utm_term=d%20e")
	u, used := link.VisitorUTM(query, make([]byte, 0, 16))
	if unsafe.StringData(u.Source) != &query[len("utm_source=")] || unsafe.StringData(u.Term) != &used[0] || len(used) != 3 {
		t.Error("a value was copied")
	}
}

func FuzzVisitorUTM(f *testing.F) {
	f.Add("utm_source=a+b&utm%5fid=%zz&&utm_id=", 2)
	f.Fuzz(func(t *testing.T, query string, room int) {
		u, _ := link.VisitorUTM([]byte(query), make([]byte, 0, max(0, min(room, 1000))))
		list := pairs(query)
		for i, got := range values(u) {
			want := ""
			if j := slices.IndexFunc(list, func(p pair) bool { return p.name == utmNames[i] && p.value != "" }); j >= 0 {
				want = list[j].value
			}
			if got != want {
				t.Fatalf("%q: %s is %q, want %q", query, utmNames[i], got, want)
			}
		}
	})
}

func TestUTM_Or(t *testing.T) {
	t.Parallel()
	visitor, presets := link.UTM{Source: "a", ID: "b"}, link.UTM{Source: "x", Medium: "y", SourcePlatform: "z"}
	want := link.UTM{Source: "a", ID: "b", Medium: "y", SourcePlatform: "z"}
	if got := visitor.Or(presets); got != want {
		t.Errorf("%+v", got)
	}
	if visitor.Medium != "" {
		t.Error("Or changed its receiver")
	}
}

const (
	benchDestination = "https://www.example.com/shop/category/item?id=4711&variant=blue&utm_term=old#reviews"
	benchQuery       = "utm_source=news+letter&fbclid=IwAR0aBcDeFgHiJkLmNoPqRsTuVwXyZ&utm_content=top&id=1"
)

var benchPresets = link.UTM{Source: "mail", Medium: "e-mail", Campaign: "spring 2026"}

func TestMerge_allocates_nothing(t *testing.T) {
	dst, scratch, query := make([]byte, 0, 4096), make([]byte, 0, 256), []byte(benchQuery)
	if n := testing.AllocsPerRun(100, func() {
		dst = link.AppendLocation(dst[:0], benchDestination, benchPresets, query)
		dst = link.AppendLocation(dst[:0], benchDestination, link.UTM{}, nil)
		u, used := link.VisitorUTM(query, scratch[:0])
		scratch = used
		if u = u.Or(benchPresets); u.Source != "news letter" || u.Medium != "e-mail" {
			t.Error(u)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAppendLocation(b *testing.B) {
	for _, c := range []struct {
		name    string
		presets link.UTM
		query   string
	}{{"plain", link.UTM{}, ""}, {"presets", benchPresets, ""}, {"all", benchPresets, benchQuery}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			dst, query := make([]byte, 0, 4096), []byte(c.query)
			for b.Loop() {
				dst = link.AppendLocation(dst[:0], benchDestination, c.presets, query)
			}
		})
	}
	// The most expensive combination of a destination and a visitor's query.
	b.Run("hostile", func(b *testing.B) {
		b.ReportAllocs()
		destination := "https://e.com/?" + strings.Repeat("a&", 1000)
		dst, query := make([]byte, 0, 16384), []byte(strings.Repeat("b&", 2000))
		for b.Loop() {
			dst = link.AppendLocation(dst[:0], destination, link.UTM{}, query)
		}
	})
}

func BenchmarkVisitorUTM(b *testing.B) {
	b.ReportAllocs()
	scratch, query := make([]byte, 0, 256), []byte(benchQuery)
	for b.Loop() {
		_, scratch = link.VisitorUTM(query, scratch[:0])
	}
}

func ExampleAppendLocation() {
	dst := link.AppendLocation(nil, "https://example.com/?a=1#top", link.UTM{Source: "mail", Medium: "e-mail"},
		[]byte("a=2&b=3&utm_source=ad"))
	fmt.Println(string(dst))
	// Output: https://example.com/?a=1&utm_source=ad&utm_medium=e-mail&b=3#top
}

func TestAppendLocation_bounds_its_work(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ own, brought, passed int }{{100, 300, 300}, {1000, 2000, 32}} {
		destination := "https://e.com/?" + strings.Repeat("a&", c.own-1) + "a"
		got := string(link.AppendLocation(nil, destination, link.UTM{}, []byte(strings.Repeat("b&", c.brought))))
		if passed := strings.Count(got, "&b"); passed != c.passed || !strings.HasPrefix(got, destination) {
			t.Errorf("%d and %d parameters: %d passed on", c.own, c.brought, passed)
		}
	}
}
