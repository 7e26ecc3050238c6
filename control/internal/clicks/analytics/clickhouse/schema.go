package clickhouse

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// The names of migrations begin with their numbers, of four digits. Each statement can be repeated, because the engine has no
// transactions and two processes may start at once.
//
//go:embed migrations/*.sql
var migrations embed.FS

// The first migration has the number of the last one of those that it replaced. Tables that lack some of these need the last build
// that had them.
const (
	baseline      = 13
	beforeRelease = "a1c3869c"
)

// dialect renders the differences between tables of one server and tables that servers replicate. Names are the same, so all
// other statements are the same, too: servers pass on what an ALTER or a TRUNCATE does to a replicated table.
type dialect struct{ Replicated bool }

// OnCluster returns the clause that makes all servers of the service create something. We could also connect to each of them, but the
// URL may only have the address of a balancer.
func (d dialect) OnCluster() string {
	if !d.Replicated {
		return ""
	}
	return " ON CLUSTER '{cluster}'"
}

// Engine returns a table's engine. A ReplacingMergeTree keeps the row of a key with the highest version, or the last
// one. The path in Keeper is written out, because servers differ in their default.
func (d dialect) Engine(kind, version string) string {
	if !d.Replicated {
		return kind + "(" + version + ")"
	}
	if version != "" {
		version = ", " + version
	}
	return "Replicated" + kind + "('/clickhouse/tables/{shard}/{database}/{table}', '{replica}'" + version + ")"
}

// Durable returns the settings of a table whose acknowledged inserts survive a power failure. In a replicated table, another
// server has them. It also stores blocks that it has already: see settings. The setting insert_deduplicate=0 is not enough there. Since
// ClickHouse 26, deduplicate_insert has precedence and is on by default. Older servers refuse that name.
func (d dialect) Durable() string {
	if !d.Replicated {
		return "fsync_after_insert = 1, fsync_part_directory = 1"
	}
	return "index_granularity = 8192, replicated_deduplication_window = 0, replicated_deduplication_window_for_async_inserts = 0"
}

const versions = `CREATE TABLE IF NOT EXISTS migrations{{.OnCluster}} (version UInt32, name String, at DateTime DEFAULT now())
ENGINE = {{.Engine "ReplacingMergeTree" ""}} ORDER BY version SETTINGS {{.Durable}};
`

// engine returns the engine of a table, or "" if there is no such table.
func engine(ctx context.Context, conn driver.Conn, table string) (name string, err error) {
	err = conn.QueryRow(ctx, fmt.Sprintf(`SELECT max(engine) FROM system.tables WHERE database = currentDatabase() AND name = '%s'`,
		table)).
		Scan(&name)
	return name, err
}

// ensure runs a script that creates a table, unless the server has it. ON CLUSTER statements wait for every server of the
// cluster, even if they change nothing. A store could then not be opened while one server is down.
func ensure(ctx context.Context, conn driver.Conn, d dialect, table, script string) error {
	if has, err := engine(ctx, conn, table); has != "" || err != nil {
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
	if done > 0 && done < baseline {
		return fmt.Errorf("the tables have schema %d of before the first release, and this program knows only %d and later: "+
			"upgrade first to schema %d, with control migrate of a build of commit %s", done, baseline, baseline, beforeRelease)
	}
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return err
	}
	for _, f := range files {
		version, err := strconv.ParseUint(f.Name()[:4], 10, 32)
		if err != nil {
			return err
		}
		if version <= uint64(done) {
			continue
		}
		text, err := migrations.ReadFile("migrations/" + f.Name())
		if err != nil {
			return err
		}
		if err := runScript(ctx, conn, d, string(text)); err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		if err := conn.Exec(ctx, fmt.Sprintf(`INSERT INTO migrations (version, name) VALUES (%d, '%s')`, version, f.Name())); err != nil {
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

// UpgradePage describes how to go on without settings that earlier releases had.
const UpgradePage = "docs/operators/clickhouse-cluster.md#from-an-earlier-release"

// fits refuses tables that are not what the settings say. A cloud service makes its own kind of tables, whatever we ask for.
func fits(ctx context.Context, conn driver.Conn, d dialect) error {
	has, err := engine(ctx, conn, "clicks")
	if err != nil || has == "" || strings.HasPrefix(has, "Shared") {
		return err
	}
	switch is := strings.HasPrefix(has, "Replicated"); {
	case has == "Distributed":
		return errors.New("the tables were made with CLICKHOUSE_CLUSTER, which is no longer supported: see " + UpgradePage)
	case is && !d.Replicated:
		return errors.New("the tables are replicated, so CLICKHOUSE_REPLICATED must be true")
	case !is && d.Replicated:
		return errors.New("CLICKHOUSE_REPLICATED is true, but the tables are not replicated; it needs an empty database")
	}
	return nil
}
