package accept_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/accept"
)

func TestElements(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"": "", ",, \t,": "", "gzip": "gzip 1000", "a,b": "a 1000|b 1000", "*;q=0.5": "* 500", " a \t ; q=1.000 ,b": "a 1000|b 1000",
		"a;Q=0.3": "a 300", "a;q=0": "a 0", "a;q=0.": "a 0", "a;q=1.": "a 1000", "a;q=0.001": "a 1", "a;q=.5": "a 0", "a;q=": "a 0", "a;q": "a 1000",
		"a;q=1.5": "a 0", "a;q=1.001": "a 0", "a;q=9": "a 0", "a;q=0.1234": "a 0", "a;q=00": "a 0", "a;q=-1": "a 0", "a;q=0 .5": "a 0", "a;q=0.x": "a 0",
		"text/html;level=1;q=0.4": "text/html 400", "text/html;q=0.4;level=1": "text/html 400", "a;seq=0": "a 1000", ";q=1": "", "a;;q=0.2": "a 200",
	} {
		var got []string
		for element, parameters := range accept.Elements(header) {
			got = append(got, fmt.Sprint(element, " ", parameters.Weight()))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}

func TestElements_allocates_nothing(t *testing.T) {
	header := "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	sum := 0
	if n := testing.AllocsPerRun(100, func() {
		for element, parameters := range accept.Elements(header) {
			sum += len(element) + parameters.Weight()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestEncoding(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{"gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false, "br": false, "": false, "x-gzip": false, "*": false} {
		if got := accept.Encoding(header, "gzip"); got != want {
			t.Errorf("%q: %t", header, got)
		}
	}
}
