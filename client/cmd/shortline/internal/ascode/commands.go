package ascode

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
)

const about = `

FILE is YAML with version: 1, owner:, tags:, domains: and links:. - is standard input. docs/users/links-as-code.md describes it.
An owner marks its links with the tag managed-by:OWNER. Links of other owners are never changed.`

// Commands returns plan, apply and export.
func Commands(a *app.App) []*cobra.Command {
	return []*cobra.Command{planCommand(a), applyCommand(a), exportCommand(a)}
}

func planCommand(a *app.App) *cobra.Command {
	var prune, detailed bool
	cmd := &cobra.Command{
		Use: "plan FILE...", Aliases: []string{"diff"}, Short: "Show what apply would do with files of links",
		Long: "Show what apply would do: + for links that would be created, ~ for those that would change, - for those that would be deleted,\n" +
			"and ! for what is in the way. Nothing is changed." + about,
		Example: "  shortline plan links.yaml\n  shortline plan links.yaml --detailed-exitcode",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := runPlan(cmd, a, args, prune, detailed)
			var exit *app.Exit
			if detailed && app.Code(err) == app.CodeUsage && !(errors.As(err, &exit) && exit.Said) {
				return &app.Exit{Code: app.CodeError, Err: err} // 2 means changes
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&prune, "prune", false, "also links of the owner that no file has, which would be deleted")
	cmd.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit with 2 if there are changes, and with 0 only if there are none")
	return cmd
}

var errChanges = errors.New("there are changes")

func runPlan(cmd *cobra.Command, a *app.App, files []string, prune, detailed bool) error {
	p, _, err := planOf(cmd.Context(), a, files, prune)
	if err != nil {
		return err
	}
	if err := showPlan(a, p, prune); err != nil {
		return err
	}
	if err := p.problem(); err != nil {
		return err
	}
	if changes := p.count(create) + p.count(change) + len(p.shared); detailed && (changes > 0 || prune && len(p.extra) > 0) {
		return &app.Exit{Code: app.CodeChanges, Err: errChanges, Said: true}
	}
	return nil
}

func applyCommand(a *app.App) *cobra.Command {
	var o applyOptions
	cmd := &cobra.Command{
		Use: "apply FILE...", Aliases: []string{"sync"}, Short: "Make links those of files",
		Long: "Make links those of files, as plan shows. If one link is refused, belongs to another owner, or was changed by hand, nothing is\n" +
			"changed. Ctrl-C ends the command after the batch in flight; applying again continues." + about,
		Example: "  shortline apply links.yaml\n  shortline apply links.yaml --prune --yes",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runApply(cmd.Context(), a, args, o) },
	}
	cmd.Flags().BoolVar(&o.force, "force", false, "overwrite what was changed by hand, and take over links without an owner")
	cmd.Flags().BoolVar(&o.prune, "prune", false, "delete links of the owner that no file has, after a question")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	return cmd
}

func exportCommand(a *app.App) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use: "export", Short: "Write links as a file for plan and apply",
		Long: "Write links as YAML for plan and apply, sorted by domain and slug. Applying it changes nothing. Passwords cannot be read, so\n" +
			"they are not in it, and links keep theirs. Without --owner, links that have an owner are left out.",
		Example: "  shortline export --owner marketing > links.yaml\n  shortline export --tag events --domain go.acme.com > events.yaml",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runExport(cmd.Context(), a, o) },
	}
	cmd.Flags().StringVar(&o.owner, "owner", "", "only links of this owner")
	cmd.Flags().StringArrayVarP(&o.tags, "tag", "t", nil, "only links with this tag; repeat it for several")
	cmd.Flags().StringVarP(&o.domain, "domain", "d", "", "only links on this domain")
	cmd.Flags().StringVar(&o.search, "search", "", "only links with this text in title, destination or slug")
	cmd.Flags().BoolVar(&o.shared, "shared", false, "also the tags and domains of the workspace")
	return cmd
}
