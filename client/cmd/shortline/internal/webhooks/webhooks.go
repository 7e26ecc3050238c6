// Package webhooks has the commands for webhooks.
package webhooks

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// Commands returns the group webhooks.
func Commands(a *app.App) *cobra.Command {
	group := app.Group("webhooks", "List, create, change and delete webhooks, and see their deliveries",
		listWebhooks(a), getWebhook(a), createWebhook(a), update(a), remove(a), logs(a), retry(a))
	group.Aliases = []string{"webhook"}
	return group
}

const path = "/api/webhooks"

var columns = []output.Column{
	{Head: "WEBHOOK", Field: "name", Least: 10},
	{Head: "ADDRESS", Field: "url", Least: 20},
	{Head: "EVENTS", Field: "events", Least: 10, Rank: 1},
	{Head: "ACTIVE", Field: "isActive", Show: output.YesNo("isActive")},
	{Head: "SENT", Field: "totalSent", Show: output.Count("totalSent"), Right: true, Rank: 3},
	{Head: "FAILED", Field: "totalFailed", Show: output.Count("totalFailed"), Right: true},
	{Head: "LAST", Field: "lastSentAt", Show: output.At("lastSentAt"), Rank: 2},
	{Head: "ID", Field: "id", Rank: 4, Paint: output.Faint},
}

func draw(p *output.Page, hook output.Row) {
	p.Facts(
		output.Fact{Name: "Webhook", Value: hook.Text("name"), Style: output.Bold},
		output.Fact{Name: "Address", Value: hook.Text("url")},
		output.Fact{Name: "Events", Value: hook.Text("events")},
		output.Fact{Name: "Active", Value: output.YesNo("isActive")(hook), Style: output.Status("isActive")(hook)},
		output.Fact{Name: "Paused", Value: hook.Text("pauseReason"), Style: output.Yellow},
		output.Fact{Name: "Scope", Value: hook.Text("scope")},
		output.Fact{Name: "Sent", Value: output.Count("totalSent")(hook)},
		output.Fact{Name: "Failed", Value: output.Count("totalFailed")(hook)},
		output.Fact{Name: "Waiting", Value: output.Count("waiting")(hook)},
		output.Fact{Name: "Last", Value: output.Moment(hook.Text("lastSentAt"))},
		output.Fact{Name: "Error", Value: hook.Text("lastError"), Style: output.Red},
		output.Fact{Name: "Failing since", Value: output.Moment(hook.Text("failingSince")), Style: output.Red},
		output.Fact{Name: "Id", Value: hook.Text("id"), Style: output.Dim},
	)
}

func findWebhook(ctx context.Context, a *app.App, text string) (*remote.Remote, refs.Object, error) {
	r, err := a.Remote()
	if err != nil {
		return nil, refs.Object{}, err
	}
	hook, err := refs.Named(ctx, r, path, text, "webhook", "name", "url")
	return r, hook, err
}

func listWebhooks(a *app.App) *cobra.Command {
	var f app.ListFlags
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List webhooks", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.ShowList(cmd, &f, path, nil, columns, "There are no webhooks.")
		},
	}
	f.AddTo(cmd)
	return cmd
}

func getWebhook(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "get WEBHOOK", Aliases: []string{"show"}, Short: "Show a webhook", Args: cobra.ExactArgs(1),
		Long: "Show a webhook, which is named by its name, its address or its id.",
		RunE: func(cmd *cobra.Command, args []string) error {
			_, hook, err := findWebhook(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			return a.ShowOne(hook.Raw, columns, draw)
		},
	}
}

func remove(a *app.App) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "delete WEBHOOK", Aliases: []string{"rm"}, Short: "Delete a webhook and its log", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, hook, err := findWebhook(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			if err := a.Confirm(yes, "Delete the webhook %s to %s?", hook.Row.Text("name"), hook.Row.Text("url")); err != nil {
				return err
			}
			if _, err := r.Send(cmd.Context(), http.MethodDelete, remote.Path("api", "webhooks", hook.ID), nil); err != nil {
				return err
			}
			a.Say("deleted %s", hook.Row.Text("name"))
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

var logColumns = []output.Column{
	{Head: "WHEN", Field: "createdAt", Show: output.At("createdAt")},
	{Head: "EVENT", Field: "event", Least: 12},
	{Head: "RESULT", Field: "status", Paint: output.Status("status")},
	{Head: "STATUS", Field: "statusCode", Right: true},
	{Head: "ATTEMPT", Field: "attempt", Right: true, Rank: 1},
	{Head: "MS", Field: "duration", Show: output.Count("duration"), Right: true, Rank: 2},
	{Head: "ERROR", Field: "error", Least: 10},
	{Head: "ID", Field: "id", Rank: 3, Paint: output.Faint},
}

func logs(a *app.App) *cobra.Command {
	var f app.ListFlags
	var status, event string
	cmd := &cobra.Command{
		Use: "logs WEBHOOK", Aliases: []string{"deliveries"}, Short: "List attempts to deliver events", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, hook, err := findWebhook(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			query := url.Values{}
			for name, value := range map[string]string{"status": status, "event": event} {
				if value != "" {
					query.Set(name, value)
				}
			}
			return a.ShowList(cmd, &f, remote.Path("api", "webhooks", hook.ID, "logs"), query, logColumns, "Nothing was delivered yet.")
		},
	}
	f.AddTo(cmd)
	cmd.Flags().StringVar(&status, "status", "", "success or failed")
	cmd.Flags().StringVar(&event, "event", "", "event, such as url.clicked")
	return cmd
}

func retry(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "retry WEBHOOK [DELIVERY]", Short: "Repeat a failed delivery, or all of them", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, hook, err := findWebhook(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			at := remote.Path("api", "webhooks", hook.ID, "logs", "retry")
			if len(args) == 2 {
				at = remote.Path("api", "webhooks", hook.ID, "logs", args[1], "retry")
			}
			raw, err := r.Send(cmd.Context(), http.MethodPost, at, nil)
			if err != nil {
				return err
			}
			return a.ShowOne(raw, []output.Column{{Field: "message"}}, func(p *output.Page, row output.Row) {
				if message := row.Text("message"); message != "" {
					p.Line("%s", message)
					return
				}
				p.Facts(output.Fact{Name: "Status", Value: row.Text("statusCode")}, output.Fact{Name: "Error", Value: row.Text("error")})
			})
		},
	}
}

// split accepts lists with commas and repeated flags.
func split(values []string) []string {
	var out []string
	for _, one := range values {
		out = append(out, strings.FieldsFunc(one, func(r rune) bool { return r == ',' || r == ' ' })...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
