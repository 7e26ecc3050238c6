package observe_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestDashboards_are_complete(t *testing.T) {
	t.Parallel()
	provisioned := map[string]bool{}
	for _, m := range regexp.MustCompile(`uid: (\S+)`).
		FindAllStringSubmatch(read(t, "deploy/grafana/provisioning/datasources/shortline.yml"),
			-1) {
		provisioned[m[1]] = true
	}
	uids := map[string]string{}
	for _, d := range dashboards(t) {
		if d.UID == "" || uids[d.UID] != "" {
			t.Errorf("%s: the uid %q is empty or also used by %s", d.file, d.UID, uids[d.UID])
		}
		uids[d.UID] = d.file
		if !slices.Equal(d.Tags, []string{"shortline"}) || len(d.Links) != 1 || !slices.Equal(d.Links[0].Tags, d.Tags) {
			t.Errorf("%s does not link to the other dashboards", d.file)
		}
		sources := map[string]bool{"-- Mixed --": true}
		for _, v := range d.Templating.List {
			if v.Type == "datasource" {
				sources["${"+v.Name+"}"] = true
				if uid := fmt.Sprint(v.Current.Value); !provisioned[uid] {
					t.Errorf("%s: data source %s is not provisioned", d.file, uid)
				}
			}
		}
		ids, taken := map[int]bool{}, map[[2]int]string{}
		for _, p := range d.Panels {
			if ids[p.ID] {
				t.Errorf("%s, %s: the id %d is used twice", d.file, p.Title, p.ID)
			}
			ids[p.ID] = true
			if p.GridPos.W < 1 || p.GridPos.X+p.GridPos.W > 24 {
				t.Errorf("%s, %s: invalid position %+v", d.file, p.Title, p.GridPos)
			}
			for x := range p.GridPos.W {
				for y := range p.GridPos.H {
					at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
					if taken[at] != "" {
						t.Fatalf("%s: the panel %s overlaps %s", d.file, p.Title, taken[at])
					}
					taken[at] = p.Title
				}
			}
			if p.Title == "" || len(p.Description) < 10 || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
				t.Errorf("%s, %q: the title, description, unit or query is missing", d.file, p.Title)
			}
			for _, q := range p.Targets {
				if !sources[q.Datasource.UID] {
					t.Errorf("%s, %s: the data source %s is not a variable", d.file, p.Title, q.Datasource.UID)
				}
			}
		}
	}
}

// Prometheus parses each expression as a recording rule.
func TestDashboards_PromQL_parses(t *testing.T) {
	t.Parallel()
	var rules strings.Builder
	rules.WriteString("groups:\n- name: panels\n  rules:\n")
	i := 0
	for _, expr := range expressions(t) {
		fmt.Fprintf(&rules, "  - record: panel:%d\n    expr: %q\n", i, expr)
		i++
	}
	path := filepath.Join(t.TempDir(), "panels.yml")
	testkit.Must(t, os.WriteFile(path, []byte(rules.String()), 0o600))
	promtool(t, "check", "rules", "--lint=none", path)
}
