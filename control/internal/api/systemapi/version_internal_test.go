package systemapi

import (
	"encoding/json"
	"testing"

	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A fact that the build was not told is null. So is a date that cannot be read, because the build script takes any text.
func TestVersion_of_a_build(t *testing.T) {
	t.Parallel()
	for want, about := range map[string]ops.About{
		`{"version":"dev","commit":null,"date":null,"go":"go1.26.8"}`: {Version: "dev", Go: "go1.26.8"},
		`{"version":"v1.2.3","commit":"abc","date":"2026-11-29T18:00:00.000Z","go":"go1.26.8"}`: {
			Version: "v1.2.3", Commit: "abc", Date: "2026-11-29T18:00:00Z", Go: "go1.26.8"},
		`{"version":"v1","commit":null,"date":null,"go":"go1"}`: {Version: "v1", Date: "yesterday", Go: "go1"},
	} {
		got, err := json.Marshal(releaseOf(about))
		testkit.Must(t, err)
		if string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
