package redirect_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/hosts"
	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// withBase serves hosts and tells the edge about the host of BASE_URL.
func withBase(t *testing.T, base snapshot.Base, list ...snapshot.Host) func(*redirect.Config, *redirect.Deps) {
	table := newHosts(t, list...)
	table.Apply(&snapshot.Hosts{Base: &base})
	return func(_ *redirect.Config, d *redirect.Deps) { d.Hosts = table }
}

func TestSlugs_in_any_case(t *testing.T) {
	t.Parallel()
	folding := acme
	folding.Fold, folding.NotFoundURL = true, ""
	w := newWorld(t, []link.Record{
		{Key: "Spring", Destination: "https://example.com/base"},
		{Key: link.Key(36, "Spring"), Destination: "https://example.com/acme"},
		{Key: link.Key(36, "Locked"), Destination: "https://example.com/", PasswordHash: secret()},
		{Key: link.Key(37, "Spring"), Destination: "https://example.com/bare"},
	}, withHosts(t, folding, bare))
	for _, c := range []struct{ host, path, want string }{
		{"go.acme.com", "/Spring", "acme"}, {"go.acme.com", "/spring", "acme"}, {"go.acme.com", "/SPRING", "acme"},
		{"go.acme.com", "/SPRING).", "acme"}, {"go.acme.com", "/sPRING/", "acme"},
		{"go.bare.com", "/Spring", "bare"}, {"go.bare.com", "/spring", ""}, {"sho.rt", "/Spring", "base"}, {"sho.rt", "/spring", ""},
	} {
		a := w.get(c.path, "Host", c.host)
		if to := a.Header.Get("Location"); c.want == "" && a.StatusCode != http.StatusNotFound || c.want != "" && to != "https://example.com/"+c.want {
			t.Errorf("%s%s: %d %s", c.host, c.path, a.StatusCode, to)
		}
	}
	if a := w.get("/LOCKED", "Host", "go.acme.com", "Accept", browser); !strings.Contains(a.body, `action="/Locked/verify"`) {
		t.Errorf("form: %s", a.body)
	}
	if a := w.get("/SPRING/info", "Host", "go.acme.com"); !strings.Contains(a.body, `"slug":"Spring"`) {
		t.Errorf("info: %s", a.body)
	}
}

func TestSlugs_of_the_base_host(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []link.Record{
		{Key: "Spring", Destination: "https://example.com/base"}, {Key: "x", Destination: "https://example.com/x"},
		{Key: link.Key(0, "2s/spring"), Destination: "https://example.com/deep"}, {Key: "2s/spring", Destination: "https://example.com/other"},
	}, withBase(t, snapshot.Base{SlugForm: snapshot.SlugForm{Fold: true, Extended: true}}))
	for path, want := range map[string]string{"/SPRING": "base", "/X": "x", "/x": "x", "/2S/Spring": "deep"} {
		if status, to := w.bare(path); status != "302" || to != "https://example.com/"+want {
			t.Errorf("%s: %s %s", path, status, to)
		}
	}
}

func TestSlugs_extended(t *testing.T) {
	t.Parallel()
	extended := bare
	extended.Extended = true
	at := func(slug string, r link.Record) link.Record {
		r.Key = link.Key(37, slug)
		if r.Destination == "" {
			r.Destination = "https://example.com/" + strings.ReplaceAll(slug, "/", "-")
		}
		return r
	}
	w := newWorld(t, []link.Record{
		at("a", link.Record{Forward: true}), at("a/b", link.Record{Forward: true}), at("a/b/c.d", link.Record{}),
		at("conf/2024", link.Record{}), at("script.py", link.Record{}), at("春", link.Record{Destination: "https://example.com/haru"}),
		at("über", link.Record{Destination: "https://example.com/ueber", PasswordHash: secret()}), at("spring", link.Record{}),
	}, withHosts(t, extended, acme))
	for _, c := range []struct{ path, want string }{
		{"/a", "a"}, {"/a/x", "a/x"}, {"/a/b", "a-b"}, {"/a/b/x/y", "a-b/x/y"}, {"/a/b/c.d", "a-b-c.d"}, {"/a/b/c.d/e", ""},
		{"/conf/2024", "conf-2024"}, {"/conf%2F2024", "conf-2024"}, {"/conf/2024/", "conf-2024"}, {"/conf/2024).", "conf-2024"}, {"/conf", ""},
		{"/conf/2025", ""}, {"/script.py", "script.py"}, {"/script.py.", "script.py"}, {"/script", ""}, {"/%E6%98%A5", "haru"}, {"/春", "haru"},
		{"/春。", "haru"}, {"/spring请点击", "spring"}, {"/spring，请", "spring"}, {"/spring%E2%80%8B", "spring"}, {"/spring.", "spring"},
	} {
		got := w.raw("GET " + c.path + " HTTP/1.1\r\nHost: go.bare.com\r\nUser-Agent: x\r\nConnection: close\r\n\r\n")
		if c.want == "" && !strings.HasPrefix(got, "HTTP/1.1 404") || c.want != "" && !strings.Contains(got, "\r\nLocation: https://example.com/"+c.want+"\r\n") {
			t.Errorf("%s: %s", c.path, got)
		}
	}
	for _, path := range []string{"/%C3%BCber", "/u%CC%88ber", "/%C3%9Cber"} {
		if a := w.get(path, "Host", "go.bare.com", "Accept", browser); !strings.Contains(a.body, `action="/%c3%bcber/verify"`) &&
			!strings.Contains(a.body, `action="/%C3%BCber/verify"`) {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
		}
	}
	a := w.ask(http.MethodPost, "/%C3%BCber/verify", "password=wrong", "Host", "go.bare.com", "Content-Type", "application/x-www-form-urlencoded")
	if to := a.Header.Get("Location"); to != "/%C3%BCber?error=invalid_password" {
		t.Errorf("wrong password: %d %q", a.StatusCode, to)
	}
	if a := w.get("/conf/2024/info", "Host", "go.bare.com"); !strings.Contains(a.body, `"slug":"conf/2024"`) {
		t.Errorf("info: %s", a.body)
	}
	// A host without the setting has none of these.
	if a := w.get("/script.py", "Host", "sho.rt"); a.StatusCode != http.StatusNotFound {
		t.Errorf("other host: %d", a.StatusCode)
	}
}

// A host table that is opened again has what the control plane told it.
func TestSlugs_survive_a_restart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table, err := hosts.Open(hosts.Config{Dir: dir})
	testkit.Must(t, err)
	table.Apply(&snapshot.Hosts{Full: true, Base: &snapshot.Base{SlugForm: snapshot.SlugForm{Fold: true}, Hidden: []uint64{7}},
		Hosts: []snapshot.Host{{Name: "go.acme.com", Domain: 36, SlugForm: snapshot.SlugForm{Extended: true}}}})
	testkit.Must(t, table.Close())
	table, err = hosts.Open(hosts.Config{Dir: dir})
	testkit.Must(t, err)
	defer table.Close()
	if !table.Slugs(nil).Fold || !table.HidesPreviews(7) || table.HidesPreviews(8) ||
		!table.Slugs(table.Lookup([]byte("go.acme.com"))).Extended {
		t.Error("the settings are lost")
	}
}
