package api_test

import (
	"fmt"
	"strings"
	"testing"
)

// activeDomain adds a domain to the workspace of ann, and returns its id.
func (w *world) activeDomain(hostname string) string {
	w.t.Helper()
	id := w.do("POST", "/api/domains", `{"hostname":"`+hostname+`"}`, as(w.ann)).want(201).str("id")
	w.exec(`UPDATE domains SET status = 'ACTIVE' WHERE hostname = '` + hostname + `'`)
	return id
}

// made creates a link of ann with more members.
func (w *world) made(slug, more string) string {
	w.t.Helper()
	return w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/","customSlug":"`+slug+`"`+more+`}`, as(w.ann)).want(201).str("id")
}

// An edit moves links to another domain with their slugs. A slug that is taken there is a problem of its link, in the dry run too. An
// undo returns those whose old address is still free.
func TestEdits_move_links_to_another_domain(t *testing.T) {
	eachWith(t, withSchemes, func(t *testing.T, w *world) {
		g := editsOf(w)
		w.activeDomain("go.acme.com")
		w.activeDomain("old.acme.com")
		const on = `,"domain":"go.acme.com"`
		w.made("taken", on)
		plain, taken, held := w.made("plain", ""), w.made("taken", ""), w.made("held", "")
		first, second, there := w.made("meet", ""), w.made("meet", `,"domain":"old.acme.com"`), w.made("there", on)
		w.exec(`UPDATE urls SET suspended_at = 1 WHERE id = '` + held + `'`)
		ids := fmt.Sprintf(`["%s","%s","%s","%s","%s","%s"]`, plain, taken, held, first, second, there)
		body := func(domain string) string { return `{"urlIds":` + ids + `,"change":{"domain":` + domain + `}}` }

		w.unchanged("a dry run", func() {
			r := w.do("POST", "/api/url-edits/dry-run", body(`"GO.acme.com"`), as(w.ann)).want(200).
				shows("total", 6, "changed", 2, "unchanged", 1, "failed", 3, "problems.0.id", taken, "problems.0.field", "slug",
					"problems.0.message", `"go.acme.com/taken" is already taken`, "problems.1.id", held, "problems.2.id", second)
			if !strings.Contains(r.text, `{"field":"domain","before":null,"after":"go.acme.com"}`) {
				t.Errorf("%s", r.text)
			}
			for domain, message := range map[string]string{`"go.bob.com"`: "has no domain", `"a b"`: "must be a host name"} {
				if r := w.do("POST", "/api/url-edits", body(domain), as(w.ann)).want(400); !strings.Contains(r.text, `"field":"change.domain"`) ||
					!strings.Contains(r.text, message) {
					t.Errorf("%s: %s", domain, r.text)
				}
			}
		})
		edit := "/api/url-edits/" + w.do("POST", "/api/url-edits", body(`"go.acme.com"`), as(w.ann)).want(202).str("id")
		g.runEdits()
		w.do("GET", edit, "", as(w.ann)).want(200).shows("status", "DONE", "changed", 2, "failed", 3)
		w.do("GET", edit+"/problems", "", as(w.ann)).want(200).shows("total", 3, "data.0.id", taken, "data.0.field", "slug")
		w.do("GET", "/api/urls/"+plain, "", as(w.ann)).want(200).shows("domain", "go.acme.com", "slug", "plain")
		w.do("GET", "/api/urls?domain=go.acme.com", "", as(w.ann)).want(200).shows("total", 4)
		w.do("GET", "/api/urls/"+plain+"/history", "", as(w.ann)).want(200).
			shows("total", 2, "data.0.action", "URL_BULK_UPDATED", "data.0.changes.domain.new", "go.acme.com")
		w.counts(1, `SELECT count(*) FROM link_domains WHERE link_num = (SELECT num FROM urls WHERE id = '`+plain+`')`)

		w.made("meet", "") // takes the old address of first
		w.do("POST", edit+"/undo", "", as(w.ann)).want(202)
		g.runEdits()
		w.do("GET", edit, "", as(w.ann)).want(200).shows("status", "UNDONE", "undone", 1, "failed", 1)
		w.do("GET", edit+"/problems", "", as(w.ann)).want(200).
			shows("total", 1, "data.0.id", first, "data.0.message", `"meet" is already taken`)
		w.do("GET", "/api/urls/"+plain, "", as(w.ann)).want(200).shows("domain", "sho.rt", "slug", "plain")
		w.do("GET", "/api/urls/"+first, "", as(w.ann)).want(200).shows("domain", "go.acme.com")
		w.counts(0, `SELECT count(*) FROM link_domains WHERE link_num = (SELECT num FROM urls WHERE id = '`+plain+`')`)
	})
}

// Links keep the rules for slugs of their new domain, and null is the host of the service.
func TestEdits_move_links_by_the_rules_for_slugs(t *testing.T) {
	eachWith(t, withSchemes, func(t *testing.T, w *world) {
		g := editsOf(w)
		folding, extended := w.activeDomain("go.acme.com"), w.activeDomain("wide.acme.com")
		w.do("PUT", "/api/domains/"+folding, `{"caseSensitive":false}`, as(w.ann)).want(200)
		w.do("PUT", "/api/domains/"+extended, `{"slugs":"extended"}`, as(w.ann)).want(200)
		upper, lower, wide := w.made("ABC", ""), w.made("abc", ""), w.made("straße", `,"domain":"wide.acme.com"`)
		gone := w.made("gone", `,"domain":"go.acme.com"`)
		w.exec(`UPDATE urls SET suspended_at = 1 WHERE id = '` + gone + `'`)
		w.do("DELETE", "/api/urls/"+gone, "", as(w.ann)).want(204)
		again := w.made("GONE", "")
		run := func(domain string, ids ...string) *reply {
			t.Helper()
			body := `{"urlIds":["` + strings.Join(ids, `","`) + `"],"change":{"domain":` + domain + `}}`
			edit := "/api/url-edits/" + w.do("POST", "/api/url-edits", body, as(w.ann)).want(202).str("id")
			g.runEdits()
			w.do("GET", edit, "", as(w.ann)).want(200).shows("status", "DONE")
			return w.do("GET", edit+"/problems", "", as(w.ann)).want(200)
		}
		run(`"go.acme.com"`, upper, lower, wide, again).
			shows("total", 3, "data.0.id", lower, "data.0.field", "slug", "data.1.id", wide, "data.1.field", "slug", "data.2.id", again)
		w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/","customSlug":"aBc","domain":"go.acme.com"}`, as(w.ann)).want(409)
		run(`null`, upper).shows("total", 0)
		w.do("GET", "/api/urls/"+upper, "", as(w.ann)).want(200).shows("domain", "sho.rt", "slug", "ABC")
	})
}

// An edit puts links into bundles and takes them out, up to the size of a bundle. The audit log of the bundle has it.
func TestEdits_change_bundles(t *testing.T) {
	eachWith(t, withSchemes, func(t *testing.T, w *world) {
		g := editsOf(w)
		bundle := func(name, who string) string {
			return w.do("POST", "/api/bundles", `{"name":"`+name+`"}`, as(who)).want(201).str("id")
		}
		spring, launch, foreign := bundle("Spring", w.ann), bundle("Launch", w.ann), bundle("Foreign", w.bob)
		one, two := w.made("one", `,"bundleIds":["`+spring+`"]`), w.made("two", "")
		size := func(id string) int {
			return len(w.do("GET", "/api/bundles/"+id, "", as(w.ann)).want(200).at("urls").([]any))
		}
		change := `{"bundleIds":["` + launch + `"],"removeBundleIds":["` + spring + `"]}`
		body := `{"urlIds":["` + one + `","` + two + `"],"change":` + change + `}`

		w.unchanged("a dry run, and bundles that are not there", func() {
			r := w.do("POST", "/api/url-edits/dry-run", body, as(w.ann)).want(200).shows("changed", 2, "failed", 0)
			if !strings.Contains(r.text, `{"field":"bundles","before":["Spring"],"after":["Launch"]}`) {
				t.Errorf("%s", r.text)
			}
			for _, field := range []string{"bundleIds", "removeBundleIds"} {
				r := w.do("POST", "/api/url-edits", `{"filter":{},"change":{"`+field+`":["`+foreign+`"]}}`, as(w.ann)).want(400)
				if !strings.Contains(r.text, `"field":"change.`+field+`.0"`) {
					t.Errorf("%s", r.text)
				}
			}
		})
		edit := "/api/url-edits/" + w.do("POST", "/api/url-edits", body, as(w.ann)).want(202).str("id")
		g.runEdits()
		w.do("GET", edit, "", as(w.ann)).want(200).shows("status", "DONE", "changed", 2, "failed", 0)
		if a, b := size(spring), size(launch); a != 0 || b != 2 {
			t.Errorf("%d and %d links", a, b)
		}
		w.counts(3, `SELECT count(*) FROM audit_logs WHERE action = 'BUNDLE_UPDATED'`) // the first is that of the creation
		w.do("POST", edit+"/undo", "", as(w.ann)).want(202)
		g.runEdits()
		w.do("GET", edit, "", as(w.ann)).want(200).shows("status", "UNDONE", "undone", 2, "failed", 0)
		if a, b := size(spring), size(launch); a != 1 || b != 0 {
			t.Errorf("after the undo, %d and %d links", a, b)
		}

		for i := range 999 {
			w.exec(fmt.Sprintf(`INSERT INTO urls (id, user_id, workspace_num, slug, original_url, search_text, active, ab_testing, smart_routing,
				revision, created_at, updated_at) SELECT 'x%d', user_id, workspace_num, 'x%[1]d', original_url, '', active, ab_testing,
				smart_routing, revision, created_at, updated_at FROM urls WHERE id = '%s'`, i, one))
			w.exec(fmt.Sprintf(`INSERT INTO bundle_urls (bundle_id, url_id, position) VALUES ('%s', 'x%d', %[2]d)`, launch, i))
		}
		body = `{"urlIds":["` + one + `","` + two + `"],"change":{"tags":["a"],"bundleIds":["` + launch + `"]}}`
		w.do("POST", "/api/url-edits/dry-run", body, as(w.ann)).want(200).shows("changed", 1, "failed", 1, "problems.0.id", two,
			"problems.0.field", "bundleIds")
		edit = "/api/url-edits/" + w.do("POST", "/api/url-edits", body, as(w.ann)).want(202).str("id")
		g.runEdits()
		w.do("GET", edit, "", as(w.ann)).want(200).shows("status", "DONE", "changed", 1, "failed", 1)
		if r := w.do("GET", "/api/urls/"+two, "", as(w.ann)).want(200); len(r.at("tags").([]any)) != 0 {
			t.Errorf("a link that does not fit into a bundle was changed: %s", r.text)
		}
	})
}
