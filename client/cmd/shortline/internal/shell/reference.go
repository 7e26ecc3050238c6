package shell

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
)

// Reference returns the hidden command reference, which writes docs/users/command-line-reference.md.
func Reference(a *app.App) *cobra.Command {
	var codes bool
	cmd := &cobra.Command{
		Use: "reference", Short: "Print the reference of all commands as Markdown", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text := reference(cmd.Root())
			if codes {
				text = exitCodes()
			}
			_, err := io.WriteString(a.Out, text)
			return err
		},
	}
	cmd.Flags().BoolVar(&codes, "exit-codes", false, "print the table of exit codes instead")
	return cmd
}

func exitCodes() string {
	var b strings.Builder
	b.WriteString("| Code | Meaning |\n|---|---|\n")
	for _, row := range app.ExitCodes {
		fmt.Fprintf(&b, "| %d | %s |\n", row.Code, row.Meaning)
	}
	return b.String()
}

func reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Command line: reference\n\nAll commands and flags of `shortline`. [Command line](command-line.md) is the introduction. " +
		"This page is\ngenerated: `make build-cli && bin/shortline reference >docs/users/command-line-reference.md`.\n\n" +
		"<!-- vale off -->\n\n## Flags of every command\n\n")
	flagTable(&b, root.PersistentFlags())
	describe(&b, root)
	b.WriteString("<!-- vale on -->\n")
	return b.String()
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
