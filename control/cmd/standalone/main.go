// Command standalone is Shortline in one process with nothing to install: an edge and a control plane on one
// address, with SQLite for links, DuckDB for clicks, and the spool read directly instead of through Kafka.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/service"
)

func main() {
	os.Exit(command(os.Args[1:], os.Stdout, os.Stderr))
}

// command is main without the process: it returns the exit status.
func command(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("standalone", flag.ContinueOnError)
	flags.SetOutput(stderr)
	version := flags.Bool("version", false, "print the version and exit")
	check := flags.Bool("check", false, "check the settings, print every problem and exit")
	healthy := flags.Bool("healthy", false, "ask the running program at OPS_ADDR whether it is ready; exit 0 if it is")
	table := flags.Bool("settings", false, "print the settings as a Markdown table and exit")
	flags.Usage = func() {
		fmt.Fprint(stderr, "standalone is Shortline in one process: links, redirects, clicks and reports.\n\nUsage: standalone [flag]\n\n")
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
		fmt.Fprintf(stderr, "standalone: unknown argument %q; see standalone -help\n", flags.Arg(0))
		return 2
	case *version:
		fmt.Fprintln(stdout, ops.Build())
		return 0
	case *table:
		config.Markdown(stdout, &settings{})
		return 0
	}
	s, err := load()
	if err != nil {
		fmt.Fprintln(stderr, "standalone: the settings are not usable:")
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(stderr, "  "+line)
		}
		return 1
	}
	switch {
	case *check:
		fmt.Fprintln(stdout, "settings are valid")
		return 0
	case *healthy:
		return askReady(s.OpsAddr, stderr)
	}
	private()
	ctx, cancel := service.UntilSignal(context.Background())
	defer cancel()
	if err := run(ctx, s, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "standalone:", err)
		return 1
	}
	return 0
}

func askReady(addr string, stderr io.Writer) int {
	client := http.Client{Timeout: 2 * time.Second}
	res, err := client.Get("http://" + addr + "/readyz")
	if err != nil {
		fmt.Fprintln(stderr, "standalone:", err)
		return 1
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		io.Copy(stderr, res.Body)
		return 1
	}
	return 0
}
