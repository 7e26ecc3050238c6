// Command fire runs the tools of the harness in the foreground, each until it is interrupted:
//
//	fire load  -addr host:port,… -slugs a,b [-clients 8] [-rate 0] [-for 1m] -log FILE
//	fire proxy -listen host:port -target host:port -control host:port
//	fire hooks -listen host:port -secret S [-status 200] [-after 0]
//	fire kafka -listen host:port [-advertise host:port] -data DIR -topic T [-partitions 12]
//	fire check -log FILE (-clickhouse http://host:port | -brokers host:port -topic T)
//
// check exits with 1 if a click is missing, is stored twice, or belongs to no request.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

var commands = map[string]func(context.Context, *flag.FlagSet, []string) error{
	"load": loadCommand, "proxy": proxyCommand, "hooks": hooksCommand, "kafka": kafkaCommand, "check": checkCommand,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: fire load|proxy|hooks|kafka|check [flags]; fire load -h lists the flags of load")
		os.Exit(2)
	}
	flags := flag.NewFlagSet("fire "+os.Args[1], flag.ExitOnError)
	if err := commands[os.Args[1]](ctx, flags, os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "fire:", err)
		os.Exit(1)
	}
}
