package version_test

import (
	"context"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/version"
)

func TestCheck(t *testing.T) {
	for header, want := range map[string]bool{
		`*`: true, ` * `: true, `"7"`: true, `"6", "7"`: true, `"6","7"`: true, `W/"6", "7"`: true, `"6",, "7",`: true, `"a,b", "7"`: true,
		`"6"`: false, `W/"7"`: false, `"77"`: false, `"7,8"`: false, `""`: false,
	} {
		e, err := version.Parse([]string{header})
		if err != nil {
			t.Errorf("%s: %v", header, err)
			continue
		}
		err = version.Check(version.With(context.Background(), e), version.Number(7), "object")
		if want != (err == nil) || !want && !problem.Is(err, problem.Stale) {
			t.Errorf("If-Match: %s with version 7: %v", header, err)
		}
	}
	if err := version.Check(context.Background(), version.Number(7), nil); err != nil {
		t.Errorf("without a header: %v", err)
	}
}

func TestParse_refuses(t *testing.T) {
	for _, header := range []string{``, ` `, `7`, `"7`, `7"`, `"7" "8"`, `"7";`, `*, "7"`, `"7", *`, `w/"7"`, `W/`, `W/7`, "\"7\x01\"",
		`"7 8"`, `,`, strings.Repeat(`"1",`, 101)} {
		if _, err := version.Parse([]string{header}); err == nil {
			t.Errorf("%q was accepted", header)
		}
	}
	if _, err := version.Parse([]string{`"7"`, `"8"`}); err != nil {
		t.Errorf("two lines: %v", err)
	}
}

func TestHash_tells_fields_apart(t *testing.T) {
	first := version.Hash("a", "b")
	if again := version.Hash("a", "b"); again != first || version.Hash("ab", "") == first ||
		version.Hash(1, true) == version.Hash(1, false) {
		t.Error("a hash is not that of the fields")
	}
}
