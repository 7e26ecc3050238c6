package app

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/profile"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// Profiles returns the user's profiles.
func (a *App) Profiles() (*profile.Store, error) {
	if a.store != nil {
		return a.store, nil
	}
	dir, err := profile.Folder(a.Getenv)
	if err != nil {
		return nil, err
	}
	a.store, err = profile.Open(dir, a.Getenv)
	return a.store, err
}

// ProfileName returns the name of the profile in use, which need not exist.
func (a *App) ProfileName() (string, error) {
	if name := cmp.Or(a.Flags.Profile, a.Getenv("SHORTLINE_PROFILE")); name != "" {
		return name, nil
	}
	store, err := a.Profiles()
	if err != nil {
		return "", err
	}
	return store.Current(), nil
}

// ErrNoAddress says that nobody has told which Shortline to call.
var ErrNoAddress = errors.New("no Shortline is known yet; run: shortline login --url ADDRESS")

// Remote returns the Shortline in use, with the key. A key of a profile is sent only to the address of that profile.
func (a *App) Remote() (*remote.Remote, error) {
	if a.remote != nil {
		return a.remote, nil
	}
	key := a.Getenv("SHORTLINE_API_KEY")
	cfg, p, name, err := a.address()
	if err != nil {
		return nil, err
	}
	if key == "" && p.URL == cfg.Base.String() {
		store, err := a.Profiles()
		if err != nil {
			return nil, err
		}
		if key, err = store.Key(name); err != nil {
			return nil, err
		}
	}
	if key == "" {
		return nil, &Exit{Code: CodeDenied, Err: fmt.Errorf("you are not signed in to %s; run: shortline login --url %[1]s", cfg.Base)}
	}
	cfg.Key = key
	a.remote = remote.New(cfg)
	return a.remote, nil
}

// RemoteWith returns the Shortline in use with another key.
func (a *App) RemoteWith(key string) (*remote.Remote, error) {
	cfg, _, _, err := a.address()
	if err != nil {
		return nil, err
	}
	cfg.Key = key
	return remote.New(cfg), nil
}

// RemoteOf returns the Shortline of a profile, with its key.
func (a *App) RemoteOf(name, key string) (*remote.Remote, error) {
	other := *a
	other.URL, other.Flags.Profile, other.remote = "", name, nil
	getenv := a.Getenv
	other.Getenv = func(name string) string {
		if name == "SHORTLINE_URL" || name == "SHORTLINE_API_KEY" {
			return ""
		}
		return getenv(name)
	}
	return other.RemoteWith(key)
}

// Anonymous returns the Shortline in use without a key.
func (a *App) Anonymous() (*remote.Remote, error) {
	cfg, _, _, err := a.address()
	if err != nil {
		return nil, err
	}
	return remote.New(cfg), nil
}

func (a *App) address() (cfg remote.Config, p profile.Profile, name string, err error) {
	chosen := cmp.Or(a.URL, a.Getenv("SHORTLINE_URL"))
	if chosen == "" || a.Getenv("SHORTLINE_API_KEY") == "" {
		store, err := a.Profiles()
		if err != nil {
			return cfg, p, "", err
		}
		if name, err = a.ProfileName(); err != nil {
			return cfg, p, "", err
		}
		known := false
		p, known = store.Get(name)
		if named := cmp.Or(a.Flags.Profile, a.Getenv("SHORTLINE_PROFILE")); named != "" && !known && chosen == "" {
			return cfg, p, "", Usage("there is no profile %q%s", named, refs.Like(named, store.Names()))
		}
	}
	text := cmp.Or(chosen, p.URL)
	if text == "" {
		return cfg, p, "", &Exit{Code: CodeUsage, Err: ErrNoAddress}
	}
	base, err := profile.Address(text)
	if err != nil {
		return cfg, p, "", &Exit{Code: CodeUsage, Err: err}
	}
	workspace := cmp.Or(a.Flags.Workspace, a.Getenv("SHORTLINE_WORKSPACE"))
	if workspace == "" && p.URL == base.String() {
		workspace = p.Workspace
	}
	cfg = remote.Config{
		Base: base, Workspace: workspace, HTTP: a.client(), Timeout: a.Timeout, Retry: client.DefaultRetry,
		Agent: fmt.Sprintf("shortline/%s (%s; %s)", Version, runtime.GOOS, runtime.GOARCH),
	}
	if a.Retry != nil {
		cfg.Retry = *a.Retry
	}
	if a.Verbose {
		cfg.Log = func(format string, args ...any) { fmt.Fprintf(a.Err, "> "+format+"\n", args...) }
	}
	return cfg, p, name, nil
}

func (a *App) client() *http.Client {
	if a.HTTP != nil {
		return a.HTTP
	}
	return &http.Client{}
}

// Forget makes the next command read profiles and keys again.
func (a *App) Forget() { a.store, a.remote = nil, nil }

// InClear reports whether keys travel to an address without encryption over a network.
func InClear(r *remote.Remote) bool {
	host := r.Base.Hostname()
	return r.Base.Scheme == "http" && host != "localhost" && !strings.HasPrefix(host, "127.") && host != "::1"
}

// Skew returns how far the clock of the server is ahead of this one, by the head of a response.
func Skew(h http.Header, now time.Time) (time.Duration, bool) {
	at, err := http.ParseTime(h.Get("Date"))
	return at.Sub(now), err == nil
}
