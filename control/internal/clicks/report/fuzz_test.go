package report_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// visited is a click store with one click whose texts come from the visitor.
type visited struct {
	analytics.Store
	text string
}

func (s *visited) Lines(_ context.Context, q analytics.Query) ([]analytics.Line, error) {
	if q.Every != analytics.NoInterval {
		return nil, nil
	}
	return []analytics.Line{{Visitors: 1}}, nil
}

func (s *visited) Breakdown(_ context.Context, _ analytics.Scope, dims []analytics.Dimension,
	_ int) (map[analytics.Dimension][]analytics.Count, error) {
	out := map[analytics.Dimension][]analytics.Count{}
	for _, d := range dims {
		out[d] = []analytics.Count{{Value: s.text, Clicks: 1}}
	}
	return out, nil
}

func (s *visited) Clicks(_ context.Context, _ analytics.Scope, _ int, f func(*analytics.Row) error) error {
	r := analytics.Row{Referer: s.text, Country: s.text, City: s.text, Browser: s.text}
	r.UTM.Source, r.UTM.Content = s.text, s.text
	return f(&r)
}

// FuzzExport checks that an export preserves any text from visitors, and that no cell is a formula to a spreadsheet,
// trimmed or not.
func FuzzExport(f *testing.F) {
	st := storetest.Open(f)
	for _, s := range []string{"=1+1", " =1", "\t=1", "\u00a0@SUM(A1)", "-2+3", "+cmd|' /C calc'!A0", "＝1", "a\"b", "a\r\nb", "\r\n=1",
		"a,=1", "'=1", "", "\ufeff=1", "\x00", "\xff", "Direct"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // the spool rejects such bytes
		}
		s := report.New(st, &visited{text: text}, func() time.Time { return time.UnixMilli(1_780_000_000_000) })
		e, err := s.Export(t.Context(), auth.PrincipalOf(store.User{ID: "u", Num: 1, Role: "USER"}), "", report.Ask{}, true)
		testkit.Must(t, err)
		var b bytes.Buffer
		testkit.Must(t, e.WriteCSV(t.Context(), &b))
		_, table, _ := strings.Cut(b.String(), "\r\n\r\n") // after the comment lines
		r := csv.NewReader(strings.NewReader(table))
		r.FieldsPerRecord = -1
		rows, err := r.ReadAll()
		if err != nil {
			t.Fatalf("%q: %v\n%s", text, err, table)
		}
		found, want := 0, strings.ReplaceAll(text, "\r", "") // CSV treats these as line ends
		for _, row := range rows {
			for _, cell := range row {
				if cell == want || cell == "'"+want {
					found++
				}
				trimmed := strings.TrimLeftFunc(cell, unicode.IsSpace)
				if trimmed != "" && strings.ContainsAny(trimmed[:1], "=+-@") || cell != "" && strings.ContainsAny(cell[:1], "\t\r") {
					t.Fatalf("%q is the cell %q", text, cell)
				}
			}
		}
		if text != "" && found < 2 {
			t.Fatalf("%q is in %d cells\n%s", text, found, table)
		}
		b.Reset()
		if err := e.WriteJSON(t.Context(), &b); err != nil || !json.Valid(b.Bytes()) {
			t.Fatalf("%q: %v %s", text, err, b.String())
		}
	})
}
