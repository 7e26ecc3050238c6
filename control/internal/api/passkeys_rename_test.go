package api_test

import (
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/platform/passkeytest"
)

func TestPasskeys_rename(t *testing.T) {
	w := small(t, withPasskeys)
	w.enrol(w.ann, passkeytest.New(baseURL))
	path := "/api/auth/passkeys/" + w.do("GET", "/api/auth/passkeys", "", as(w.ann)).want(200).str("data.0.id")
	for body, want := range map[string]string{`{"name":" Laptop "}`: "Laptop", `{"name":""}`: "Passkey", `{"name":null}`: "Passkey",
		`{"name":"Phone"}`: "Phone"} {
		w.do("PATCH", path, body, as(w.ann)).want(200).shows("name", want)
	}
	w.do("PATCH", path, `{"name":"Laptop"}`, as(w.ann)).want(200)
	w.do("PATCH", path, `{"name":"Mine"}`, as(w.root)).want(404)
	for _, body := range []string{`{}`, `{"name":1}`, `{"name":"a\u0007"}`, `{"name":"` + strings.Repeat("a", 101) + `"}`} {
		w.do("PATCH", path, body, as(w.ann)).want(400)
	}
	w.do("GET", "/api/auth/passkeys", "", as(w.ann)).want(200).shows("data.0.name", "Laptop")
	w.do("GET", "/api/audit-logs?action=PASSKEY_RENAMED", "", as(w.root)).want(200).shows("total", 5)
}
