package account

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// Logout returns the command logout.
func Logout(a *app.App) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use: "logout", Short: "Sign out: delete the API key of the profile, here and on the server", Args: cobra.NoArgs,
		Long: "Sign out: delete the API key of the profile on the server, so that copies of it are useless, and then the profile.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := a.Profiles()
			if err != nil {
				return err
			}
			name, err := a.ProfileName()
			if err != nil {
				return err
			}
			p, ok := store.Get(name)
			if !ok {
				return app.Usage("there is no profile %s%s", name, refs.Like(name, store.Names()))
			}
			if !keep {
				if err := end(cmd, a, name); err != nil {
					return fmt.Errorf("the key still works on the server (--keep-key only forgets it here): %w", err)
				}
			}
			if err := store.Delete(name); err != nil {
				return err
			}
			a.Say("signed out of %s (profile %s)", p.URL, name)
			return nil
		},
	}
	cmd.Flags().BoolVar(&keep, "keep-key", false, "only forget the key here; it keeps working")
	return cmd
}

// prefix is how many characters of a key show that its deletion is meant.
const prefix = 10

// end deletes the key of a profile on the server. A key that the server does not know any more needs no deletion.
func end(cmd *cobra.Command, a *app.App, name string) error {
	store, err := a.Profiles()
	if err != nil {
		return err
	}
	key, err := store.Key(name)
	if err != nil || key == "" {
		return err
	}
	r, err := a.RemoteOf(name, key)
	if err != nil {
		return err
	}
	_, err = r.Send(cmd.Context(), http.MethodPost, "/api/auth/key/revoke", map[string]any{"prefix": key[:min(len(key), prefix)]})
	if remote.Is(err, http.StatusUnauthorized) {
		return nil
	}
	return err
}

// Whoami returns the command whoami.
func Whoami(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show who you are, and where", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := a.Remote()
			if err != nil {
				return err
			}
			raw, err := r.Get(cmd.Context(), "/api/auth/me", nil)
			if err != nil {
				return err
			}
			var who identity
			if err := json.Unmarshal(raw, &who); err != nil {
				return fmt.Errorf("the response cannot be read: %w", err)
			}
			row := map[string]any{
				"url": r.Base.String(), "email": who.Email, "name": who.Name, "userId": who.ID, "role": who.Role, "workspaces": nil,
				"profile": nil, "credential": "SHORTLINE_API_KEY",
			}
			if a.Getenv("SHORTLINE_API_KEY") == "" {
				name, err := a.ProfileName()
				if err != nil {
					return err
				}
				store, err := a.Profiles()
				if err != nil {
					return err
				}
				p, _ := store.Get(name)
				row["profile"], row["credential"] = name, p.KeyIn
			}
			if list, err := r.List(cmd.Context(), "/api/workspaces", nil, 100, nil); err == nil {
				row["workspaces"] = json.RawMessage(list.JSON())
			} else if !remote.Is(err, http.StatusForbidden) {
				return err
			}
			text, err := json.Marshal(row)
			if err != nil {
				return err
			}
			return a.ShowOne(text, whoColumns, drawWho)
		},
	}
}

var whoColumns = []output.Column{{Field: "url"}, {Field: "email"}, {Field: "name"}, {Field: "role"}, {Field: "profile"}}

func drawWho(p *output.Page, r output.Row) {
	p.Facts(
		output.Fact{Name: "Shortline", Value: r.Text("url"), Style: output.Bold},
		output.Fact{Name: "User", Value: r.Text("email")},
		output.Fact{Name: "Name", Value: r.Text("name")},
		output.Fact{Name: "Role", Value: r.Text("role")},
		output.Fact{Name: "Profile", Value: r.Text("profile")},
		output.Fact{Name: "Key from", Value: r.Text("credential")},
	)
	if spaces := r.Rows("workspaces"); len(spaces) > 0 {
		p.Title("Workspaces")
		p.Table([]output.Column{
			{Head: "WORKSPACE", Field: "name", Least: 10}, {Head: "SLUG", Field: "slug"}, {Head: "ROLE", Field: "role"},
			{Head: "LINKS", Field: "urlCount", Show: output.Count("urlCount"), Right: true},
		}, spaces)
	}
}

// Profiles returns the group profiles.
func Profiles(a *app.App) *cobra.Command {
	group := app.Group("profiles", "List, choose and delete profiles", listProfiles(a), use(a), remove(a))
	group.Aliases = []string{"profile"}
	return group
}

func listProfiles(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List profiles", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			store, err := a.Profiles()
			if err != nil {
				return err
			}
			rows := []output.Row{}
			for _, name := range store.Names() {
				p, _ := store.Get(name)
				rows = append(rows, output.Row{
					"current": name == store.Current(), "name": name, "url": p.URL, "email": p.Email, "workspace": p.Workspace,
					"keyIn": p.KeyIn,
				})
			}
			raw, err := json.Marshal(rows)
			if err != nil {
				return err
			}
			mark := func(r output.Row) string {
				if r.Bool("current") {
					return "*"
				}
				return ""
			}
			columns := []output.Column{
				{Head: "", Field: "current", Show: mark}, {Head: "PROFILE", Field: "name"}, {Head: "SHORTLINE", Field: "url", Least: 16},
				{Head: "USER", Field: "email", Least: 10, Rank: 1}, {Head: "WORKSPACE", Field: "workspace", Rank: 2},
				{Head: "KEY IN", Field: "keyIn"},
			}
			const empty = "There are no profiles; run: shortline login --url ADDRESS"
			return a.Print(output.View{Raw: raw, Rows: rows, Empty: empty, Columns: columns})
		},
	}
}

func use(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "use PROFILE", Short: "Choose the profile that commands use", Args: cobra.ExactArgs(1),
		ValidArgsFunction: complete(a),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := a.Profiles()
			if err != nil {
				return err
			}
			if _, ok := store.Get(args[0]); !ok {
				return missing(args[0], store.Names())
			}
			return store.Use(args[0])
		},
	}
}

func remove(a *app.App) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "delete PROFILE", Aliases: []string{"rm"}, Short: "Forget a profile and its key here; the key keeps working on the server",
		Args: cobra.ExactArgs(1), ValidArgsFunction: complete(a),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := a.Profiles()
			if err != nil {
				return err
			}
			p, ok := store.Get(args[0])
			if !ok {
				return missing(args[0], store.Names())
			}
			if err := a.Confirm(yes, "Forget the profile %s of %s?", args[0], p.URL); err != nil {
				return err
			}
			return store.Delete(args[0])
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func missing(name string, known []string) error {
	return &app.Exit{Code: app.CodeMissing, Err: errors.New("there is no profile " + name + refs.Like(name, known))}
}

func complete(a *app.App) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		store, err := a.Profiles()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return store.Names(), cobra.ShellCompDirectiveNoFileComp
	}
}
