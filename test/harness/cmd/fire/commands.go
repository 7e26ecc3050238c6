package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/shortline/shortline/test/harness/load"
	"github.com/shortline/shortline/test/harness/truth"
)

// parse reads flags and fails if one without a default is missing.
func parse(flags *flag.FlagSet, args []string, needed ...string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, name := range needed {
		if flags.Lookup(name).Value.String() == "" {
			return errors.New("missing flag -" + name)
		}
	}
	return nil
}

func loadCommand(ctx context.Context, flags *flag.FlagSet, args []string) error {
	addrs := flags.String("addr", "", "comma-separated edge addresses")
	slugs := flags.String("slugs", "", "comma-separated slugs to request")
	clients := flags.Int("clients", 8, "number of connections")
	first := flags.Int("first", 0, "number of the first client; runs that share a log file need distinct numbers")
	rate := flags.Float64("rate", 0, "requests per second of all clients together; 0 means as fast as possible")
	long := flags.Duration("for", time.Minute, "duration of the run")
	path := flags.String("log", "", "file that records every request")
	if err := parse(flags, args, "addr", "slugs", "log"); err != nil {
		return err
	}
	log, err := truth.Create(*path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, *long)
	defer cancel()
	fmt.Println(load.Run(ctx, load.Config{Addrs: strings.Split(*addrs, ","), Slugs: strings.Split(*slugs, ","), Clients: *clients,
		First: *first, Rate: *rate, Log: log}))
	return log.Close()
}

// advertised is a listener that reports another address to clients, such as that of a proxy.
type advertised struct {
	net.Listener
	addr net.Addr
}

func (a advertised) Addr() net.Addr { return a.addr }

func kafkaCommand(ctx context.Context, flags *flag.FlagSet, args []string) error {
	listen := flags.String("listen", "", "address to listen on")
	advertise := flags.String("advertise", "", "address that clients connect to; default: the address of -listen")
	data := flags.String("data", "", "data folder; created if it does not exist")
	name := flags.String("topic", "", "topic to create")
	partitions := flags.Int("partitions", 12, "number of partitions of the topic")
	if err := parse(flags, args, "listen", "data", "topic"); err != nil {
		return err
	}
	_, text, err := net.SplitHostPort(*listen)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	clientAddr := *listen
	if *advertise != "" {
		clientAddr = *advertise
	}
	addr, err := net.ResolveTCPAddr("tcp", clientAddr)
	if err != nil {
		return err
	}
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port), kfake.SeedTopics(int32(*partitions), *name), kfake.DataDir(*data),
		kfake.GroupMinSessionTimeout(time.Second),
		kfake.ListenFn(func(network, _ string) (net.Listener, error) {
			l, err := net.Listen(network, *listen)
			return advertised{l, addr}, err
		}))
	if err != nil {
		return err
	}
	defer c.Close()
	return evictGhosts(ctx, c, silence)
}
