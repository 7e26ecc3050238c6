package console

import (
	"bytes"
	"fmt"
	"net/http"
	"path"
)

// sharedLanguages are the languages of the page of shared reports, with the beginning of its document.
var sharedLanguages = map[string]string{
	"en": `<html lang="en">`, "de": `<html lang="de">`, "fr": `<html lang="fr">`, "es": `<html lang="es">`, "ja": `<html lang="ja">`,
	"ar": `<html lang="ar" dir="rtl">`,
}

// addShared takes a file of the build of the page of shared reports.
func (s *site) addShared(name string, content []byte) error {
	contentType, known := contentTypes[path.Ext(name)]
	switch {
	case name == "share.html":
		s.shared = map[string]asset{}
		for language, begin := range sharedLanguages {
			page := bytes.Replace(content, []byte(sharedLanguages["en"]), []byte(begin), 1)
			s.shared[language] = newAsset("text/html; charset=utf-8", page)
		}
	case known:
		s.assets[sharedPath+name] = newAsset(contentType, content)
	}
	return nil
}

// SharedReport returns what sends the page of shared reports. The page is small and separate from the console, because its visitors have
// no account. Its script takes the language from the document, which has that of the browser. The caller sets the headers that depend on
// the report, such as the origins that may embed the page.
func SharedReport() func(w http.ResponseWriter, r *http.Request, status int) {
	s, err := newSite(built, "", nil)
	if err != nil {
		panic(fmt.Sprintf("BUG: read the embedded console: %v", err))
	}
	return s.showShared
}

func (s *site) showShared(w http.ResponseWriter, r *http.Request, status int) {
	if len(s.shared) == 0 {
		http.Error(w, "This program was compiled without the console. `make build` builds both.", http.StatusNotFound)
		return
	}
	w.Header().Add("Vary", "Accept-Language")
	page := s.shared[spoken(s.shared, r.Header.Get("Accept-Language"))]
	page.serve(w, r, status)
}
