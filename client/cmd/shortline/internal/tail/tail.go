// Package tail has the command that shows clicks as they happen.
package tail

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

var columns = []output.Column{
	{Head: "TIME", Field: "timestamp", Show: clock},
	{Head: "LINK", Field: "shortUrl", Show: refs.Name},
	{Head: "COUNTRY", Field: "country"},
	{Head: "DEVICE", Field: "device"},
	{Head: "BROWSER", Field: "browser"},
	{Head: "OS", Field: "os"},
	{Head: "REFERRER", Field: "referer"},
	{Head: "BOT", Field: "botName", Paint: output.Faint},
}

// widths of the columns: rows appear one by one, so their texts are not known before.
var widths = []int{8, 24, 7, 8, 12, 10, 30, 14}

func clock(r output.Row) string {
	at, err := time.Parse(time.RFC3339, r.Text("timestamp"))
	if err != nil {
		return r.Text("timestamp")
	}
	return at.Local().Format("15:04:05")
}

// Command returns the command tail.
func Command(a *app.App) *cobra.Command {
	var bots bool
	var count int
	cmd := &cobra.Command{
		Use: "tail [LINK]", Short: "Show clicks as they happen", Args: cobra.MaximumNArgs(1),
		Long: "Show the clicks of a link, or of all links, as they are stored, until Ctrl-C. With -o json, each click is a line.\n\n" +
			refs.About,
		Example: "  shortline tail fair\n  shortline tail --jq 'select(.country == \"DE\") | .shortUrl'",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.Remote()
			if err != nil {
				return err
			}
			params := client.LiveParams{}
			if bots {
				params.IncludeBots = client.Set(true)
			}
			if len(args) == 1 {
				id, err := refs.ID(cmd.Context(), r, args[0])
				if err != nil {
					return err
				}
				params.URLID = id
			}
			return follow(cmd.Context(), a, r, params, count)
		},
	}
	cmd.Flags().BoolVar(&bots, "bots", false, "show bots too")
	cmd.Flags().IntVarP(&count, "count", "n", 0, "end after this many clicks")
	return cmd
}

// follow shows clicks until the context ends. A stream that breaks is continued where it ended.
func follow(ctx context.Context, a *app.App, r *remote.Remote, params client.LiveParams, count int) error {
	out := a.Printer().Stream(columns, widths)
	a.Say("waiting for clicks; end with Ctrl-C")
	seen := 0
	for event, err := range r.Client().Reports.Live(ctx, params) {
		if err != nil {
			return r.Failed(ctx, err)
		}
		if event.Dropped > 0 {
			a.Say("%s clicks were left out, because they came too fast", output.Number(int64(event.Dropped)))
			continue
		}
		if event.Click == nil {
			continue
		}
		text, err := json.Marshal(event.Click)
		if err != nil {
			return err
		}
		if err := out.Write(text); err != nil {
			return err
		}
		if seen++; count > 0 && seen >= count {
			return nil
		}
	}
	return nil
}
