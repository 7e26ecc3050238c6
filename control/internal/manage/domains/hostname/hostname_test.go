package hostname_test

import (
	"strings"
	"testing"

	"golang.org/x/net/idna"

	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
	"github.com/shortline/shortline/shared/link"
)

var public = hostname.Policy{Own: []string{"sho.rt", "console.sho.rt:8443", "127.0.0.1:8080", "[::1]:80", "not a host", "bücher.sho.rt"}}

func TestParse_accepts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a.", 119) + "com" // 241 bytes
	for typed, want := range map[string]hostname.Name{
		"go.acme.com":               {ASCII: "go.acme.com", Display: "go.acme.com"},
		"  GO.Acme.COM.\n":          {ASCII: "go.acme.com", Display: "go.acme.com"},
		"acme.com":                  {ASCII: "acme.com", Display: "acme.com"},
		"go.acme.co.uk":             {ASCII: "go.acme.co.uk", Display: "go.acme.co.uk"},
		"acme.github.io":            {ASCII: "acme.github.io", Display: "acme.github.io"},
		"1and1.com":                 {ASCII: "1and1.com", Display: "1and1.com"},
		"4.com":                     {ASCII: "4.com", Display: "4.com"},
		"0x.0xyz.dev":               {ASCII: "0x.0xyz.dev", Display: "0x.0xyz.dev"},
		"a-b.acme.com":              {ASCII: "a-b.acme.com", Display: "a-b.acme.com"},
		"go.sho.rt":                 {ASCII: "go.sho.rt", Display: "go.sho.rt"},
		"nosho.rt":                  {ASCII: "nosho.rt", Display: "nosho.rt"},
		"new.tldoftomorrow":         {ASCII: "new.tldoftomorrow", Display: "new.tldoftomorrow"},
		"Bücher.example.com":        {ASCII: "xn--bcher-kva.example.com", Display: "bücher.example.com"},
		"bu\u0308cher.example.com":  {ASCII: "xn--bcher-kva.example.com", Display: "bücher.example.com"},
		"XN--BCHER-KVA.example.com": {ASCII: "xn--bcher-kva.example.com", Display: "bücher.example.com"},
		"straße.de":                 {ASCII: "xn--strae-oqa.de", Display: "straße.de"},
		"ｇｏ．ａｃｍｅ。com":               {ASCII: "go.acme.com", Display: "go.acme.com"},
		"日本語abc.jp":                 {ASCII: "xn--abc-s08fl0dtz6h.jp", Display: "日本語abc.jp"},
		"ラーメンとカレー・定食.jp":            {ASCII: "xn--o9j6g4f5as3b7ccf5120iu3ug.jp", Display: "ラーメンとカレー・定食.jp"},
		"한국mall.kr":                 {ASCII: "xn--mall-fy4pz03q.kr", Display: "한국mall.kr"},
		"注音ㄅㄆ.tw":                   {ASCII: "xn--5ekc2017bl89a.tw", Display: "注音ㄅㄆ.tw"},
		"яндекс.рф":                 {ASCII: "xn--d1acpjx3f.xn--p1ai", Display: "яндекс.рф"},
		"go.яндекс.рф":              {ASCII: "go.xn--d1acpjx3f.xn--p1ai", Display: "go.яндекс.рф"},
		"موقع.وزارة-الأتصالات.مصر": {ASCII: "xn--4gbrim.xn----rmckbbajlc6dj7bxne2c.xn--wgbh1c", Display: "موقع.وزارة-الأتصالات.مصر"},
		"موقع١٢.com":                         {ASCII: "xn--4gbrim1kg.com", Display: "موقع١٢.com"},
		"col·lecció.cat":                     {ASCII: "xn--collecci-ioa91d.cat", Display: "col·lecció.cat"},
		"việt-nữ.vn":                         {ASCII: "xn--vit-n-271btl.vn", Display: "việt-nữ.vn"},
		long:                                 {ASCII: long, Display: long},
		strings.Repeat("x", 63) + ".acme.io": {ASCII: strings.Repeat("x", 63) + ".acme.io", Display: strings.Repeat("x", 63) + ".acme.io"},
	} {
		got, err := hostname.Parse(typed, public)
		if err != nil {
			t.Errorf("Parse(%q): %v", typed, err)
			continue
		}
		if want.ASCII != got.ASCII || want.Display != got.Display {
			t.Errorf("Parse(%q) = %+v, want %+v", typed, got, want)
		}
		checkName(t, got, public)
	}
}

func TestParse_refuses_with_the_reason(t *testing.T) {
	t.Parallel()
	for typed, reason := range map[string]string{
		"":                                 "empty",
		" \t ":                             "empty",
		"https://go.acme.com":              "scheme",
		"HTTP://go.acme.com:80/x":          "scheme",
		"//go.acme.com":                    "scheme",
		"me@go.acme.com":                   "user name",
		"me:secret@go.acme.com":            "user name",
		"go.acme.com:8443":                 "port",
		"go.acme.com:":                     "port",
		"go.acme.com/":                     "path",
		"go.acme.com/x@y":                  "path",
		`go.acme.com\x`:                    "path",
		"go.acme.com?x=1":                  "query",
		"go.acme.com#x":                    "query",
		"*.acme.com":                       "wildcard",
		"go.*.com":                         "wildcard",
		"go acme.com":                      "spaces",
		"go\u3000acme.com":                 "spaces",
		"go%2eacme.com":                    "percent-encoded",
		"go\xff.acme.com":                  "UTF-8",
		"192.0.2.1":                        "IP address",
		"192.0.2.1.":                       "IP address",
		"１９２.0.2.1":                        "IP address",
		"127.1":                            "IP address",
		"2130706433":                       "IP address",
		"017700000001":                     "IP address",
		"0x7f000001":                       "IP address",
		"0X7F.1":                           "IP address",
		"127.0.0x1":                        "IP address",
		"256.256.256.256":                  "IP address",
		"go.acme.0x":                       "IP address",
		"::1":                              "IP address",
		"[::1]":                            "IP address",
		"[2001:db8::1]:443":                "IP address",
		"fe80::1%eth0":                     "IP address",
		"::ffff:127.0.0.1":                 "IP address",
		"localhost":                        ".localhost",
		"LocalHost.":                       ".localhost",
		"go.localhost":                     ".localhost",
		"go.invalid":                       ".invalid",
		"expyuzz4wqqyqhjn.onion":           ".onion",
		"1.0.0.127.in-addr.arpa":           ".arpa",
		"home.arpa":                        ".home.arpa",
		"go.acme.internal":                 ".internal",
		"printer.local":                    ".local",
		"go.test":                          ".test",
		"go.example":                       ".example",
		"nas.lan":                          ".lan",
		"com":                              "two labels",
		"bücher":                           "two labels",
		"co.uk":                            "public suffix",
		"CO.UK.":                           "public suffix",
		"github.io":                        "public suffix",
		"公司.cn":                            "public suffix",
		"anything.ck":                      "public suffix",
		"sho.rt":                           "this service itself",
		"Sho.RT.":                          "this service itself",
		"ｓｈｏ．ｒｔ":                           "this service itself",
		"console.sho.rt":                   "this service itself",
		"BÜCHER.sho.rt":                    "this service itself",
		"go..acme.com":                     "empty label",
		".acme.com":                        "empty label",
		"go.acme.com..":                    "empty label",
		".":                                "empty label",
		"-go.acme.com":                     "hyphen",
		"go-.acme.com":                     "hyphen",
		"ab--cd.acme.com":                  "hyphens as third and fourth",
		"_shortline.acme.com":              "underscore",
		"go_to.acme.com":                   "underscore",
		"go!.acme.com":                     `"!"`,
		"go'acme.com":                      `"'"`,
		"go\x00.acme.com":                  "invisible character U+0000",
		"go\u200b.acme.com":                "invisible character U+200B",
		"go\u00ad.acme.com":                "invisible character U+00AD",
		"go\u200d.acme.com":                "invisible character U+200D",
		"go\u202e.acme.com":                "invisible character U+202E",
		"g\ufe0fo.acme.com":                "invisible character U+FE0F",
		"\ufeffgo.acme.com":                "invisible character U+FEFF",
		"go\u3164.acme.com":                "invisible character U+3164",
		"pаypal.com":                       "several scripts (Cyrillic, Latin)",
		"xn--pypal-4ve.com":                "several scripts (Cyrillic, Latin)",
		"ɑpple.αpple.com":                  "several scripts (Greek, Latin)",
		"日本яndex.com":                      "several scripts",
		"한국ひらがな.com":                       "several scripts (Hangul, Hiragana)",
		"i❤.ws":                            "U+2764",
		"xn--i-7iq.ws":                     "U+2764",
		"go→.acme.com":                     "U+2192",
		"a·b.com":                          "U+00B7",
		"abcー.com":                         "U+30FC",
		"a・b.com":                          "U+30FB",
		"o\u02bbo.com":                     "U+02BB",
		"موقع١۲.com":                       "number systems",
		"x\u0323\u0323.com":                "combining marks",
		"x\u0323\u0331\u0332.com":          "combining marks",
		"\u0301a.com":                      "IDNA 2008",
		"abcא.com":                         "several scripts",
		"xn--zzzzzzzzzz-.com":              "IDNA 2008",
		"xn--abc-.com":                     "IDNA 2008",
		"xn--bcher-hma.com":                "IDNA 2008", // an upper-case Ü
		"xn--go-.acme.com":                 "IDNA 2008",
		strings.Repeat("x", 64) + ".com":   "label of more than 63 bytes",
		strings.Repeat("ü", 60) + ".com":   "label of more than 63 bytes",
		strings.Repeat("a.", 120) + "com":  "at most 242 bytes",
		strings.Repeat("a.", 125) + "com":  "at most 242 bytes", // 253 bytes
		strings.Repeat("a.", 125) + "info": "at most 253 bytes", // 254 bytes
		strings.Repeat("a.", 2000) + "com": "at most 253 bytes",
		strings.Repeat("x", 1<<20):         "at most 253 bytes",
	} {
		got, err := hostname.Parse(typed, public)
		if err == nil {
			t.Errorf("Parse(%.80q) = %+v, want an error with %q", typed, got, reason)
		} else if !strings.Contains(err.Error(), reason) || !strings.HasPrefix(err.Error(), "must ") {
			t.Errorf("Parse(%.80q): %q, want an error with %q", typed, err, reason)
		} else if got != (hostname.Name{}) {
			t.Errorf("Parse(%.80q) = %+v beside an error", typed, got)
		}
	}
}

// A private certificate authority issues for private names. What means this computer or no host stays refused.
func TestParse_private_names_by_policy(t *testing.T) {
	t.Parallel()
	private := hostname.Policy{AllowPrivate: true}
	for _, name := range []string{"go.acme.test", "go.corp.internal", "go.home.arpa", "go.local", "go.example"} {
		if got, err := hostname.Parse(name, private); err != nil || got.ASCII != name {
			t.Errorf("Parse(%q) = %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{"localhost", "go.localhost", "go.invalid", "go.onion", "go.alt", "1.in-addr.arpa", "intranet", "test",
		"10.0.0.1"} {
		if got, err := hostname.Parse(name, private); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", name, got)
		}
	}
}

// checkName checks what holds for every result.
func checkName(t *testing.T, n hostname.Name, p hostname.Policy) {
	t.Helper()
	for _, s := range []string{n.ASCII, n.Display, n.ASCII + ".", strings.ToUpper(n.ASCII)} {
		if again, err := hostname.Parse(s, p); err != nil || again != n {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", s, again, err, n)
		}
	}
	for _, s := range []string{n.ASCII, n.Display} {
		if edge, err := link.Host(s); err != nil || edge != n.ASCII {
			t.Errorf("link.Host(%q) = %q, %v; want %q", s, edge, err, n.ASCII)
		}
		if ascii, err := idna.Lookup.ToASCII(s); err != nil || ascii != n.ASCII {
			t.Errorf("idna.Lookup.ToASCII(%q) = %q, %v; want %q", s, ascii, err, n.ASCII)
		}
	}
	if strings.Trim(n.ASCII, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || len(n.ASCII) > hostname.MaxLength ||
		!strings.Contains(n.ASCII, ".") {
		t.Errorf("%+v is not a host name in ASCII", n)
	}
	for label := range strings.SplitSeq(n.ASCII, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			t.Errorf("%+v has the label %q", n, label)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"go.acme.com", "Bücher.example.com", "xn--bcher-kva.example.com", "日本語abc.jp", "col·lecció.cat", "موقع١٢.com",
		"https://a.b", "1.2.3.4", "pаypal.com",
		"xn--.com", "xn---.com", "ß.de", "a\u0323\u0301.com", "ｇｏ．ａｃｍｅ。com", "〇.jp", "ーカ.jp", "i\u0307.tr",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, typed string, private bool) {
		p := hostname.Policy{Own: []string{"sho.rt"}, AllowPrivate: private}
		if n, err := hostname.Parse(typed, p); err == nil {
			checkName(t, n, p)
		} else if !strings.HasPrefix(err.Error(), "must ") || len(err.Error()) > 2000 {
			t.Errorf("Parse(%q): %q", typed, err)
		}
	})
}
