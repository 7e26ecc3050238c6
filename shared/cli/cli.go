// Package cli is the command line that all servers share: flags, settings from the environment, operators' commands,
// and a run that ends with a signal. It reports all problems of the settings at once.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/ops"
	"github.com/shortline/shortline/shared/service"
)

// Settings are the settings of one program: a pointer to a struct for package config. Programs embed Port, which
// implements Operator, and Warnings without any.
type Settings interface {
	config.Validator
	// Operator returns the address of the operator's port, or "" if there is none.
	Operator() string
	// Warnings returns one sentence for each valid setting that is not recommended.
	Warnings() []string
}

// Program is a server program.
type Program struct {
	Name  string
	About string // one sentence
	// New returns empty settings. Load fills them; nil stands for config.Load.
	New  func() Settings
	Load func(Settings) error
	// Run serves until ctx ends.
	Run func(ctx context.Context, s Settings, stdout, stderr io.Writer) error
	// Commands are what the program can do instead of serving, in the order in which its help lists them.
	Commands []Command
}

// Command is a command for operators, called as PROGRAM NAME ARGUMENTS. It ends by itself.
type Command struct {
	Name  string
	Args  string // names of the arguments, separated by spaces
	About string
	// New returns the empty settings of the command; nil means that it has none. They are usually fewer than those of the
	// server.
	New func() config.Validator
	// Run gets as many arguments as Args names. If Args begins with a bracket, the command has flags and parses all
	// arguments itself.
	Run func(ctx context.Context, s config.Validator, args []string, stdout, stderr io.Writer) error
}

// Main runs the program and ends the process.
func (p Program) Main() { os.Exit(p.Command(os.Args[1:], os.Stdout, os.Stderr)) }

// Command runs the program and returns the exit status: 2 if it was called with wrong arguments.
func (p Program) Command(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	version := flags.Bool("version", false, "print the version and exit")
	check := flags.Bool("check", false, "check the settings, print every problem and exit")
	healthy := flags.Bool("healthy", false, "ask the running program at OPS_ADDR whether it is ready; exit 0 if it is")
	table := flags.Bool("settings", false, "print the settings as a Markdown table and exit")
	flags.Usage = func() {
		p.usage(stderr)
		flags.PrintDefaults()
		fmt.Fprint(stderr, "\nSettings, from the environment (secrets also from NAME_FILE):\n\n")
		config.Usage(stderr, p.New())
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		return p.command(flags.Args(), *check, stdout, stderr)
	case *version:
		fmt.Fprintln(stdout, ops.Build())
		return 0
	case *table:
		config.Markdown(stdout, p.New())
		return 0
	}
	s := p.New()
	load := p.Load
	if load == nil {
		load = func(s Settings) error { return config.Load(s) }
	}
	if err := load(s); err != nil {
		if *check {
			err = errors.Join(err, misspelt(s))
		}
		return p.unusable(stderr, err)
	}
	switch {
	case *check:
		if err := misspelt(s); err != nil {
			return p.unusable(stderr, err)
		}
		fmt.Fprintln(stdout, "settings are valid")
		for _, warning := range s.Warnings() {
			fmt.Fprintln(stdout, "warning: "+warning)
		}
	case *healthy:
		if err := ready(s.Operator()); err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
			return 1
		}
	default:
		return p.serve(s, stdout, stderr)
	}
	return 0
}

// misspelt returns an error for names of settings that do not exist.
func misspelt(s Settings) error {
	if list := config.Misspelt(s); len(list) > 0 {
		return errors.New(strings.Join(list, "\n"))
	}
	return nil
}

// serve runs the server until a signal. The log begins with what runs, and ends with how it ended.
func (p Program) serve(s Settings, stdout, stderr io.Writer) int {
	log := logger(s, stderr)
	about := []any{"program", p.Name, "version", ops.Build(), "settings", strings.Join(config.Given(s), " ")}
	config.Each(s, func(name, value string) {
		if strings.HasSuffix(name, "_ADDR") && value != "" {
			about = append(about, strings.ToLower(name), value)
		}
	})
	log.Info("program starting", about...)
	for _, problem := range config.Misspelt(s) {
		log.Warn("unknown setting ignored", "problem", problem)
	}
	ctx, cancel := service.UntilSignal(context.Background())
	defer cancel()
	if err := p.Run(ctx, s, stdout, stderr); err != nil && !(ctx.Err() != nil && canceled(err)) {
		log.Error("program failed", "program", p.Name, "error", err.Error())
		return 1
	}
	log.Info("program stopped", "program", p.Name)
	return 0
}

// canceled reports whether every error in err is context.Canceled. Such an error of Run only means that the program was told to stop
// before it had started.
func canceled(err error) bool {
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(one error) bool { return !canceled(one) })
	case interface{ Unwrap() error }:
		return canceled(e.Unwrap())
	}
	return err == context.Canceled
}

// logger returns a logger with the format and level of the settings LOG_FORMAT and LOG_LEVEL, or text if there are none.
func logger(s Settings, stderr io.Writer) *slog.Logger {
	format, level := "text", "info"
	config.Each(s, func(name, value string) {
		switch name {
		case "LOG_FORMAT":
			format = value
		case "LOG_LEVEL":
			level = value
		}
	})
	log, err := ops.NewLogger(stderr, format, level)
	if err != nil {
		return slog.New(slog.NewTextHandler(stderr, nil)) // the program refuses the setting
	}
	return log
}

func (p Program) usage(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nUsage: %s [flag]\n", p.About, p.Name)
	if len(p.Commands) > 0 {
		fmt.Fprintf(w, "       %s COMMAND\n\n", p.Name)
	}
	for _, c := range p.Commands {
		fmt.Fprintf(w, "  %s\n      %s\n", strings.TrimSpace(c.Name+" "+c.Args), c.About)
	}
	fmt.Fprintln(w)
}

// command runs the command that the first argument names. With check it only checks the settings.
func (p Program) command(args []string, check bool, stdout, stderr io.Writer) int {
	at := slices.IndexFunc(p.Commands, func(c Command) bool { return c.Name == args[0] })
	if at < 0 {
		fmt.Fprintf(stderr, "%s: unknown argument %q; see %s -help\n", p.Name, args[0], p.Name)
		return 2
	}
	c := p.Commands[at]
	if !strings.HasPrefix(c.Args, "[") && len(args)-1 != len(strings.Fields(c.Args)) {
		fmt.Fprintf(stderr, "usage: %s\n", strings.TrimSpace(p.Name+" "+c.Name+" "+c.Args))
		return 2
	}
	var s config.Validator
	if c.New != nil {
		s = c.New()
		if err := config.Load(s); err != nil {
			return p.unusable(stderr, err)
		}
	}
	if check {
		fmt.Fprintln(stdout, "settings are valid")
		return 0
	}
	ctx, cancel := service.UntilSignal(context.Background())
	defer cancel()
	switch err := c.Run(ctx, s, args[1:], stdout, stderr); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "%s %s: %v\n", p.Name, c.Name, err)
		return 1
	}
	return 0
}

// unusable prints what is wrong with the settings and returns the exit status.
func (p Program) unusable(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "%s: the settings are not usable:\n", p.Name)
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintln(stderr, "  "+line)
	}
	return 1
}

// ready asks the running program at addr whether it is ready.
func ready(addr string) error {
	if addr == "" {
		return errors.New("OPS_ADDR is off, so readiness is unknown")
	}
	client := http.Client{Timeout: 2 * time.Second}
	res, err := client.Get("http://" + addr + "/readyz")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(res.Body, 4096)) // part of the text is better than none
		return fmt.Errorf("not ready: %s", strings.TrimSpace(string(why)))
	}
	return nil
}
