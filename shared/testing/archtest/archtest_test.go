package archtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/archtest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestProblems(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, imports := range map[string]string{
		"api/api.go":               "shared/link use/links",
		"api/api_test.go":          "store/sqlite",
		"use/links/links.go":       "use/audit store !example.com/lib/v2 !fmt",
		"use/audit/audit.go":       "store",
		"use/audit/audittest/x.go": "api",
		"store/store.go":           "",
		"store/sqlite/sqlite.go":   "store !example.com/lib",
		"cmd/main.go":              "api store/sqlite",
	} {
		text := "package p\n"
		for path := range strings.FieldsSeq(imports) {
			if foreign, ok := strings.CutPrefix(path, "!"); ok {
				text += "import _ \"" + foreign + "\"\n"
			} else if strings.HasPrefix(path, "shared") {
				text += "import _ \"github.com/shortline/shortline/" + path + "\"\n"
			} else {
				text += "import _ \"github.com/shortline/shortline/m/" + path + "\"\n"
			}
		}
		path := filepath.Join(dir, name)
		testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	module := func() archtest.Module {
		return archtest.Module{Path: "m", Dir: dir, All: []string{"shared"}, Layers: []archtest.Layer{
			{Path: "m/api", May: []string{"m/use"}, Is: "the transport"},
			{Path: "m/use", May: []string{"m/store"}, Is: "what the program does"},
			{Path: "m/store", Is: "the port to the database"},
			{Path: "m/store/sqlite", May: []string{"m/store"}, Is: "an adapter"},
			{Path: "m/cmd", May: []string{"m/api", "m/store/sqlite"}, Is: "the program"},
		}, Libraries: []archtest.Library{{Path: "example.com/lib"}}}
	}
	for name, c := range map[string]struct {
		change func(m *archtest.Module)
		want   string // "" stands for no problem
	}{
		"everything is permitted": {func(*archtest.Module) {}, ""},
		"an import of another layer": {
			func(m *archtest.Module) { m.Layers[1].May = nil },
			`use/links/links.go imports m/store. The layer m/use is what the program does; besides itself it may import ["shared"]`,
		},
		"an adapter below a permitted layer": {func(m *archtest.Module) { m.Layers[4].May[1] = "m/store" },
			"cmd/main.go imports m/store/sqlite"},
		"a package of no layer": {func(m *archtest.Module) { m.Layers = m.Layers[1:] }, "package m/api belongs to no layer"},
		"a library that is not listed": {func(m *archtest.Module) { m.Libraries = nil },
			"imports example.com/lib/v2, and m/imports_test.go does not list that for m/use/links"},
		"a library of another package": {
			func(m *archtest.Module) { m.Libraries[0].In = []string{"m/store/sqlite"} }, "use/links/links.go imports example.com/lib/v2",
		},
		"a permission that nobody uses": {func(m *archtest.Module) { m.Layers[0].May = append(m.Layers[0].May, "m/cmd") },
			"the layer m/api does not import m/cmd"},
		"a library that nobody uses": {func(m *archtest.Module) {
			m.Libraries = append(m.Libraries, archtest.Library{Path: "example.com/old"})
		}, "nothing imports the library example.com/old"},
	} {
		m := module()
		c.change(&m)
		problems, err := m.Problems()
		testkit.Must(t, err)
		if all := strings.Join(problems, "\n"); (c.want == "") != (all == "") || !strings.Contains(all, c.want) {
			t.Errorf("%s: problems are\n%s", name, all)
		}
	}
}
