// Package domains has the commands for custom domains.
package domains

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// Commands returns the group domains.
func Commands(a *app.App) *cobra.Command {
	group := app.Group("domains", "List, add, verify and delete custom domains",
		a.SearchCommand("domains", path, columns), getDomain(a), addDomain(a), update(a), verify(a), remove(a))
	group.Aliases = []string{"domain"}
	return group
}

const path = "/api/domains"

var columns = []output.Column{
	{Head: "DOMAIN", Field: "hostname", Show: shown, Least: 16},
	{Head: "STATUS", Field: "status", Paint: output.Status("status")},
	{Head: "CERTIFICATE", Field: "certificate.status", Show: certificate},
	{Head: "LINKS", Field: "urlCount", Show: output.Count("urlCount"), Right: true},
	{Head: "DEFAULT", Field: "isDefault", Show: output.YesNo("isDefault"), Rank: 1},
	{Head: "CHECKED", Field: "checkedAt", Show: output.At("checkedAt"), Rank: 2},
	{Head: "ID", Field: "id", Rank: 3, Paint: output.Faint},
}

func shown(r output.Row) string {
	if name := r.Text("displayName"); name != "" {
		return name
	}
	return r.Text("hostname")
}

func certificate(r output.Row) string {
	switch status := r.Text("certificate.status"); status {
	case "":
		return "none"
	case "ACTIVE":
		if end := r.Text("certificate.notAfter"); len(end) >= 10 {
			return "until " + end[:10]
		}
		return status
	default:
		return status
	}
}

// draw shows a domain, and what its DNS needs.
func draw(p *output.Page, domain output.Row) {
	p.Facts(
		output.Fact{Name: "Domain", Value: shown(domain), Style: output.Bold},
		output.Fact{Name: "Status", Value: domain.Text("status"), Style: output.Status("status")(domain)},
		output.Fact{Name: "Suspended", Value: domain.Text("suspendReason")},
		output.Fact{Name: "Links", Value: output.Count("urlCount")(domain)},
		output.Fact{Name: "Default", Value: output.YesNo("isDefault")(domain)},
		output.Fact{Name: "Certificate", Value: certificate(domain)},
		output.Fact{Name: "Problem", Value: domain.Text("certificate.lastError"), Style: output.Red},
		output.Fact{Name: "Root", Value: domain.Text("rootUrl")},
		output.Fact{Name: "Not found", Value: domain.Text("notFoundUrl")},
		output.Fact{Name: "Expired", Value: domain.Text("expiredUrl")},
		output.Fact{Name: "Checked", Value: output.Moment(domain.Text("checkedAt"))},
		output.Fact{Name: "Id", Value: domain.Text("id"), Style: output.Dim},
	)
	if records := domain.Rows("records"); len(records) > 0 {
		p.Title("DNS records")
		p.Table([]output.Column{
			{Head: "TYPE", Field: "type"},
			{Head: "NAME", Field: "name", Least: 16},
			{Head: "VALUE", Field: "value", Least: 20},
			{Head: "FOUND", Field: "found", Show: output.YesNo("found"), Paint: output.Status("found")},
		}, records)
	}
}

func findDomain(ctx context.Context, a *app.App, text string) (*remote.Remote, refs.Object, error) {
	r, err := a.Remote()
	if err != nil {
		return nil, refs.Object{}, err
	}
	domain, err := refs.Named(ctx, r, path, text, "domain", "hostname", "displayName")
	return r, domain, err
}

func getDomain(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "get DOMAIN", Aliases: []string{"show"}, Short: "Show a domain and its DNS records", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, domain, err := findDomain(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			return a.ShowOne(domain.Raw, columns, draw)
		},
	}
}

// settings are the flags for the fields of a domain.
type settings struct {
	root, missing, expired string
	isDefault              bool
}

func (s *settings) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.root, "root-url", "", "where the domain itself leads")
	cmd.Flags().StringVar(&s.missing, "not-found-url", "", "where unknown slugs lead")
	cmd.Flags().StringVar(&s.expired, "expired-url", "", "where links lead that have ended")
	cmd.Flags().BoolVar(&s.isDefault, "default", false, "the domain of new links")
}

// body returns the fields whose flags were used. An empty text clears a field.
func (s *settings) body(cmd *cobra.Command) map[string]any {
	body := map[string]any{}
	for flag, field := range map[string]string{"root-url": "rootUrl", "not-found-url": "notFoundUrl", "expired-url": "expiredUrl"} {
		if !cmd.Flags().Changed(flag) {
			continue
		}
		if text := cmd.Flags().Lookup(flag).Value.String(); text != "" {
			body[field] = text
		} else {
			body[field] = nil
		}
	}
	if cmd.Flags().Changed("default") {
		body["isDefault"] = s.isDefault
	}
	return body
}

func addDomain(a *app.App) *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use: "add HOST", Aliases: []string{"create", "new"}, Short: "Add a domain, and show the DNS records that it needs",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			body := s.body(cmd)
			body["hostname"] = args[0]
			r, err := a.Remote()
			if err != nil {
				return err
			}
			raw, err := r.Send(cmd.Context(), http.MethodPost, path, body)
			if err != nil {
				return err
			}
			return a.ShowOne(raw, columns, draw)
		},
	}
	s.add(cmd)
	return cmd
}

func update(a *app.App) *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use: "update DOMAIN", Aliases: []string{"edit", "set"}, Short: "Change the settings of a domain", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			body := s.body(cmd)
			if len(body) == 0 {
				return app.Usage("nothing is to be changed; see %s --help for the flags", cmd.CommandPath())
			}
			r, domain, err := findDomain(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			raw, err := r.Send(cmd.Context(), http.MethodPut, remote.Path("api", "domains", domain.ID), body)
			if err != nil {
				return err
			}
			return a.ShowOne(raw, columns, draw)
		},
	}
	s.add(cmd)
	return cmd
}

func verify(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "verify DOMAIN", Short: "Look for the DNS records of a domain now", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, domain, err := findDomain(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			raw, err := r.Send(cmd.Context(), http.MethodPost, remote.Path("api", "domains", domain.ID, "verify"), nil)
			if err != nil {
				return err
			}
			return a.ShowOne(raw, columns, draw)
		},
	}
}

func remove(a *app.App) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "delete DOMAIN", Aliases: []string{"rm"}, Short: "Delete a domain without links", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, domain, err := findDomain(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			if err := a.Confirm(yes, "Delete the domain %s?", shown(domain.Row)); err != nil {
				return err
			}
			if _, err := r.Send(cmd.Context(), http.MethodDelete, remote.Path("api", "domains", domain.ID), nil); err != nil {
				return err
			}
			a.Say("deleted %s", shown(domain.Row))
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}
