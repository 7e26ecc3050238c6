package api_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// warnings returns the warnings of a dry run, each as "ROW FIELD COLUMN VALUE: MESSAGE".
func (r *reply) warnings() (list []string) {
	found, _ := r.at("warnings").([]any)
	for _, one := range found {
		w := one.(map[string]any)
		place := fmt.Sprint(w["row"], " ", w["field"], " ", w["column"], " ", w["value"])
		list = append(list, strings.Join(strings.Fields(place), " ")+": "+w["message"].(string))
	}
	return list
}

// A dry run says what is lost without an error: slugs, hosts, columns, passwords, parts of addresses, and dates of links that exist.
func TestF3_dry_run_says_what_is_lost(t *testing.T) {
	w := small(t, whole)
	w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/","customSlug":"exists"}`, as(w.ann)).want(201)
	for name, c := range map[string]struct{ file, conflicts, counts, warns string }{
		"no column is the slug": {
			"Short name,Long URL,Clicks\nabc,https://example.com/1,17\ndef,https://example.com/2,0\n", "skip", "create 2, update 0",
			"1 slug: no column is mapped to the slug, so all slugs are generated, and the old addresses are lost\n" +
				"1 Short name abc: the column \"Short name\" is not imported; rows with content: 2\n" +
				"1 Clicks 17: the column \"Clicks\" is not imported; rows with content: 1",
		},
		"Bitly": {
			"Link,Custom Link,Destination URL\nhttps://bit.ly/3Xy,https://bit.ly/spring,https://example.com/1\n" +
				"https://bit.ly/4Xy,,https://example.com/2\n,,https://example.com/3\n", "skip", "create 3, update 0",
			"1 slug Custom Link: slugs are generated; rows without one: 1\n" +
				"1 slug Link: the slug comes from the column \"Link\" where \"Custom Link\" is empty; rows: 1\n" +
				"1 slug Custom Link bit.ly: addresses on \"bit.ly\" become links on another domain, only the slug is kept; rows: 2\n" +
				"1 Link https://bit.ly/3Xy: the column \"Link\" is not imported; rows with content: 1",
		},
		"addresses that stay": {"short_url,url\nhttps://SHO.rt/spring?x=1,https://example.com/1\n", "skip", "create 1, update 0", ""},
		"cells": {
			"\n\nslug,url,tags,status,max_clicks\nhttps://sho.rt/a/spring,https://example.com/1,\"a;b, c\",,\n" +
				"summer,https://example.com/2,,EXHAUSTED,5\nx,,a;b|c,,\n", "skip", "create 2, update 0",
			"4 slug slug https://sho.rt/a/spring: only the last part of the path \"a/spring\" becomes the slug\n" +
				"4 tags tags a;b, c: the names of tags are separated by \";\" here, so \"b, c\" is one tag\n" +
				"5 status status EXHAUSTED: clicks are not imported, so the link leads visitors until it has maxClicks new clicks",
		},
		"passwords of Kutt": {
			"address,target,password\none-1,https://example.com/1,true\ntwo-2,https://example.com/2,false\n" +
				"exists,https://example.com/3,true\n", "overwrite", "create 2, update 1",
			"1 password true: links with a password become open to everybody, because passwords are not imported " +
				"(column \"password\"); rows: 1",
		},
		"creation": {
			"slug,url,created\nexists,https://example.com/1,2020-01-01\nnew-1,https://example.com/2,2020-01-01\n", "overwrite",
			"create 1, update 1", "1 createdAt created: links that exist keep the date of their creation; rows: 1",
		},
		"what is skipped is not lost": {"slug,url,clicks\nexists,https://example.com/1,5\n", "skip", "create 0, update 0", ""},
	} {
		upload := w.do("POST", "/api/imports", c.file, as(w.ann), asCSV).want(201)
		dry := w.do("POST", "/api/imports/"+upload.str("id")+"/dry-run", planOf(upload.suggested(), c.conflicts), as(w.ann)).want(200)
		if got := counts(dry, "", "create", "update"); got != c.counts || strings.Join(dry.warnings(), "\n") != c.warns {
			t.Errorf("%s: %s, want %s\n%s\nwant\n%s", name, got, c.counts, strings.Join(dry.warnings(), "\n"), c.warns)
		}
	}
}

// An expired link keeps its address when it moves, and an import of its row with other fields changes it.
func TestF6_expired_links_are_imported(t *testing.T) {
	eachWith(t, whole, func(t *testing.T, w *world) {
		const file = "slug,originalUrl,status,expiresAt,title\nexpx,https://example.com/,EXPIRED,2021-01-01T00:00:00.000Z,%s\n"
		for _, c := range []struct{ conflicts, title, done string }{
			{"skip", "first", "DONE: done 1, created 1, updated 0, skipped 0, renamed 0, failed 0"},
			{"overwrite", "second", "DONE: done 1, created 0, updated 1, skipped 0, renamed 0, failed 0"},
		} {
			upload := w.do("POST", "/api/imports", fmt.Sprintf(file, c.title), as(w.ann), asCSV).want(201)
			plan := planOf(upload.suggested(), c.conflicts)
			w.do("POST", "/api/imports/"+upload.str("id")+"/dry-run", plan, as(w.ann)).want(200).shows("errors", 0, "warnings.#", 0)
			if got := w.imported(upload.str("id"), plan).progress(); got != c.done {
				t.Errorf("%s: %s", c.conflicts, got)
			}
			w.do("GET", "/api/urls?search=expx", "", as(w.ann)).want(200).shows("data.0.status", "EXPIRED", "data.0.title", c.title,
				"data.0.expiresAt", "2021-01-01T00:00:00.000Z")
			w.exec(`UPDATE urls SET active = ? WHERE slug = 'expx'`, false)
		}
		// A link that was switched off stays so: EXPIRED does not say that it was active.
		w.exec(`UPDATE urls SET expires_at = NULL WHERE slug = 'expx'`)
		w.do("GET", "/api/urls?search=expx", "", as(w.ann)).want(200).shows("data.0.status", "INACTIVE")
		w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/","expiresAt":"2021-01-01"}`, as(w.ann)).wantField("expiresAt")
	})
}

// A row with the externalId of a link on another domain does not change that link.
func TestF6_overwriting_does_not_ignore_the_domain(t *testing.T) {
	w := small(t, whole)
	w.do("POST", "/api/domains", `{"hostname":"go.acme.com"}`, as(w.ann)).want(201)
	w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/","externalId":"x-1"}`, as(w.ann)).want(201)
	upload := w.do("POST", "/api/imports",
		"url,domain,externalId\nhttps://example.com/2,go.acme.com,x-1\nhttps://example.com/3,sho.rt,x-1\n",
		as(w.ann), asCSV).want(201)
	dry := w.do("POST", "/api/imports/"+upload.str("id")+"/dry-run", planOf(upload.suggested(), "overwrite"), as(w.ann)).want(200)
	if dry.preview() != "rows 2, create 0, update 1, skip 0, rename 0, errors 1" || dry.str("problems.0.field") != "domain" {
		t.Error(dry.text)
	}
}

// Rows whose slug or external id is taken are in the list of what was left out, in the file to download, and in the dry run.
func TestConsoleSkipped_rows_are_listed_and_come_back(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t), whole)
	w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/a","customSlug":"taken","externalId":"x-1"}`, as(w.ann)).want(201)
	id := w.uploadLinks(
		"target,code,number\nhttps://example.com/1,taken,\nhttps://example.com/2,fresh,\nhttps://example.com/3,,x-1\nnowhere,last,\n")
	plan := planOf(map[string]string{"originalUrl": "target", "slug": "code", "externalId": "number"}, "skip")
	want := []any{
		"#", 3, "0.row", 2, "0.field", "slug", "0.column", "code", "0.value", "taken", "0.code", "SKIPPED",
		"1.row", 4, "1.field", "externalId", "1.code", "SKIPPED", "2.row", 5, "2.code", "ADDRESS",
	}
	under := func(name string) []any {
		out := slices.Clone(want)
		for i := 0; i < len(out); i += 2 {
			out[i] = name + "." + out[i].(string)
		}
		return out
	}
	w.do("POST", "/api/imports/"+id+"/dry-run", plan, as(w.ann)).want(200).shows(under("problems")...)
	w.imported(id, plan)
	w.do("GET", "/api/imports/"+id+"/problems", "", as(w.ann)).want(200).shows(append(under("data"), "total", 3)...)
	file := w.do("GET", "/api/imports/"+id+"/problems.csv", "", as(w.ann)).want(200).text
	for _, row := range []string{"/1,taken,,\"code is taken, so the row is skipped\"", "/3,,x-1,\"number is taken, so the row is skipped\"",
		"nowhere,last,,target must be"} {
		if !strings.Contains(file, row) {
			t.Errorf("the file lacks %s: %s", row, file)
		}
	}
	if strings.Contains(file, "fresh") {
		t.Errorf("the file has a row that was imported: %s", file)
	}
}

// exported returns the export of ann's links as CSV, and the rows by their domain and slug, each by its columns.
func (w *world) exported() (file string, rows map[string]map[string]string) {
	w.t.Helper()
	file = w.do("GET", "/api/urls/export?format=csv", "", as(w.ann)).want(200).text
	list, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(file, "\uFEFF"))).ReadAll()
	w.ok(err)
	rows = map[string]map[string]string{}
	for _, cells := range list[1:] {
		row := map[string]string{}
		for i, name := range list[0] {
			row[name] = cells[i]
		}
		rows[row["domain"]+"/"+row["slug"]] = row
	}
	return file, rows
}

// importAll imports a file with the suggested columns, and returns the dry run.
func (w *world) importAll(file, conflicts string) *reply {
	w.t.Helper()
	upload := w.do("POST", "/api/imports", file, as(w.ann), asCSV).want(201)
	plan := planOf(upload.suggested(), conflicts)
	dry := w.do("POST", "/api/imports/"+upload.str("id")+"/dry-run", plan, as(w.ann)).want(200)
	if got := w.imported(upload.str("id"), plan); got.num("progress.failed") != 0 || got.num("progress.skipped") != 0 {
		w.t.Errorf("import: %s\n%s", got.text, w.do("GET", "/api/imports/"+upload.str("id")+"/problems", "", as(w.ann)).text)
	}
	return dry
}

// Tags that contain separators are the same after an export and an import.
func TestF2_tags_survive_export_and_import(t *testing.T) {
	w := small(t, whole)
	for slug, tags := range map[string]string{"tgx": `["Paris, France","a;b","c|d","[x]"]`, "plain": `["b","a"]`} {
		w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/","customSlug":"`+slug+`","tags":`+tags+`}`, as(w.ann)).want(201)
	}
	file, rows := w.exported()
	if got := rows["sho.rt/plain"]["tags"]; got != "a, b" { // as before, for people and for programs that split it
		t.Errorf("plain tags are exported as %q", got)
	}
	for _, row := range rows {
		w.do("PATCH", "/api/urls/"+row["id"], `{"tags":["b, Paris"]}`, as(w.ann)).want(200)
	}
	if dry := w.importAll(file, "overwrite"); strings.Contains(strings.Join(dry.warnings(), "\n"), "tags") {
		t.Errorf("dry run: %v", dry.warnings())
	}
	if got := w.tagsOf(rows["sho.rt/tgx"]["id"]) + " and " +
		w.tagsOf(rows["sho.rt/plain"]["id"]); got != "[x]|a;b|c|d|Paris, France and a|b" {
		t.Errorf("tags: %s", got)
	}
	w.counts(7, `SELECT count(*) FROM tags`) // none was made of a part of a name
}

// Exports of earlier releases separate all names of tags by commas.
func TestF2_earlier_exports_are_imported(t *testing.T) {
	w := small(t, whole)
	dry := w.importAll("slug,originalUrl,tags\nold-1,https://example.com/,\"a, b\"\nold-2,https://example.com/,\"'=1, [x]\"\n"+
		"old-3,https://example.com/,\"a;b, c\"\n", "skip")
	for slug, want := range map[string]string{"old-1": "a|b", "old-2": "=1|[x]", "old-3": "a|b, c"} {
		got := joined(w.do("GET", "/api/urls?search="+slug, "", as(w.ann)).want(200).at("data.0.tags"))
		if got != want {
			t.Errorf("%s has the tags %s, want %s", slug, got, want)
		}
	}
	if got := dry.warnings(); len(got) != 1 || !strings.HasPrefix(got[0], "4 tags tags a;b, c:") {
		t.Errorf("warnings: %q", got)
	}
}

// notImported are the columns of an export that differ after an import into another workspace; docs/users/import.md lists them.
var notImported = []string{
	"id", "userId", "workspaceId", "updatedAt", "clickCount", "hasPassword", "suspendedReason", "isABTesting", "isAbTest", "isSmartRouting",
	"ogImage", "ogImageUrl", "deletedAt", "purgeAt", "deletedBy", "deletedByName", "deletedByEmail", "createdByName", "createdByEmail",
}

// Property: the export of a workspace, imported into an empty workspace of another service with the same domains, gives the same
// export, except for notImported. Importing it again changes nothing.
func TestImports_are_the_inverse_of_exports(t *testing.T) {
	t.Parallel()
	rounds := 3
	if testkit.Size(false, true) {
		rounds = 20
	}
	for range rounds {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			from, to := newWorld(t, storetest.Open(t), whole), newWorld(t, storetest.Open(t), whole)
			for _, w := range []*world{from, to} {
				w.do("POST", "/api/domains", `{"hostname":"go.acme.com"}`, as(w.ann)).want(201)
			}
			g := randomLinks{rand.New(rand.NewPCG(seed, 0))}
			for i := range 40 {
				g.add(from, i)
			}
			file, want := from.exported()
			to.compare(want, to.importAll(file, "skip"))
			to.compare(want, to.importAll(file, "overwrite"))
		})
	}
}

// compare fails the test if the export differs from want in other columns than notImported.
func (w *world) compare(want map[string]map[string]string, dry *reply) {
	w.t.Helper()
	_, got := w.exported()
	if len(got) != len(want) {
		w.t.Errorf("%d links, want %d; dry run: %s", len(got), len(want), dry.text)
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		for name, cell := range want[key] {
			if !slices.Contains(notImported, name) && got[key][name] != cell {
				w.t.Errorf("%s: %s is %q, want %q", key, name, got[key][name], cell)
			}
		}
	}
	for _, warning := range dry.warnings() {
		if !strings.Contains(warning, "is not imported") && !strings.Contains(warning, "date of their creation") {
			w.t.Errorf("dry run: %s", warning)
		}
	}
}

// randomLinks makes links with any values that the API accepts.
type randomLinks struct{ *rand.Rand }

func (g randomLinks) maybe() bool { return g.IntN(2) == 0 }

// awkward are parts of texts that files and spreadsheets treat in a special way.
var awkward = []string{
	"a", "Z", "é", "ß", "日本", "🎉", " ", "  ", ",", ";", "|", "\t", "\n", "\r\n", "\r", `"`, `""`, "'", "''", "=", "+1", "-", "@",
	"＝", "[", "]", "{", `["x"]`, "\\", "null", "NULL", "true", "0", "%41", "&amp;", "<b>", "://", "#", "?", "\u00a0", "\ufeff",
	"\u200f", "1970-01-01",
}

// text returns a text of up to most characters, without those that only longer texts may have.
func (g randomLinks) text(most int, without string) string {
	var b strings.Builder
	for range 1 + g.IntN(12) {
		part := awkward[g.IntN(len(awkward))]
		if len([]rune(b.String()+part)) <= most && !strings.ContainsAny(part, without) {
			b.WriteString(part)
		}
	}
	return b.String()
}

func (g randomLinks) tags() []string {
	names := []string{}
	seen := map[string]bool{}
	for range g.IntN(6) {
		// A tag keeps the case of its first use in the workspace, so the names have one case.
		name := strings.ToLower(strings.TrimSpace(g.text(40, "\t\r\n\u00a0")))
		if name != "" && !seen[name] {
			seen[name], names = true, append(names, name)
		}
	}
	return names
}

// instant returns a time up to ten years away from now. No link expires during the test.
func (g randomLinks) instant(after time.Duration) string {
	return time.Now().Add(after + time.Hour + time.Duration(g.Int64N(int64(87_600*time.Hour)))).UTC().Format("2006-01-02T15:04:05.000Z")
}

// add creates link i, and gives it what only a change can give.
func (g randomLinks) add(w *world, i int) {
	w.t.Helper()
	query := []string{"a,b", "é", "a;b|c", "%22", "'x'"}[g.IntN(5)]
	fields := map[string]any{"originalUrl": fmt.Sprintf("https://example.com/%d?q=%s", i, query)}
	set := func(name string, value any) {
		if g.maybe() {
			fields[name] = value
		}
	}
	set("customSlug", fmt.Sprintf("s-%d_%s", i, []string{"", "X", "-", "__"}[g.IntN(4)]))
	set("domain", []string{"go.acme.com", "sho.rt"}[g.IntN(2)])
	set("tags", g.tags())
	set("status", []string{"ACTIVE", "INACTIVE"}[g.IntN(2)])
	set("forwardPath", g.maybe())
	set("maxClicks", 1+g.IntN(1000))
	set("redirectCode", []int{301, 302, 307, 308}[g.IntN(4)])
	set("trackConversions", g.maybe())
	set("stickiness", []string{"none", "cookie", "hash"}[g.IntN(3)])
	set("externalId", fmt.Sprintf("%d-%s", i, g.text(200, "")))
	set("twitterCardType", []string{"summary", "summary_large_image"}[g.IntN(2)])
	for _, name := range []string{"expiredUrl", "defaultUrl"} {
		set(name, "https://example.com/"+name+"?a=1,2#x")
	}
	for _, name := range []string{"utmSource", "utmMedium", "utmCampaign", "utmTerm", "utmContent", "utmId", "utmSourcePlatform", "title"} {
		set(name, g.text(255, ""))
	}
	set("notes", g.text(2000, ""))
	set("ogTitle", g.text(100, ""))
	set("ogDescription", g.text(200, ""))
	set("startsAt", g.instant(0))
	if g.maybe() {
		fields["expiresAt"] = g.instant(100_000 * time.Hour) // after startsAt
	}
	body, err := json.Marshal(fields)
	w.ok(err)
	id := w.do("POST", "/api/urls", string(body), as(w.ann)).want(201).str("id")
	if g.IntN(4) == 0 { // has expired since
		w.do("PATCH", "/api/urls/"+id, fmt.Sprintf(`{"startsAt":null,"expiresAt":%q}`, g.instant(-100_000*time.Hour)), as(w.ann)).want(200)
	}
	created := time.Now().Add(-time.Duration(g.Int64N(int64(87_600 * time.Hour)))).UnixMilli()
	w.exec(`UPDATE urls SET created_at = ? WHERE id = ?`, created, id)
}
