package imports

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
)

// service is another service from which links come.
type service struct {
	name, title string
	address     string // of its API; "" means that --from is required, because everybody runs their own
	variable    string // environment variable with the token
	secret      string // what the token is called there
	open        func(api *API, token string) Source
	dump        func(file, host string) Source // reads a dump of the database; nil if the service has none to give
}

// services lists all. Each has a file of its own.
var services = []service{
	{"bitly", "Bitly", "https://api-ssl.bitly.com", "BITLY_TOKEN", "access token", newBitly, nil},
	{"dub", "Dub", "https://api.dub.co", "DUB_API_KEY", "API key", newDub, nil},
	{"kutt", "Kutt", "", "KUTT_API_KEY", "API key", newKutt, kuttDump},
	{"rebrandly", "Rebrandly", "https://api.rebrandly.com", "REBRANDLY_API_KEY", "API key", newRebrandly, nil},
	{"shlink", "Shlink", "", "SHLINK_API_KEY", "API key", newShlink, shlinkDump},
	{"shortio", "Short.io", "https://api.short.io", "SHORTIO_API_KEY", "secret key", newShortio, nil},
	{"yourls", "YOURLS", "", "YOURLS_SIGNATURE", "signature token", newYOURLS, yourlsDump},
}

// options are the flags of all services.
type options struct {
	from, file, conflicts, domain, report string
	dry, restart, inClear                 bool
	verify                                int
}

const about = `
Links that are imported again are updated. A run that was interrupted or killed goes on where it was if you repeat the command. With
--dry-run, nothing changes, and the report says what would happen to each link, and why.

In the end, the command asks the edge where some of the links lead. Links whose host is a custom domain of the workspace, or the
host of the service, keep it; others get the default domain of the workspace.`

// Commands returns the group import.
func Commands(a *app.App) *cobra.Command {
	var below []*cobra.Command
	for i := range services {
		below = append(below, command(a, &services[i]))
	}
	return app.Group("import", "Import links from other services", append(below, fromCSV(a))...)
}

func command(a *app.App, s *service) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use: s.name, Short: "Import links from " + s.title, Args: cobra.NoArgs,
		Long: fmt.Sprintf("Import the links of %s by its API. The %s comes from %s, from standard input, or from a question, and never from\n"+
			"the command line, which other users can see. With --file, the links come from %s instead.\n%s", s.title, s.secret, s.variable,
			s.files(), about),
		Example: "  shortline import " + s.name + s.example() + " --dry-run\n  shortline import " + s.name + s.example() + " --report rows.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.file != "" && !(s.dump != nil && strings.HasSuffix(o.file, ".sql")) {
				for _, name := range []string{"from", "domain", "report", "restart", "verify"} {
					if cmd.Flags().Changed(name) {
						return app.Usage("--%s has no effect on a CSV file, which the server imports; leave it out", name)
					}
				}
				return upload(cmd.Context(), a, o.file, &csvOptions{conflicts: o.conflicts, dry: o.dry,
					dateFormat: string(client.DateFormatAuto), zone: "UTC"})
			}
			return o.runService(cmd, a, s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", s.address, "address of "+s.title)
	f.StringVar(&o.file, "file", "", "file with the links, instead of the API")
	f.StringVar(&o.domain, "domain", "", "domain for all links")
	f.StringVar(&o.report, "report", "", "write all rows with their reasons to this CSV file")
	f.BoolVar(&o.restart, "restart", false, "begin again instead of going on after an interruption")
	f.BoolVar(&o.inClear, "allow-http", false, "send the token over a network without encryption")
	f.IntVar(&o.verify, "verify", 100, "how many links to ask the edge about; 0 for none")
	addShared(cmd, &o.conflicts, &o.dry)
	return cmd
}

// files says which files --file takes.
func (s *service) files() string {
	if s.dump == nil {
		return "a CSV file of " + s.title
	}
	return "a dump of the database whose name ends in\n.sql, as mysqldump, pg_dump and sqlite3 write it, or from a CSV file"
}

func addShared(cmd *cobra.Command, conflicts *string, dry *bool) {
	cmd.Flags().StringVar(conflicts, "conflicts", skip, "what to do if a slug is taken: skip, rename, overwrite")
	cmd.Flags().BoolVarP(dry, "dry-run", "n", false, "change nothing")
	err := cmd.RegisterFlagCompletionFunc("conflicts", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{skip, rename, overwrite}, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic("BUG: " + err.Error())
	}
}

func (s *service) example() string {
	if s.address == "" {
		return " --from https://old.example"
	}
	return ""
}

func checkConflicts(way string) error {
	if way != skip && way != rename && way != overwrite {
		return app.Usage("--conflicts must be skip, rename or overwrite, not %s", quoted(way))
	}
	return nil
}

func (o *options) runService(cmd *cobra.Command, a *app.App, s *service) error {
	ctx := cmd.Context()
	if err := checkConflicts(o.conflicts); err != nil {
		return err
	}
	r, err := a.Remote()
	if err != nil {
		return err
	}
	from, place, err := o.source(a, s)
	if err != nil {
		return err
	}
	e := &engine{app: a, remote: r, service: s.name, title: s.title, until: o.countedAt(a), conflicts: o.conflicts,
		to: strings.ToLower(o.domain), dry: o.dry, seen: map[string]int{}}
	if !o.dry {
		dir, err := folder(a.Getenv)
		if err != nil {
			return err
		}
		e.state, err = openStore(dir, o.restart, s.name, place, r.Base.String(), r.Workspace, e.to, o.conflicts)
		if err != nil {
			return err
		}
		defer e.state.close()
		if e.state.Done > 0 {
			a.Say("going on after %d links of an interrupted run; --restart begins again", e.state.Done)
		}
	}
	if err := e.learn(ctx); err != nil {
		return err
	}
	if err := e.importAll(ctx, from); err != nil {
		a.Done()
		if e.done > 0 && !o.dry {
			a.Say("%d links are done; run the same command to go on", e.done)
		}
		return coded(err)
	}
	return o.tell(cmd, e)
}

// countedAt returns when the service has counted its clicks: now, or when the dump was written.
func (o *options) countedAt(a *app.App) time.Time {
	now := a.Now()
	if o.file == "" {
		return now
	}
	if at, err := os.Stat(o.file); err == nil && at.ModTime().Before(now) {
		return at.ModTime()
	}
	return now // reading the file says what is wrong with it
}

// source opens the service, or the dump of its database. place tells sources apart.
func (o *options) source(a *app.App, s *service) (from Source, place string, err error) {
	if o.file != "" {
		place, err := filepath.Abs(o.file)
		return s.dump(o.file, addressOf(o.from).Host), place, err
	}
	if o.from == "" {
		return nil, "", app.Usage("--from must have the address of your %s", s.title)
	}
	api, err := newAPI(o.from, cmp.Or(a.HTTP, &http.Client{}), o.inClear)
	if err != nil {
		return nil, "", &app.Exit{Code: app.CodeUsage, Err: err}
	}
	api.Wait, api.Now = a.Wait, a.Now
	api.Say = func(format string, args ...any) {
		a.Done()
		a.Say(format, args...)
	}
	api.Header.Set("User-Agent", "shortline-import/"+app.Version)
	token := strings.TrimSpace(a.Getenv(s.variable))
	if token == "" {
		if token, err = a.Secret(s.title + " " + s.secret + ": "); err != nil {
			return nil, "", err
		}
	}
	return s.open(api, token), api.Base.String(), nil
}

// tell reports what the run has done, and forgets its state.
func (o *options) tell(cmd *cobra.Command, e *engine) error {
	results, err := e.finish()
	if err != nil {
		return err
	}
	p := &report{DryRun: o.dry, Rows: results}
	if !o.dry && o.verify > 0 {
		if p.Verified, err = e.verify(cmd.Context(), results, o.verify); err != nil {
			return err
		}
	}
	if o.report != "" {
		if err := p.save(o.report); err != nil {
			return err
		}
	}
	if err := p.showRows(e.app); err != nil {
		return err
	}
	if e.state != nil {
		if err := e.state.forget(); err != nil {
			return err
		}
	}
	if p.Counts[Failed] > 0 || p.Verified != nil && len(p.Verified.Wrong) > 0 {
		return &app.Exit{Code: app.CodeError, Said: true, Err: errors.New("some links are not imported")}
	}
	return nil
}

// coded gives errors of other services their exit codes.
func coded(err error) error {
	var refused *Refusal
	var lost *Lost
	switch {
	case errors.As(err, &lost):
		return &app.Exit{Code: app.CodeUnavailable, Err: err}
	case !errors.As(err, &refused):
		return err
	case refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden:
		return &app.Exit{Code: app.CodeDenied, Err: err}
	case refused.Status == http.StatusNotFound:
		return &app.Exit{Code: app.CodeMissing, Err: err}
	case retried(refused.Status):
		return &app.Exit{Code: app.CodeUnavailable, Err: err}
	}
	return err
}
