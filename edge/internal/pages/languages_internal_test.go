package pages

import (
	"testing"

	"github.com/shortline/shortline/shared/abuse"
)

func TestLanguageOf_takes_the_language_ranked_highest(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"": "en", "de": "de", "DE-at": "de", "de-AT,de;q=0.9,en;q=0.8": "de", "en;q=0.3, fr;q=0.7": "fr", "sv, ja;q=0.5": "ja",
		"*": "en", "pt-BR": "en", "fr;q=0": "en", "fr;q=9": "en", "fr;q=x, es;q=0.1": "es", "de;q=0.5;x=1, ar;q=0.4": "de",
		"deu, es": "es", "d": "en", ",,;,=": "en", "fr;q=0.1234567": "en", "en-US,de": "en",
	} {
		if got := languages[LanguageOf(header)]; got != want {
			t.Errorf("%q is answered in %s, want %s", header, got, want)
		}
	}
}

func TestLanguageOf_allocates_nothing(t *testing.T) {
	header := "sv-SE,sv;q=0.9,*;q=0.1,en;q=0.8, ar;q=0.85"
	if n := testing.AllocsPerRun(100, func() { LanguageOf(header) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNotices_have_every_language_or_only_English(t *testing.T) {
	t.Parallel()
	for status, texts := range notices {
		english := texts == [len(languages)]notice{texts[0]}
		for i, text := range texts {
			if i > 0 && english {
				break
			}
			if text.heading == "" || text.text == "" || (text.next == "") != (texts[0].next == "") {
				t.Errorf("status %d in %s: %q", status, languages[i], text)
			}
		}
	}
	for i := range languages {
		if tooManyTexts[i].text == "" || suspendedTexts[i].next == "" || reportTexts[i].Close == "" || formTexts[i].Right == "" || reportTexts[i].Later == "" ||
			len(reportTexts[i].Reasons) != len(abuse.Reasons) || len(reportTexts[i].Wrong) != 3 {
			t.Errorf("%s lacks a text", languages[i])
		}
	}
}
