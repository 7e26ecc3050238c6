//go:build linux && amd64

// Command chd is a ClickHouse server for tests: the real engine, as the library libchdb.so has it, behind
// ClickHouse's HTTP and native interfaces. What is asked of it goes through the same parser, planner and storage as in a
// server, so a test against it is no test against a fake; killing it leaves on disk what killing a server would.
//
// It speaks as much of both as drivers need: over HTTP queries and inserts by POST, Native format, settings and
// {name:Type} parameters in the URL; over TCP (-native) the protocol's revision 54460, of results the data alone, without
// progress or profiles; over both LZ4 and ZSTD blocks and typed errors. It has no users, no clusters, no tables sent along
// with a query, no settings that outlive a statement, and a query goes on when its client has gone away. Asynchronous
// inserts run at once. A result is whole before its first block is sent. A folder belongs to one process at a time.
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
	tcp := flag.String("native", "", "address to listen on for the native protocol; none means that it isn't spoken")
	data := flag.String("data", "", "folder of the tables, made if it is missing; none means a temporary one, which goes when standard input ends")
	library := flag.String("lib", os.Getenv("CHDB_LIB"), "path of libchdb.so")
	flag.Parse()
	if err := run(*listen, *tcp, *data, *library); err != nil {
		fmt.Fprintln(os.Stderr, "chd:", err)
		os.Exit(1)
	}
}

// run prints the server's URLs, each in a line, when it answers: that of HTTP first.
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
