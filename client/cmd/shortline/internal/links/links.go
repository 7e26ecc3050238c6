// Package links has the commands for links.
package links

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
)

// Commands returns the group links.
func Commands(a *app.App) *cobra.Command {
	group := app.Group("links", "List, create, change and delete links",
		listLinks(a), getLink(a), createLink(a), update(a), remove(a), restore(a), stats(a), history(a))
	group.Aliases = []string{"link"}
	return group
}

var columns = []output.Column{
	{Head: "LINK", Field: "shortUrl", Show: refs.Name, Least: 16},
	{Head: "DESTINATION", Field: "originalUrl", Least: 20},
	{Head: "TITLE", Field: "title", Least: 12, Rank: 2},
	{Head: "TAGS", Field: "tags", Least: 8, Rank: 3},
	{Head: "CLICKS", Field: "clickCount", Show: output.Count("clickCount"), Right: true},
	{Head: "STATUS", Field: "status", Paint: output.Status("status")},
	{Head: "CREATED", Field: "createdAt", Show: output.At("createdAt"), Rank: 4, Paint: output.Faint},
	{Head: "EXTERNAL ID", Field: "externalId", Least: 11, Rank: 5},
	{Head: "ID", Field: "id", Rank: 6, Paint: output.Faint},
}

func listLinks(a *app.App) *cobra.Command {
	var f app.ListFlags
	texts := map[string]*string{}
	var tags []string
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List links", Args: cobra.NoArgs,
		Example: "  shortline links list --tag spring --sort clickCount\n  shortline links list --status DELETED\n" +
			"  shortline links list --all -o csv > links.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			query := url.Values{"tag": tags}
			for name, value := range texts {
				if *value != "" {
					query.Set(name, *value)
				}
			}
			return a.ShowList(cmd, &f, "/api/urls", query, columns, "No links match.")
		},
	}
	f.AddTo(cmd)
	add := func(param, flag, usage string) { texts[param] = cmd.Flags().String(flag, "", usage) }
	add("search", "search", "text in slug, title or destination")
	add("status", "status", strings.Join(statuses, ", "))
	add("domain", "domain", "host name")
	add("bundleId", "bundle", "id of a bundle")
	add("createdBy", "created-by", "id of a user")
	add("utmCampaign", "utm-campaign", "campaign")
	add("sortBy", "sort", strings.Join(orders, ", "))
	add("sortOrder", "order", "asc or desc")
	cmd.Flags().StringArrayVar(&tags, "tag", nil, "tag; repeat it for links with all of them")
	fixed(cmd, "status", statuses)
	fixed(cmd, "sort", orders)
	fixed(cmd, "order", []string{"asc", "desc"})
	return cmd
}

var (
	statuses = []string{"ACTIVE", "INACTIVE", "EXPIRED", "SCHEDULED", "EXHAUSTED", "SUSPENDED", "DELETED"}
	orders   = []string{"createdAt", "updatedAt", "clickCount", "title", "expiresAt", "slug", "deletedAt"}
)

func fixed(cmd *cobra.Command, flag string, values []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("BUG: " + err.Error())
	}
}

func getLink(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "get LINK", Aliases: []string{"show"}, Short: "Show a link", Long: "Show a link.\n\n" + refs.About, Args: cobra.ExactArgs(1),
		Example: "  shortline links get sho.rt/fair\n  shortline links get fair --jq .clickCount",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.Remote()
			if err != nil {
				return err
			}
			link, err := refs.Link(cmd.Context(), r, args[0])
			if err != nil {
				return err
			}
			return a.ShowOne(link.Raw, columns, draw)
		},
	}
}

// draw shows a link.
func draw(p *output.Page, link output.Row) {
	yes := func(field string) string {
		if link.Bool(field) {
			return "yes"
		}
		return ""
	}
	at := func(field string) string { return output.Moment(link.Text(field)) }
	var utm []string
	for _, name := range []string{"Source", "Medium", "Campaign", "Term", "Content", "Id", "SourcePlatform"} {
		if value := link.Text("utm" + name); value != "" {
			utm = append(utm, strings.ToLower(name)+"="+value)
		}
	}
	p.Facts(
		output.Fact{Name: "Link", Value: link.Text("shortUrl"), Style: output.Bold},
		output.Fact{Name: "Destination", Value: link.Text("originalUrl")},
		output.Fact{Name: "Title", Value: link.Text("title")},
		output.Fact{Name: "Status", Value: link.Text("status"), Style: output.Status("status")(link)},
		output.Fact{Name: "Suspended", Value: link.Text("suspendedReason")},
		output.Fact{Name: "Clicks", Value: output.Count("clickCount")(link)},
		output.Fact{Name: "Tags", Value: link.Text("tags")},
		output.Fact{Name: "UTM", Value: strings.Join(utm, ", ")},
		output.Fact{Name: "Redirect", Value: link.Text("redirectCode")},
		output.Fact{Name: "Rules", Value: yes("isSmartRouting")},
		output.Fact{Name: "A/B test", Value: yes("isABTesting")},
		output.Fact{Name: "Password", Value: yes("hasPassword")},
		output.Fact{Name: "Conversions", Value: yes("trackConversions")},
		output.Fact{Name: "Starts", Value: at("startsAt")},
		output.Fact{Name: "Expires", Value: at("expiresAt")},
		output.Fact{Name: "Most clicks", Value: output.Count("maxClicks")(link)},
		output.Fact{Name: "Then", Value: link.Text("expiredUrl")},
		output.Fact{Name: "Notes", Value: link.Text("notes")},
		output.Fact{Name: "External id", Value: link.Text("externalId")},
		output.Fact{Name: "Created", Value: byWhom(at("createdAt"), link.Text("createdByEmail"))},
		output.Fact{Name: "Changed", Value: at("updatedAt")},
		output.Fact{Name: "Deleted", Value: byWhom(at("deletedAt"), link.Text("deletedByEmail"))},
		output.Fact{Name: "Id", Value: link.Text("id"), Style: output.Dim},
	)
}

func byWhom(at, who string) string {
	if at == "" || who == "" {
		return at
	}
	return at + " by " + who
}

func stats(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "stats", Short: "Count links by status", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := a.Remote()
			if err != nil {
				return err
			}
			raw, err := r.Get(cmd.Context(), "/api/urls/stats", nil)
			if err != nil {
				return err
			}
			names := []string{"totalUrls", "activeUrls", "inactiveUrls", "scheduledUrls", "expiredUrls", "exhaustedUrls", "suspendedUrls", "totalClicks"}
			var all []output.Column
			for _, name := range names {
				all = append(all, output.Column{Field: name})
			}
			return a.ShowOne(raw, all, func(p *output.Page, r output.Row) {
				labels := []string{"Links", "Active", "Inactive", "Scheduled", "Expired", "Exhausted", "Suspended", "Clicks"}
				wide := 0
				for _, name := range names {
					wide = max(wide, len(output.Count(name)(r)))
				}
				var facts []output.Fact
				for i, name := range names {
					facts = append(facts, output.Fact{Name: labels[i], Value: fmt.Sprintf("%*s", wide, output.Count(name)(r))})
				}
				p.Facts(facts...)
			})
		},
	}
}

func history(a *app.App) *cobra.Command {
	var f app.ListFlags
	cmd := &cobra.Command{
		Use: "history LINK", Short: "List the changes of a link", Long: "List the changes of a link, newest first.\n\n" + refs.About,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, id, err := a.LinkID(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.ShowList(cmd, &f, "/api/urls/"+id+"/history", nil, historyColumns, "Nothing is known of changes.")
		},
	}
	f.AddTo(cmd)
	return cmd
}

var historyColumns = []output.Column{
	{Head: "REVISION", Field: "revision", Right: true},
	{Head: "WHEN", Field: "at", Show: output.At("at")},
	{Head: "WHO", Field: "user.name", Least: 10},
	{Head: "WHAT", Field: "action"},
	{Head: "FIELDS", Field: "changes", Show: changed, Least: 10},
}

func changed(r output.Row) string {
	changes, _ := r.Get("changes").(map[string]any)
	names := make([]string, 0, len(changes))
	for name := range changes {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
