// Package cli is the tree of commands, and how a run begins and ends.
package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shortline/shortline/client/cmd/shortline/internal/account"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/ascode"
	"github.com/shortline/shortline/client/cmd/shortline/internal/doctor"
	"github.com/shortline/shortline/client/cmd/shortline/internal/domains"
	"github.com/shortline/shortline/client/cmd/shortline/internal/experiments"
	"github.com/shortline/shortline/client/cmd/shortline/internal/explain"
	"github.com/shortline/shortline/client/cmd/shortline/internal/imports"
	"github.com/shortline/shortline/client/cmd/shortline/internal/links"
	"github.com/shortline/shortline/client/cmd/shortline/internal/mcp"
	"github.com/shortline/shortline/client/cmd/shortline/internal/rawapi"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
	"github.com/shortline/shortline/client/cmd/shortline/internal/report"
	"github.com/shortline/shortline/client/cmd/shortline/internal/rules"
	"github.com/shortline/shortline/client/cmd/shortline/internal/shell"
	"github.com/shortline/shortline/client/cmd/shortline/internal/tags"
	"github.com/shortline/shortline/client/cmd/shortline/internal/tail"
	"github.com/shortline/shortline/client/cmd/shortline/internal/webhooks"
	"github.com/shortline/shortline/client/cmd/shortline/internal/workspace"
)

// groups are the headings of the help text.
var groups = []cobra.Group{
	{ID: "links", Title: "Links:"}, {ID: "figures", Title: "Figures:"}, {ID: "manage", Title: "Manage:"},
	{ID: "account", Title: "Sign in:"}, {ID: "tools", Title: "Tools:"},
}

// Root returns the tree of commands.
func Root(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use: "shortline", Short: "Shortline on the command line",
		Long: "Shortline on the command line. Begin with: shortline login --url ADDRESS",
		Args: cobra.ArbitraryArgs, SilenceErrors: true, SilenceUsage: true, Version: app.Version,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return app.Unknown(cmd, args[0])
		},
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.CheckFlags() },
	}
	root.SetVersionTemplate("shortline {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Hidden: true, Use: "no-help", GroupID: "tools"})
	root.SetFlagErrorFunc(flagError)
	a.AddFlags(root)
	for i := range groups {
		root.AddGroup(&groups[i])
	}
	for id, commands := range map[string][]*cobra.Command{
		"links": append(ascode.Commands(a), links.Commands(a), rules.Commands(a), explain.Command(a), tags.Commands(a),
			imports.Commands(a)),
		"figures": {report.Command(a), tail.Command(a), experiments.Commands(a)},
		"manage":  {domains.Commands(a), webhooks.Commands(a), webhooks.Trigger(a), webhooks.Listen(a), workspace.Commands(a)},
		"account": {account.Login(a), account.Logout(a), account.Whoami(a), account.Profiles(a)},
		"tools": {
			rawapi.Command(a), mcp.Command(a), shell.Open(a), doctor.Command(a), shell.Completion(a), shell.Man(a), shell.VersionCommand(a),
			shell.Reference(a),
		},
	} {
		for _, one := range commands {
			one.GroupID = id
			root.AddCommand(one)
		}
	}
	return root
}

// flagError says which flag was meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, "--"+f.Name)
			}
		})
		return app.Usage("%w%s; see %s --help", err, refs.Like("--"+unknown.GetSpecifiedName(), known), cmd.CommandPath())
	}
	return app.Usage("%w; see %s --help", err, cmd.CommandPath())
}

// usageErrors are the beginnings of cobra's own errors about arguments, for which it has no type.
var usageErrors = []string{"accepts ", "requires at least", "required flag", "if any flags in the group", "at least one of the flags", "unknown command"}

// Run runs the program with arguments, and returns its exit code.
func Run(ctx context.Context, system app.System, args []string) int {
	a := &app.App{System: system}
	root := Root(a)
	root.SetArgs(append([]string{}, args...)) // cobra reads os.Args instead of nil
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return app.CodeOK
	}
	var exit *app.Exit
	if !errors.As(err, &exit) {
		for _, one := range usageErrors {
			if strings.HasPrefix(err.Error(), one) {
				err = app.Usage("%w; usage: %s", err, strings.TrimSuffix(cmd.UseLine(), " [flags]"))
				break
			}
		}
	}
	if ctx.Err() != nil && !errors.As(err, &exit) {
		err = fmt.Errorf("%w: %w", context.Canceled, err)
	}
	a.ShowError(err)
	return app.Code(err)
}
