package link_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/link"
)

// naiveParam finds a parameter in the simplest way. It knows the limits of Params.
func naiveParam(query, name string) string {
	at := 0
	for i, segment := range strings.Split(query, "&") {
		if at += len(segment) + 1; i >= link.MaxParams || at-1 > link.MaxParamQuery {
			return ""
		}
		key, value, _ := strings.Cut(segment, "=")
		if naiveDecode(key) == name {
			value = naiveDecode(value)
			return value[:min(len(value), link.MaxParamValue)]
		}
	}
	return ""
}

func naiveDecode(s string) string {
	var b strings.Builder
	for s != "" {
		var c byte
		if len(s) >= 3 && s[0] == '%' && strings.Trim(s[1:3], "0123456789abcdefABCDEF") == "" {
			if _, err := fmt.Sscanf(s[1:3], "%02x", &c); err != nil {
				panic(err)
			}
			s = s[3:]
		} else if c, s = s[0], s[1:]; c == '+' {
			c = ' '
		}
		b.WriteByte(c)
	}
	return b.String()
}

func TestParams(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", link.MaxParamName)
	for _, c := range []struct{ query, name, want string }{
		{"", "a", ""},
		{"a", "a", ""},
		{"a=", "a", ""},
		{"a=&a=1", "a", ""}, // the first one counts
		{"a=1&a=2", "a", "1"},
		{"A=1&a=2", "a", "2"},
		{"b=1&a=x%20y+z%", "a", "x y z%"},
		{"%61%62=1", "ab", "1"},
		{"a+b=1", "a b", "1"},
		{"a=b=c", "a", "b=c"},
		{"&&=1&&a=1&", "a", "1"},
		{"a=%zz%4", "a", "%zz%4"},
		{long + "=1", long, "1"},
		{long + "n=1", long + "n", ""},
		{"a=" + strings.Repeat("%41", 600), "a", strings.Repeat("A", link.MaxParamValue)},
		{"a=" + strings.Repeat("A", 600), "a", strings.Repeat("A", link.MaxParamValue)},
		{strings.Repeat("x=1&", 63) + "a=1", "a", "1"},
		{strings.Repeat("x=1&", 64) + "a=1", "a", ""},
		{"x=" + strings.Repeat("y", 4089) + "&a=12", "a", "12"},
		{"x=" + strings.Repeat("y", 4089) + "&a=123", "a", ""},
	} {
		var p link.Params
		p.Reset([]byte("a=old"))
		p.Reset([]byte(c.query))
		if got := p.Value(c.name); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.name, c.query, got, c.want)
		}
	}
	var p link.Params
	if got := p.Value("a"); got != "" {
		t.Errorf("the zero Params has %q", got)
	}
}

func FuzzParams(f *testing.F) {
	f.Add("a=1&b=%41+x&%61=2", "a")
	f.Add("=&&a&%=%&%4=%4", "%")
	f.Fuzz(func(t *testing.T, query, name string) {
		if name == "" || len(name) > link.MaxParamName {
			return
		}
		var p link.Params
		p.Reset([]byte(query))
		for range 2 {
			if got, want := p.Value(name), naiveParam(query, name); got != want {
				t.Fatalf("%q in %q: %q, want %q", name, query, got, want)
			}
		}
	})
}

func TestParams_allocates_nothing(t *testing.T) {
	query := []byte("%61b=x%20y&utm_source=a&c=d")
	var p link.Params
	if n := testing.AllocsPerRun(100, func() {
		p.Reset(query)
		p.Value("ab")
		p.Value("none")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The most expensive query: as many parameters as fit, all escaped.
func BenchmarkParams_Reset(b *testing.B) {
	query := []byte(strings.Repeat(strings.Repeat("%41", 20)+"=1&", 64))
	var p link.Params
	b.ReportAllocs()
	for b.Loop() {
		p.Reset(query)
	}
}
