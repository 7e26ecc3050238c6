// Command edge answers visitors in one region: links from the control plane at CONTROL_URL, clicks to Kafka. With
// everything behind it away it goes on, from its own disk, also through a restart.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/edge/remote"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/service"
)

func main() {
	os.Exit(command(os.Args[1:], os.Stdout, os.Stderr))
}

// command is main without the process: it returns the exit status.
func command(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("edge", flag.ContinueOnError)
	flags.SetOutput(stderr)
	version := flags.Bool("version", false, "print the version and exit")
	check := flags.Bool("check", false, "check the settings, print every problem and exit")
	flags.Usage = func() {
		fmt.Fprint(stderr, "edge answers visitors: links from a control plane, clicks to Kafka.\n\nUsage: edge [flag]\n\n")
		flags.PrintDefaults()
		fmt.Fprint(stderr, "\nSettings, from the environment (secrets also from NAME_FILE):\n\n")
		config.Usage(stderr, &settings{})
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "edge: unknown argument %q; see edge -help\n", flags.Arg(0))
		return 2
	case *version:
		fmt.Fprintln(stdout, ops.Build())
		return 0
	}
	s := new(settings)
	if err := config.Load(s); err != nil {
		fmt.Fprintln(stderr, "edge: the settings are not usable:")
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(stderr, "  "+line)
		}
		return 1
	}
	if *check {
		fmt.Fprintln(stdout, "settings are valid")
		return 0
	}
	ctx, cancel := service.UntilSignal(context.Background())
	defer cancel()
	if err := run(ctx, s, stderr); err != nil {
		fmt.Fprintln(stderr, "edge:", err)
		return 1
	}
	return 0
}

// run is the program: it returns when ctx ends and everything has stopped, or when a part fails. It needs neither
// the control plane nor Kafka to start.
func run(ctx context.Context, s *settings, stderr io.Writer) (err error) {
	log, err := ops.NewLogger(stderr, s.LogFormat, s.LogLevel)
	if err != nil {
		return err
	}
	slog.SetDefault(log)
	op, err := ops.Listen(s.opsAddr(), log)
	if err != nil {
		return err
	}
	source, err := remote.NewSource(s.control())
	if err != nil {
		return err
	}
	defer source.Close()
	sink, err := remote.NewSink(s.kafka(log))
	if err != nil {
		return err
	}
	defer sink.Close()
	if err := op.Registry.Register(sink); err != nil {
		return fmt.Errorf("register the metrics of the Kafka sink: %w", err)
	}
	deps := edge.Deps{Source: source, Sink: sink, Logger: log, Registry: op.Registry}
	if s.ProxyAPI {
		deps.Upstream = s.dialControl
	}
	e, err := edge.New(s.edge(), deps)
	if err != nil {
		return err
	}
	op.AddCheck("links", func(context.Context) error {
		if !e.Ready() {
			return errors.New("no links have been loaded yet")
		}
		return nil
	})
	g := service.Group{Logger: log}
	g.Add("operator's port", op)
	g.Add("edge", e)
	return g.Run(ctx)
}
