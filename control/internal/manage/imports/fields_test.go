package imports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// readOne returns the record of a file with one row, with the suggested mapping.
func readOne(t *testing.T, header string, cells ...string) (record, []problem.Field) {
	t.Helper()
	columns := strings.Split(header, ",")
	table := &table{header: columns, columns: columns, rows: []row{{2, cells}}}
	m := Mapping{}
	for i, field := range suggest(columns) {
		if field != "" {
			m[field] = columns[i]
		}
	}
	r, err := m.reader(table)
	testkit.Must(t, err)
	return r.readRow(&table.rows[0])
}

// tell returns problems or warnings as one text.
func tell(list []problem.Field) string {
	var texts []string
	for _, p := range list {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, "; ")
}

// Names of tags survive a cell, whatever they contain.
func TestF2_names_of_tags_survive_a_cell(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{
		{"news"}, {"a", "b"}, {"Paris, France"}, {"a;b", "Paris, France"}, {"a|b"}, {`say "hi"`, "x,y"}, {"[1]"}, {`["x"]`, "y"},
		{"<b>&", "a,b"}, {"{}"}, {"'x"}, {"[", "]"}, {"null"}, {`a\`, "b;"},
	} {
		cell := JoinTags(names)
		for _, header := range []string{"url,tags", "longUrl,tags,shortCode"} {
			if header != "url,tags" && len(names) > 1 && !strings.HasPrefix(cell, "[") {
				continue // Shlink separates by other characters
			}
			got, problems := readOne(t, header, "https://example.com/", cell)
			if len(problems)+len(got.warnings) > 0 || got.Tags == nil || !slices.Equal(*got.Tags, names) {
				t.Errorf("%q: the cell %s gives %v, %s, %s", names, cell, got.Tags, tell(problems), tell(got.warnings))
			}
		}
	}
}

// Cells of tags of all services give the names that they mean, and a cell that could mean others is reported.
func TestF5_lists_of_tags(t *testing.T) {
	t.Parallel()
	const ours, shlink, older = "url,tags", "longUrl,tags,shortCode", "longUrl,tags,shortUrl,visits"
	for _, c := range []struct{ header, cell, names, warns string }{
		{ours, "a, b", "a/b", ""}, {ours, "a;b; c;", "a/b/c", ""}, {ours, `["x","y, z"]`, "x/y, z", ""}, {ours, "[]", "", ""},
		{ours, `[{"id":"t1","name":"Sale, new","color":"red"}]`, "Sale, new", ""}, // Dub's API
		{ours, "[draft]", "[draft]", ""}, {ours, "[a, b", "[a/b", ""}, {ours, "[a], [b]", "[a]/[b]", ""},
		{ours, "[a, b]", "[a/b]", `tags: the cell is no JSON array, so "[a" is one tag`},
		{ours, "{a;b}", "{a/b}", `tags: the cell is no JSON array, so "{a" is one tag`}, // PostgreSQL's arrays
		{ours, "a;b, c", "a/b, c", `tags: the names of tags are separated by ";" here, so "b, c" is one tag`},
		{ours, "a|b", "a|b", `tags: the names of tags are separated by "," here, so "a|b" is one tag`},
		{shlink, "foo|bar", "foo/bar", ""}, {older, "foo|bar", "foo/bar", ""}, {shlink, "foo", "foo", ""}, {shlink, "", "none", ""},
		{shlink, "a,b|c", "a,b/c", `tags: the names of tags are separated by "|" here, so "a,b" is one tag`},
	} {
		got, problems := readOne(t, c.header, "https://example.com/", c.cell)
		names := "none"
		if got.Tags != nil {
			names = strings.Join(*got.Tags, "/")
		}
		if names != c.names || tell(got.warnings) != c.warns || len(problems) > 0 {
			t.Errorf("%s: %q gives %q, %s, %s", c.header, c.cell, names, tell(problems), tell(got.warnings))
		}
	}
	for _, broken := range []string{`["a",`, `["a" "b"]`, `[1,2]`, `["a",null]`, `[{"id":1}]`, `[["a"]]`, `['a', 'b']`, `['a']`} {
		got, problems := readOne(t, ours, "https://example.com/", broken)
		if !strings.HasPrefix(tell(problems), "tags: must be a JSON array") || got.Tags != nil {
			t.Errorf("%s: %v %s", broken, got.Tags, tell(problems))
		}
	}
}

// The slug of an address is its last part, with or without a scheme. What would change an address is reported.
func TestF4_slugs_of_addresses(t *testing.T) {
	t.Parallel()
	const noSlug = "slug: has no slug: the address ends after the host"
	for _, c := range []struct{ cell, slug, host, tells string }{
		{"spring", "spring", "", ""},
		{"https://bit.ly/3AbCdEf", "3AbCdEf", "bit.ly", ""},
		{"bit.ly/3AbCdEf", "3AbCdEf", "bit.ly", ""},
		{"bit.ly/3AbCdEf/", "3AbCdEf", "bit.ly", ""},
		{"https://bit.ly/3AbCdEf?utm_source=a/b#c", "3AbCdEf", "bit.ly", ""},
		{"Go.Acme.com:8080/x-1#top", "x-1", "go.acme.com", ""},
		{"http://localhost:8080/abc", "abc", "localhost", ""},
		{"bücher.example/abc", "abc", "bücher.example", ""},
		{"xn--e1afmkfd.xn--p1ai/abc", "abc", "xn--e1afmkfd.xn--p1ai", ""},
		{`["https://bit.ly/my-url"]`, "my-url", "bit.ly", ""},
		{
			`["https://bit.ly/one","https://bit.ly/two"]`, "one", "bit.ly",
			`slug: "https://bit.ly/one" is taken; other addresses of the link that are lost: 1`,
		},
		{"bit.ly/one, Go.Acme.com/two", "one", "bit.ly", `slug: "bit.ly/one" is taken; other addresses of the link that are lost: 1`},
		{"https://bit.ly/one|https://bit.ly/two", "one", "bit.ly",
			`slug: "https://bit.ly/one" is taken; other addresses of the link that are lost: 1`},
		{"https://bit.ly/abc?x=a,b", "abc", "bit.ly", ""},
		{"https://acme.com/promo/2024", "2024", "acme.com", `slug: only the last part of the path "promo/2024" becomes the slug`},
		// These are no addresses, and refused as slugs.
		{"conf/2024", "conf/2024", "", ""},
		{"conf.2024/x", "conf.2024/x", "", ""},
		{"/abc", "/abc", "", ""},
		{"abc?x=1", "abc?x=1", "", ""},
		{"https://bit.ly/", "", "", noSlug},
		{"bit.ly/?x", "", "", noSlug},
		{"https://localhost", "", "", noSlug},
		{"[1]", "", "", "slug: must be a slug or a short URL"},
	} {
		got, problems := readOne(t, "url,slug", "https://example.com/", c.cell)
		if got.CustomSlug != c.slug || got.host != c.host || tell(problems)+tell(got.warnings) != c.tells {
			t.Errorf("%s: %q on %q, %s, %s", c.cell, got.CustomSlug, got.host, tell(problems), tell(got.warnings))
		}
	}
}

// A link of Bitly without a custom back-half has the one that Bitly made.
func TestF3_custom_slug_is_preferred(t *testing.T) {
	t.Parallel()
	for custom, want := range map[string]string{
		"": "3XyAbC1", "[]": "3XyAbC1", "https://bit.ly/spring": "spring", `["https://bit.ly/spring"]`: "spring",
	} {
		for _, header := range []string{"Link,Custom Link,Destination URL", "bitlink,custom_bitlinks,long_url"} {
			got, problems := readOne(t, header, "https://bit.ly/3XyAbC1", custom, "https://example.com/")
			if got.CustomSlug != want || len(problems) > 0 {
				t.Errorf("%s, %q: %q %s", header, custom, got.CustomSlug, tell(problems))
			}
		}
	}
	if got, _ := readOne(t, "link,slug,url", "https://bit.ly/3XyAbC1", "", "https://example.com/"); got.CustomSlug != "" {
		t.Errorf("a column that the mapping leaves out gives the slug %q", got.CustomSlug)
	}
}

// A cell with a special meaning here, which it need not have elsewhere, is refused and names its field.
func TestF7_cells_are_never_reinterpreted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ column, cell, wrong string }{
		{"expiresAt", "2027-02-30", "expiresAt: must be a date"},
		{"expiresAt", "31.01.2027", "expiresAt: must be a date"},
		{"expiresAt", "1700000000", "expiresAt: must be a date"},
		{"expiresAt", "1970-01-01T00:00:00Z", "expiresAt: is the start of 1970"},
		{"createdAt", "1970-01-01", "createdAt: is the start of 1970"},
		{"startsAt", "1970-01-01 00:00", "startsAt: is the start of 1970"},
		{"redirectCode", "0", "redirectCode: must be 301"},
		{"redirectCode", "301 Moved", "redirectCode: must be a whole"},
		{"maxClicks", "1e3", "maxClicks: must be a whole"},
		{"maxClicks", "1,000", "maxClicks: must be a whole"},
		{"trackConversions", "maybe", "trackConversions: must be true"},
		{"status", "EXPIRED", "status: is EXPIRED, but the row has no expiresAt"},
		{"status", "scheduled", "status: is SCHEDULED, but the row has no startsAt"},
		{"status", "EXHAUSTED", "status: is EXHAUSTED, but the row has no maxClicks"},
	} {
		if _, problems := readOne(t, "url,"+c.column, "https://example.com/", c.cell); !strings.HasPrefix(tell(problems), c.wrong) {
			t.Errorf("%s %q: %q, want %q", c.column, c.cell, tell(problems), c.wrong)
		}
	}
	_, problems := readOne(t, "url,status,expiresAt", "https://example.com/", "expired", "9999-01-01")
	if !strings.HasPrefix(tell(problems), "expiresAt: must not lie in the future, because the status is EXPIRED") {
		t.Errorf("an expired link that has not expired: %s", tell(problems))
	}
	got, problems := readOne(t, "url,status,maxClicks", "https://example.com/", "exhausted", "5")
	if len(problems) > 0 || got.Status != nil || !strings.HasPrefix(tell(got.warnings), "status: clicks are not imported") {
		t.Errorf("an exhausted link: %v %s %s", got.Status, tell(problems), tell(got.warnings))
	}
	for state, want := range map[string]string{"EXPIRED": "<nil>", "SCHEDULED": "ACTIVE", "inactive": "INACTIVE",
		"SUSPENDED": "SUSPENDED"} {
		got, problems := readOne(t, "url,status,expiresAt,startsAt", "https://example.com/", state, "2021-01-01", "2020-01-01")
		status := "<nil>"
		if got.Status != nil {
			status = *got.Status
		}
		if status != want || len(problems) > 0 {
			t.Errorf("%s is %s: %s", state, status, fmt.Sprint(problems))
		}
	}
}
