package console

import (
	"net/http/httptest"
	"testing"
	"testing/fstest"
)

// The page names the messages of the reader's language, so that a browser need not wait for the script to ask for them.
func TestApp_preloads_messages(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for _, name := range []string{"index.html", "assets/index-AbCd_1-2.js", "assets/en-00000000.js", "assets/de-11111111.js", "assets/ar-2222-_22.js"} {
		files["dist/app/"+name] = &fstest.MapFile{Data: []byte("content")}
	}
	a, err := newApp(files)
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]string{
		"": "en-00000000", "de": "de-11111111", "de-AT,de;q=0.9,en;q=0.8": "de-11111111", "AR": "ar-2222-_22", "pt-BR, de;q=0.5": "de-11111111",
		"pt": "en-00000000", ";;,": "en-00000000", "index": "en-00000000",
	} {
		r := httptest.NewRequest("GET", appPage+"/links", nil)
		r.Header.Set("Accept-Language", header)
		w := httptest.NewRecorder()
		a.serve(w, r)
		if got, want := w.Header().Get("Link"), "</static/app/assets/"+want+".js>; rel=modulepreload"; got != want {
			t.Errorf("Accept-Language %q: Link %q, want %q", header, got, want)
		}
	}
}
