// Package shell has the commands about the program itself: completion, manual pages, the version, and opening the console.
package shell

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
)

// Completion returns the command completion.
func Completion(a *app.App) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print a script that completes commands with the Tab key", Args: cobra.ExactArgs(1),
		Long: `Print a script that completes commands, flags and their values with the Tab key.

  bash        source <(shortline completion bash)
  zsh         shortline completion zsh > "${fpath[1]}/_shortline"
  fish        shortline completion fish > ~/.config/fish/completions/shortline.fish
  powershell  shortline completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Out, true)
			case "zsh":
				return root.GenZshCompletion(a.Out)
			case "fish":
				return root.GenFishCompletion(a.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.Out)
			}
			return app.Usage("SHELL must be one of %s, not %q%s", strings.Join(shells, ", "), args[0], refs.Like(args[0], shells))
		},
	}
}

// Man returns the command man.
func Man(a *app.App) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "man", Short: "Write manual pages", Args: cobra.NoArgs,
		Long:    "Write a manual page for each command to a folder.",
		Example: "  shortline man --dir ~/.local/share/man/man1",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			date := time.Unix(0, 0).UTC() // the same pages for the same version
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Section: "1", Source: "shortline " + app.Version, Manual: "Shortline", Date: &date}
			if err := doc.GenManTree(root, header, dir); err != nil {
				return err
			}
			pages, err := filepath.Glob(filepath.Join(dir, "shortline*.1"))
			if err != nil {
				return err
			}
			a.Say("%d pages in %s", len(pages), dir)
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder")
	if err := cmd.MarkFlagRequired("dir"); err != nil {
		panic("BUG: " + err.Error())
	}
	return cmd
}

// VersionCommand returns the command version.
func VersionCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			raw, err := json.Marshal(map[string]string{
				"version": app.Version, "os": runtime.GOOS, "arch": runtime.GOARCH, "go": runtime.Version(),
			})
			if err != nil {
				return err
			}
			columns := []output.Column{{Field: "version"}, {Field: "os"}, {Field: "arch"}, {Field: "go"}}
			return a.ShowOne(raw, columns, func(p *output.Page, r output.Row) {
				p.Line("shortline %s (%s, %s, %s)", r.Text("version"), r.Text("os"), r.Text("arch"), r.Text("go"))
			})
		},
	}
}

// places are pages of the console.
var places = []string{
	"links", "analytics", "live", "missing", "imports", "trash", "tags", "bundles", "domains", "keys", "webhooks", "members", "workspace", "audit",
	"account", "users", "settings", "edges",
}

// Open returns the command open.
func Open(a *app.App) *cobra.Command {
	var visit, printOnly bool
	cmd := &cobra.Command{
		Use: "open [LINK|PAGE]", Short: "Open the console in the browser", Args: cobra.MaximumNArgs(1), ValidArgs: places,
		Long: "Open the console in the browser: its first page, a page such as analytics, domains or webhooks, or the page of a link.\n\n" +
			refs.About,
		Example: "  shortline open\n  shortline open fair\n  shortline open webhooks",
		RunE: func(cmd *cobra.Command, args []string) error {
			address, err := addressOf(cmd, a, args, visit)
			if err != nil {
				return err
			}
			if printOnly || a.Browse == nil {
				fmt.Fprintln(a.Out, address)
				return nil
			}
			if err := a.Browse(address); err != nil {
				fmt.Fprintln(a.Out, address)
				a.Say("The browser could not be opened: %v", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&visit, "visit", false, "open the short URL itself, which counts as a click")
	cmd.Flags().BoolVar(&printOnly, "print", false, "only print the address")
	return cmd
}

func addressOf(cmd *cobra.Command, a *app.App, args []string, visit bool) (string, error) {
	r, err := a.Remote()
	if err != nil {
		return "", err
	}
	page := "/console/"
	if len(args) == 1 {
		page = ""
		for _, one := range places {
			if one == args[0] && !visit {
				page = "/console/" + one
			}
		}
		if page == "" {
			link, err := refs.Link(cmd.Context(), r, args[0])
			if err != nil {
				return "", err
			}
			if visit {
				return link.Row.Text("shortUrl"), nil
			}
			page = "/console/links/" + link.ID
		}
	}
	address := r.Base.String() + page
	if r.Workspace != "" {
		address += "?workspace=" + url.QueryEscape(r.Workspace)
	}
	return address, nil
}
