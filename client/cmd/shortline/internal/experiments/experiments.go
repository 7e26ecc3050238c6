// Package experiments has the commands for experiments.
package experiments

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// Commands returns the group experiments.
func Commands(a *app.App) *cobra.Command {
	group := app.Group("experiments", "List, show, stop and decide experiments", listTests(a), show(a), stop(a), choose(a))
	group.Aliases = []string{"experiment"}
	return group
}

func listTests(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List links with an A/B test, and their variants", Args: cobra.NoArgs,
		Long: "List links with an A/B test, with the clicks of each variant in the last 30 days.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := a.Remote()
			if err != nil {
				return err
			}
			raw, err := r.Get(cmd.Context(), "/api/analytics/ab-tests", url.Values{"timeRange": {"last_30_days"}})
			if err != nil {
				return err
			}
			var got struct {
				Tests []json.RawMessage `json:"tests"`
			}
			if err := json.Unmarshal(raw, &got); err != nil {
				return fmt.Errorf("the response cannot be read: %w", err)
			}
			tests := remote.List{Rows: got.Tests}.JSON()
			parsed, err := output.Decode[[]output.Row](tests)
			if err != nil {
				return err
			}
			var rows []output.Row
			for _, test := range parsed {
				for _, variant := range test.Rows("variants") {
					variant["slug"], variant["domain"], variant["urlId"] = test["slug"], test["domain"], test["urlId"]
					rows = append(rows, variant)
				}
			}
			return a.Print(output.View{Raw: tests, Rows: rows, Columns: listColumns, Empty: "No link has an A/B test."})
		},
	}
}

var listColumns = []output.Column{
	{Head: "LINK", Field: "slug", Show: refs.Name, Least: 14},
	{Head: "VARIANT", Field: "name", Least: 10},
	{Head: "WEIGHT", Field: "weight", Right: true},
	{Head: "SHARE", Field: "actualPercentage", Show: output.Percent("actualPercentage"), Right: true},
	{Head: "CLICKS", Field: "clicks", Show: output.Count("clicks"), Right: true},
	{Head: "VISITORS", Field: "uniqueVisitors", Show: output.Count("uniqueVisitors"), Right: true},
	{Head: "VARIANT ID", Field: "id", Rank: 1, Paint: output.Faint},
}

var armColumns = []output.Column{
	{Head: "VARIANT", Field: "name", Least: 10},
	{Head: "WEIGHT", Field: "weight", Right: true, Rank: 2},
	{Head: "VISITORS", Field: "visitors", Show: output.Count("visitors"), Right: true},
	{Head: "CONVERSIONS", Field: "conversions", Show: output.Count("conversions"), Right: true},
	{Head: "RATE", Field: "rate", Show: share("rate"), Right: true},
	{Head: "95 % BETWEEN", Field: "interval", Show: between, Right: true, Rank: 1},
	{Head: "UPLIFT", Field: "uplift", Show: uplift, Right: true},
	{Head: "BEST", Field: "probabilityBest", Show: share("probabilityBest"), Right: true},
	{Head: "REVENUE", Field: "revenue", Right: true, Rank: 3},
	{Head: "ID", Field: "variantId", Rank: 4, Paint: output.Faint},
}

// share writes a number between 0 and 1 as a percentage.
func share(path string) func(output.Row) string {
	return func(r output.Row) string { return fmt.Sprintf("%.2f%%", r.Float(path)*100) }
}

func between(r output.Row) string {
	list, _ := r.Get("interval").([]any)
	if len(list) != 2 {
		return ""
	}
	low, high := output.Row{"x": list[0]}, output.Row{"x": list[1]}
	return fmt.Sprintf("%.2f–%.2f%%", low.Float("x")*100, high.Float("x")*100)
}

func uplift(r output.Row) string {
	if r.Get("uplift") == nil {
		return ""
	}
	return fmt.Sprintf("%+.1f%%", r.Float("uplift")*100)
}

func show(a *app.App) *cobra.Command {
	var goal string
	cmd := &cobra.Command{
		Use: "show LINK", Aliases: []string{"get"}, Short: "Show how the variants of a link compare", Args: cobra.ExactArgs(1),
		Long: "Show how the variants of a link compare, and whether one of them has won.\n\n" + refs.About,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, id, err := a.LinkID(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			query := url.Values{}
			if goal != "" {
				query.Set("goal", goal)
			}
			raw, err := r.Get(cmd.Context(), remote.Path("api", "urls", id, "experiment"), query)
			if err != nil {
				return err
			}
			return print(a, raw)
		},
	}
	cmd.Flags().StringVar(&goal, "goal", "", "goal; without it, that of the experiment")
	return cmd
}

func print(a *app.App, raw []byte) error {
	row, err := output.Decode[output.Row](raw)
	if err != nil {
		return err
	}
	arms := row.Rows("arms")
	return a.Print(output.View{Raw: raw, Rows: arms, Columns: armColumns, Draw: func(p *output.Page) {
		needed := ""
		if row.Get("requiredVisitors") != nil {
			needed = output.Count("requiredVisitors")(row) + " a variant"
		}
		balance := ""
		if row.Get("sampleRatio") != nil && !row.Bool("sampleRatio.ok") {
			balance = "the variants did not get the visitors that their weights promise"
		}
		p.Facts(
			output.Fact{Name: "Goal", Value: row.Text("goal")},
			output.Fact{Name: "Started", Value: output.Moment(row.Text("startedAt"))},
			output.Fact{Name: "Status", Value: row.Text("decision.status"), Style: output.Status("decision.status")(row)},
			output.Fact{Name: "Because", Value: row.Text("decision.reason")},
			output.Fact{Name: "Paused", Value: row.Text("decision.paused"), Style: output.Yellow},
			output.Fact{Name: "Needs visitors", Value: needed},
			output.Fact{Name: "Warning", Value: balance, Style: output.Red},
		)
		p.Title("Variants")
		p.Table(armColumns, arms)
	}})
}

func stop(a *app.App) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "stop LINK", Short: "Stop an experiment; the variants keep their weights", Args: cobra.ExactArgs(1),
		Long: "Stop an experiment. The variants keep their weights; nobody compares them any more. To send all visitors to one variant,\n" +
			"use experiments choose.\n\n" + refs.About,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, id, err := a.LinkID(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := a.Confirm(yes, "Stop the experiment of %s?", args[0]); err != nil {
				return err
			}
			if _, err := r.Send(cmd.Context(), http.MethodDelete, remote.Path("api", "urls", id, "experiment"), nil); err != nil {
				return err
			}
			a.Say("stopped the experiment of %s", args[0])
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func choose(a *app.App) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "choose LINK VARIANT", Aliases: []string{"promote"}, Short: "Send all visitors to one variant", Args: cobra.ExactArgs(2),
		Long: "Send all visitors of a link to one variant, which is named by its name or id.\n\n" + refs.About,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, id, err := a.LinkID(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			raw, err := r.Get(cmd.Context(), remote.Path("api", "urls", id, "variants"), nil)
			if err != nil {
				return err
			}
			row, err := output.Decode[output.Row](raw)
			if err != nil {
				return err
			}
			variant, err := named(row.Rows("variants"), args[1])
			if err != nil {
				return err
			}
			if err := a.Confirm(yes, "Send all visitors of %s to the variant %s?", args[0], variant.Text("name")); err != nil {
				return err
			}
			body := map[string]any{"variantId": variant.Text("id")}
			raw, err = r.Send(cmd.Context(), http.MethodPost, remote.Path("api", "urls", id, "experiment", "promote"), body)
			if err != nil {
				return err
			}
			return print(a, raw)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func named(variants []output.Row, text string) (output.Row, error) {
	var names []string
	for _, one := range variants {
		if one.Text("id") == text || strings.EqualFold(one.Text("name"), text) {
			return one, nil
		}
		names = append(names, one.Text("name"))
	}
	return nil, &app.Exit{Code: app.CodeMissing, Err: fmt.Errorf("there is no variant %s%s", text, refs.Like(text, names))}
}
