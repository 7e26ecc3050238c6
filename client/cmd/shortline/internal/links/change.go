package links

import (
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

func createLink(a *app.App) *cobra.Command {
	f := &fields{app: a}
	var slug, domain string
	cmd := &cobra.Command{
		Use: "create URL", Aliases: []string{"new", "add"}, Short: "Create a link, and print its short URL",
		Long: "Create a link that leads to URL, and print its short URL.", Args: cobra.ExactArgs(1),
		Example: "  shortline links create https://example.com/fair --slug fair --tag events\n" +
			"  shortline links create https://example.com --expires 7d -f isSmartRouting=true\n" +
			"  link=$(shortline links create https://example.com)",
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := f.body(cmd)
			if err != nil {
				return err
			}
			body["originalUrl"] = args[0]
			if slug != "" {
				body["customSlug"] = slug
			}
			if domain != "" {
				body["domain"] = domain
			}
			r, err := a.Remote()
			if err != nil {
				return err
			}
			raw, err := r.Send(cmd.Context(), http.MethodPost, "/api/urls", body)
			if err != nil {
				return err
			}
			return a.ShowOne(raw, columns, func(p *output.Page, link output.Row) { p.Line("%s", link.Text("shortUrl")) })
		},
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&slug, "slug", "s", "", "slug; without it, one is made up")
	cmd.Flags().StringVarP(&domain, "domain", "d", "", "host name of a domain")
	return cmd
}

func update(a *app.App) *cobra.Command {
	f := &fields{app: a}
	var to string
	cmd := &cobra.Command{
		Use: "update LINK", Aliases: []string{"edit", "set"}, Short: "Change a link",
		Long: "Change the given fields of a link. Others stay.\n\n" + refs.About,
		Args: cobra.ExactArgs(1),
		Example: "  shortline links update fair --to https://example.com/autumn-fair\n" +
			"  shortline links update fair --tag events --tag autumn --clear expiresAt",
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := f.body(cmd)
			if err != nil {
				return err
			}
			if to != "" {
				body["originalUrl"] = to
			}
			if len(body) == 0 {
				return app.Usage("nothing is to be changed; see %s --help for the flags", cmd.CommandPath())
			}
			r, id, err := a.LinkID(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			raw, err := r.Send(cmd.Context(), http.MethodPatch, "/api/urls/"+id, body)
			if err != nil {
				return err
			}
			return a.ShowOne(raw, columns, draw)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&to, "to", "", "destination")
	cmd.Flags().StringArrayVar(&f.clear, "clear", nil, "name of a field to empty, such as expiresAt; repeat it for several")
	return cmd
}

func remove(a *app.App) *cobra.Command {
	var yes, permanently bool
	cmd := &cobra.Command{
		Use: "delete LINK...", Aliases: []string{"rm"}, Short: "Delete links, which go to the trash",
		Long: "Delete links. They go to the trash, from where they can be restored for 30 days, unless the operator has chosen otherwise.\n\n" +
			refs.About,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.Remote()
			if err != nil {
				return err
			}
			var found []refs.Object
			for _, arg := range args { // all must exist before the first one goes
				link, err := refs.Link(cmd.Context(), r, arg)
				if err != nil && permanently && remote.Is(err, http.StatusNotFound) {
					link, err = refs.Trashed(cmd.Context(), r, arg)
				}
				if err != nil {
					return err
				}
				found = append(found, link)
			}
			if err := a.Confirm(yes, "%s", question(found, permanently)); err != nil {
				return err
			}
			for _, link := range found {
				in := remote.Request{Method: http.MethodDelete, Path: "/api/urls/" + link.ID}
				if permanently {
					in.Query = url.Values{"permanently": {"true"}}
				}
				if _, err := r.Do(cmd.Context(), in); err != nil {
					return err
				}
				a.Say("deleted %s", refs.Name(link.Row))
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&permanently, "permanently", false, "also from the trash")
	return cmd
}

func question(links []refs.Object, permanently bool) string {
	var names []string
	clicks := int64(0)
	for _, one := range links {
		names = append(names, refs.Name(one.Row))
		clicks += one.Row.Int("clickCount")
	}
	how := "Delete"
	if permanently {
		how = "Permanently delete"
	}
	return fmt.Sprintf("%s %s (%s clicks)?", how, strings.Join(names, ", "), output.Number(clicks))
}

func restore(a *app.App) *cobra.Command {
	var slug, domain string
	cmd := &cobra.Command{
		Use: "restore LINK", Short: "Restore a link from the trash",
		Long: "Restore a link from the trash. If its slug was taken meanwhile (exit code 5), choose another one with --slug.\n\n" +
			refs.About,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.Remote()
			if err != nil {
				return err
			}
			link, err := refs.Trashed(cmd.Context(), r, args[0])
			if err != nil {
				return err
			}
			body := map[string]any{}
			if slug != "" {
				body["slug"] = slug
			}
			if domain != "" {
				body["domain"] = domain
			}
			raw, err := r.Send(cmd.Context(), http.MethodPost, "/api/urls/"+link.ID+"/restore", body)
			if err != nil {
				return err
			}
			return a.ShowOne(raw, columns, draw)
		},
	}
	cmd.Flags().StringVarP(&slug, "slug", "s", "", "another slug")
	cmd.Flags().StringVarP(&domain, "domain", "d", "", "another domain")
	return cmd
}
