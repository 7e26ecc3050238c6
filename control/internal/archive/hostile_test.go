package archive_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/archive"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// pack makes an archive of members. The manifest fits them, unless it is among them.
func pack(t *testing.T, of map[string]string, manifest func(*archive.Manifest), twice ...string) []byte {
	t.Helper()
	var m archive.Manifest
	testkit.Must(t, json.Unmarshal([]byte(of["manifest.json"]), &m))
	for i := range m.Members {
		text := of[m.Members[i].Name]
		sum := sha256.Sum256([]byte(text))
		m.Members[i].Bytes, m.Members[i].SHA256 = int64(len(text)), hex.EncodeToString(sum[:])
		if strings.HasSuffix(m.Members[i].Name, ".ndjson") {
			m.Members[i].Rows = int64(strings.Count(text, "\n"))
		}
	}
	if manifest != nil {
		manifest(&m)
	}
	text, err := json.Marshal(m)
	testkit.Must(t, err)
	of = maps.Clone(of)
	of["manifest.json"] = string(text)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range append(slices.Sorted(maps.Keys(of)), twice...) {
		w, err := z.Create(name)
		testkit.Must(t, err)
		_, err = io.WriteString(w, of[name])
		testkit.Must(t, err)
	}
	testkit.Must(t, z.Close())
	return b.Bytes()
}

// If anything is wrong with an archive, the import answers with a 4xx that says so, and changes nothing.
func TestArchive_hostile(t *testing.T) {
	t.Parallel()
	source := newSite(t, storetest.Open(t), nil, archive.Config{})
	source.fill(rand.New(rand.NewPCG(9, 9)), 40, 200)
	path := source.export(source.p)
	good := members(t, path)
	whole, err := os.ReadFile(path)
	testkit.Must(t, err)
	to := newSite(t, storetest.Open(t), nil, archive.Config{})
	other := to.user("bob@example.com")
	with := func(name, text string) map[string]string {
		out := maps.Clone(good)
		out[name] = text
		return out
	}
	edited := func(name, old, text string) map[string]string {
		if !strings.Contains(good[name], old) {
			t.Fatalf("%s has no %q", name, old)
		}
		return with(name, strings.Replace(good[name], old, text, 1))
	}
	for name, c := range map[string]struct {
		file  []byte
		field string // "": any
	}{
		"empty":       {nil, "archive"},
		"no zip":      {bytes.Repeat([]byte("PK"), 1000), "archive"},
		"cut off":     {whole[:len(whole)*2/3], "archive"},
		"cut by one":  {whole[:len(whole)-1], "archive"},
		"a bit":       {flipped(whole), ""},
		"no manifest": {without(t, good, "manifest.json"), "manifest.json"},
		"no links":    {without(t, good, "links.ndjson"), "manifest.json"},
		"twice":       {pack(t, good, nil, "links.ndjson"), "links.ndjson"},
		"climbs":      {pack(t, with("../../etc/passwd", "x"), nil), "archive"},
		"unknown":     {pack(t, with("more.txt", "x"), nil), "archive"},
		"newer":       {pack(t, good, func(m *archive.Manifest) { m.Version = 2 }), "manifest.json"},
		"not ours":    {pack(t, good, func(m *archive.Manifest) { m.Format = "tar" }), "manifest.json"},
		"wrong sum": {pack(t, good, func(m *archive.Manifest) { m.Members[3].SHA256 = strings.Repeat("0", 64) }),
			"links.ndjson"},
		"wrong rows": {pack(t, good, func(m *archive.Manifest) { m.Members[3].Rows++ }), "links.ndjson"},
		"wrong size": {pack(t, good, func(m *archive.Manifest) { m.Members[3].Bytes-- }), "links.ndjson"},
		"listed twice": {pack(t, good, func(m *archive.Manifest) { m.Members = append(m.Members, m.Members[0]) }),
			"manifest.json"},
		"not UTF-8":   {pack(t, edited("links.ndjson", `"title":"`, "\"title\":\"\xff"), nil), "links.ndjson"},
		"a long line": {pack(t, with("links.ndjson", `{"id":"`+strings.Repeat("x", 2<<20)+"\"}\n"), nil), "links.ndjson"},
		"a long cell": {pack(t, with("figures/clicks.csv", good["figures/clicks.csv"]+strings.Repeat("x", 2<<20)), nil), "figures/clicks.csv"},
		"an open quote": {pack(t, with("figures/clicks.csv", good["figures/clicks.csv"]+`"`+strings.Repeat("x\n", 1<<20)), nil),
			"figures/clicks.csv"},
		"other columns":  {pack(t, edited("figures/clicks.csv", "id,time", "time,id"), nil), "figures/clicks.csv"},
		"no time":        {pack(t, edited("figures/clicks.csv", "2026-", "yesterday-"), nil), "figures/clicks.csv"},
		"no JSON":        {pack(t, with("tags.ndjson", "tags\n"), nil), "tags.ndjson"},
		"two values":     {pack(t, with("tags.ndjson", "{}{}\n"), nil), "tags.ndjson"},
		"more members":   {pack(t, edited("links.ndjson", `"slug"`, `"passwordHash":"x","slug"`), nil), "links.ndjson"},
		"the same id":    {pack(t, with("tags.ndjson", good["tags.ndjson"]+good["tags.ndjson"]), nil), "tags.ndjson"},
		"the same links": {pack(t, with("links.ndjson", good["links.ndjson"]+good["links.ndjson"]), nil), "links.ndjson"},
		"no id":          {pack(t, edited("links.ndjson", `{"id":"`, `{"id":"x`), nil), "links.ndjson"},
		"a bomb":         {bomb(t, good), "figures/clicks.csv"},
		"many members":   {manyMembers(t), "archive"},
	} {
		for _, dry := range []bool{true, false} {
			_, err := to.archive.Import(t.Context(), to.p, bytes.NewReader(c.file), int64(len(c.file)),
				archive.Options{DryRun: dry, SkipConflicts: true})
			var e *problem.Error
			if !errors.As(err, &e) || e.Kind != problem.Invalid || len(e.Fields) != 1 || c.field != "" && e.Fields[0].Field != c.field {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	// Values that requests may not have are refused like those of requests.
	for name, of := range map[string]map[string]string{
		"a script":    edited("links.ndjson", `"originalUrl":"https://example.com/`, `"originalUrl":"javascript:alert(1)//`),
		"a condition": edited("links.ndjson", `"COUNTRY"`, `"MOON"`),
		"a slug":      edited("links.ndjson", `"slug":"slug-0"`, `"slug":"api"`),
		"a colour":    edited("tags.ndjson", `"#123456"`, `"red"`),
		"an image":    edited("links.ndjson", `"texts":{`, `"texts":{"ogImage":"x",`),
	} {
		_, err := to.archive.Import(t.Context(), to.p, bytes.NewReader(pack(t, of, nil)), int64(len(pack(t, of, nil))), archive.Options{})
		var e *problem.Error
		if !errors.As(err, &e) || e.Kind != problem.Conflict || len(e.Fields) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, p := range []uint64{to.p.Workspace.Num, other.Workspace.Num} {
		list, err := to.store.LinksAfter(t.Context(), p, 0, 0, 1)
		testkit.Must(t, err)
		tags, _, err := to.store.Tags(t.Context(), store.TagFilter{Workspace: p, Limit: 1})
		testkit.Must(t, err)
		if len(list)+len(tags) > 0 {
			t.Error("something was changed")
		}
	}
}

// flipped changes a bit of the first member that is long.
func flipped(b []byte) []byte {
	b = bytes.Clone(b)
	b[len(b)/4] ^= 4
	return b
}

func without(t *testing.T, of map[string]string, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, member := range slices.Sorted(maps.Keys(of)) {
		if member == name {
			continue
		}
		w, err := z.Create(member)
		testkit.Must(t, err)
		_, err = io.WriteString(w, of[member])
		testkit.Must(t, err)
	}
	testkit.Must(t, z.Close())
	return b.Bytes()
}

// bomb says that a member has more bytes than it can have.
func bomb(t *testing.T, good map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "figures/clicks.csv", Method: zip.Deflate, CompressedSize64: 3,
		UncompressedSize64: 1 << 40})
	testkit.Must(t, err)
	_, err = w.Write([]byte{3, 0, 0})
	testkit.Must(t, err)
	m, err := z.Create("manifest.json")
	testkit.Must(t, err)
	_, err = io.WriteString(m, good["manifest.json"])
	testkit.Must(t, err)
	testkit.Must(t, z.Close())
	return b.Bytes()
}

func manyMembers(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range 30_000 {
		_, err := z.Create(fmt.Sprintf("members/with/a/long/name/%d", i))
		testkit.Must(t, err)
	}
	testkit.Must(t, z.Close())
	return b.Bytes()
}
