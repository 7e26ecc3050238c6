package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
)

// Names of the service that no authority issues certificates for are not dropped in silence.
func TestA7_certificateNames_gives_reasons(t *testing.T) {
	t.Parallel()
	names, refused := certificateNames(hostname.Policy{},
		"https://sho.rt", "https://sho.example", "https://192.0.2.1:8443", "http://plain.example", "https://sho.rt/console")
	if !slices.Equal(names, []string{"sho.rt"}) {
		t.Errorf("names %q", names)
	}
	if len(refused) != 2 || !strings.Contains(refused["sho.example"].Error(), ".example") || refused["192.0.2.1"] == nil {
		t.Errorf("refused %v", refused)
	}
	names, _ = certificateNames(hostname.Policy{AllowPrivate: true}, "https://sho.example")
	if !slices.Equal(names, []string{"sho.example"}) {
		t.Errorf("names with a private authority: %q", names)
	}
}
