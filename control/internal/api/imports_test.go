package api_test

import (
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/imports"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
)

var asCSV = with("Content-Type", "text/csv")

// uploadLinks stores a file as an import of ann, and returns its id.
func (w *world) uploadLinks(content string, options ...option) string {
	w.t.Helper()
	return w.do("POST", "/api/imports?name=links.csv", content, append([]option{as(w.ann), asCSV}, options...)...).want(201).str("id")
}

// runImports imports everything that was started.
func (w *world) runImports() {
	w.t.Helper()
	for more := true; more; {
		var err error
		more, err = w.imports.Next(w.t.Context())
		w.ok(err)
	}
}

// imported starts an import, and returns it when it has ended.
func (w *world) imported(id, plan string) *reply {
	w.t.Helper()
	w.do("POST", "/api/imports/"+id+"/start", plan, as(w.ann)).want(202)
	w.runImports()
	return w.do("GET", "/api/imports/"+id, "", as(w.ann)).want(200)
}

// counts returns the members of an object as one text.
func counts(r *reply, path string, names ...string) string {
	var list []string
	for _, n := range names {
		list = append(list, fmt.Sprintf("%s %v", n, r.num(strings.TrimPrefix(path+"."+n, "."))))
	}
	return strings.Join(list, ", ")
}

func (r *reply) progress() string {
	return r.str("status") + ": " + counts(r, "progress", "done", "created", "updated", "skipped", "renamed", "failed")
}

func (r *reply) preview() string {
	return counts(r, "", "rows", "create", "update", "skip", "rename", "errors")
}

// A thousand rows, 17 of which are bad: the dry run names them, the import creates the others, and the file of the failed
// rows can be imported after it was corrected.
func TestImports_bad_rows_are_named_and_come_back(t *testing.T) {
	w := small(t, whole)
	bad := []struct{ from, to, field, column string }{
		{"https://example.com/", "ftp://example.com/", "originalUrl", "long_url"}, {"https://example.com/", "", "originalUrl", "long_url"},
		{"slug-", "a b", "slug", "keyword"}, {"news;", strings.Repeat("x", 41) + ";", "tags", "tags"},
		{"2020-01-02", "yesterday", "createdAt", "created"},
		{"2020-01-02", "2999-01-01", "createdAt", "created"}, {"2030-01-01", "2030-02-30", "expiresAt", "expires"},
		{"title", strings.Repeat("t", 256), "title", "title"},
		{",0", ",many", "maxClicks", "max_clicks"}, {"ACTIVE", "BROKEN", "status", "status"},
	}
	var b strings.Builder
	b.WriteString("\uFEFFlong_url,keyword,title,tags,created,expires,status,clicks,max_clicks\r\n")
	fields := map[string]string{}
	for i := range 1000 {
		line := fmt.Sprintf("https://example.com/%d,slug-%d,\"title, %d\",news;all,2020-01-02 03:04:05,2030-01-01,ACTIVE,7,0", i, i, i)
		if i%60 == 3 { // 17 of them
			p := bad[i/60%len(bad)]
			at := strings.Index(line, p.from)
			line = line[:at] + p.to + line[at+len(p.from):]
			fields[fmt.Sprint(i+2)] = p.field + " " + p.column
		}
		b.WriteString(line + "\r\n")
	}
	r := w.do("POST", "/api/imports?name=links.csv", b.String(), as(w.ann), asCSV).want(201)
	id := r.str("id")
	r.shows("rows", 1000, "delimiter", ",", "status", "MAPPING", "columns.0.sample.1", "https://example.com/1")
	mapping := r.suggested()
	body := planOf(mapping, "skip")
	if len(mapping) != 8 || mapping["slug"] != "keyword" || mapping["createdAt"] != "created" {
		t.Errorf("suggested: %v", mapping)
	}
	w.unchanged("a dry run", func() {
		dry := w.do("POST", "/api/imports/"+id+"/dry-run", body, as(w.ann)).want(200)
		if got := dry.preview(); got != "rows 1000, create 983, update 0, skip 0, rename 0, errors 17" {
			t.Errorf("dry run: %s", got)
		}
		list := dry.at("problems").([]any)
		for _, p := range list {
			p := p.(map[string]any)
			if want := fields[fmt.Sprint(p["row"])]; want != fmt.Sprint(p["field"], " ", p["column"]) || p["message"] == "" {
				t.Errorf("row %v: %v, want %q", p["row"], p, want)
			}
		}
		if len(list) != 17 {
			t.Errorf("%d problems: %s", len(list), dry.text)
		}
	})
	started := w.do("POST", "/api/imports/"+id+"/start", body, as(w.ann)).want(202)
	if started.progress() != "RUNNING: done 0, created 0, updated 0, skipped 0, renamed 0, failed 0" || started.at("deleteAt") != nil {
		t.Errorf("started: %s", started.text)
	}
	w.do("POST", "/api/imports/"+id+"/start", body, as(w.ann)).want(409)
	w.do("DELETE", "/api/imports/"+id, "", as(w.ann)).want(409)
	w.runImports()
	const want = "DONE: done 1000, created 983, updated 0, skipped 0, renamed 0, failed 17"
	if got := w.do("GET", "/api/imports/"+id, "", as(w.ann)).want(200); got.progress() != want || got.at("deleteAt") == nil {
		t.Errorf("import: %s, want %s", got.text, want)
	}
	w.checkImported(1000 - 17)
	fixed := w.fixProblems(id, 17)
	again := w.uploadLinks(fixed)
	if got := w.imported(again, body).progress(); got != "DONE: done 17, created 17, updated 0, skipped 0, renamed 0, failed 0" {
		t.Errorf("the corrected rows: %s", got)
	}
	w.checkImported(1000)
}

// suggested returns the mapping that the response to an upload suggests.
func (r *reply) suggested() map[string]string {
	mapping := map[string]string{}
	columns, _ := r.at("columns").([]any)
	for _, c := range columns {
		column := c.(map[string]any)
		if field := column["suggested"].(string); field != "" {
			mapping[field] = column["name"].(string)
		}
	}
	return mapping
}

// planOf returns the body of a dry run and of a start.
func planOf(mapping map[string]string, conflicts string) string {
	var list []string
	for field, column := range mapping {
		list = append(list, fmt.Sprintf("%q:%q", field, column))
	}
	slices.Sort(list)
	return fmt.Sprintf(`{"mapping":{%s},"conflicts":%q}`, strings.Join(list, ","), conflicts)
}

// checkImported checks the links of the test above.
func (w *world) checkImported(n int) {
	w.t.Helper()
	w.do("GET", "/api/urls?tag=news&tag=all", "", as(w.ann)).want(200).shows("total", float64(n))
	var have, distinct, logged int
	w.ok(w.store.Row(w.t.Context(), `SELECT count(*), count(DISTINCT slug) FROM urls WHERE slug LIKE 'slug-%'`).Scan(&have, &distinct))
	w.ok(w.store.Row(w.t.Context(), `SELECT count(*) FROM link_changes c JOIN urls u ON u.num = c.num`).Scan(&logged))
	if have != n || distinct != n || logged < n {
		w.t.Errorf("%d links, %d slugs, %d changes for edges; want %d", have, distinct, logged, n)
	}
	r := w.do("GET", "/api/urls?search=slug-999", "", as(w.ann)).want(200)
	r.shows("data.0.slug", "slug-999", "data.0.title", "title, 999", "data.0.createdAt", "2020-01-02T03:04:05.000Z",
		"data.0.originalUrl", "https://example.com/999", "data.0.clickCount", 0)
	var bulk, finished int
	w.ok(w.store.Row(w.t.Context(),
		`SELECT count(CASE WHEN action = 'URL_BULK_CREATED' THEN 1 END), count(CASE WHEN action = 'IMPORT_FINISHED' THEN 1 END) FROM audit_logs`).
		Scan(&bulk, &finished))
	if bulk < 5 || finished < 1 {
		w.t.Errorf("%d entries of created links and %d of finished imports", bulk, finished)
	}
}

// fixProblems downloads the failed rows, checks their number, and returns them corrected.
func (w *world) fixProblems(id string, n int) string {
	w.t.Helper()
	r := w.do("GET", "/api/imports/"+id+"/problems.csv", "", as(w.ann)).want(200)
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(r.text, "\uFEFF"))).ReadAll()
	w.ok(err)
	if len(rows) != n+1 || rows[0][9] != "Import problem" {
		w.t.Fatalf("%d rows of problems: %s", len(rows)-1, r.text)
	}
	w.do("GET", "/api/imports/"+id+"/problems?pageSize=5&page=4", "", as(w.ann)).want(200).shows("total", float64(n), "data.#", n-15)
	var b strings.Builder
	c := csv.NewWriter(&b)
	for i, row := range rows {
		if i > 0 {
			if row[9] == "" {
				w.t.Errorf("a row without a reason: %v", row)
			}
			number := strings.TrimPrefix(row[2], "title, ")
			if strings.HasPrefix(row[2], "ttt") {
				number = strings.TrimPrefix(row[1], "slug-")
				row[2] = "title, " + number
			}
			copy(row, []string{"https://example.com/" + number, "slug-" + number, row[2], "news;all", "2020-01-02", "", "active", "", "0"})
		}
		w.ok(c.Write(row))
	}
	c.Flush()
	return b.String()
}

// Each way to treat conflicts, with saved links, links of other workspaces, and rows of the same file. A dry run counts what
// the import then does.
func TestImports_conflicts(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		const file = "url;slug;externalId;title\n" +
			"https://example.com/1;taken;;new title\n" + // a link of ann
			"https://example.com/2;foreign;;\n" + // a link of bob
			"https://example.com/3;twice;;\n" +
			"https://example.com/4;twice;;second\n" +
			"https://example.com/5;;x-1;\n" + // the external id of a link of ann
			"https://example.com/6;other;x-1;\n" + // which has another slug
			"https://example.com/7;;;\n"
		mapping := map[string]string{"originalUrl": "url", "slug": "slug", "externalId": "externalId", "title": "title"}
		w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/b","customSlug":"foreign"}`, as(w.bob)).want(201)
		w.do("POST", "/api/webhooks", `{"name":"W","url":"http://127.0.0.1:1/","events":["url.created","url.updated"]}`,
			as(w.ann)).want(201)
		taken := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/a","customSlug":"taken","tags":["kept"]}`, as(w.ann)).
			want(201).str("id")
		external := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/x","externalId":"x-1","customSlug":"has-id"}`,
			as(w.ann)).
			want(201).str("id")
		for _, c := range []struct{ how, dry, done string }{
			{"skip", "rows 7, create 2, update 0, skip 5, rename 0, errors 0",
				"DONE: done 7, created 2, updated 0, skipped 5, renamed 0, failed 0"},
			{"rename", "rows 7, create 1, update 0, skip 0, rename 4, errors 2",
				"DONE: done 7, created 1, updated 0, skipped 0, renamed 4, failed 2"},
			{"overwrite", "rows 7, create 1, update 4, skip 0, rename 0, errors 2",
				"DONE: done 7, created 1, updated 4, skipped 0, renamed 0, failed 2"},
		} {
			id := w.uploadLinks(file)
			if dry := w.do("POST", "/api/imports/"+id+"/dry-run", planOf(mapping, c.how), as(w.ann)).want(200); dry.preview() != c.dry {
				t.Errorf("dry run %s: %s, want %s", c.how, dry.text, c.dry)
			}
			if got := w.imported(id, planOf(mapping, c.how)).progress(); got != c.done {
				t.Errorf("%s: %s, want %s: %s", c.how, got, c.done, w.do("GET", "/api/imports/"+id+"/problems", "", as(w.ann)).text)
			}
			title := w.do("GET", "/api/urls/"+taken, "", as(w.ann)).want(200).str("title")
			if changed := c.how == "overwrite"; (title == "new title") != changed {
				t.Errorf("%s: the title of the saved link is %q", c.how, title)
			}
		}
		if got := w.tagsOf(taken); got != "kept" {
			t.Errorf("tags of an overwritten link: %q", got)
		}
		w.do("GET", "/api/urls/"+external, "", as(w.ann)).shows("originalUrl", "https://example.com/5")
		w.do("GET", "/api/urls/"+taken+"/history", "", as(w.ann)).want(200).shows("total", 2, "data.0.action", "URL_BULK_UPDATED")
		var created, updated int
		w.ok(w.store.Row(t.Context(),
			`SELECT count(CASE WHEN event = 'url.created' THEN 1 END), count(CASE WHEN event = 'url.updated' THEN 1 END) FROM webhook_deliveries`).
			Scan(&created, &updated))
		if created != 2+2+5+1 || updated != 3 { // the rows of a link in one file are one update
			t.Errorf("%d events of new links and %d of changed ones", created, updated)
		}
		for _, slug := range []string{"taken-2", "foreign-2", "twice-2", "twice-3"} {
			w.counts(1, `SELECT count(*) FROM urls WHERE slug = ?`, slug)
		}
	})
}

// A file that first creates a link and then overwrites it makes one link with the fields of the last row.
func TestImports_overwrite_within_a_file(t *testing.T) {
	w := small(t, whole)
	id := w.uploadLinks(
		"url,slug,title,tags,externalId\nhttps://example.com/1,same,first,a," +
			"\nhttps://example.com/2,same,second,b,y-1\nhttps://example.com/3,,third,,y-1\n")
	body := planOf(map[string]string{"originalUrl": "url", "slug": "slug", "title": "title", "tags": "tags", "externalId": "externalId"},
		"overwrite")
	dry := w.do("POST", "/api/imports/"+id+"/dry-run", body, as(w.ann)).want(200).preview()
	if dry != "rows 3, create 1, update 2, skip 0, rename 0, errors 0" {
		t.Errorf("dry run: %s", dry)
	}
	w.imported(id, body)
	r := w.do("GET", "/api/urls", "", as(w.ann)).want(200)
	if r.num("total") != 1 || r.str("data.0.title") != "third" || r.str("data.0.originalUrl") != "https://example.com/3" ||
		r.str("data.0.externalId") != "y-1" || joined(r.at("data.0.tags")) != "b" {
		t.Errorf("links: %s", r.text)
	}
}

// Files that are no import get a 4xx with a reason, and nothing is stored.
func TestImports_hostile_files(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t), whole)
	wide := strings.Repeat("a,", 9_999) + "a\n"
	for name, c := range map[string]struct {
		content, says string
		status        int
	}{
		"empty":             {"", "empty", 400},
		"only a header":     {"url\n", "no rows", 400},
		"NUL":               {"url\nhttps://example.com/\x00\n", "NUL byte in line 2", 400},
		"Latin-1":           {"url,title\nhttps://example.com/,caf\xe9\n", "UTF-8 (line 2)", 400},
		"UTF-16":            {"\xff\xfeu\x00r\x00l\x00", "UTF-16", 400},
		"unclosed quote":    {"url,title\nhttps://example.com/,\"a\nhttps://example.com/,b\n", "line 2", 400},
		"bare quote":        {"url,title\nhttps://example.com/,a\"b\"\n", "line 2", 400},
		"10,000 columns":    {wide + wide, "200 columns", 400},
		"columns in a row":  {"url\nhttps://example.com/\n" + wide, "200 columns in line 3", 400},
		"quoted line feeds": {"url\n" + strings.Repeat("\"a\nb\",", 300) + "\n", "200 columns", 400},
		"long heading":      {strings.Repeat("a", 201) + "\nx\n", "longer than 200", 400},
		"100,001 rows":      {"url\n" + strings.Repeat("x\n", 100_001), "100000 rows", 400},
		"passwords":         {"url,Password\nhttps://example.com/,secret\n", "Password", 400},
		"11 MB":             {"url\n" + strings.Repeat("x", 11<<20), "10 MB", 413},
		"a cell of 11 MB":   {"url\n\"" + strings.Repeat("x\n", 11<<19), "10 MB", 413},
	} {
		w.unchanged(name, func() {
			r := w.do("POST", "/api/imports", c.content, as(w.ann), asCSV).want(c.status)
			if !strings.Contains(r.text, c.says) || c.status == 400 && r.str("errors.0.field") != "file" {
				t.Errorf("%s: %s", name, r.text)
			}
		})
	}
	w.do("POST", "/api/imports", `{"a":1}`, as(w.ann)).want(415)
	w.do("POST", "/api/imports?name="+strings.Repeat("n", 101), "url\nx\n", as(w.ann), asCSV).wantField("name")
	w.do("POST", "/api/imports", "", as(w.ann), asCSV, func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(&bottomless{}), -1
	}).want(413)

	// A password in an empty column is none, and delimiters are detected.
	for content, delimiter := range map[string]string{
		"url,password\nhttps://example.com/,\n": ",", "url;title\nhttps://example.com/;\"a;b,c,d\"\n": ";",
		"url\ttitle,with,commas\tx\ty\tz\nhttps://example.com/\ta\n": "\t", "url\nhttps://example.com/a,b\n\n\n": ",",
	} {
		r := w.do("POST", "/api/imports", content, as(w.ann), asCSV).want(201)
		if r.str("delimiter") != delimiter || r.num("rows") != 1 || r.str("columns.0.suggested") != "originalUrl" {
			t.Errorf("%q: %s", content, r.text)
		}
	}
	id := w.uploadLinks("url,a,a,\nx,1,2,3\n")
	w.do("GET", "/api/imports/"+id, "", as(w.ann)).shows("columns.2.name", "a (2)", "columns.3.name", "Column 4")
	for body, field := range map[string]string{
		`{"mapping":{}}`:                        "mapping.originalUrl",
		`{}`:                                    "mapping",
		`{"mapping":{"originalUrl":"nowhere"}}`: "mapping.originalUrl",
		`{"mapping":{"originalUrl":"url","password":"a"}}`:      "mapping.password",
		`{"mapping":{"originalUrl":"url","clickCount":"a"}}`:    "mapping.clickCount",
		`{"mapping":{"originalUrl":"url"},"conflicts":"merge"}`: "conflicts",
	} {
		w.unchanged(body, func() {
			w.do("POST", "/api/imports/"+id+"/dry-run", body, as(w.ann)).wantField(field)
			w.do("POST", "/api/imports/"+id+"/start", body, as(w.ann)).wantField(field)
		})
	}
}

// bottomless is a cell without an end.
type bottomless struct{}

func (*bottomless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// Formulas in the file of failed rows are inert, and an import makes them plain again.
func TestImports_formulas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t), whole)
	id := w.uploadLinks("url;title;notes\nnowhere;=cmd|' /C calc'!A0;@SUM(A1)\nnothing;+1;-2\n")
	body := planOf(map[string]string{"originalUrl": "url", "title": "title", "notes": "notes"}, "skip")
	w.imported(id, body)
	r := w.do("GET", "/api/imports/"+id+"/problems.csv", "", as(w.ann)).want(200)
	if r.Header.Get("Content-Type") != "text/csv; charset=utf-8" || !strings.Contains(r.text, ";'=cmd|' /C calc'!A0;'@SUM(A1);") ||
		!strings.Contains(r.text, ";'+1;'-2;") {
		t.Fatalf("failed rows: %s", r.text)
	}
	again := w.uploadLinks(strings.NewReplacer("nowhere", "https://example.com/1", "nothing", "https://example.com/2").Replace(r.text))
	w.imported(again, body)
	list := w.do("GET", "/api/urls?sortBy=title&sortOrder=asc", "", as(w.ann)).want(200)
	list.shows("total", 2, "data.0.title", "+1", "data.0.notes", "-2", "data.1.title", "=cmd|' /C calc'!A0")
	if strings.Count(w.do("GET", "/api/imports/"+again+"/problems.csv", "", as(w.ann)).text, "Import problem") != 1 {
		t.Error("the column with reasons is there twice")
	}
}

// An import stops when it is cancelled, and when its user may no longer change links. Old imports are deleted.
func TestImports_end(t *testing.T) {
	configure := func(w *world, c *api.Config, d *api.Deps) {
		whole(w, c, d)
		d.Imports = imports.New(imports.Config{}, w.store, d.Links)
		w.imports = d.Imports
	}
	w := small(t, configure)
	team := w.newSpace()
	w.enlist(team, w.annID, "EDITOR")
	in := with("X-Workspace", team.id)
	body := planOf(map[string]string{"originalUrl": "url"}, "skip")
	const file = "url\nhttps://example.com/\n"
	id := w.uploadLinks(file, in)
	w.do("POST", "/api/imports/"+id+"/cancel", "", as(w.ann), in).want(409)
	w.do("POST", "/api/imports/"+id+"/start", body, as(w.ann), in).want(202)
	cancelled := w.do("POST", "/api/imports/"+id+"/cancel", "", as(w.ann), in).want(200)
	w.runImports()
	if got := w.do("GET", "/api/imports/"+id, "", as(w.ann),
		in); got.progress() != "CANCELLED: done 0, created 0, updated 0, skipped 0, renamed 0, failed 0" ||
		cancelled.progress() != got.progress() {
		t.Errorf("a cancelled import: %s", got.text)
	}
	late := w.uploadLinks(file, in)
	w.do("POST", "/api/imports/"+late+"/start", body, as(w.ann), in).want(202)
	w.enlist(team, w.annID, "VIEWER")
	w.runImports()
	w.enlist(team, w.annID, "EDITOR")
	if got := w.do("GET", "/api/imports/"+late, "", as(w.ann), in); got.str("status") != "FAILED" || !strings.Contains(got.str("failure"),
		"EDITOR") || got.num("progress.created") != 0 {
		t.Errorf("an import without permission: %s", got.text)
	}
	mapped := w.uploadLinks(file, in)
	w.exec(`UPDATE imports SET finished_at = 1 WHERE id = ?`, id)
	w.ok(w.imports.Sweep(t.Context()))
	w.do("GET", "/api/imports", "", as(w.ann), in).shows("total", 2, "data.0.id", mapped)
	for range 18 {
		w.uploadLinks(file, in)
	}
	w.do("POST", "/api/imports", file, as(w.ann), in, asCSV).want(409)
	w.do("DELETE", "/api/workspaces/"+team.id, "", as(team.owner.token)).want(204)
	w.counts(0, `SELECT (SELECT count(*) FROM imports) + (SELECT count(*) FROM import_files)`)
}

// Two replicas share an import: each row is imported once.
func TestImports_by_two_replicas(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		other := replica(w, w.store, whole)
		var b strings.Builder
		b.WriteString("url,slug\n")
		for i := range 3000 {
			fmt.Fprintf(&b, "https://example.com/%d,two-%d\n", i, i)
		}
		body := planOf(map[string]string{"originalUrl": "url", "slug": "slug"}, "rename")
		ids := []string{w.uploadLinks(b.String()), w.uploadLinks(strings.ReplaceAll(b.String(), "two-", "more-"))}
		for _, id := range ids {
			w.do("POST", "/api/imports/"+id+"/start", body, as(w.ann)).want(202)
		}
		done := make(chan struct{})
		go func() { defer close(done); other.runImports() }()
		w.runImports()
		<-done
		w.runImports() // what the other has released meanwhile
		for _, id := range ids {
			got := w.do("GET", "/api/imports/"+id, "", as(w.ann)).progress()
			if got != "DONE: done 3000, created 3000, updated 0, skipped 0, renamed 0, failed 0" {
				t.Errorf("import: %s", got)
			}
		}
		// A process that has lost its lease writes nothing more.
		id := w.uploadLinks(b.String())
		w.do("POST", "/api/imports/"+id+"/start", planOf(map[string]string{"originalUrl": "url"}, "skip"), as(w.ann)).want(202)
		w.exec(`UPDATE imports SET holder = 'another', lease_until = lease_until + 99999999999999 WHERE id = ?`, id)
		w.runImports()
		if got := w.do("GET", "/api/imports/"+id, "", as(w.ann)).progress(); !strings.HasPrefix(got, "RUNNING: done 0") {
			t.Errorf("an import of another process: %s", got)
		}
		w.ok(w.store.Tx(t.Context(), func(tx *store.Tx) error { return tx.ReleaseImports(t.Context()) }))
		w.runImports()
		if got := w.do("GET", "/api/imports/"+id, "", as(w.ann)).progress(); !strings.HasPrefix(got, "DONE: done 3000") {
			t.Errorf("an import that was released: %s", got)
		}
	})
}
