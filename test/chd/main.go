//go:build linux && amd64

// Command chd is a ClickHouse server for tests: the real engine, as the library libchdb.so has it, behind
// ClickHouse's HTTP interface. What is asked of it goes through the same parser, planner and storage as in a
// server, so a test against it is no test against a fake; killing it leaves on disk what killing a server would.
//
// It speaks as much of the interface as drivers need: queries and inserts by POST, Native format, settings and
// {name:Type} parameters in the URL, LZ4 and ZSTD blocks, typed errors. It has no users, no native TCP protocol, no
// clusters, and a query goes on when its client has gone away. Asynchronous inserts run at once. A folder belongs to
// one process at a time.
//
// It ends when its standard input does, so it never outlives the test that started it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	data := flag.String("data", "", "folder of the tables, made if it is missing; none means a temporary one, which goes when standard input ends")
	library := flag.String("lib", os.Getenv("CHDB_LIB"), "path of libchdb.so")
	flag.Parse()
	if err := run(*listen, *data, *library); err != nil {
		fmt.Fprintln(os.Stderr, "chd:", err)
		os.Exit(1)
	}
}

// run prints the server's URL when it answers.
func run(listen, data, library string) error {
	if library == "" {
		return errors.New("-lib is needed")
	}
	temporary := data == ""
	if temporary {
		dir, err := os.MkdirTemp("", "shortline-chd-")
		if err != nil {
			return err
		}
		data = dir
	}
	e, err := open(library, data)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	go func() {
		// Only its end counts. The engine makes it non-blocking, so that a read which the system begins anew, as it
		// does after SIGCONT, can fail for want of data.
		for {
			if _, err := io.Copy(io.Discard, os.Stdin); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if temporary {
			_ = os.RemoveAll(data)
		}
		os.Exit(0)
	}()
	fmt.Printf("http://%s\n", l.Addr())
	return http.Serve(l, &front{engine: e})
}
