// Command standalone is Shortline in one process: an edge and a control plane on one address. It stores links in SQLite and
// clicks in DuckDB, and reads the spool directly instead of through Kafka.
package main

import (
	"context"
	"io"

	"github.com/shortline/shortline/control/internal/commands"
	"github.com/shortline/shortline/shared/cli"
)

func main() {
	cli.Program{
		Name: "standalone", About: "standalone is Shortline in one process: links, redirects, clicks and reports.",
		New:  func() cli.Settings { return new(settings) },
		Load: load,
		Run: func(ctx context.Context, s cli.Settings, stdout, stderr io.Writer) error {
			private()
			return run(ctx, s.(*settings), stdout, stderr)
		},
		Commands: []cli.Command{
			onUser("create-admin", commands.CreateAdminAbout, (*commands.People).CreateAdmin),
			onUser("reset-password", commands.ResetPasswordAbout, (*commands.People).ResetPassword),
			onUser("disable-2fa", commands.DisableSecondFactorAbout, (*commands.People).DisableSecondFactor),
			onPeople("allow-passwords", "", commands.AllowPasswordsAbout, func(p *commands.People, ctx context.Context, _ []string) error {
				return p.AllowPasswords(ctx)
			}),
			backupCommand,
			repairCommand,
			onClicks("verify-clicks", "", "find missing clicks, and reports that do not match the clicks",
				func(ctx context.Context, o *opened, _ []string, out io.Writer) error {
					return commands.VerifyClicks(ctx, o.clicks, out)
				}),
			onClicks("keys", commands.KeysArgs,
				"list the API keys of all users; -legacy lists only those that a release without checksums has created",
				func(ctx context.Context, o *opened, args []string, out io.Writer) error {
					return commands.Keys(ctx, args, o.links, out)
				}),
			onClicks("reclassify", commands.ReclassifyArgs, "enrich clicks again with the present geo database and bot list",
				func(ctx context.Context, o *opened, args []string, out io.Writer) error {
					return commands.Reclassify(ctx, args, o.links, o.clicks, o.geo, out, out)
				}),
		},
	}.Main()
}
