package control_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/snapshot"
)

const compatibility = "formats.md#upgrades-order-and-compatibility"

// docs/developers/formats.md is the one source for what works with what. Its table says what the code does, and other pages link to it
// and say nothing of their own.
func TestOps5_compatibility(t *testing.T) {
	t.Parallel()
	docs := filepath.Join("..", "docs")
	page := func(name string) string {
		b, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	_, section, _ := strings.Cut(page("developers/formats.md"), "\n## Upgrades: order and compatibility\n")
	section, _, found := strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("docs/developers/formats.md has no such section")
	}
	table := map[string][2]string{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|"); len(cells) == 3 {
			table[strings.TrimSpace(cells[0])] = [2]string{strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])}
		}
	}

	var doc bytes.Buffer
	if _, err := snapshot.NewWriter(&doc, snapshot.Cursor{}); err != nil {
		t.Fatal(err)
	}
	number := func(b []byte, at int) string { return fmt.Sprint(binary.LittleEndian.Uint16(b[at:])) }
	delta := snapshot.AppendDelta(nil, &snapshot.Delta{Incarnation: 1, To: 1})
	frame := click.AppendBatch(nil, &click.Batch{Lane: click.Lane{Edge: 1, Epoch: 1}, First: 1})
	for what, written := range map[string]string{
		"document of links": number(doc.Bytes(), 8), "delta of links": number(delta, 8), "schema of a link": fmt.Sprint(snapshot.Schema),
		"schema of a click": fmt.Sprint(click.Schema), "batch of clicks": fmt.Sprint(frame[4]),
	} {
		// Every one ever released is read: the golden files of the first release are.
		if got := table[what]; got != [2]string{written, "1"} {
			t.Errorf("docs/developers/formats.md says of %s %v; it is written as %s and read from 1", what, got, written)
		}
	}
	var oldest int
	if err := storetest.Open(t).Row(t.Context(), `SELECT oldest FROM schema_support WHERE id = 1`).Scan(&oldest); err != nil {
		t.Fatal(err)
	}
	if got := table["database schema, by programs that know"]; got[1] != fmt.Sprint(oldest) {
		t.Errorf("docs/developers/formats.md says that the database works with programs that know schema %q, the database says %d",
			got[1], oldest)
	}

	for _, name := range []string{"operators/operations.md", "operators/kubernetes.md"} {
		if text := page(name); !strings.Contains(text, compatibility) {
			t.Errorf("docs/%s does not link to %s", name, compatibility)
		}
	}
	all, err := filepath.Glob(filepath.Join(docs, "*", "*.md"))
	if err != nil || len(all) < 5 {
		t.Fatalf("%d pages, %v", len(all), err)
	}
	for _, path := range all {
		name, _ := filepath.Rel(docs, path)
		for _, phrase := range []string{"newer schema", "older schema", "works with the new control plane", "refuse every newer"} {
			if name != "developers/formats.md" && strings.Contains(strings.Join(strings.Fields(page(name)), " "), phrase) {
				t.Errorf("docs/%s says %q; docs/developers/formats.md is the place for that", name, phrase)
			}
		}
	}
}

// A program of before goes on working with a newer schema if the database says so, as docs/developers/formats.md has it.
func TestOps5_a_newer_schema(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "links")
	open := func() error {
		s, err := store.Open(t.Context(), store.Config{URL: url})
		if err == nil {
			err = s.Close()
		}
		return err
	}
	change := func(statement string) {
		s, err := store.Open(t.Context(), store.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Tx(t.Context(), func(tx *store.Tx) error { _, err := tx.Exec(t.Context(), statement); return err }); err != nil {
			t.Fatal(err)
		}
	}
	change(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999998, 1)`)
	if err := open(); err != nil {
		t.Errorf("a newer schema that works with this program: %v", err)
	}
	change(`UPDATE schema_support SET oldest = 999998`)
	if err := open(); err == nil || !strings.Contains(err.Error(), "999998") {
		t.Errorf("a newer schema that does not: %v", err)
	}
}
