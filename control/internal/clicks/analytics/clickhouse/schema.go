package clickhouse

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// migrations are numbered from 1 without gaps. Each statement can be repeated, because the engine has no transactions
// and two processes may start at once.
//
//go:embed migrations/*.sql
var migrations embed.FS

// dialect renders the differences between the tables of a single server and of a cluster. On a cluster, each table is a
// replicated local table on every shard plus a distributed table with the plain name, so queries are the same.
type dialect struct{ Cluster string }

// Table returns the name of the table that has the rows, for CREATE and ALTER.
func (d dialect) Table(name string) string {
	if d.Cluster == "" {
		return name
	}
	return name + "_local " + d.OnCluster()
}

// OnCluster returns the clause that makes every server of the cluster run the statement.
func (d dialect) OnCluster() string {
	if d.Cluster == "" {
		return ""
	}
	return "ON CLUSTER `" + d.Cluster + "`"
}

// In returns the IN operator for a subquery. On a cluster, every shard needs the complete result of the subquery.
func (d dialect) In() string {
	if d.Cluster == "" {
		return "IN"
	}
	return "GLOBAL IN"
}

// Engine returns a table's engine. A ReplacingMergeTree keeps the row of a key with the highest version, or the last
// one.
func (d dialect) Engine(kind, version string) string {
	if d.Cluster == "" {
		return kind + "(" + version + ")"
	}
	if version != "" {
		version = ", " + version
	}
	return "Replicated" + kind + "('/clickhouse/tables/{shard}/{database}/{table}', '{replica}'" + version + ")"
}

// Durable returns the settings of a table whose acknowledged inserts survive a power failure. On a cluster, another
// replica has them.
func (d dialect) Durable() string {
	if d.Cluster == "" {
		return "fsync_after_insert = 1, fsync_part_directory = 1"
	}
	return "index_granularity = 8192, " + d.EveryBlock()
}

// EveryBlock returns the settings of a replicated table that stores repeated blocks, too. The setting insert_deduplicate=0
// is not enough: since ClickHouse 26, deduplicate_insert has precedence and is on by default. Older servers refuse that name.
func (d dialect) EveryBlock() string {
	return "replicated_deduplication_window = 0, replicated_deduplication_window_for_async_inserts = 0"
}

// Distributed returns the statement that creates the table over all shards, or "" on a single server. Rows with the
// same value of the column by are on the same shard.
func (d dialect) Distributed(name, by string) string {
	if d.Cluster == "" {
		return ""
	}
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s %s AS %s_local ENGINE = Distributed(`%s`, currentDatabase(), '%s_local', intHash64(%s))",
		name, d.OnCluster(), name, d.Cluster, name, by)
}

const versions = `CREATE TABLE IF NOT EXISTS {{.Table "migrations"}} (version UInt32, name String, at DateTime DEFAULT now())
ENGINE = {{.Engine "ReplacingMergeTree" ""}} ORDER BY version SETTINGS {{.Durable}};
{{.Distributed "migrations" "version"}};
`

// exists reports whether the server has a table. On a cluster, it needs both tables of that name.
func exists(ctx context.Context, conn driver.Conn, d dialect, table string) (bool, error) {
	local, _, _ := strings.Cut(d.Table(table), " ")
	var n, want uint64 = 0, 1
	if local != table {
		want = 2
	}
	err := conn.QueryRow(ctx, fmt.Sprintf(`SELECT count() FROM system.tables WHERE database = currentDatabase() AND name IN ('%s', '%s')`, table, local)).Scan(&n)
	return n == want, err
}

// ensure runs a script that creates a table, unless the server has it. ON CLUSTER statements wait for every server of the
// cluster, even if they change nothing. A store could then not be opened while one server is down.
func ensure(ctx context.Context, conn driver.Conn, d dialect, table, script string) error {
	if has, err := exists(ctx, conn, d, table); has || err != nil {
		return err
	}
	return runScript(ctx, conn, d, script)
}

// migrate runs the missing migrations.
func migrate(ctx context.Context, conn driver.Conn, d dialect) error {
	if err := ensure(ctx, conn, d, "migrations", versions); err != nil {
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
		if err := runScript(ctx, conn, d, string(text)); err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		if err := conn.Exec(ctx, fmt.Sprintf(`INSERT INTO migrations (version, name) VALUES (%d, '%s')`, int(done)+i+1, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

func runScript(ctx context.Context, conn driver.Conn, d dialect, script string) error {
	statements, err := render(script, d)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// render returns the statements of a script.
func render(script string, d dialect) ([]string, error) {
	t, err := template.New("").Parse(script)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	if err := t.Execute(&text, d); err != nil {
		return nil, err
	}
	var list []string
	for _, statement := range strings.Split(text.String(), ";\n") {
		if statement = strings.TrimSpace(statement); statement != "" {
			list = append(list, statement)
		}
	}
	return list, nil
}

// noTTL removes the TTL with which an earlier release deleted old clicks. A TTL deletes clicks whether or not they were
// counted. Expire is called only after they were counted.
func noTTL(ctx context.Context, conn driver.Conn, d dialect) error {
	for _, e := range expiring {
		name, _, _ := strings.Cut(d.Table(e.table), " ")
		var has string
		if err := conn.QueryRow(ctx, fmt.Sprintf(`SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = '%s'`, name)).Scan(&has); err != nil {
			return err
		}
		if !strings.Contains(has, " TTL ") {
			continue
		}
		if err := conn.Exec(ctx, "ALTER TABLE "+d.Table(e.table)+" REMOVE TTL"); err != nil {
			return fmt.Errorf("remove the TTL of %s: %w", e.table, err)
		}
	}
	return nil
}
