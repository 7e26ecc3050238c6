package api_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/shortline/shortline/control/internal/api"
	"github.com/shortline/shortline/control/internal/manage/imports"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A row that panics costs the import only itself, with a reason that the API tells. The file of the failed rows has it.
func TestImports_go_on_after_panics(t *testing.T) {
	var panics sync.Map // the *int of each world; both stores are tried at once
	configure := func(w *world, c *api.Config, d *api.Deps) {
		whole(w, c, d)
		n := new(int)
		panics.Store(w, n)
		config := links.Config{BaseURL: baseURL, Destinations: link.Policy{Hosts: []string{"sho.rt"}},
			Screen: func(_ context.Context, urls []string) ([]string, error) {
				for _, one := range urls {
					if strings.Contains(one, "/bad") {
						*n++
						panic("a fault of the program")
					}
				}
				return make([]string, len(urls)), nil
			}}
		d.Imports = imports.New(imports.Config{}, w.store, links.New(config, w.store, nil))
		w.imports = d.Imports
	}
	eachWith(t, configure, func(t *testing.T, w *world) {
		var file strings.Builder
		file.WriteString("url\n")
		for i := range 450 {
			path := fmt.Sprint(i)
			if i == 3 || i == 7 || i == 449 {
				path = "bad" + path
			}
			fmt.Fprintf(&file, "https://example.com/%s\n", path)
		}
		id := w.uploadLinks(file.String())
		got := w.imported(id, planOf(map[string]string{"originalUrl": "url"}, "skip"))
		testkit.Equal(t, got.progress(), "DONE: done 450, created 447, updated 0, skipped 0, renamed 0, failed 3", "the import")
		n, _ := panics.Load(w)
		testkit.Equal(t, *n.(*int), 1+2*3+1+3, "panics of two steps, and three of each bad row")
		problems := w.do("GET", "/api/imports/"+id+"/problems", "", as(w.ann)).want(200).shows("total", 3, "data.0.row", 5)
		if n := strings.Count(problems.text, "the service failed at it 3 times"); n != 3 {
			t.Errorf("%d reasons: %s", n, problems.text)
		}
		failed := w.do("GET", "/api/imports/"+id+"/problems.csv", "", as(w.ann)).want(200)
		if n := strings.Count(failed.text, "/bad"); n != 3 || !strings.Contains(failed.text, "the service failed at it") {
			t.Errorf("the file of failed rows: %s", failed.text)
		}
	})
}
