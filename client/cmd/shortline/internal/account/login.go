// Package account has the commands for signing in and for profiles.
package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/profile"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// Login returns the command login.
func Login(a *app.App) *cobra.Command {
	var withToken, noBrowser bool
	cmd := &cobra.Command{
		Use: "login", Short: "Sign in, in the browser", Args: cobra.NoArgs,
		Long: `Sign in, in the browser. The page there asks for the workspace and for what this program may do. The API key that it makes goes to
the keyring of your desktop, or, where there is none, to a file that only you can read. It is never shown.

With --with-token, the API key is read from standard input. In scripts, set SHORTLINE_URL and SHORTLINE_API_KEY instead.`,
		Example: "  shortline login --url https://sho.rt\n  shortline login --url https://sho.rt --profile work\n" +
			"  shortline login --url https://sho.rt --with-token < key.txt",
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, name, err := target(a)
			if err != nil {
				return err
			}
			var key string
			if withToken {
				key, err = a.Secret("API key: ")
			} else {
				key, err = pair(cmd.Context(), a, r, noBrowser)
			}
			if err != nil {
				return err
			}
			return keepKey(cmd.Context(), a, r, name, key)
		},
	}
	cmd.Flags().BoolVar(&withToken, "with-token", false, "read an API key from standard input")
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "only print the address of the page")
	return cmd
}

// target returns the Shortline to sign in to, and the name of the profile.
func target(a *app.App) (*remote.Remote, string, error) {
	name, err := a.ProfileName()
	if err != nil {
		return nil, "", err
	}
	r, err := a.Anonymous()
	if err != nil {
		return nil, "", err
	}
	if a.Flags.Profile == "" && a.Getenv("SHORTLINE_PROFILE") == "" {
		store, err := a.Profiles()
		if err != nil {
			return nil, "", err
		}
		if old, exists := store.Get(name); exists && old.URL != r.Base.String() { // another Shortline keeps its profile
			name = strings.Trim(strings.NewReplacer(":", "-", "[", "", "]", "").Replace(r.Base.Host), "-")
		}
	}
	if err := profile.CheckName(name); err != nil {
		return nil, "", &app.Exit{Code: app.CodeUsage, Err: err}
	}
	if app.InClear(r) {
		a.Say("warning: %s is not encrypted; everybody on the way can read the key", r.Base)
	}
	return r, name, nil
}

// pairing is the response that begins a sign-in in the browser.
type pairing struct {
	DeviceCode string    `json:"deviceCode"`
	UserCode   string    `json:"userCode"`
	URL        string    `json:"url"`
	Interval   int       `json:"interval"` // seconds
	ExpiresAt  time.Time `json:"expiresAt"`
}

// pair lets the user confirm a code in the browser, and returns the API key that the server makes then.
func pair(ctx context.Context, a *app.App, r *remote.Remote, noBrowser bool) (string, error) {
	raw, err := r.Send(ctx, http.MethodPost, "/api/auth/pairings", map[string]any{"name": clientName()})
	if remote.Is(err, http.StatusNotFound) {
		return "", fmt.Errorf("%s is too old to sign in from the browser; make an API key there and use --with-token", r.Base)
	}
	if err != nil {
		return "", err
	}
	var begun pairing
	if err := json.Unmarshal(raw, &begun); err != nil || begun.DeviceCode == "" {
		return "", errors.New("the response to the sign-in cannot be read")
	}
	fmt.Fprintf(a.Err, "Open     %s\nCompare  %s\n", output.Clean(begun.URL), output.Clean(begun.UserCode))
	if !noBrowser && a.OutTTY && a.Browse != nil {
		if err := a.Browse(begun.URL); err != nil {
			a.Say("The browser could not be opened: %v", err)
		}
	}
	a.Say("Waiting for you to confirm the code there …")
	for {
		if err := a.Wait(ctx, time.Duration(max(begun.Interval, 1))*time.Second); err != nil {
			return "", err
		}
		raw, err := r.Send(ctx, http.MethodPost, "/api/auth/pairings/redeem", map[string]any{"deviceCode": begun.DeviceCode})
		var away *remote.Unreachable
		if errors.As(err, &away) || remote.Is(err, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable) {
			if a.Now().After(begun.ExpiresAt) {
				return "", err
			}
			continue
		}
		if remote.Is(err, http.StatusNotFound, http.StatusGone) {
			return "", &app.Exit{Code: app.CodeDenied, Err: errors.New("nobody has confirmed the code in time; run shortline login again")}
		}
		if err != nil {
			return "", err
		}
		var answer struct {
			Status string `json:"status"`
			Key    string `json:"key"`
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			return "", errors.New("the response to the sign-in cannot be read")
		}
		switch answer.Status {
		case "APPROVED":
			return answer.Key, nil
		case "REFUSED":
			return "", &app.Exit{Code: app.CodeDenied, Err: errors.New("the sign-in was refused in the browser")}
		}
	}
}

// clientName tells the user on the page which program asks.
func clientName() string {
	host, err := os.Hostname()
	if err != nil {
		return "shortline"
	}
	return "shortline on " + host
}

// identity is who calls the API.
type identity struct {
	Email string `json:"email"`
	Name  string `json:"name"`
	ID    string `json:"id"`
	Role  string `json:"role"`
}

// keepKey checks a key, and stores it with the profile.
func keepKey(ctx context.Context, a *app.App, anonymous *remote.Remote, name, key string) error {
	if strings.ContainsAny(key, " \t") {
		return app.Usage("what was given is not an API key")
	}
	r, err := a.RemoteWith(key)
	if err != nil {
		return err
	}
	raw, err := r.Get(ctx, "/api/auth/me", nil)
	if err != nil {
		return err
	}
	var who identity
	if err := json.Unmarshal(raw, &who); err != nil {
		return fmt.Errorf("the response cannot be read: %w", err)
	}
	store, err := a.Profiles()
	if err != nil {
		return err
	}
	p := profile.Profile{URL: anonymous.Base.String(), Workspace: r.Workspace, Email: who.Email}
	old, existed := store.Get(name)
	if existed && old.URL != p.URL {
		if err := store.Delete(name); err != nil {
			return err
		}
	}
	if err := store.PutKey(name, p, key); err != nil {
		return err
	}
	if !existed {
		if err := store.Use(name); err != nil {
			return err
		}
	}
	kept, _ := store.Get(name)
	place := "the keyring"
	if kept.KeyIn == profile.InFile {
		place = "a file that only you can read"
	}
	a.Say("signed in to %s as %s (profile %s; the key is in %s)", p.URL, who.Email, name, place)
	return nil
}
