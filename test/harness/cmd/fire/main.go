// Command fire has the parts of a fleet that run as processes of their own, each until it is interrupted:
//
//	fire load  -addr host:port,… -slugs a,b [-clients 8] [-rate 0] [-for 1m] -log FILE
//	fire kafka -listen host:port [-advertise host:port] -data DIR -topic T [-partitions 12]
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
	"load": loadCommand, "kafka": kafkaCommand,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: fire load|kafka [flags]; fire load -h lists the flags of load")
		os.Exit(2)
	}
	flags := flag.NewFlagSet("fire "+os.Args[1], flag.ExitOnError)
	if err := commands[os.Args[1]](ctx, flags, os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "fire:", err)
		os.Exit(1)
	}
}
