package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/cli"
)

const docs = "../../../../../docs/users/"

// docs/users/command-line-reference.md is generated from the commands. `go test ./internal/cli -update` writes it.
func TestReference_is_generated_from_the_commands(t *testing.T) {
	root := cli.Root(&app.App{System: app.System{Getenv: func(string) string { return "" }, Now: time.Now}})
	var b strings.Builder
	b.WriteString("# Command line: reference\n\nAll commands and flags of `shortline`. [Command line](command-line.md) is the introduction. This page " +
		"is\ngenerated: `cd client/cmd/shortline && go test ./internal/cli -update`.\n\n<!-- vale off -->\n\n## Flags of every command\n\n")
	flagTable(&b, root.PersistentFlags())
	describe(&b, root)
	b.WriteString("<!-- vale on -->\n")
	fresh(t, docs+"command-line-reference.md", b.String())
}

func describe(b *strings.Builder, cmd *cobra.Command) {
	for _, one := range cmd.Commands() {
		if !one.IsAvailableCommand() {
			continue
		}
		if one.HasAvailableSubCommands() {
			describe(b, one)
			continue
		}
		fmt.Fprintf(b, "## %s\n\n", one.CommandPath())
		text := one.Long
		if text == "" {
			text = one.Short + "."
		}
		// Texts of terminals have their own lines, some of which are tables.
		if strings.Contains(text, "\n") {
			fmt.Fprintf(b, "```text\n%s\n```\n\n", text)
		} else {
			fmt.Fprintf(b, "%s\n\n", text)
		}
		fmt.Fprintf(b, "```text\n%s\n```\n\n", one.UseLine())
		if len(one.Aliases) > 0 {
			fmt.Fprintf(b, "Also: `%s`\n\n", strings.Join(one.Aliases, "`, `"))
		}
		flagTable(b, one.LocalNonPersistentFlags())
		if one.Example != "" {
			lines := strings.Split(one.Example, "\n")
			for i := range lines {
				lines[i] = strings.TrimPrefix(lines[i], "  ")
			}
			fmt.Fprintf(b, "```sh\n%s\n```\n\n", strings.Join(lines, "\n"))
		}
	}
}

func flagTable(b *strings.Builder, flags *pflag.FlagSet) {
	begun := false
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if !begun {
			b.WriteString("| Flag | Meaning |\n|---|---|\n")
			begun = true
		}
		name := "`--" + f.Name
		if kind, _ := pflag.UnquoteUsage(f); kind != "" {
			name += " " + strings.ToUpper(kind)
		}
		name += "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		usage := strings.ReplaceAll(f.Usage, "|", "\\|")
		switch f.DefValue {
		case "", "false", "0", "[]":
		default:
			usage += "; default " + f.DefValue
		}
		fmt.Fprintf(b, "| %s | %s |\n", name, usage)
	})
	if begun {
		b.WriteString("\n")
	}
}

// The table of exit codes in docs/users/command-line.md is that of the program.
func TestExit_codes_are_documented(t *testing.T) {
	path := filepath.FromSlash(docs + "command-line.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- exit codes: begin -->\n", "<!-- exit codes: end -->"
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the exit codes", path)
	}
	var b strings.Builder
	b.WriteString("| Code | Meaning |\n|---|---|\n")
	for _, row := range app.ExitCodes {
		fmt.Fprintf(&b, "| %d | %s |\n", row.Code, row.Meaning)
	}
	fresh(t, path, before+begin+b.String()+end+after)
}

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

// fresh compares a generated file.
func fresh(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	is, err := os.ReadFile(path)
	if err != nil || string(is) != text {
		t.Errorf("%s is not up to date (%v): cd client/cmd/shortline && go test ./internal/cli -update", path, err)
	}
}
