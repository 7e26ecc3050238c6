// Package workspace has the commands that export a whole workspace as one file, and import such a file.
package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// longest is how long an import or the beginning of an export may take, unless --timeout says otherwise.
const longest = 6 * time.Hour

// Commands returns the group workspace.
func Commands(a *app.App) *cobra.Command {
	return app.Group("workspace", "Export a whole workspace as one file, and import it", export(a), importFile(a))
}

// target returns the Shortline in use, and the workspace in which its key works.
func target(cmd *cobra.Command, a *app.App) (*remote.Remote, string, error) {
	if !cmd.Flags().Changed("timeout") {
		a.Timeout = longest
	}
	r, err := a.Remote()
	if err != nil {
		return nil, "", err
	}
	if r.Workspace != "" {
		return r, r.Workspace, nil
	}
	raw, err := r.Get(cmd.Context(), "/api/workspaces", nil)
	if err != nil {
		return nil, "", err
	}
	list, err := output.Decode[struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}](raw)
	if err == nil && len(list.Data) == 0 {
		err = errors.New("the key belongs to no workspace; name one with --workspace")
	}
	if err != nil {
		return nil, "", err
	}
	return r, list.Data[0].ID, nil
}

func export(a *app.App) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "export FILE", Short: "Export a workspace as one file",
		Long: `Write links, rules, variants, tags, bundles, domains, UTM templates, webhooks, experiments, clicks and conversions into a ZIP file.

The file has no passwords, keys or secrets. - writes it to standard output. The key needs the role ADMIN in the workspace, and no scopes.`,
		Example: "  shortline workspace export team.zip --workspace growth",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "-" && !force {
				if _, err := os.Lstat(args[0]); err == nil {
					return app.Usage("%s exists; --force replaces it", args[0])
				}
			}
			r, id, err := target(cmd, a)
			if err != nil {
				return err
			}
			raw, err := r.Archives().ExportWorkspace(cmd.Context(), id)
			if err != nil {
				return r.Failed(cmd.Context(), err)
			}
			defer raw.Close()
			progress := &counted{app: a}
			if args[0] == "-" {
				_, err = io.Copy(a.Out, io.TeeReader(raw, progress))
				a.Done()
				return received(cmd.Context(), r, err)
			}
			err = download(cmd.Context(), r, args[0], io.TeeReader(raw, progress))
			a.Done()
			if err == nil {
				a.Say("wrote %s, %s bytes", args[0], output.Number(progress.n))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that exists")
	return cmd
}

// received returns the error of a download that was cut off.
func received(ctx context.Context, r *remote.Remote, err error) error {
	if err == nil {
		return nil
	}
	return r.Failed(ctx, err)
}

// download stores a file under its name only when it is complete.
func download(ctx context.Context, r *remote.Remote, name string, from io.Reader) (err error) {
	part, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.part")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part.Name()))
		}
	}()
	if _, err := io.Copy(part, from); err != nil {
		_ = part.Close()
		return received(ctx, r, err)
	}
	if err := errors.Join(part.Sync(), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), name)
}

// counted shows how much was read.
type counted struct {
	app   *app.App
	n     int64
	shown int64 // MB
}

func (c *counted) Write(b []byte) (int, error) {
	if c.n += int64(len(b)); c.n>>20 > c.shown {
		c.shown = c.n >> 20
		c.app.Progress("%s MB …", output.Number(c.shown))
	}
	return len(b), nil
}

var columns = []output.Column{
	{Head: "KIND", Field: "kind"},
	{Head: "IN THE FILE", Field: "rows", Show: output.Count("rows"), Right: true},
	{Head: "CREATED", Field: "created", Show: output.Count("created"), Right: true},
	{Head: "PRESENT", Field: "present", Show: output.Count("present"), Right: true},
	{Head: "SKIPPED", Field: "skipped", Show: output.Count("skipped"), Right: true},
}

func importFile(a *app.App) *cobra.Command {
	var dry, skip bool
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Import a file that workspace export has written",
		Long: `Add what the file has to the workspace. What the workspace has already stays as it is, so repeat an import that was interrupted.

The server checks the complete file before it changes anything. If something cannot be imported, such as a link whose slug is taken,
nothing is changed, unless --skip-conflicts is given. - reads standard input.`,
		Example: "  shortline workspace import team.zip --workspace growth --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			from := a.In
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return app.Usage("%w", err)
				}
				defer f.Close()
				from = f
			}
			r, id, err := target(cmd, a)
			if err != nil {
				return err
			}
			report, err := r.Archives().ImportWorkspace(cmd.Context(), id, io.TeeReader(from, &counted{app: a}),
				client.ImportWorkspaceParams{DryRun: client.Set(dry), SkipConflicts: client.Set(skip)})
			a.Done()
			if err != nil {
				return r.Failed(cmd.Context(), err)
			}
			return printReport(a, report)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only tell what would happen")
	cmd.Flags().BoolVar(&skip, "skip-conflicts", false, "import everything else if something cannot be imported")
	return cmd
}

// printReport prints what an import did.
func printReport(a *app.App, report *client.ArchiveReport) error {
	raw, err := json.Marshal(report)
	if err != nil {
		return err
	}
	kinds, err := json.Marshal(report.Kinds)
	if err != nil {
		return err
	}
	rows, err := output.Decode[[]output.Row](kinds)
	if err != nil {
		return err
	}
	note := ""
	if report.DryRun {
		note = "nothing was changed, because this was a dry run"
	}
	if err := a.Print(output.View{Raw: raw, Rows: rows, Columns: columns, Note: note}); err != nil {
		return err
	}
	for _, p := range report.Problems {
		a.Say("%s", output.Clean(fmt.Sprintf("%s %s: %s %s", p.Kind, p.Name, p.Field, p.Message)))
	}
	if report.Deactivated > 0 {
		a.Say("%d links are inactive, because they had a password or were suspended", report.Deactivated)
	}
	return nil
}
