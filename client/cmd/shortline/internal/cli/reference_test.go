package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/cli"
)

// Every example of the help texts names a command and flags that exist.
func TestExamples_use_commands_that_exist(t *testing.T) {
	root := cli.Root(&app.App{System: app.System{Getenv: func(string) string { return "" }, Now: time.Now}})
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Short == "" && cmd.IsAvailableCommand() {
			t.Errorf("%s has no description", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			_, call, found := strings.Cut(line, "shortline ")
			if !found {
				continue
			}
			words := strings.Fields(call)
			got, rest, err := root.Find(words)
			if err != nil || got == root {
				t.Errorf("%s: the example %q names no command: %v", cmd.CommandPath(), line, err)
				continue
			}
			for _, word := range rest {
				name, _, _ := strings.Cut(strings.TrimRight(word, ")'\""), "=")
				name, is := strings.CutPrefix(name, "--")
				if is && got.Flags().Lookup(name) == nil && got.InheritedFlags().Lookup(name) == nil {
					t.Errorf("%s: the example %q has an unknown flag %s", cmd.CommandPath(), line, name)
				}
			}
		}
		for _, one := range cmd.Commands() {
			walk(one)
		}
	}
	walk(root)
}
