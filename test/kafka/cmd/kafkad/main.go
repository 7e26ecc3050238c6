// Command kafkad runs one Kafka broker in the foreground, for manual tests and scripts. It prints the broker's address
// when the broker is ready, and ends with ^C.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/shortline/shortline/shared/testing/kafkatest"
)

func main() {
	cfg := kafkatest.Config{Output: os.Stderr, Settings: map[string]string{}}
	flag.StringVar(&cfg.Dir, "dir", "", "folder of the data; empty means a temporary one")
	flag.IntVar(&cfg.Port, "port", 0, "port on 127.0.0.1; 0 means a free one")
	flag.IntVar(&cfg.HeapMB, "heap", 0, "megabytes; 0 means 256")
	flag.Func("set", "`name=value` of Kafka's server.properties; may be repeated", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return fmt.Errorf("%q is not name=value", s)
		}
		cfg.Settings[name] = value
		return nil
	})
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b, err := kafkatest.Start(ctx, cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(b.Addr())
	ended := make(chan struct{})
	go func() {
		b.Wait()
		close(ended)
	}()
	select {
	case <-ctx.Done():
		b.Stop()
		b.Close()
	case <-ended:
		b.Close()
		fmt.Fprintln(os.Stderr, "the broker ended by itself")
		os.Exit(1)
	}
}
