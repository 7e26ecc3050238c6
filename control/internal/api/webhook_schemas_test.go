package api_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/manage/webhooks/webhooktest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The docs have the schema of every event that the service sends, and the service serves the same files.
func TestWebhook_schemas_are_files(t *testing.T) {
	w := small(t, whole)
	files, err := api.EventSchemas()
	testkit.Must(t, err)
	events := slices.Sorted(maps.Keys(webhooks.Payloads))
	testkit.Equal(t, strings.Join(slices.Sorted(maps.Keys(files)), " "), strings.Join(events, " "), "events with a schema")
	folder := testkit.Source(t, webhooktest.Folder)
	for _, event := range events {
		kept, err := os.ReadFile(filepath.Join(folder, event+".json"))
		testkit.Must(t, err)
		if string(kept) != string(files[event]) {
			t.Errorf("%s/%s.json is an old one; run in control: go run ./internal/api/openapi -schemas ../%s", webhooktest.Folder, event,
				webhooktest.Folder)
		}
		r := w.do("GET", "/api/schemas/webhooks/"+event+".json", "").want(200).headed("Content-Type", "application/schema+json")
		if r.text != string(files[event]) {
			t.Errorf("%s: another file is served", event)
		}
	}
	list, err := os.ReadDir(folder)
	testkit.Must(t, err)
	testkit.Equal(t, len(list), len(events), "files")
	for _, path := range []string{"url.created", "url.unknown.json", "..%2Fopenapi.json"} {
		w.do("GET", "/api/schemas/webhooks/"+path, "").want(404)
	}
}

// A rotation answers with the new secret, and shows until when the old one is valid. That can be changed and ended.
func TestWebhooks_rotate(t *testing.T) {
	h := withHooks(t, usual(t), nil)
	ann := as(h.ann)
	hook := h.do("POST", "/api/webhooks", `{"name":"mine","url":"`+h.url+`","events":["url.created"],"longRetries":true}`, ann).want(201).
		shows("oldSecretUntil", nil, "longRetries", true)
	one := "/api/webhooks/" + hook.str("id")
	r := h.do("POST", one+"/rotate", `{}`, ann).want(200).has("", append([]string{"secret"}, webhookNames...)...)
	if r.str("secret") == hook.str("secret") || r.str("oldSecretUntil") == "" {
		t.Errorf("%s", r.text)
	}
	h.do("POST", one+"/test", "", ann).want(201).shows("success", true)
	if got := strings.Fields(h.headers.Load().Get("webhook-signature")); len(got) != 2 {
		t.Errorf("signatures %q", got)
	}
	until := r.str("oldSecretUntil")
	if moved := h.do("PUT", one, `{"oldSecretUntil":"2020-01-01"}`, ann).want(200).at("oldSecretUntil"); moved != nil {
		t.Errorf("ended at %v", moved)
	}
	h.do("PUT", one, `{"oldSecretUntil":"`+until+`"}`, ann).wantField("oldSecretUntil")
	h.do("POST", one+"/rotate", `{"secret":"my own","overlapSeconds":0}`, ann).want(200).shows("secret", "my own", "oldSecretUntil", nil)
	h.do("POST", one+"/rotate", `{"overlapSeconds":-1,"secret":"`+strings.Repeat("x", 256)+`"}`, ann).wantField("overlapSeconds", "secret")
	h.do("POST", one+"/rotate", `{}`, both(ann, with("If-Match", `"x"`))).want(412)
	h.do("POST", one+"/rotate", `{}`, as(h.bob)).want(404)
	h.do("PUT", one, `{"longRetries":false}`, ann).want(200).shows("longRetries", false)
}
