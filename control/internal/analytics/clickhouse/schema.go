package clickhouse

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// migrations are numbered from 1 without gaps. Each statement can be run again: the engine has no transactions, and
// two processes may start at once.
//
//go:embed migrations/*.sql
var migrations embed.FS

// words are what tables need said differently on a single server and on a cluster, where parts are durable when
// another replica has them. Only the single server is supported so far.
type words struct {
	OnCluster string
	Replacing string // the engine that keeps the last row of a key
	Durable   string // the settings that make an insert survive a power cut once it is acknowledged
}

var single = words{Replacing: "ReplacingMergeTree", Durable: "fsync_after_insert = 1, fsync_part_directory = 1"}

const versions = `CREATE TABLE IF NOT EXISTS migrations {{.OnCluster}} (version UInt32, name String, at DateTime DEFAULT now())
ENGINE = {{.Replacing}} ORDER BY version SETTINGS {{.Durable}}`

// migrate brings the tables up to date.
func migrate(ctx context.Context, conn driver.Conn) error {
	if err := runTemplate(ctx, conn, versions); err != nil {
		return err
	}
	var done uint32
	if err := conn.QueryRow(ctx, `SELECT max(version) FROM migrations`).Scan(&done); err != nil {
		return err
	}
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return err
	}
	for i, f := range files[min(int(done), len(files)):] {
		text, err := migrations.ReadFile("migrations/" + f.Name())
		if err != nil {
			return err
		}
		for _, statement := range strings.Split(string(text), ";\n") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if err := runTemplate(ctx, conn, statement); err != nil {
				return fmt.Errorf("%s: %w", f.Name(), err)
			}
		}
		if err := conn.Exec(ctx, fmt.Sprintf(`INSERT INTO migrations (version, name) VALUES (%d, '%s')`, int(done)+i+1, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

func runTemplate(ctx context.Context, conn driver.Conn, statement string) error {
	t, err := template.New("").Parse(statement)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := t.Execute(&text, single); err != nil {
		return err
	}
	return conn.Exec(ctx, text.String())
}

// retain sets after how many days clicks go, or that they stay if it is 0.
func retain(ctx context.Context, conn driver.Conn, days int) error {
	var table string
	if err := conn.QueryRow(ctx, `SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = 'clicks'`).Scan(&table); err != nil {
		return err
	}
	has := strings.Contains(table, " TTL ")
	switch {
	case days == 0 && has:
		return conn.Exec(ctx, `ALTER TABLE clicks REMOVE TTL`)
	case days > 0 && !strings.Contains(table, fmt.Sprintf("TTL toDateTime(ts) + toIntervalDay(%d) ", days)):
		return conn.Exec(ctx, fmt.Sprintf(`ALTER TABLE clicks MODIFY TTL toDateTime(ts) + toIntervalDay(%d)`, days))
	}
	return nil
}
