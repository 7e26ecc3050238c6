package redirect_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// Pages speak the language that the visitor prefers, on the service's host and on a branded one. What programs get stays English.
func TestPages_speak_the_language_of_the_visitor(t *testing.T) {
	t.Parallel()
	branded := snapshot.Host{Name: "go.brand.com", Domain: 38, BrandName: "Brand"}
	off := link.Record{Destination: "https://example.com/", Inactive: true}
	locked := link.Record{Destination: "https://example.com/", PasswordHash: secret()}
	var links []link.Record
	for _, domain := range []uint64{0, 38} {
		for slug, r := range map[string]link.Record{"off": off, "locked": locked} {
			r.Key = link.Key(domain, slug)
			links = append(links, r)
		}
	}
	w := newWorld(t, links, withHosts(t, branded))
	words := map[string][3]string{
		"en": {"Link not found", "Link no longer available", "Enter the password"},
		"de": {"Link nicht gefunden", "Link nicht mehr verfügbar", "Geben Sie das Passwort ein"},
		"fr": {"Lien introuvable", "Lien indisponible", "Saisissez le mot de passe"},
		"es": {"Enlace no encontrado", "Enlace no disponible", "Introduce la contraseña"},
		"ja": {"リンクが見つかりません", "リンクは利用できません", "パスワードを入力"},
		"ar": {"الرابط غير موجود", "الرابط لم يعد متاحًا", "أدخل كلمة المرور"},
	}
	for _, host := range []string{"sho.rt", "go.brand.com"} {
		for range 2 { // the second page of a brand is one that was kept
			for language, want := range words {
				for i, path := range []string{"/nothing", "/off", "/locked"} {
					a := w.get(path, "Host", host, "Accept", "text/html", "Accept-Language", language+"-XX,sv;q=0.5,en;q=0.1")
					tag := `<html lang="` + language + `"`
					if language == "ar" {
						tag += ` dir="rtl"`
					}
					if !strings.Contains(a.body, tag+">") || !strings.Contains(a.body, want[i]) {
						t.Errorf("%s%s in %s: %s", host, path, language, a.body)
					}
					if branded := strings.Contains(a.body, "<span>Brand</span>"); branded != (host == "go.brand.com") {
						t.Errorf("%s%s in %s shows the brand: %t", host, path, language, branded)
					}
				}
			}
		}
	}
	if a := w.get("/nothing", "Accept", "application/json", "Accept-Language", "de"); !strings.Contains(a.body, "No link works at this address") {
		t.Errorf("a program gets %s", a.body)
	}
}

// A page for visitors says what they can do.
func TestPages_say_what_to_do_next(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []link.Record{{Key: "old", Destination: "https://example.com/", ExpiresAt: epoch.Add(-time.Hour).UnixMilli()}})
	for path, want := range map[string]string{"/nothing": "ask the person who gave it to you", "/old": "for a new one",
		"/old+": "for a new one"} {
		a := w.ask(http.MethodGet, path, "", "Accept", "text/html")
		if !strings.Contains(a.body, want) {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}
