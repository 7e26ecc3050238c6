package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	conns "github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Error codes of the server that an operator can act on.
const (
	codeNoDatabase = 81
	codeNoUser     = 192
	codeNoEntry    = 516
)

// oldest is the first release that supports all statements.
var oldest = [2]uint64{24, 8}

// connect opens connections to a server, checks its version, and creates the database if it is missing.
func connect(ctx context.Context, opt *driver.Options, d dialect) (conns.Conn, error) {
	conn, err := driver.Open(opt)
	if err != nil {
		return nil, err
	}
	err = checkServer(ctx, conn)
	if code(err) == codeNoDatabase {
		if err = makeDatabase(ctx, *opt, d); err == nil {
			err = checkServer(ctx, conn)
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

// inTurn opens connections to a service with several addresses. It begins with the address that was used last, so all connections
// stay with one server until it fails. Otherwise, reports would alternate between servers of which one is some milliseconds behind.
//
// The driver would give the first address all the time that it has for a connection. A server that accepts connections and does not
// answer would then hide the others.
type inTurn struct{ at atomic.Int64 }

// errNoAddress means that a service could be reached at none of its addresses.
var errNoAddress = errors.New("no address of the service answers")

func (t *inTurn) dial(ctx context.Context, _ int, opt *driver.Options, dial driver.Dial) (driver.DialResult, error) {
	each := *opt
	each.DialTimeout /= time.Duration(len(opt.Addr))
	errs := []error{errNoAddress}
	for range opt.Addr {
		at := t.at.Load()
		one, cancel := context.WithTimeout(ctx, each.DialTimeout)
		r, err := dial(one, opt.Addr[at%int64(len(opt.Addr))], &each)
		cancel()
		if err == nil {
			return r, nil
		}
		errs = append(errs, err)
		t.at.CompareAndSwap(at, at+1) // another connection may have moved on already
	}
	return driver.DialResult{}, errors.Join(errs...)
}

// checkServer runs a query in the database, so it fails if the database is missing.
func checkServer(ctx context.Context, conn conns.Conn) error {
	var version string
	if err := conn.QueryRow(ctx, `SELECT version()`).Scan(&version); err != nil {
		return err
	}
	var have [2]uint64
	for i, part := range strings.SplitN(version, ".", 3)[:min(2, strings.Count(version, ".")+1)] {
		have[i], _ = strconv.ParseUint(part, 10, 32) // anything else is too old
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
	err = conn.Exec(ctx, "CREATE DATABASE IF NOT EXISTS `"+strings.NewReplacer("\\", "\\\\", "`", "\\`").Replace(name)+"`"+d.OnCluster())
	if err = errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("make the database %s: %w", name, err)
	}
	return nil
}

var codeText = regexp.MustCompile(`(?i)\bcode: ?(\d+)`)

// code returns the server's error code, or 0 for other errors. Over HTTP the driver has the code only in its text.
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
