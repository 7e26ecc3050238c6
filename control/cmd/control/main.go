// Command control is what operators run on a control plane's database: migrations, the audit log's check, a new
// administrator, another encryption key. Each command opens the store that DATABASE_URL names, standalone's
// included (sqlite:DATA_DIR/shortline.db, while standalone is stopped).
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

	"github.com/shortline/shortline/control/internal/app"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/service"
)

func main() {
	os.Exit(command(os.Args[1:], os.Stdout, os.Stderr))
}

// commands are what control can be told to do, in the order of its help.
var commands = []struct {
	name, args, help string
	run              func(ctx context.Context, s app.Operator, args []string, out io.Writer) error
}{
	{"migrate", "", "bring the database's schema up to date", migrate},
	{"verify-audit", "", "check that no row of the audit log was changed, removed or put in", verifyAudit},
	{"create-admin", "EMAIL", "make an administrator; the password is ADMIN_PASSWORD, or is made and printed", createAdmin},
	{"rotate-keys", "", "seal every secret again with the first key of ENCRYPTION_KEY", rotateKeys},
}

// command is main without the process: it returns the exit status.
func command(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("control", flag.ContinueOnError)
	flags.SetOutput(stderr)
	version := flags.Bool("version", false, "print the version and exit")
	check := flags.Bool("check", false, "check the settings, print every problem and exit")
	flags.Usage = func() { usage(stderr, flags) }
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case *version:
		fmt.Fprintln(stdout, ops.Build())
		return 0
	}
	var s app.Operator
	if err := config.Load(&s); err != nil {
		fmt.Fprintln(stderr, "control: the settings are not usable:")
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(stderr, "  "+line)
		}
		return 1
	}
	if *check {
		fmt.Fprintln(stdout, "settings are valid")
		return 0
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(stderr, nil)))
	for _, c := range commands {
		if c.name != flags.Arg(0) {
			continue
		}
		want := len(strings.Fields(c.args))
		if flags.NArg()-1 != want {
			fmt.Fprintf(stderr, "control: usage: control %s %s\n", c.name, c.args)
			return 2
		}
		ctx, cancel := service.UntilSignal(context.Background())
		defer cancel()
		if err := c.run(ctx, s, flags.Args()[1:], stdout); err != nil {
			fmt.Fprintf(stderr, "control %s: %v\n", c.name, err)
			return 1
		}
		return 0
	}
	usage(stderr, flags)
	return 2
}

func usage(w io.Writer, flags *flag.FlagSet) {
	fmt.Fprint(w, "control does an operator's work on a control plane's database.\n\nUsage: control [flag] COMMAND\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-20s %s\n", strings.TrimSpace(c.name+" "+c.args), c.help)
	}
	fmt.Fprintln(w)
	flags.PrintDefaults()
	fmt.Fprint(w, "\nSettings, from the environment (secrets also from NAME_FILE):\n\n")
	config.Usage(w, &app.Operator{})
}

func migrate(ctx context.Context, s app.Operator, _ []string, out io.Writer) error {
	if err := s.Migrate(ctx); err != nil {
		return err
	}
	fmt.Fprintln(out, "the schema is up to date")
	return nil
}

func verifyAudit(ctx context.Context, s app.Operator, _ []string, out io.Writer) error {
	head, err := s.VerifyAudit(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d rows, none changed; the newest has the hash %s\nKeep this hash elsewhere: only it reveals a later removal of the newest rows.\n", head.Seq, head.Hash)
	return nil
}

func createAdmin(ctx context.Context, s app.Operator, args []string, out io.Writer) error {
	password, err := s.CreateAdmin(ctx, args[0])
	if err != nil {
		return err
	}
	if password == "" {
		fmt.Fprintf(out, "%s is an administrator\n", args[0])
	} else {
		fmt.Fprintf(out, "%s is an administrator, with the password %s\n", args[0], password)
	}
	return nil
}

func rotateKeys(ctx context.Context, s app.Operator, _ []string, out io.Writer) error {
	n, err := s.RotateKeys(ctx)
	fmt.Fprintf(out, "%d secrets were sealed again\n", n)
	return err
}
