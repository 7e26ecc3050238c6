// Package tags has the commands for tags.
package tags

import (
	"net/http"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// Commands returns the group tags.
func Commands(a *app.App) *cobra.Command {
	group := app.Group("tags", "List, create, rename and delete tags", a.SearchCommand("tags", path, columns),
		createTag(a), update(a), remove(a))
	group.Aliases = []string{"tag"}
	return group
}

var columns = []output.Column{
	{Head: "TAG", Field: "name", Least: 10},
	{Head: "COLOUR", Field: "color"},
	{Head: "LINKS", Field: "urlCount", Show: output.Count("urlCount"), Right: true},
	{Head: "CREATED", Field: "createdAt", Show: output.At("createdAt"), Rank: 1},
	{Head: "ID", Field: "id", Rank: 2, Paint: output.Faint},
}

const path = "/api/tags"

func createTag(a *app.App) *cobra.Command {
	var colour string
	cmd := &cobra.Command{
		Use: "create NAME", Aliases: []string{"new", "add"}, Short: "Create a tag", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			body := map[string]any{"name": args[0]}
			if colour != "" {
				body["color"] = colour
			}
			return send(cmd, a, http.MethodPost, path, body)
		},
	}
	cmd.Flags().StringVar(&colour, "color", "", "colour, such as #0055ff")
	return cmd
}

func update(a *app.App) *cobra.Command {
	var name, colour string
	cmd := &cobra.Command{
		Use: "update TAG", Aliases: []string{"rename"}, Short: "Rename or recolour a tag", Args: cobra.ExactArgs(1),
		Long: "Rename or recolour a tag, which is named by its name or id.",
		RunE: func(cmd *cobra.Command, args []string) error {
			body := map[string]any{}
			if name != "" {
				body["name"] = name
			}
			if colour != "" {
				body["color"] = colour
			}
			if len(body) == 0 {
				return app.Usage("nothing is to be changed; give --name or --color")
			}
			r, err := a.Remote()
			if err != nil {
				return err
			}
			tag, err := refs.Named(cmd.Context(), r, path, args[0], "tag", "name")
			if err != nil {
				return err
			}
			return send(cmd, a, http.MethodPut, remote.Path("api", "tags", tag.ID), body)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "new name")
	cmd.Flags().StringVar(&colour, "color", "", "new colour")
	return cmd
}

func remove(a *app.App) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "delete TAG", Aliases: []string{"rm"}, Short: "Delete a tag; its links stay", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.Remote()
			if err != nil {
				return err
			}
			tag, err := refs.Named(cmd.Context(), r, path, args[0], "tag", "name")
			if err != nil {
				return err
			}
			links := output.Count("urlCount")(tag.Row)
			if err := a.Confirm(yes, "Take the tag %s from %s links?", tag.Row.Text("name"), links); err != nil {
				return err
			}
			if _, err := r.Send(cmd.Context(), http.MethodDelete, remote.Path("api", "tags", tag.ID), nil); err != nil {
				return err
			}
			a.Say("deleted %s", tag.Row.Text("name"))
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func send(cmd *cobra.Command, a *app.App, method, path string, body any) error {
	r, err := a.Remote()
	if err != nil {
		return err
	}
	raw, err := r.Send(cmd.Context(), method, path, body)
	if err != nil {
		return err
	}
	return a.ShowOne(raw, columns, func(p *output.Page, tag output.Row) { p.Table(columns, []output.Row{tag}) })
}
