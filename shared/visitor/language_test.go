package visitor_test

import (
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/visitor"
)

func TestPreferred(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"":                                     "",
		"de":                                   "de",
		"zh-TW,zh;q=0.9,en-US;q=0.8":           "zh-TW",
		"en;q=0.5, fr;q=0.9, de;q=0.9":         "fr",
		"en-GB;q=0.8,en;q=0.9":                 "en",
		"*":                                    "",
		"*, pt-BR;q=0.1":                       "pt-BR",
		"en;q=0, ja;q=0.001":                   "ja",
		"en;q=0":                               "",
		" \t fr-CH \t ; q=1.000 ":              "fr-CH",
		"en;Q=0.3,it;q=0.4":                    "it",
		"en;q=1.5,it;q=0.4":                    "it",
		"en;q=,it;q=.4,nl;q=0.1":               "nl",
		"en;q=0.1234,nl;q=0.1":                 "nl",
		",,en":                                 "en",
		"<script>,en;q=0.2":                    "en",
		"-en,nl;q=0.1":                         "nl",
		strings.Repeat("x", 36) + ",nl;q=0.1":  "nl",
		"sr-Latn-RS,en":                        "sr-Latn-RS",
		strings.Repeat("en;q=0,", 200) + "nl":  "",
		"nl" + strings.Repeat(",en;q=0.5", 90): "nl",
	} {
		if got := visitor.Preferred(header); got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}

func FuzzPreferred(f *testing.F) {
	f.Add("zh-TW,zh;q=0.9,en-US;q=0.8")
	f.Add("*;q=0.5;x=,-;q=1.")
	f.Fuzz(func(t *testing.T, header string) {
		tag := visitor.Preferred(header)
		if len(tag) > 35 || !strings.Contains(header, tag) || strings.ContainsAny(tag, ",;* \t") {
			t.Errorf("%q gave %q", header, tag)
		}
	})
}

func BenchmarkPreferred(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		visitor.Preferred("zh-TW;q=0.9,zh;q=0.8,en-US;q=0.7,en;q=0.6")
	}
}

func TestLanguage(t *testing.T) {
	for header, want := range map[string]string{"de-CH,de;q=0.8": "de", "EN": "en", "": "", "*": "", "zh-Hant-TW": "zh", "fil-PH": "fil",
		"x-klingon": "", "12-de": "", "english": "", "de1": "",
		"d1": "", "fr;q=0.2, haw;q=0.9": "haw"} {
		if got := visitor.Language(header); got != want {
			t.Errorf("Language(%q) = %q, want %q", header, got, want)
		}
	}
}
