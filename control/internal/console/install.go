package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// installable has what makes the console an application that people install: the manifest, its icons, the service worker, and the page
// that the worker shows while the server cannot be reached.
//
//go:embed install web/src/icon.svg
var installable embed.FS

// installFiles are its files by their path below /console/.
var installFiles = map[string]*asset{
	"manifest.webmanifest":  installFile("install/manifest.webmanifest", "application/manifest+json"),
	"worker.js":             installFile("install/worker.js", contentTypes[".js"]),
	"icon.svg":              installFile("web/src/icon.svg", contentTypes[".svg"]),
	"icon-192.png":          installFile("install/icon-192.png", "image/png"),
	"icon-512.png":          installFile("install/icon-512.png", "image/png"),
	"icon-maskable-512.png": installFile("install/icon-maskable-512.png", "image/png"),
}

func installFile(name, contentType string) *asset {
	a := newAsset(contentType, readInstall(name))
	return &a
}

func readInstall(name string) []byte {
	content, err := installable.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("BUG: read the embedded application: %v", err))
	}
	return content
}

// offlineText is what the page says.
type offlineText struct{ Title, Hint, Again string }

var offlineTexts = map[string]offlineText{
	"en": {"Shortline cannot be reached", "Check your connection. What you typed is kept in this tab.", "Try again"},
	"de": {"Shortline ist nicht erreichbar", "Prüfen Sie Ihre Verbindung. Was Sie eingegeben haben, bleibt in diesem Tab erhalten.",
		"Erneut versuchen"},
	"fr": {"Shortline est injoignable", "Vérifiez votre connexion. Votre saisie est conservée dans cet onglet.", "Réessayer"},
	"es": {"No se puede acceder a Shortline", "Compruebe su conexión. Lo que ha escrito se conserva en esta pestaña.", "Reintentar"},
	"ja": {"Shortline に接続できません", "接続を確認してください。入力した内容はこのタブに保存されています。", "再試行"},
	"ar": {"تعذّر الوصول إلى Shortline", "تحقّق من اتصالك. ما كتبته محفوظ في علامة التبويب هذه.", "إعادة المحاولة"},
}

// offlinePages are the page by its language. offlinePolicy allows its style, which is part of it, because nothing else is stored.
var offlinePages, offlinePolicy = renderOffline()

func renderOffline() (pages map[string]*asset, policy string) {
	style := readInstall("install/offline.css")
	page := template.Must(template.New("offline").Parse(string(readInstall("install/offline.html"))))
	pages = map[string]*asset{}
	for language, text := range offlineTexts {
		var b bytes.Buffer
		err := page.Execute(&b, struct {
			offlineText
			Language string
			Style    template.CSS
		}{text, language, template.CSS(style)})
		if err != nil {
			panic(fmt.Sprintf("BUG: render the offline page: %v", err))
		}
		a := newAsset("text/html; charset=utf-8", b.Bytes())
		pages[language] = &a
	}
	sum := sha256.Sum256(style)
	return pages, "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
}

// install answers a request for a path below /console/ that belongs to the application. It returns false for others.
func install(w http.ResponseWriter, r *http.Request, below string) bool {
	switch file := installFiles[below]; {
	case file != nil:
		file.serve(w, r, http.StatusOK)
	case below == "offline":
		w.Header().Set("Content-Security-Policy", offlinePolicy)
		w.Header().Add("Vary", "Accept-Language")
		offlinePages[spoken(offlinePages, r.Header.Get("Accept-Language"))].serve(w, r, http.StatusOK)
	case below == "share":
		w.Header().Set("Location", "/console/?"+sharedLink(r.URL.Query()).Encode())
		w.WriteHeader(http.StatusFound)
	default:
		return false
	}
	return true
}

// addressInText matches the first address in a text that was shared. Many applications share the address of a page within a text.
var addressInText = regexp.MustCompile(`https?://[^\s<>"]+`)

// sharedLink returns the query that opens the form for a new link with what another application shared.
func sharedLink(shared url.Values) url.Values {
	query := url.Values{"new": {"1"}}
	address := strings.TrimSpace(shared.Get("url"))
	for _, name := range []string{"text", "title"} {
		if address == "" {
			address = strings.TrimRight(addressInText.FindString(shared.Get(name)), ".,;:!?)")
		}
	}
	if address != "" {
		query.Set("url", address)
	}
	if title := strings.TrimSpace(shared.Get("title")); title != "" && !addressInText.MatchString(title) {
		query.Set("title", title)
	}
	return query
}
