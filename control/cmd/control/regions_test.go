package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse/clickhousetest"
	"github.com/shortline/shortline/control/internal/store/storetest"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// produce writes clicks of one lane, numbered from first on, to the Kafka of a region.
func produce(t *testing.T, k *kfake.Cluster, edge, first uint64, n int) {
	t.Helper()
	producer, err := kgo.NewClient(kgo.SeedBrokers(k.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	testkit.Must(t, err)
	defer producer.Close()
	b := click.Batch{Lane: click.Lane{Edge: edge, Epoch: 1}, First: first, Count: n}
	for i := range n {
		b.Records = click.AppendRecord(b.Records, &click.Event{Seq: first + uint64(i), Time: time.Now().UnixMilli(), Link: 1})
	}
	testkit.Must(t, producer.ProduceSync(context.Background(), &kgo.Record{Topic: "shortline.clicks", Value: click.AppendBatch(nil, &b)}).
		FirstErr())
}

// One process reads the Kafka of two regions, of which one is down. That one delays neither the clicks of the other, nor the
// stop, nor a backup. When it is up, its clicks are stored, too. A restore makes both deliver again what the backup lacks.
func TestRegions_one_is_down(t *testing.T) {
	eu, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "shortline.clicks", "shortline.conversions"))
	testkit.Must(t, err)
	defer eu.Close()
	down := testkit.FreeAddr(t)
	env := map[string]string{
		"DATABASE_URL": storetest.PostgresURL(t), "CLICKHOUSE_URL": clickhousetest.Database(t), "ENCRYPTION_KEY": strings.Repeat("e", 32),
		"DATA_DIR":      t.TempDir(),
		"KAFKA_BROKERS": eu.ListenAddrs()[0], "KAFKA_REGIONS": "eu=" + eu.ListenAddrs()[0] + ";us=" + down,
	}
	p := signedIn(t, env)
	produce(t, eu, 7, 1, 5)
	testkit.Eventually(t, "the clicks of eu are stored", func() bool { return stored(t, env["CLICKHOUSE_URL"]) == 5 })
	metric := func(line string) bool {
		_, text := p.ask(t, "GET", "http://"+p.ops+"/metrics", "")
		return strings.Contains(text, "\n"+line+"\n")
	}
	for _, want := range []string{`shortline_kafkasource_clicks_total{group="ingest",kafka="eu"} 5`,
		`shortline_kafkasource_clicks_total{group="hooks",kafka="us"} 0`, `shortline_kafkasource_partitions{group="ingest",kafka="us"} 0`} {
		testkit.Eventually(t, want, func() bool { return metric(want) })
	}
	for k, v := range env {
		t.Setenv(k, v)
	}
	to := filepath.Join(t.TempDir(), "backup")
	if code, out := call(t, "backup", to); code != 0 || !strings.Contains(out, "Kafka of us cannot be read") {
		t.Fatalf("a backup: %d\n%s", code, out)
	}
	produce(t, eu, 7, 6, 5)

	_, port, err := net.SplitHostPort(down)
	testkit.Must(t, err)
	number, err := strconv.Atoi(port)
	testkit.Must(t, err)
	us, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(number), kfake.SeedTopics(1, "shortline.clicks", "shortline.conversions"))
	testkit.Must(t, err)
	produce(t, us, 8, 1, 3)
	testkit.Eventually(t, "the clicks of us are stored", func() bool { return stored(t, env["CLICKHOUSE_URL"]) == 13 })
	p.end() // with positions committed in both

	t.Setenv("DATABASE_URL", storetest.PostgresURL(t))
	t.Setenv("CLICKHOUSE_URL", clickhousetest.Database(t))
	if code, out := call(t, "restore", to); code != 0 || !strings.Contains(out, "5 clicks") {
		t.Fatalf("a restore: %d\n%s", code, out)
	}
	for _, k := range []string{"DATABASE_URL", "CLICKHOUSE_URL"} {
		env[k] = os.Getenv(k)
	}
	p = signedIn(t, env)
	testkit.Eventually(t, "both regions deliver again what the backup lacks", func() bool { return stored(t, env["CLICKHOUSE_URL"]) == 13 })
	us.Close()
	began := time.Now()
	p.end() // a dead region must not prevent it
	testkit.Within(t, 8*time.Second, began, "stopping with a dead region")
}

func TestCheck_lists_every_problem_of_regions(t *testing.T) {
	for k, v := range map[string]string{
		"BASE_URL": "https://sho.rt", "DATABASE_URL": "postgres://db/shortline", "CLICKHOUSE_URL": "http://clickhouse/shortline",
		"EDGE_TOKENS": edgeToken,
		"JWT_SECRET":  strings.Repeat("j", 32), "ENCRYPTION_KEY": strings.Repeat("e", 32), "KAFKA_REGIONS": "eu=a:1;eu=b:1;us=a:1;ap=;x=y",
	} {
		t.Setenv(k, v)
	}
	code, out := call(t, "-check")
	for _, want := range []string{"eu is named twice", "eu and us both have the broker a:1", "ap has no brokers", `"y" is not host:port`,
		"KAFKA_BROKERS: is required with KAFKA_REGIONS and the role api"} {
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("%q is missing: %d\n%s", want, code, out)
		}
	}
	t.Setenv("KAFKA_REGIONS", "eu=a:1;us=b:1")
	t.Setenv("ROLES", "ingest,webhooks")
	if code, out := call(t, "-check"); code != 0 {
		t.Errorf("ingest needs no KAFKA_BROKERS: %d\n%s", code, out)
	}
	t.Setenv("KAFKA_BROKERS", "a:1")
	t.Setenv("ROLES", "api,ingest")
	if code, out := call(t, "-check"); code != 0 {
		t.Errorf("KAFKA_BROKERS is one of the regions: %d\n%s", code, out)
	}
}
