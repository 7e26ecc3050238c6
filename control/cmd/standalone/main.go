// Command standalone is Shortline in one process with nothing to install: an edge and a control plane on one
// address, with SQLite for links, DuckDB for clicks, and the spool read directly instead of through Kafka.
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
			backupCommand,
			onClicks("verify-clicks", "", "look for clicks that are missing and for reports that would not agree with the clicks",
				func(ctx context.Context, o *opened, _ []string, out io.Writer) error {
					return commands.VerifyClicks(ctx, o.clicks, out)
				}),
			onClicks("reclassify", commands.ReclassifyArgs, "enrich clicks again with the present geo database and list of bots",
				func(ctx context.Context, o *opened, args []string, out io.Writer) error {
					return commands.Reclassify(ctx, args, o.links, o.clicks, o.geo, out, out)
				}),
		},
	}.Main()
}
