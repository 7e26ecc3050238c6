package deploy_test

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The licence list of an image names every module that is linked into its program, with a licence text.
func TestLicences_cover_what_is_linked_in(t *testing.T) {
	t.Parallel()
	for _, image := range images {
		t.Run(image.name, func(t *testing.T) {
			t.Parallel()
			path := program(t, image.name)
			b, err := os.ReadFile(filepath.Join(filepath.Dir(path), "doc", "THIRD_PARTY_LICENSES-"+image.name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			contents, texts, _ := strings.Cut(string(b), "\n\n\n")
			info, err := buildinfo.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			linked := 0
			for _, m := range info.Deps {
				if strings.HasPrefix(m.Path, "github.com/shortline/shortline/") {
					continue
				}
				linked++
				name := m.Path + " " + m.Version
				_, licence, ok := strings.Cut(contents, "\n  "+name+": ")
				if licence, _, _ = strings.Cut(licence, "\n"); !ok || !strings.Contains(licence, "[") || !strings.HasSuffix(licence, "]") {
					t.Errorf("%s is linked in but has no licence text in the list: %q", name, licence)
				}
				if !strings.Contains(texts, name) {
					t.Errorf("no licence text belongs to %s", name)
				}
			}
			if linked < 20 {
				t.Errorf("found only %d linked modules, so the search is broken", linked)
			}
			for _, notice := range map[string][]string{
				"edge":       {"Copyright 2009 The Go Authors", "Martin Monperrus"},
				"control":    {"Copyright 2009 The Go Authors", "GNU LESSER GENERAL PUBLIC LICENSE", "Copyright (c) 2010, Google Inc."},
				"standalone": {"Copyright 2009 The Go Authors", "Stichting DuckDB Foundation", "COPYRIGHT AND PERMISSION NOTICE (ICU", "== zstd"},
			}[image.name] {
				if !strings.Contains(texts, notice) {
					t.Errorf("no licence text contains %q", notice)
				}
			}
		})
	}
}

// DuckDB's libraries contain the generators of two benchmarks, whose licence forbids redistribution. The linker leaves
// them out because nothing references them. A string that only they contain would reveal them.
func TestLicences_no_benchmark_of_TPC_is_linked_in(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(program(t, "standalone"))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"theodolites", "store_returns"} { // of TPC-H, of TPC-DS
		if bytes.Contains(b, []byte(word)) {
			t.Errorf("standalone contains %q", word)
		}
	}
}
