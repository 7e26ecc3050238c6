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
			return errors.New("-" + name + " is needed")
		}
	}
	return nil
}

func loadCommand(ctx context.Context, flags *flag.FlagSet, args []string) error {
	addrs := flags.String("addr", "", "edges, with commas between them")
	slugs := flags.String("slugs", "", "links to ask for, with commas between them")
	clients := flags.Int("clients", 8, "connections")
	first := flags.Int("first", 0, "number of the first client: different for runs that share a file")
	rate := flags.Float64("rate", 0, "requests a second of all together; 0 is as fast as it goes")
	long := flags.Duration("for", time.Minute, "how long")
	path := flags.String("log", "", "file that takes every request")
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
	target := flags.String("target", "", "address to pass on to")
	control := flags.String("control", "127.0.0.1:0", "address that takes orders")
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
	secret := flags.String("secret", "", "the webhook's secret")
	status := flags.Int("status", http.StatusOK, "what to answer")
	after := flags.Duration("after", 0, "how long to wait before it")
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
	advertise := flags.String("advertise", "", "address that clients are told; none means the same")
	data := flags.String("data", "", "folder of the log, made if it is missing")
	name := flags.String("topic", "", "topic that is there")
	partitions := flags.Int("partitions", 12, "its partitions")
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
	told := *listen
	if *advertise != "" {
		told = *advertise
	}
	addr, err := net.ResolveTCPAddr("tcp", told)
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
	<-ctx.Done()
	c.Close()
	return nil
}

func checkCommand(ctx context.Context, flags *flag.FlagSet, args []string) error {
	path := flags.String("log", "", "file that load wrote")
	url := flags.String("clickhouse", "", "URL of ClickHouse's HTTP interface")
	database := flags.String("database", "default", "the database in it")
	brokers := flags.String("brokers", "", "Kafka's addresses, with commas between them")
	name := flags.String("topic", "shortline.clicks", "the topic of clicks")
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
		return errors.New("-clickhouse or -brokers is needed")
	}
	v, err := truth.Judge(*path, stored)
	if err != nil {
		return err
	}
	fmt.Println(v)
	if !v.Exact() {
		return errors.New("the store does not have what was answered")
	}
	return nil
}
