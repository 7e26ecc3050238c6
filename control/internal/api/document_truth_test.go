package api_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/crypto/bcrypt"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// parsed reads JSON.
func parsed(t *testing.T, text []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	testkit.Must(t, err)
	return v
}

// schemaOf returns a schema of the document, with its properties.
func schemaOf(t *testing.T, name string) (schema, properties map[string]any) {
	t.Helper()
	c, err := theContract()
	testkit.Must(t, err)
	schema = member(c.document, "components", "schemas", name)
	if schema == nil {
		t.Fatalf("the document has no schema %s", name)
	}
	return schema, member(schema, "properties")
}

// Fields that can be null say so: with a type, a format, a closed set of values, or another object. Fields that must have a
// value do not allow null.
func TestD1_null_is_documented(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"URL.startsAt": "[string null]", "URL.createdAt": "string", "URL.deletedAt": "string", "URL.maxClicks": "[integer null]",
		"APIKey.expiresAt": "[string null]", "Webhook.lastSentAt": "[string null]", "ExperimentArm.upliftInterval": "[array null]",
		"CreateURL.originalUrl": "string", "CreateURL.title": "[string null]", "UpdateURL.originalUrl": "[string null]",
	} {
		object, name, _ := strings.Cut(field, ".")
		_, properties := schemaOf(t, object)
		if got := fmt.Sprint(member(properties, name)["type"]); got != want {
			t.Errorf("%s: type %s, want %s", field, got, want)
		}
	}
	_, domain := schemaOf(t, "Domain")
	forms, _ := member(domain, "certificate")["anyOf"].([]any)
	if len(forms) != 2 || member(forms[0])["$ref"] != "#/components/schemas/Certificate" || member(forms[1])["type"] != "null" {
		t.Errorf("certificate: %v", domain["certificate"])
	}
	_, experiment := schemaOf(t, "Experiment")
	optimize, _ := member(experiment, "optimize")["anyOf"].([]any)
	if len(optimize) != 2 || fmt.Sprint(member(optimize[0])["enum"]) != "[off bandit]" || member(optimize[1])["type"] != "null" {
		t.Errorf("optimize: %v", optimize)
	}
}

// The directions of sorting are documented in one form. Upper case stays accepted.
func TestD3_directions(t *testing.T) {
	w := small(t, whole)
	found := 0
	for path, methods := range w.openapi().Paths {
		for _, p := range methods["get"].Parameters {
			if p.Name == "sortOrder" {
				found++
				if !strings.Contains(string(p.Schema), `"enum":["asc","desc"]`) {
					t.Errorf("%s: %s", path, p.Schema)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no list can be sorted")
	}
	for _, direction := range []string{"asc", "ASC", "desc", "DESC"} {
		w.do("GET", "/api/urls?sortOrder="+direction, "", as(w.ann)).want(200)
	}
	w.do("GET", "/api/urls?sortOrder=up", "", as(w.ann)).wantField("sortOrder")
}

// The documented conditions are those that rules accept: every type with every operator of its schema, and with no other.
func TestD4_conditions_are_documented(t *testing.T) {
	t.Parallel()
	condition, _ := schemaOf(t, "Condition")
	mapping := member(condition, "discriminator", "mapping")
	values := map[string]string{
		"time": `{"start":"09:00","end":"18:00"}`, "date": `{"start":"2026-01-01","end":"2026-02-01"}`, "day_of_week": `1`,
		"ip": `["10.0.0.0/8"]`, "query": `{"name":"a","value":"b"}`,
		"percentage": `12.5`, "device": `"MOBILE"`, "country": `"DE"`, "continent": `"EU"`, "visitor": `"new"`,
	}
	all, documented := map[string]bool{}, map[string][]any{}
	for of, ref := range mapping {
		_, properties := schemaOf(t, strings.TrimPrefix(ref.(string), "#/components/schemas/"))
		if types, _ := member(properties, "type")["enum"].([]any); !slices.Contains(types, any(of)) {
			t.Errorf("%s: its schema is of %v", of, types)
		}
		documented[of], _ = member(properties, "operator")["enum"].([]any)
		for _, operator := range documented[of] {
			all[operator.(string)] = true
		}
	}
	if len(documented) != len(rule.Kinds(^rule.Kinds(0)).Names()) || len(all) < 10 {
		t.Fatalf("%d types with the operators %v", len(documented), slices.Sorted(maps.Keys(all)))
	}
	group, err := theContract()
	testkit.Must(t, err)
	schema, err := group.schema("components", "schemas", "ConditionGroup")
	testkit.Must(t, err)
	for of, operators := range documented {
		value := values[of]
		if value == "" {
			value = `"x"`
		}
		for operator := range all {
			v := value
			if (operator == "before" || operator == "after") && strings.HasPrefix(v, "{") && of != "query" {
				v = strings.Split(strings.SplitN(v, ":", 2)[1], ",")[0]
			}
			for _, text := range []string{
				fmt.Sprintf(`{"operator":"AND","conditions":[{"type":%q,"operator":%q,"value":%s}]}`, of, operator, v),
				fmt.Sprintf(`{"logicalOperator":"OR","items":[{"operator":"AND","conditions":[{"type":%q,"operator":%q,"value":%s}]}]}`, of,
					operator, v),
			} {
				_, err := rule.Parse([]byte(text))
				fits := schema.Validate(parsed(t, []byte(text))) == nil
				if valid := slices.Contains(operators, any(operator)); valid != fits || valid != (err == nil) {
					t.Errorf("%s: documented %v, fits the schema %v, refused with %v", text, valid, fits, err)
				}
			}
		}
	}
}

// Closed sets of values are documented from the tables that requests are checked with.
func TestD5_closed_sets(t *testing.T) {
	t.Parallel()
	enum := func(v any) (list []string) {
		if forms, _ := member(v)["anyOf"].([]any); forms != nil {
			v = forms[0] // the other is null
		}
		values, _ := member(v)["enum"].([]any)
		for _, one := range values {
			list = append(list, one.(string))
		}
		return list
	}
	_, webhook := schemaOf(t, "Webhook")
	if got := enum(member(webhook, "events")["items"]); !slices.Equal(got, webhooks.Names) {
		t.Errorf("events: %v", got)
	}
	_, entry := schemaOf(t, "AuditLog")
	if got := enum(entry["action"]); !slices.Equal(got, audit.Actions) {
		t.Errorf("actions: %v", got)
	}
	_, created := schemaOf(t, "CreateURL")
	if got := enum(created["stickiness"]); !slices.Equal(got, []string{"none", "cookie", "hash"}) {
		t.Errorf("stickiness: %v", got)
	}
	// Generators drop schemas that nothing under paths uses, so the payloads are used there, too.
	_, log := schemaOf(t, "WebhookLog")
	if member(log, "payload")["$ref"] != "#/components/schemas/WebhookEvent" {
		t.Errorf("payload: %v", log["payload"])
	}
	event, _ := schemaOf(t, "WebhookEvent")
	if got := member(event, "discriminator", "mapping"); len(got) != len(webhooks.Names)+1 {
		t.Errorf("payloads: %v", got)
	}
}

// The document has what linters ask for: the meaning of each operation's security, a version, a licence and a contact, and no
// keyword that JSON Schema does not know.
func TestD6_the_document_is_clean(t *testing.T) {
	t.Parallel()
	c, err := theContract()
	testkit.Must(t, err)
	document := c.document
	if strings.Contains(fmt.Sprint(document), "patternDescription") {
		t.Error("the document has patternDescription")
	}
	if info := member(document, "info"); member(info, "license")["identifier"] != "Apache-2.0" || member(info, "contact")["url"] == nil ||
		strings.Count(fmt.Sprint(info["version"]), ".") != 2 {
		t.Errorf("info: %v", info)
	}
	_, link := schemaOf(t, "URL")
	for name, marked := range map[string]any{"isAbTest": true, "isABTesting": nil} {
		if got := member(link, name)["deprecated"]; got != marked {
			t.Errorf("%s: deprecated %v", name, got)
		}
	}
	for path, marked := range map[string]any{"/api/analytics/ab-test": true, "/api/analytics/ab-tests": nil} {
		if got := member(document, "paths", path, "get")["deprecated"]; got != marked {
			t.Errorf("%s: deprecated %v", path, got)
		}
	}
	for _, section := range []string{"paths", "webhooks"} {
		for path, item := range member(document, section) {
			for method, operation := range member(item) {
				if _, ok := member(operation)["security"].([]any); !ok {
					t.Errorf("%s %s does not say whether it needs a credential", method, path)
				}
			}
		}
	}
	for _, header := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		if !strings.Contains(fmt.Sprint(member(document, "webhooks", "url.created")), header) {
			t.Errorf("the webhooks lack %s", header)
		}
	}
}

// Every example of a request or a response fits its schema.
func TestD6_examples_fit_their_schemas(t *testing.T) {
	t.Parallel()
	c, err := theContract()
	testkit.Must(t, err)
	checked := 0
	for path, methods := range c.paths {
		for method, operation := range member(methods) {
			bodies := map[string][]string{"": {"requestBody"}}
			for status := range member(operation, "responses") {
				bodies[status] = []string{"responses", status}
			}
			for _, at := range bodies {
				example, ok := member(operation, append(slices.Clone(at), "content", "application/json")...)["example"]
				if !ok {
					continue
				}
				checked++
				s, err := c.schema(slices.Concat([]string{"paths", path, method}, at, []string{"content", "application/json", "schema"})...)
				testkit.Must(t, err)
				if err := s.Validate(example); err != nil {
					t.Errorf("%s %s: %v: %v", method, path, at, err)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d examples", checked)
	}
}

// dateFields are the requests whose body has a date, for which %s stands.
func dateFields(link string) [][2]string {
	return [][2]string{
		{"POST /api/urls", `{"originalUrl":"https://example.com/","expiresAt":%s}`},
		{"POST /api/urls", `{"originalUrl":"https://example.com/","startsAt":%s}`},
		{"PUT /api/urls/" + link, `{"expiresAt":%s}`},
		{"PATCH /api/urls/" + link, `{"startsAt":%s}`},
		{"PUT /api/urls/by-external-id/x", `{"originalUrl":"https://example.com/","expiresAt":%s}`},
		{"POST /api/urls/" + link + "/explain", `{"time":%s}`},
		{"POST /api/urls/" + link + "/explain", `{"draft":{"expiresAt":%s}}`},
		{"POST /api/urls/explain", `{"draft":{"originalUrl":"https://example.com/","startsAt":%s}}`},
		{"POST /api/urls/" + link + "/explain/replay", `{"draft":{},"from":%s}`},
		{"POST /api/urls/" + link + "/explain/replay", `{"draft":{},"to":%s}`},
		{"PATCH /api/urls/bulk", `{"urlIds":["` + link + `"],"operation":"expiration","value":%s}`},
		{"PATCH /api/urls/bulk", `{"urlIds":["` + link + `"],"operation":{"type":"expiration","expiresAt":%s}}`},
		{"POST /api/api-keys", `{"name":"x","expiresAt":%s}`},
	}
}

// An impossible date is a problem of its field, wherever the API reads a date.
func TestF7_impossible_dates_name_their_field(t *testing.T) {
	w := small(t, whole)
	link := w.create("abc")
	for _, request := range dateFields(link) {
		method, path, _ := strings.Cut(request[0], " ")
		for _, date := range []string{"2027-02-30", "2027-02-29", "2026-04-31T10:00:00Z", "31.01.2027", "2027-13-01", "2027-01-31T25:00",
			"tomorrow"} {
			r := w.do(method, path, fmt.Sprintf(request[1], `"`+date+`"`), as(w.ann)).want(400)
			if field := r.str("errors.0.field"); field == "" || strings.Contains(r.str("errors.0.message"), "json:") {
				t.Errorf("%s %s: %s", request[0], request[1], r.text)
			}
		}
	}
	for _, query := range []string{
		"/api/analytics/overview?startDate=", "/api/analytics/overview?endDate=", "/api/analytics/overview?interval=hour&startDate=",
		"/api/audit-logs?startDate=", "/api/audit-logs?endDate=",
		"/api/analytics/missing?from=", "/api/analytics/missing?to=", "/api/urls/" + link + "/conversions?startDate=",
	} {
		_, field, _ := strings.Cut(query, "?")
		field = strings.TrimSuffix(field[strings.LastIndex(field, "&")+1:], "=")
		w.do("GET", query+url.QueryEscape("2027-02-30"), "", as(w.root)).wantField(field)
	}
}

// A bad date fails its own item of a bulk creation. Items with good dates are created.
func TestF7_bulk_items_with_bad_dates_fail_alone(t *testing.T) {
	w := small(t, withLinks)
	r := w.do("POST", "/api/urls/bulk", `{"urls":[{"originalUrl":"https://example.com/ok","expiresAt":"2999-01-31","startsAt":""},
		{"originalUrl":"https://example.com/","expiresAt":"31.01.2027"},{"originalUrl":"https://example.com/","startsAt":"2027-02-30"},{"originalUrl":"https://example.com/","expiresAt":null}]}`, as(w.ann)).want(201)
	r.shows("successCount", 2, "failureCount", 2, "succeeded.0.url.expiresAt", "2999-01-31T00:00:00.000Z", "succeeded.1.url.expiresAt", nil,
		"failed.0.index", 1, "failed.0.field", "expiresAt", "failed.1.index", 2, "failed.1.field", "startsAt")
	r.says("must be a date or time in ISO 8601")
}

// Every parameter of a path is decoded exactly once, however a client escapes it.
func TestB1_parameters_are_decoded_once(t *testing.T) {
	w := small(t, whole)
	ids := []string{
		"crm:42", "a/b", "a+b", "a b", "a;b", "a&b=c", "a,b@c", "100%", "%41", "%2F", "crm%3A42", "a?b#c", "ä€😀", `"<>\^{|}`, "'()*!~$",
		"x.y", "...", "a%2525b",
	}
	unreserved := func(id string) string { // as encodeURIComponent escapes
		return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*", "%7E", "~").
			Replace(url.QueryEscape(id))
	}
	every := func(id string) string { // each byte
		var b strings.Builder
		for i := range len(id) {
			fmt.Fprintf(&b, "%%%02x", id[i])
		}
		return b.String()
	}
	for _, id := range ids {
		made := w.do("POST", "/api/urls", fmt.Sprintf(`{"originalUrl":"https://example.com/","externalId":%q}`, id), as(w.ann)).
			want(201).str("id")
		for name, escape := range map[string]func(string) string{"the least": url.PathEscape, "encodeURIComponent": unreserved,
			"everything": every} {
			r := w.do("GET", "/api/urls/by-external-id/"+escape(id), "", as(w.ann))
			if r.StatusCode != 200 || r.str("id") != made {
				t.Errorf("%q escaped as %q (%s): %d", id, escape(id), name, r.StatusCode)
			}
			w.do("PUT", "/api/urls/by-external-id/"+escape(id), `{"title":"x"}`, as(w.ann)).want(200).shows("id", made, "externalId", id)
		}
		w.do("PUT", "/api/settings/system/"+unreserved(id), `{"value":1}`, as(w.root))
	}
	// Edges forward no path with such an id, so nothing could name the link.
	for _, id := range []string{".", "..", " .. ", "a/../b", "./a", `a\\..`, "..;a", "%2e%2E", "%252e"} {
		body := fmt.Sprintf(`{"originalUrl":"https://example.com/","externalId":"%s"}`, id)
		w.do("POST", "/api/urls", body, as(w.ann)).wantField("externalId")
		w.do("POST", "/api/urls/bulk", `{"urls":[`+body+`]}`, as(w.ann)).want(201).shows("failureCount", 1, "failed.0.field", "externalId")
	}
	// Parameters of handlers that read the request themselves.
	link := w.create("abc")
	w.do("GET", "/api/urls/"+every(link)+"/qrcode", "", as(w.ann)).want(200)
	w.do("GET", "/api/urls/"+every(link), "", as(w.ann)).want(200).shows("id", link)
	w.do("GET", "/api/workspaces/"+every(w.annID)+"/members", "", as(w.ann)).want(200)
}

// The host of the service has one form in answers, without its port, and filters take it with and without.
func TestB4_domains_without_a_port(t *testing.T) {
	w := small(t, func(w *world, c *api.Config, deps *api.Deps) {
		whole(w, c, deps)
		c.BaseURL = "http://localhost:8080"
		passwords, err := auth.NewPasswords(bcrypt.MinCost)
		w.ok(err)
		deps.Links = links.New(links.Config{BaseURL: c.BaseURL}, w.store, passwords)
		deps.Reports = report.New(w.store, w.clicks, nil).On("localhost")
	})
	id := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com/","domain":"localhost:8080"}`, as(w.ann)).want(201).shows("domain",
		"localhost").str("id")
	for _, host := range []string{"localhost", "localhost:8080", "LOCALHOST"} {
		w.do("GET", "/api/urls?domain="+host, "", as(w.ann)).want(200).shows("total", 1, "data.0.id", id)
		w.do("GET", "/api/urls/slug?slug=free&domain="+host, "", as(w.ann)).want(200).shows("domain", "localhost")
		w.do("GET", "/api/analytics/overview?domain="+host, "", as(w.ann)).want(200)
	}
	for _, host := range []string{"other.example", "localhost:x", ":8080"} {
		w.do("GET", "/api/urls?domain="+url.QueryEscape(host), "", as(w.ann)).want(200).shows("total", 0)
	}
}
