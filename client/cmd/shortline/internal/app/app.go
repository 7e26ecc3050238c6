// Package app holds what all commands share: streams, global flags, the profile in use, and how results and errors are shown.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/profile"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// Version of the program, which the build sets.
var Version = "dev"

// System is what surrounds a run of the program. Tests replace it.
type System struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	InTTY    bool // In is a terminal
	OutTTY   bool // Out is a terminal
	ErrTTY   bool // Err is a terminal
	Width    int  // of the terminal of Out; 0 means unknown
	Now      func() time.Time
	Browse   func(address string) error                               // opens a browser
	Password func(prompt string) (string, error)                      // reads a line without showing it; needs InTTY
	HTTP     *http.Client                                             // nil means the usual client
	Retry    *client.Retry                                            // nil means the usual policy
	Resolve  func(ctx context.Context, host string) ([]string, error) // nil means the system's resolver
}

// Flags are the global flags.
type Flags struct {
	Output, JQ, Profile, URL, Workspace, Color string
	Timeout                                    time.Duration
	Verbose, Quiet                             bool
}

// App is a run of the program.
type App struct {
	System
	Flags
	store  *profile.Store
	remote *remote.Remote
}

// DefaultTimeout is how long a request may take.
const DefaultTimeout = 60 * time.Second

// AddFlags adds the global flags to the root command.
func (a *App) AddFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVarP(&a.Output, "output", "o", "table", "form of the result: "+strings.Join(output.Formats, ", "))
	f.StringVar(&a.JQ, "jq", "", "filter the JSON of the result, as jq does")
	f.StringVarP(&a.Flags.Profile, "profile", "p", "", "profile to use (SHORTLINE_PROFILE)")
	f.StringVar(&a.URL, "url", "", "address of the Shortline (SHORTLINE_URL)")
	f.StringVarP(&a.Flags.Workspace, "workspace", "w", "", "id or slug of the workspace (SHORTLINE_WORKSPACE)")
	f.StringVar(&a.Color, "color", "auto", "colours: auto, always, never")
	f.DurationVar(&a.Timeout, "timeout", DefaultTimeout, "longest time of a request")
	f.BoolVarP(&a.Verbose, "verbose", "v", false, "show requests on standard error, without secrets")
	f.BoolVarP(&a.Quiet, "quiet", "q", false, "show no progress and no hints")
	for _, name := range []string{"profile", "output", "color"} {
		if err := root.RegisterFlagCompletionFunc(name, a.completions(name)); err != nil {
			panic("BUG: " + err.Error())
		}
	}
}

func (a *App) completions(flag string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		switch flag {
		case "output":
			return output.Formats, cobra.ShellCompDirectiveNoFileComp
		case "color":
			return []string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp
		}
		store, err := a.Profiles()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return store.Names(), cobra.ShellCompDirectiveNoFileComp
	}
}

// CheckFlags refuses global flags with wrong values before a command does anything.
func (a *App) CheckFlags() error {
	if !slices.Contains(output.Formats, a.Output) {
		return Usage("--output must be one of %s, not %q", strings.Join(output.Formats, ", "), a.Output)
	}
	if !slices.Contains([]string{"auto", "always", "never"}, a.Color) {
		return Usage("--color must be auto, always or never, not %q", a.Color)
	}
	if a.Timeout <= 0 {
		return Usage("--timeout must be more than 0")
	}
	if a.JQ != "" {
		_, err := output.CompileFilter(a.JQ)
		return err
	}
	return nil
}

// Printer returns the printer that the flags and the terminal ask for.
func (a *App) Printer() *output.Printer {
	width := 0
	if a.OutTTY {
		width = cmp.Or(a.Width, 80)
	}
	if n, err := strconv.Atoi(a.Getenv("COLUMNS")); err == nil && n > 0 {
		width = n
	}
	locale := cmp.Or(a.Getenv("LC_ALL"), a.Getenv("LC_CTYPE"), a.Getenv("LANG"))
	notes := a.Err
	if a.Quiet {
		notes = io.Discard
	}
	return &output.Printer{
		Out: a.Out, Notes: notes, Format: a.Output, JQ: a.JQ, Width: width, Colours: a.colours(a.OutTTY),
		Unicode: locale == "" || strings.Contains(strings.ToUpper(locale), "UTF"),
	}
}

func (a *App) colours(tty bool) bool {
	switch a.Color {
	case "always":
		return true
	case "never":
		return false
	}
	return tty && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
}

// Print shows a result.
func (a *App) Print(v output.View) error { return a.Printer().Print(v) }

// Plain reports whether the result goes to a table, and not to another format or a filter.
func (a *App) Plain() bool { return a.Output == "table" && a.JQ == "" }

// Say writes a line for people to standard error, unless --quiet.
func (a *App) Say(format string, args ...any) {
	if !a.Quiet {
		fmt.Fprintf(a.Err, format+"\n", args...)
	}
}

// Progress shows how far a command is, in one line that the next call replaces. It shows nothing without a terminal.
func (a *App) Progress(format string, args ...any) {
	if a.ErrTTY && !a.Quiet {
		fmt.Fprintf(a.Err, "\r\x1b[K"+format, args...)
	}
}

// Done removes the line of Progress.
func (a *App) Done() {
	if a.ErrTTY && !a.Quiet {
		fmt.Fprint(a.Err, "\r\x1b[K")
	}
}

// Confirm asks before something is lost. Without a terminal, --yes is required.
func (a *App) Confirm(yes bool, format string, args ...any) error {
	if yes {
		return nil
	}
	question := fmt.Sprintf(format, args...)
	if !a.InTTY || !a.ErrTTY {
		return Usage("%s Add --yes to do this without a question.", question)
	}
	fmt.Fprintf(a.Err, "%s [y/N] ", question)
	answer, err := ReadLine(a.In)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return &Exit{Code: CodeError, Err: errors.New("nothing was changed")}
}

// ReadLine reads one line, and nothing of the next one.
func ReadLine(r io.Reader) (string, error) {
	var line strings.Builder
	one := make([]byte, 1)
	for {
		n, err := r.Read(one)
		if n > 0 {
			if one[0] == '\n' {
				return strings.TrimSuffix(line.String(), "\r"), nil
			}
			line.WriteByte(one[0])
		}
		if err != nil {
			return line.String(), err
		}
		if line.Len() > 1<<20 {
			return "", errors.New("the line is too long")
		}
	}
}

// mostRead is the size of the largest file that ReadFile reads. A command that reads a file as a whole sends it in one request, or holds
// it in memory several times.
const mostRead = 100 << 20

// ReadFile reads the file that a flag names; - is standard input.
func (a *App) ReadFile(name string) ([]byte, error) {
	from := a.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, mostRead+1))
	if err == nil && len(text) > mostRead {
		return nil, Usage("%s is larger than %d MB", cmp.Or(strings.TrimPrefix(name, "-"), "the standard input"), mostRead>>20)
	}
	return text, err
}

// Wait is for polling. It returns the context's error if that ends first.
func (a *App) Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
