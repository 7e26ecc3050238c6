package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/store/storetest"
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
