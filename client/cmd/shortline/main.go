// Command shortline is Shortline on the command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/cli"
)

// version is set by the build.
var version = "dev"

func main() {
	app.Version = version
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		time.Sleep(time.Second) // one Ctrl-C can arrive as several signals
		stop()                  // a later one ends the program at once
	}()
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		width = 0
	}
	is := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	code := cli.Run(ctx, app.System{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, InTTY: is(os.Stdin), OutTTY: is(os.Stdout), ErrTTY: is(os.Stderr),
		Width: width, Now: time.Now, Browse: browse, Password: password,
	}, os.Args[1:])
	os.Exit(code)
}

// password reads a line from the terminal without showing it.
func password(prompt string) (string, error) {
	fmt.Fprint(os.Stderr, prompt)
	text, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(os.Stderr)
	return string(text), err
}

// browse opens an address in the browser. The browser does not inherit the API key.
func browse(address string) error {
	name, args := "xdg-open", []string{address}
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	if own := os.Getenv("BROWSER"); own != "" {
		words := strings.Fields(own)
		if len(words) == 0 {
			return errors.New("BROWSER is empty")
		}
		name, args = words[0], append(words[1:], address)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(one string) bool { return strings.HasPrefix(one, "SHORTLINE_API_KEY=") })
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // its result tells nothing
	return nil
}
