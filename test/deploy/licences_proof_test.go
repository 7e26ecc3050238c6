//go:build proof

package deploy_test

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// coversWhatIsLinkedIn checks that the list of licences in a folder names every module that is linked into a program, with a
// licence text. In the workspace, programs have other versions of some modules, so only the programs of images are checked.
func coversWhatIsLinkedIn(t *testing.T, name, path, dir string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "THIRD_PARTY_LICENSES-"+name+".txt"))
	testkit.Must(t, err)
	contents, texts, _ := strings.Cut(string(b), "\n\n\n")
	info, err := buildinfo.ReadFile(path)
	testkit.Must(t, err)
	linked := 0
	for _, m := range info.Deps {
		if strings.HasPrefix(m.Path, "github.com/shortline/shortline/") {
			continue
		}
		linked++
		module := m.Path + " " + m.Version
		_, licence, ok := strings.Cut(contents, "\n  "+module+": ")
		if licence, _, _ = strings.Cut(licence, "\n"); !ok || !strings.Contains(licence, "[") || !strings.HasSuffix(licence, "]") {
			t.Errorf("%s: %s is linked in but has no licence text in the list: %q", name, module, licence)
		}
		if !strings.Contains(texts, module) {
			t.Errorf("%s: no licence text belongs to %s", name, module)
		}
	}
	if linked < 20 {
		t.Errorf("%s: found only %d linked modules, so the search is broken", name, linked)
	}
	for _, notice := range map[string][]string{
		"edge":       {"Copyright 2009 The Go Authors", "Martin Monperrus"},
		"control":    {"Copyright 2009 The Go Authors", "GNU LESSER GENERAL PUBLIC LICENSE", "Copyright (c) 2010, Google Inc."},
		"standalone": {"Copyright 2009 The Go Authors", "Stichting DuckDB Foundation", "COPYRIGHT AND PERMISSION NOTICE (ICU", "== zstd"},
	}[name] {
		if !strings.Contains(texts, notice) {
			t.Errorf("%s: no licence text contains %q", name, notice)
		}
	}
}
