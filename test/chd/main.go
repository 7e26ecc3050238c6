//go:build linux && amd64

// Command chd is a ClickHouse server for tests: the real engine, from the library libchdb.so, behind ClickHouse's HTTP
// and native interfaces. Statements go through the same parser, planner and storage as in a server, so tests do not use
// a fake. Killing chd leaves on the disk what killing a server would.
//
// It implements what drivers need. HTTP: queries and inserts by POST, Native format, settings and {name:Type}
// parameters in the URL. TCP (-native): the protocol's revision 54460, with the data of results only, without progress
// or profiles. Both: LZ4 and ZSTD blocks and typed errors. It has no users, no clusters, no external tables and no
// settings that outlive a statement. A query continues when its client has disconnected. Asynchronous inserts run
// synchronously. A result is complete before its first block is sent. A folder belongs to one process at a time.
//
// It ends when its standard input ends, so it never outlives the test that started it.
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
	tcp := flag.String("native", "", "address to listen on for the native protocol; empty disables it")
	data := flag.String("data", "",
		"folder of the tables, created if it is missing; empty means a temporary one, which is removed when standard input ends")
	library := flag.String("lib", os.Getenv("CHDB_LIB"), "path of libchdb.so")
	flag.Parse()
	if err := run(*listen, *tcp, *data, *library); err != nil {
		fmt.Fprintln(os.Stderr, "chd:", err)
		os.Exit(1)
	}
}

// run prints the server's URLs when it is ready, one per line, the HTTP URL first.
func run(listen, tcp, data, library string) error {
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
		// Only the end of the input counts. The engine makes it non-blocking, so a read that the system restarts, as it
		// does after SIGCONT, can fail without data.
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
	ended := make(chan error, 2)
	urls := fmt.Sprintf("http://%s\n", l.Addr())
	if tcp != "" {
		l, err := net.Listen("tcp", tcp)
		if err != nil {
			return err
		}
		urls += fmt.Sprintf("clickhouse://%s\n", l.Addr())
		go func() { ended <- (&native{engine: e}).serve(l) }()
	}
	go func() { ended <- http.Serve(l, &front{engine: e}) }()
	fmt.Print(urls)
	return <-ended
}
