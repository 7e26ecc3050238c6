package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/shortline/shortline/test/harness/clickstore"
	"github.com/shortline/shortline/test/harness/faultproxy"
	"github.com/shortline/shortline/test/harness/hooksink"
	"github.com/shortline/shortline/test/harness/load"
	"github.com/shortline/shortline/test/harness/topic"
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
	fmt.Println(load.Run(ctx, load.Config{Addrs: strings.Split(*addrs, ","), Slugs: strings.Split(*slugs, ","), Clients: *clients, First: *first, Rate: *rate, Log: log}))
	return log.Close()
}

func proxyCommand(ctx context.Context, flags *flag.FlagSet, args []string) error {
	listen := flags.String("listen", "", "address to listen on")
	target := flags.String("target", "", "upstream address")
	control := flags.String("control", "127.0.0.1:0", "address of the HTTP control interface")
	if err := parse(flags, args, "listen", "target"); err != nil {
		return err
	}
	p, err := faultproxy.Listen(*listen, *target)
	if err != nil {
		return err
	}
	defer p.Close()
	return serve(ctx, *control, p)
}

func hooksCommand(ctx context.Context, flags *flag.FlagSet, args []string) error {
	listen := flags.String("listen", "127.0.0.1:0", "address to listen on")
	secret := flags.String("secret", "", "signing secret of the webhook")
	status := flags.Int("status", http.StatusOK, "HTTP status of the answers")
	after := flags.Duration("after", 0, "delay before each answer")
	if err := parse(flags, args, "secret"); err != nil {
		return err
	}
	s := hooksink.New(*secret, func(d hooksink.Delivery) hooksink.Answer {
		fmt.Printf("%s %s attempt %d signed %v %s\n", d.ID, d.Event, d.Attempt, d.Signed, d.Body)
		return hooksink.Answer{Status: *status, After: *after}
	})
	err := serve(ctx, *listen, s)
	fmt.Printf("%+v\n", s.Account())
	return err
}

// serve prints the address and serves until ctx ends.
func serve(ctx context.Context, listen string, h http.Handler) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
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

func checkCommand(ctx context.Context, flags *flag.FlagSet, args []string) error {
	path := flags.String("log", "", "log file that \"fire load\" wrote")
	url := flags.String("clickhouse", "", "URL of ClickHouse's HTTP interface")
	database := flags.String("database", "default", "ClickHouse database")
	brokers := flags.String("brokers", "", "comma-separated Kafka addresses")
	name := flags.String("topic", "shortline.clicks", "Kafka topic of clicks")
	if err := parse(flags, args, "log"); err != nil {
		return err
	}
	var stored iter.Seq2[string, int]
	switch {
	case *url != "":
		s := clickstore.Store{URL: strings.TrimRight(*url, "/"), Database: *database}
		account, err := s.Account(ctx)
		if err != nil {
			return err
		}
		fmt.Println(account)
		if stored, err = s.Contents(ctx); err != nil {
			return err
		}
	case *brokers != "":
		account, err := topic.Read(ctx, strings.Split(*brokers, ","), *name)
		if err != nil {
			return err
		}
		fmt.Println(account)
		stored = account.Contents()
	default:
		return errors.New("missing flag: -clickhouse or -brokers")
	}
	v, err := truth.Judge(*path, stored)
	if err != nil {
		return err
	}
	fmt.Println(v)
	if !v.Exact() {
		return errors.New("the stored clicks differ from the answered requests")
	}
	return nil
}
