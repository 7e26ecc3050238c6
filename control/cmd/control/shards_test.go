package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestShards_of_the_settings(t *testing.T) {
	for text, want := range map[string][]shardAt{
		"main=clickhouse://u:p@h:9000/d": {{"main", "clickhouse://u:p@h:9000/d"}},
		"main=clickhouse://u:p@h1:9000,h2:9000/d?a=b, b-2=https://h3:8443,h4:8443/d ": {
			{"main", "clickhouse://u:p@h1:9000,h2:9000/d?a=b"}, {"b-2", "https://h3:8443,h4:8443/d"},
		},
	} {
		got, err := clicksAt{URLs: config.Secret(text)}.shards()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	got, err := clicksAt{URL: "http://h/d"}.shards()
	if err != nil || !reflect.DeepEqual(got, []shardAt{{"main", "http://h/d"}}) {
		t.Errorf("CLICKHOUSE_URL: %v, %v", got, err)
	}
	for text, says := range map[string]string{
		"clickhouse://secret@h/d":                         "must be a list such as",
		"x,main=clickhouse://secret@h/d":                  "must be a list such as",
		"Main=clickhouse://secret@h/d":                    "the name of shard 1",
		"=clickhouse://secret@h/d":                        "the name of shard 1",
		"a=http://secret@h/d,a=http://secret@i/d":         `two shards have the name "a"`,
		"a=http://secret@h/d,b=http://secret@h/d":         `"a" and "b" have the same URL`,
		"a=http://secret@h/d,b=ftp://secret@h/d":          `shard "b": must begin with`,
		strings.Repeat("x", 40) + "=http://secret@h/d":    "the name of shard 1",
		"a=http://secret@h/d,b=http:///secret":            `shard "b": must be an address`,
		"a=http://secret@h/d,b=clickhouse://secret@:x:y/": `shard "b": must be an address`,
	} {
		if _, err := (clicksAt{URLs: config.Secret(text)}).shards(); err == nil || !strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
	if _, err := (clicksAt{URL: "http://h/d", URLs: "main=http://h/d"}).shards(); err == nil ||
		!strings.Contains(err.Error(), "CLICKHOUSE_URL: must be empty if CLICKHOUSE_URLS is set") {
		t.Errorf("both: %v", err)
	}
}

// Settings of earlier releases are refused at the start and by -check, with the name of the setting and the page that says what to do.
func TestF37_settings_of_earlier_releases(t *testing.T) {
	for name, c := range map[string]clicksAt{
		"CLICKHOUSE_URLS":    {URLs: "main=clickhouse://u:secret@h1:9000/d | clickhouse://u:secret@h2:9000/d,b=http://u:secret@h3/d"},
		"CLICKHOUSE_URL":     {URL: "clickhouse://u:secret@h1:9000/d|clickhouse://u:secret@h2:9000/d"},
		"CLICKHOUSE_CLUSTER": {URL: "clickhouse://u:secret@h1:9000/d", Cluster: "shortline"},
	} {
		err := c.validate()
		if err == nil || !strings.Contains(err.Error(), name+": ") || !strings.Contains(err.Error(), clickhouse.UpgradePage) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	path, section, _ := strings.Cut(clickhouse.UpgradePage, "#")
	page, err := os.ReadFile(testkit.Source(t, path))
	testkit.Must(t, err)
	if title := "\n## " + strings.ReplaceAll(section, "-", " ") + "\n"; !strings.Contains(strings.ToLower(string(page)), title) {
		t.Errorf("%s has no section %q", path, section)
	}
	t.Setenv("CLICKHOUSE_URLS", "main=clickhouse://h1:9000/d|clickhouse://h2:9000/d")
	code, out := call(t, "-check")
	if code == 0 || !strings.Contains(out, "CLICKHOUSE_URLS: ") || !strings.Contains(out, clickhouse.UpgradePage) {
		t.Errorf("-check: %d %s", code, out)
	}
}

// fails runs a process that must refuse to start.
func fails(t *testing.T, env map[string]string, says string) {
	t.Helper()
	addr := testkit.FreeAddr(t)
	all := map[string]string{
		"LISTEN_ADDR": addr, "OPS_ADDR": testkit.FreeAddr(t), "DATA_DIR": t.TempDir(), "BASE_URL": "http://" + addr,
		"ROLES":      "api",
		"JWT_SECRET": strings.Repeat("j", 32), "ENCRYPTION_KEY": strings.Repeat("e", 32), "ADMIN_PASSWORD": "correct horse",
	}
	for k, v := range env {
		all[k] = v
	}
	s := new(settings)
	testkit.Must(t, config.LoadFrom(s, all))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &testkit.Buffer{}
	if err := run(ctx, s, out, out); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("run: %v, want %q\n%s", err, says, out)
	}
}

// The life of a second shard: it is added and opened, it is unreachable at a start, and settings that contradict the directory
// are refused.
func TestStart_with_shards(t *testing.T) {
	server := clickhousetest.Start(t, t.TempDir())
	far, err := server.Database(t.Context())
	testkit.Must(t, err)
	near := clickhousetest.Database(t)
	db := storetest.PostgresURL(t)
	env := map[string]string{"ROLES": "api,ingest", "DATABASE_URL": db, "CLICKHOUSE_URLS": "main=" + near + ",b=" + far}
	t.Run("added", func(t *testing.T) {
		p := start(t, env)
		p.until(t, 200, "")
		t.Setenv("DATABASE_URL", db)
		t.Setenv("CLICKHOUSE_URLS", env["CLICKHOUSE_URLS"])
		t.Setenv("ENCRYPTION_KEY", strings.Repeat("e", 32))
		says := func(command string, code int, text string) {
			t.Helper()
			says(t, code, text, strings.Fields(command)...)
		}
		says("shards", 0, "closed to new workspaces, 0 workspaces") // registered
		says("open-shard c", 1, `no shard "c" is registered`)
		says("open-shard b", 0, "can be assigned to b")
		says("shards", 0, "open to new workspaces, 1 workspaces")
		st, err := store.Open(t.Context(), store.Config{URL: db})
		testkit.Must(t, err)
		defer st.Close()
		names, err := st.WorkspaceNames(t.Context(), []uint64{1})
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		slug := names[0].Slug
		says("move-workspace b no-such", 1, `there is no workspace with the slug or the ID "no-such"`)
		says("move-workspace b", 1, "usage: control move-workspace SHARD WORKSPACE")
		says("move-workspace main "+slug, 1, `is in the shard "main" already`)
		says("move-workspace -cancel "+slug, 1, "the workspace is not moving")
		says("move-workspace b "+slug, 0, "all clicks are in b")
		says("move-workspace main "+slug, 0, "all clicks are in main")
		says("verify-clicks", 0, "0 clicks are missing")
	})
	server.Kill()
	p := start(t, env)
	p.until(t, 200, "")
	p.signIn(t, "admin@example.com", "correct horse")
	for _, email := range []string{"first@example.com", "second@example.com"} {
		if code, text := p.ask(t, "POST", "http://"+p.api+"/api/users", fmt.Sprintf(`{"email":%q,"password":"battery staple"}`,
			email)); code != 201 {
			t.Fatalf("a user: %d %s", code, text)
		}
	}
	report := func() (int, string) { return p.ask(t, "GET", "http://"+p.api+"/api/analytics/overview", "") }
	if code, text := report(); code != 503 {
		t.Errorf("a report of all workspaces: %d %s", code, text)
	}
	p.signIn(t, "second@example.com", "battery staple")
	second := p.token
	p.signIn(t, "first@example.com", "battery staple") // assigned to b, which has the fewest
	if code, text := report(); code != 503 || !strings.Contains(text, "not available at the moment") {
		t.Errorf("a report of a workspace of the shard that is down: %d %s", code, text)
	}
	first := p.token
	p.token = second // assigned to main
	// A report that takes long on a busy machine gets 503, too.
	testkit.Eventually(t, "a report of the other shard", func() bool { code, _ := report(); return code == 200 })
	p.token = first
	server.Restart(t)
	testkit.Eventually(t, "a report of the shard that was down", func() bool { code, _ := report(); return code == 200 })
	t.Run("refused", func(t *testing.T) {
		fails(t, map[string]string{"DATABASE_URL": db, "CLICKHOUSE_URL": near},
			`the shard "b" is missing, but it holds the clicks of 1 workspaces`)
		fails(t, map[string]string{"DATABASE_URL": db, "CLICKHOUSE_URLS": "main=" + near + ",b=" + clickhousetest.Database(t)},
			"new or was emptied")
		fails(t, map[string]string{"DATABASE_URL": db, "CLICKHOUSE_URLS": "main=" + near + ",b=" + far + ",c=" +
			strings.Replace(far, "127.0.0.1",
				"localhost", 1)}, "are the same database")
	})
}
