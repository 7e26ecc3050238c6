package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/platform/idptest"
)

// A provider that sends no email_verified, as Entra ID, signs users of the allowed domains in if it is trusted. It takes over no other
// account, whatever address it sends.
func TestSSO_trustEmail(t *testing.T) {
	eachWith(t, withSSO(nil), func(t *testing.T, w *world) {
		const path = "/api/admin/oidc-providers"
		entra := startIDP(t, idptest.Person{Subject: "1", Email: userMail})
		w.add("entra", entra)
		w.signOn("entra").failed("no_account")

		// The setting needs domains, in every order of requests.
		w.do("PUT", path+"/entra", `{"trustEmail":true}`, as(w.root)).wantField("trustEmail")
		w.do("PUT", path+"/entra", `{"trustEmail":true,"allowedDomains":[]}`, as(w.root)).wantField("trustEmail")
		w.do("PUT", path+"/entra", `{"trustEmail":"yes"}`, as(w.root)).wantField("trustEmail")
		body := strings.TrimSuffix(providerJSON("other", "https://id.example.com", "x"), "}")
		w.do("POST", path, body+`,"trustEmail":true}`, as(w.root)).wantField("trustEmail")
		w.do("POST", path, body+`,"trustEmail":true,"allowedDomains":["example.com"]}`, as(w.root)).want(201).shows("trustEmail", true)
		w.do("PUT", path+"/other", `{"allowedDomains":null}`, as(w.root)).wantField("allowedDomains")
		w.do("PUT", path+"/other", `{"allowedDomains":null,"trustEmail":false}`, as(w.root)).want(200).shows("trustEmail", false)
		w.do("PUT", path+"/entra", `{"trustEmail":true,"allowedDomains":["corp.test"]}`, as(w.root)).want(200)

		takeover := func(email string, verified any, want string) {
			t.Helper()
			entra.Be(idptest.Person{Subject: "evil " + email, Email: email, Verified: verified})
			w.signOn("entra").failed(want)
		}
		for _, email := range []string{userMail, otherMail, adminMail, strings.ToUpper(userMail), userMail + ".corp.test.example.com"} {
			takeover(email, nil, "email_domain")
		}
		for _, email := range []string{"x@corp.test," + userMail, userMail + " <x@corp.test>", "<" + userMail + ">@corp.test", "corp.test", ""} {
			takeover(email, nil, "no_account")
		}
		takeover("x@corp.test@example.com", nil, "no_account")
		takeover(`"x@corp.test"@example.com`, nil, "no_account")

		w.do("PUT", path+"/entra", `{"allowedDomains":["example.com"]}`, as(w.root)).want(200)
		takeover(userMail, false, "no_account") // a provider that says no is believed
		takeover(userMail, "false", "no_account")
		takeover(userMail, 1, "no_account")
		takeover(adminMail, nil, "link_required")
		takeover("\u212Aate@example.com", nil, "no_account")
		takeover("ann@sub.example.com", nil, "email_domain")
		entra.Be(idptest.Person{Subject: "1", Email: userMail})
		if id := w.signOn("entra").entered("/"); id != w.annID {
			t.Errorf("signed in as %s", id)
		}

		// The domains go away under a row that a program wrote: nothing is trusted.
		w.exec(`UPDATE oidc_providers SET email_domains = '' WHERE slug = 'entra'`)
		takeover(otherMail, nil, "no_account")
		if _, newest := w.rowsOf("OIDC_PROVIDER_UPDATED"); !strings.Contains(newest, "trustEmail") {
			t.Errorf("audit log: %s", newest)
		}
	})
}

// With OIDC_AUTO_PROVISION, a trusted provider makes accounts in its domains only.
func TestSSO_trustEmail_provisions(t *testing.T) {
	w := small(t, withSSO(func(c *sso.Config) { c.AutoProvision = true }))
	entra := startIDP(t, idptest.Person{Subject: "1", Email: "zoe@corp.test", Name: "Zoe"})
	w.add("entra", entra)
	w.signOn("entra").failed("email_not_verified")
	w.do("PUT", "/api/admin/oidc-providers/entra", `{"trustEmail":true,"allowedDomains":["corp.test"]}`, as(w.root)).want(200)
	id := w.signOn("entra").entered("/")
	w.do("GET", "/api/users/"+id, "", as(w.root)).want(200).shows("email", "zoe@corp.test", "role", "USER")
	for i, email := range []string{"zoe@other.test", userMail} {
		entra.Be(idptest.Person{Subject: fmt.Sprint("other", i), Email: email})
		w.signOn("entra").failed("email_domain")
	}
}
