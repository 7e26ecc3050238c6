package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	conns "github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// What the server's error codes mean, as far as an operator can do something about it.
const (
	codeNoDatabase = 81
	codeNoUser     = 192
	codeNoEntry    = 516
)

// oldest is the first release that has all that statements use.
var oldest = [2]uint64{24, 8}

// connect opens connections to a server that is new enough, and makes the database if it is missing.
func connect(ctx context.Context, opt *driver.Options, d dialect) (conns.Conn, error) {
	conn, err := driver.Open(opt)
	if err != nil {
		return nil, err
	}
	err = check(ctx, conn)
	if code(err) == codeNoDatabase {
		if err = makeDatabase(ctx, *opt, d); err == nil {
			err = check(ctx, conn)
		}
	}
	if err != nil {
		_ = conn.Close()
		if c := code(err); c == codeNoEntry || c == codeNoUser {
			return nil, fmt.Errorf("the server at %s refuses the user %q or the password", strings.Join(opt.Addr, ", "), opt.Auth.Username)
		}
		return nil, fmt.Errorf("%s: %w", strings.Join(opt.Addr, ", "), err)
	}
	return conn, nil
}

// check asks in the database, so that it must be there.
func check(ctx context.Context, conn conns.Conn) error {
	var version string
	if err := conn.QueryRow(ctx, `SELECT version()`).Scan(&version); err != nil {
		return err
	}
	var have [2]uint64
	for i, part := range strings.SplitN(version, ".", 3)[:min(2, strings.Count(version, ".")+1)] {
		have[i], _ = strconv.ParseUint(part, 10, 32) // what is no number is too old
	}
	if have[0] < oldest[0] || have[0] == oldest[0] && have[1] < oldest[1] {
		return fmt.Errorf("ClickHouse %s is too old, %d.%d is needed", version, oldest[0], oldest[1])
	}
	return nil
}

func makeDatabase(ctx context.Context, opt driver.Options, d dialect) error {
	name := opt.Auth.Database
	opt.Auth.Database = "default"
	conn, err := driver.Open(&opt)
	if err != nil {
		return err
	}
	err = conn.Exec(ctx, "CREATE DATABASE IF NOT EXISTS `"+strings.NewReplacer("\\", "\\\\", "`", "\\`").Replace(name)+"` "+d.OnCluster())
	if err = errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("make the database %s: %w", name, err)
	}
	return nil
}

var codeText = regexp.MustCompile(`(?i)\bcode: ?(\d+)`)

// code is the server's number for an error, 0 for others. Over HTTP the driver has it in its text only.
func code(err error) int {
	var e *driver.Exception
	if errors.As(err, &e) {
		return int(e.Code)
	}
	if err != nil {
		if m := codeText.FindStringSubmatch(err.Error()); m != nil {
			n, _ := strconv.Atoi(m[1])
			return n
		}
	}
	return 0
}
