package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// signedIn starts a process, waits until it is ready, and signs in.
func signedIn(t *testing.T, env map[string]string) *process {
	t.Helper()
	p := start(t, env)
	p.until(t, 200, "")
	p.signIn(t, "admin@example.com", "correct horse")
	return p
}

// stored counts all clicks in a store, and those that are stored twice.
func stored(t *testing.T, url string) (n int64) {
	t.Helper()
	s, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: url})
	testkit.Must(t, err)
	defer s.Close()
	lines, err := s.Lines(t.Context(), analytics.Query{Scope: analytics.Scope{Bots: analytics.Everyone}})
	testkit.Must(t, err)
	for _, l := range lines {
		n += l.Clicks
	}
	return n
}

// converted inserts conversions, of which only the first has a known click. It fails the test unless the store then has two.
func converted(t *testing.T, url string, insert int) {
	t.Helper()
	s, err := clickhouse.Open(t.Context(), clickhouse.Config{URL: url})
	testkit.Must(t, err)
	defer s.Close()
	var want []analytics.Conversion
	for i := range 2 {
		id := conversion.ClickID{Link: 1, Time: 1_795_000_000_000, Tag: uint64(i)}
		c := conversion.Conversion{Click: id, Workspace: 1, Name: "purchase", Value: 495_000, Currency: "EUR", ExternalID: fmt.Sprint(i),
			OccurredAt: id.Time + 1, ReceivedAt: id.Time + 2}
		want = append(want, analytics.Conversion{Conversion: c, Row: analytics.Row{Link: id.Link, Owner: 1, Time: id.Time},
			Attributed: i == 0})
	}
	testkit.Must(t, s.InsertConversions(t.Context(), want[:insert]))
	found := 0
	err = s.EachConversion(t.Context(), analytics.Scope{Bots: analytics.Everyone}, "", 10, func(c *analytics.Conversion) error {
		if w := want[c.Click.Tag]; c.Conversion != w.Conversion || c.Attributed != w.Attributed || c.Row.Link != w.Row.Link {
			t.Errorf("stored: %+v, want %+v", *c, w)
		}
		found++
		return nil
	})
	if err != nil || found != len(want) {
		t.Errorf("%d conversions are stored, want %d: %v", found, len(want), err)
	}
}

// restoreWithNewKafka restores after the loss of everything: Kafka is new, too, so it has neither topics nor a group to take
// back. Without Kafka, the data are restored all the same, and the command says so.
func restoreWithNewKafka(t *testing.T, from string, links int, clicks int64) {
	t.Helper()
	kafka, err := kfake.NewCluster()
	testkit.Must(t, err)
	defer kafka.Close()
	restored := regexp.MustCompile(`(?m)^(\d+) links, (\d+) clicks and 0 images of .* were restored$`)
	for name, c := range map[string]struct {
		brokers string
		code    int
		says    string
	}{
		"new":  {strings.Join(kafka.ListenAddrs(), ","), 0, "Kafka has no topic shortline.clicks"},
		"down": {testkit.FreeAddr(t), 1, "everything is restored"},
	} {
		t.Setenv("DATABASE_URL", storetest.PostgresURL(t))
		url := clickhousetest.Database(t)
		t.Setenv("CLICKHOUSE_URL", url)
		t.Setenv("KAFKA_BROKERS", c.brokers)
		code, out := call(t, "restore", from)
		m := restored.FindStringSubmatch(out)
		if code != c.code || !strings.Contains(out, c.says) || m == nil {
			t.Fatalf("Kafka is %s: %d\n%s", name, code, out)
		}
		if n, _ := strconv.Atoi(m[1]); n < links || m[2] != fmt.Sprint(clicks) || stored(t, url) != clicks {
			t.Errorf("Kafka is %s: %d clicks are stored\n%s", name, stored(t, url), out)
		}
	}
}

// A fleet is backed up while links are created and clicks arrive, and is restored into empty stores. Every link from before
// the backup is restored. Every click that Kafka has ever acknowledged counts once: later ones are delivered again.
func TestOps1_FleetBackup_under_load(t *testing.T) {
	kafka, err := kfake.NewCluster(kfake.SeedTopics(3, "shortline.clicks"))
	testkit.Must(t, err)
	defer kafka.Close()
	producer, err := kgo.NewClient(kgo.SeedBrokers(kafka.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	testkit.Must(t, err)
	defer producer.Close()
	env := map[string]string{
		"DATABASE_URL": storetest.PostgresURL(t), "CLICKHOUSE_URL": clickhousetest.Database(t), "ENCRYPTION_KEY": strings.Repeat("e", 32),
		"KAFKA_BROKERS": strings.Join(kafka.ListenAddrs(), ","), "DATA_DIR": t.TempDir(), "KAFKA_CREATE_TOPIC": "false",
	}
	p := signedIn(t, env)
	converted(t, env["CLICKHOUSE_URL"], 2)

	var ended atomic.Bool
	var acked atomic.Int64
	var mu sync.Mutex
	var links []string
	var load sync.WaitGroup
	load.Go(func() {
		next := map[click.Lane]uint64{}
		for i := 0; !ended.Load(); i++ {
			lane := click.Lane{Edge: 7, Epoch: 1, Lane: uint8(i % 3)}
			b := click.Batch{Lane: lane, First: next[lane] + 1, Count: 5}
			for range b.Count {
				next[lane]++
				b.Records = click.AppendRecord(b.Records, &click.Event{Seq: next[lane], Time: time.Now().UnixMilli(),
					Link: 1 + next[lane]%4})
			}
			if err := producer.ProduceSync(context.Background(), &kgo.Record{Topic: "shortline.clicks", Partition: int32(i % 3),
				Value: click.AppendBatch(nil, &b)}).FirstErr(); err != nil {
				t.Error(err)
				return
			}
			acked.Add(int64(b.Count))
		}
	})
	load.Go(func() {
		for i := 0; !ended.Load(); i++ {
			slug := fmt.Sprintf("made-%04d", i)
			code, text := p.ask(t, "POST", "http://"+p.api+"/api/urls", `{"originalUrl":"https://example.com/","customSlug":"`+slug+`"}`)
			if code != 201 {
				t.Errorf("a link: %d %s", code, text)
				return
			}
			mu.Lock()
			links = append(links, slug)
			mu.Unlock()
		}
	})
	if code, text := p.ask(t, "POST", "http://"+p.api+"/api/webhooks",
		`{"name":"a","url":"https://example.com/hook","events":["url.created"]}`); code >= 300 {
		t.Fatalf("a webhook: %d %s", code, text)
	}
	testkit.Eventually(t, "some load", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(links) >= 30 && stored(t, env["CLICKHOUSE_URL"]) >= 1000
	})
	mu.Lock()
	known := append([]string(nil), links...)
	mu.Unlock()
	before := acked.Load()

	for k, v := range env {
		t.Setenv(k, v)
	}
	to := filepath.Join(t.TempDir(), "backup")
	if code, out := call(t, "backup", to); code != 0 || !strings.Contains(out, "clicks") {
		t.Fatalf("backup: %d\n%s", code, out)
	}
	if code, out := call(t, "backup", to); code != 1 || !strings.Contains(out, "already exists") {
		t.Errorf("a backup over a backup: %d\n%s", code, out)
	}
	mu.Lock()
	made := len(links)
	mu.Unlock()
	testkit.Eventually(t, "load after the backup", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(links) >= made+10 && acked.Load() >= before+500
	})
	ended.Store(true)
	load.Wait()
	p.end()

	// A restore replaces nothing without -force, and changes nothing if the backup or the key is invalid.
	if code, out := call(t, "restore", to); code != 1 || !strings.Contains(out, "-force") {
		t.Errorf("a restore over a fleet: %d\n%s", code, out)
	}
	target := map[string]string{"DATABASE_URL": storetest.PostgresURL(t), "CLICKHOUSE_URL": clickhousetest.Database(t),
		"DATA_DIR": t.TempDir()}
	for k, v := range target {
		t.Setenv(k, v)
	}
	t.Setenv("ENCRYPTION_KEY", strings.Repeat("x", 32))
	if code, out := call(t, "restore", to); code != 1 || !strings.Contains(out, "ENCRYPTION_KEY") {
		t.Errorf("a restore with another key: %d\n%s", code, out)
	}
	t.Setenv("ENCRYPTION_KEY", env["ENCRYPTION_KEY"])
	damaged := filepath.Join(t.TempDir(), "damaged")
	testkit.Must(t, os.CopyFS(damaged, os.DirFS(to)))
	testkit.Must(t, os.Truncate(filepath.Join(damaged, "postgres", "urls.copy.gz"), 100))
	if code, out := call(t, "restore", damaged); code != 1 || !strings.Contains(out, "urls.copy.gz") {
		t.Errorf("a restore of a damaged backup: %d\n%s", code, out)
	}
	if n := stored(t, target["CLICKHOUSE_URL"]); n != 0 {
		t.Errorf("refused restores have stored %d clicks", n)
	}
	code, out := call(t, "restore", to)
	if code != 0 {
		t.Fatalf("restore: %d\n%s", code, out)
	}
	inBackup := stored(t, target["CLICKHOUSE_URL"])
	converted(t, target["CLICKHOUSE_URL"], 0)
	if code, out := call(t, "restore", "-force", to); code != 0 || stored(t, target["CLICKHOUSE_URL"]) != inBackup {
		t.Errorf("a second restore: %d\n%s", code, out)
	}
	if a, b := incarnation(t, env["DATABASE_URL"]), incarnation(t, target["DATABASE_URL"]); a == b {
		t.Error("edges would take the restored history for the one they know")
	}
	if code, out := call(t, "verify-audit"); code != 0 {
		t.Errorf("verify-audit: %d\n%s", code, out)
	}

	t.Run("A8_new_kafka", func(t *testing.T) { restoreWithNewKafka(t, to, len(known), inBackup) })

	for k, v := range target {
		env[k] = v
	}
	r := signedIn(t, env)
	for _, slug := range known {
		if code, text := r.ask(t, "GET", "http://"+r.api+"/api/urls?search="+slug, ""); code != 200 ||
			!strings.Contains(text, `"`+slug+`"`) {
			t.Fatalf("%s, made before the backup: %d %s", slug, code, text)
		}
	}
	all := acked.Load()
	testkit.Eventually(t, "the clicks after the backup are delivered again", func() bool {
		return stored(t, target["CLICKHOUSE_URL"]) >= all
	})
	if n := stored(t, target["CLICKHOUSE_URL"]); n != all {
		t.Errorf("%d clicks instead of %d", n, all)
	}
	if code, out := call(t, "verify-clicks"); code != 0 || !strings.Contains(out, "0 clicks are missing") {
		t.Errorf("verify-clicks: %d\n%s", code, out)
	}
	if code, text := r.ask(t, "POST", "http://"+r.api+"/api/urls", `{"originalUrl":"https://example.com/"}`); code != 201 {
		t.Errorf("a link after the restore: %d %s", code, text)
	}
	t.Logf("%d links and %d clicks before the backup; it has %d clicks; %d clicks in all, each once after the restore", len(known), before,
		inBackup, all)
}

func incarnation(t *testing.T, url string) (n int64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	testkit.Must(t, err)
	defer conn.Close(context.Background())
	testkit.Must(t, conn.QueryRow(t.Context(), `SELECT incarnation FROM config_head`).Scan(&n))
	return n
}
