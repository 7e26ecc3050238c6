package clickhouse_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// recorder is a proxy before the engine, which has no Keeper. It makes plain tables of replicated ones, and keeps what was asked.
type recorder struct {
	*httptest.Server
	mu         sync.Mutex
	statements []string
	settings   []url.Values
}

var (
	onCluster  = regexp.MustCompile(`(CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS \w+) ON CLUSTER '\{cluster\}'`)
	replicated = regexp.MustCompile(`Replicated(\w*MergeTree)\('/clickhouse/tables/\{shard\}/\{database\}/\{table\}', '\{replica\}'(?:, )?`)
)

func newRecorder(t *testing.T, behind string) *recorder {
	t.Helper()
	to, err := url.Parse(behind)
	testkit.Must(t, err)
	direct := testkit.FullDuplex(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: to.Scheme, Host: to.Host}))
	r := &recorder{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		text, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		statement := q.URL.Query().Get("query")
		if statement == "" {
			statement = string(text)
			text = replicated.ReplaceAll(onCluster.ReplaceAll(text, []byte("$1")), []byte("$1("))
		}
		r.mu.Lock()
		r.statements, r.settings = append(r.statements, statement), append(r.settings, q.URL.Query())
		r.mu.Unlock()
		q.Body, q.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		direct.ServeHTTP(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

// at returns the URL of the database behind the proxy.
func (r *recorder) at(behind string) string {
	return r.URL + behind[strings.LastIndexByte(behind, '/'):]
}

// A replicated store does what a store of one server does. All servers make its tables. All other statements are those of a single
// server, because servers replicate what they change.
func TestF37_a_replicated_store(t *testing.T) {
	t.Parallel()
	_, behind := scratch(t)
	r := newRecorder(t, behind)
	cfg := clickhouse.Config{URL: r.at(behind), Replicated: true}
	s := open(t, cfg)
	rows := analyticstest.Clicks(5, 300, time.Now().Add(-100*time.Hour), 2)
	testkit.Must(t, s.Insert(t.Context(), analytics.Batch{Rows: rows, Marks: []analytics.Mark{{Lane: rows[0].Lane, Seq: 300}}}))
	testkit.Must(t, s.Rebuild(t.Context(), time.Now()))
	if n := count(t, s); n != 300 {
		t.Errorf("%d clicks", n)
	}
	if _, err := s.Erase(t.Context(), netip.MustParseAddr("192.0.2.1")); err != nil {
		t.Error(err)
	}
	testkit.Must(t, s.Forget(t.Context(), []uint64{rows[0].Owner}))
	if _, err := s.Identify(t.Context()); err != nil {
		t.Error(err)
	}
	testkit.Must(t, s.SetIdentity(t.Context(), "other"))
	testkit.Must(t, s.Clear(t.Context()))

	r.mu.Lock()
	defer r.mu.Unlock()
	made := 0
	for i, statement := range r.statements {
		created, clustered := strings.Contains(statement, "CREATE "), strings.Contains(statement, "ON CLUSTER")
		if created != clustered {
			t.Errorf("created: %v, by all servers: %v: %s", created, clustered, statement)
		}
		if created {
			made++
		}
		if strings.Contains(statement, "GLOBAL") || strings.Contains(statement, "_local") {
			t.Errorf("a replicated table is read otherwise than another one: %s", statement)
		}
		for name, want := range map[string]string{"insert_quorum": "auto", "insert_quorum_timeout": "60000", "alter_sync": "2",
			"insert_deduplicate": "0"} {
			testkit.Equal(t, r.settings[i].Get(name), want, "%s of %.60s", name, statement)
		}
		for _, name := range []string{"insert_quorum_parallel", "select_sequential_consistency"} {
			if r.settings[i].Has(name) {
				t.Errorf("%s=%s is sent", name, r.settings[i].Get(name))
			}
		}
	}
	if made < 20 {
		t.Errorf("only %d statements make tables and views", made)
	}
}

// A store whose tables are up to date opens without ON CLUSTER statements, which would wait for a server that is down. Settings that
// contradict the tables are refused.
func TestF37_open_existing_tables(t *testing.T) {
	t.Parallel()
	server, behind := scratch(t)
	open(t, clickhouse.Config{URL: behind})
	refused := func(cfg clickhouse.Config, says string) {
		t.Helper()
		s, err := clickhouse.Open(t.Context(), cfg)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	refused(clickhouse.Config{URL: behind, Replicated: true}, "CLICKHOUSE_REPLICATED is true, but the tables are not replicated")

	// The engine runs no replicated tables. It only describes them in system.tables.
	as := func(engine string) *recorder {
		r := newRecorder(t, behind)
		was := r.Config.Handler
		r.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			text, _ := io.ReadAll(q.Body)
			text = bytes.ReplaceAll(text, []byte("max(engine)"), []byte("'"+engine+"'"))
			q.Body, q.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
			was.ServeHTTP(w, q)
		})
		return r
	}
	refused(clickhouse.Config{URL: as("ReplicatedReplacingMergeTree").at(behind)}, "CLICKHOUSE_REPLICATED must be true")
	refused(clickhouse.Config{URL: as("Distributed").at(behind), Replicated: true},
		"CLICKHOUSE_CLUSTER, which is no longer supported: see docs/operators/clickhouse-cluster.md#from-an-earlier-release")
	open(t, clickhouse.Config{URL: as("SharedReplacingMergeTree").at(behind)})
	open(t, clickhouse.Config{URL: as("SharedReplacingMergeTree").at(behind), Replicated: true})
	r := as("ReplicatedReplacingMergeTree")
	open(t, clickhouse.Config{URL: r.at(behind), Replicated: true})
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, statement := range r.statements {
		if strings.Contains(statement, "CREATE") || strings.Contains(statement, "ALTER") {
			t.Errorf("tables that are up to date are changed: %s", statement)
		}
	}
	ask(t, server, "SELECT 1")
}

// The settings exist in the engine, which refuses unknown names. Those of the URL have precedence over those of replicated tables.
func TestF37_settings_of_replicated_tables(t *testing.T) {
	t.Parallel()
	server, behind := scratch(t)
	for _, setting := range []string{"insert_quorum = 'auto'", "insert_quorum_timeout = 60000", "alter_sync = 2",
		"select_sequential_consistency = 1"} {
		ask(t, server, "SELECT 1 SETTINGS "+setting)
	}
	r := newRecorder(t, behind)
	open(t, clickhouse.Config{URL: r.at(behind) + "&insert_quorum=3&select_sequential_consistency=1", Replicated: true})
	for _, q := range r.settings {
		testkit.Equal(t, q.Get("insert_quorum")+" "+q.Get("select_sequential_consistency")+" "+q.Get("insert_quorum_timeout"),
			"3 1 60000", "settings")
	}
	reference, err := os.ReadFile(testkit.Source(t, "docs/operators/settings.md"))
	testkit.Must(t, err)
	for line := range strings.Lines(string(reference)) {
		if strings.HasPrefix(line, "| `CLICKHOUSE_REPLICATED`") && strings.Contains(line, "have not run") &&
			strings.Contains(line, "Use two") {
			return
		}
	}
	t.Error("docs/operators/settings.md does not say at CLICKHOUSE_REPLICATED what we have not run, or how many servers to use")
}
