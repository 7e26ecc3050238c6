package app

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// Group returns a command that has only commands below it. A wrong name gets a suggestion.
func Group(use, short string, below ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use: use, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return Unknown(cmd, args[0])
		},
	}
	group.AddCommand(below...)
	return group
}

// Unknown returns the error for the name of a command that does not exist.
func Unknown(cmd *cobra.Command, name string) error {
	var names []string
	for _, one := range cmd.Commands() {
		if one.IsAvailableCommand() {
			names = append(append(names, one.Name()), one.Aliases...)
		}
	}
	return Usage("there is no command %s %s%s; see %[1]s --help", cmd.CommandPath(), name, refs.Like(name, names))
}

// ListFlags are the flags of every list.
type ListFlags struct {
	Limit int
	All   bool
}

// AddTo adds the flags.
func (f *ListFlags) AddTo(cmd *cobra.Command) {
	cmd.Flags().IntVarP(&f.Limit, "limit", "L", 30, "most rows")
	cmd.Flags().BoolVar(&f.All, "all", false, "all rows")
	cmd.MarkFlagsMutuallyExclusive("limit", "all")
}

// Most returns the largest number of rows; 0 means all.
func (f *ListFlags) Most() (int, error) {
	if f.All {
		return 0, nil
	}
	if f.Limit < 1 {
		return 0, Usage("--limit must be at least 1")
	}
	return f.Limit, nil
}

// ShowList reads a list and prints it.
func (a *App) ShowList(
	cmd *cobra.Command, f *ListFlags, path string, query map[string][]string, columns []output.Column, empty string,
) error {
	r, err := a.Remote()
	if err != nil {
		return err
	}
	most, err := f.Most()
	if err != nil {
		return err
	}
	list, err := r.List(cmd.Context(), path, query, most, func(n, total int) {
		a.Progress("reading %s of %s …", output.Number(int64(n)), output.Number(int64(total)))
	})
	a.Done()
	if err != nil {
		return err
	}
	rows, err := output.Decode[[]output.Row](list.JSON())
	if err != nil {
		return err
	}
	note := ""
	if len(rows) < list.Total {
		note = output.Number(int64(len(rows))) + " of " + output.Number(int64(list.Total))
		if !list.IsExact {
			note += " or more"
		}
		note += "; --all shows all"
	}
	return a.Print(output.View{Raw: list.JSON(), Rows: rows, Columns: columns, Empty: empty, Note: note})
}

// SearchCommand returns the command list of objects that can be searched for by name. what is their name, such as tags.
func (a *App) SearchCommand(what, path string, columns []output.Column) *cobra.Command {
	var f ListFlags
	var search string
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List " + what, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			query := url.Values{}
			if search != "" {
				query.Set("search", search)
			}
			return a.ShowList(cmd, &f, path, query, columns, "There are no "+what+".")
		},
	}
	f.AddTo(cmd)
	cmd.Flags().StringVar(&search, "search", "", "part of the name")
	return cmd
}

// LinkID returns the Shortline in use, and the id of the link that an argument names.
func (a *App) LinkID(ctx context.Context, text string) (*remote.Remote, string, error) {
	r, err := a.Remote()
	if err != nil {
		return nil, "", err
	}
	id, err := refs.ID(ctx, r, text)
	return r, id, err
}

// ShowOne prints an object: its facts as a table, and its columns as CSV.
func (a *App) ShowOne(raw []byte, columns []output.Column, draw func(*output.Page, output.Row)) error {
	row, err := output.Decode[output.Row](raw)
	if err != nil {
		return err
	}
	return a.Print(output.View{
		Raw: raw, Rows: []output.Row{row}, Columns: columns, Draw: func(p *output.Page) { draw(p, row) },
	})
}
