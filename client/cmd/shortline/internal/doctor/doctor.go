// Package doctor has the command that looks for problems.
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// finding is the result of one check.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warning, problem, skipped
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// The values of finding.Status.
const (
	ok      = "ok"
	warning = "warning"
	problem = "problem"
	skipped = "skipped"
)

// examination collects findings.
type examination struct {
	app      *app.App
	remote   *remote.Remote
	findings []finding
}

func (e *examination) add(check, status, detail, fix string) {
	e.findings = append(e.findings, finding{check, status, detail, fix})
}

// Limits of what is normal.
const (
	maxSkew      = 30 * time.Second    // tokens and signatures of webhooks tolerate a few minutes
	soon         = 14 * 24 * time.Hour // certificates are renewed long before
	maxFreshness = 5 * time.Minute     // age of the newest click in reports
)

// Command returns the command doctor.
func Command(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look for problems", Args: cobra.NoArgs,
		Long: `Look for problems: a server that is away, a wrong clock, a certificate that ends soon, a domain whose DNS is wrong, an edge that is
behind, a webhook that fails. The exit code is 1 if there is a problem; warnings do not change it.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e := &examination{app: a}
			if err := e.examine(cmd.Context()); err != nil {
				return err
			}
			return e.show()
		},
	}
}

func (e *examination) examine(ctx context.Context) error {
	anonymous, err := e.app.Anonymous()
	if err != nil {
		return err
	}
	if !e.server(ctx, anonymous) {
		return ctx.Err()
	}
	if e.remote, err = e.app.Remote(); err != nil {
		e.add("key", problem, err.Error(), "shortline login")
		return nil
	}
	_, err = e.remote.Get(ctx, "/api/auth/me", nil)
	if err != nil {
		e.add("key", problem, message(err), "shortline login")
		return ctx.Err()
	}
	e.add("key", ok, "the server accepts it", "")
	e.domains(ctx)
	e.edges(ctx)
	e.webhooks(ctx)
	e.freshness(ctx)
	return ctx.Err()
}

// server checks whether the server can be reached, its clock, and its certificate.
func (e *examination) server(ctx context.Context, r *remote.Remote) bool {
	client := e.app.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	ctx, cancel := context.WithTimeout(ctx, e.app.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Base.String()+"/api/auth/methods", nil)
	if err != nil {
		e.add("server", problem, err.Error(), "")
		return false
	}
	begun := e.app.Now()
	res, err := client.Do(req)
	if err != nil {
		e.add("server", problem, r.Failed(ctx, err).Error(), "is the address right, and the server running?")
		return false
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20)) // only whether it comes matters
	if res.StatusCode != http.StatusOK {
		e.add("server", problem, fmt.Sprintf("%s answers %s", r.Base, res.Status), "is this the address of a Shortline?")
		return false
	}
	e.add("server", ok, fmt.Sprintf("%s answers", r.Base), "")
	if skew, known := app.Skew(res.Header, begun); known {
		switch {
		case skew.Abs() > maxSkew:
			e.add("clock", problem, fmt.Sprintf("the clocks of this machine and the server differ by %s", skew.Abs().Round(time.Second)),
				"set both by NTP")
		default:
			e.add("clock", ok, "this machine and the server agree", "")
		}
	}
	switch {
	case res.TLS == nil && app.InClear(r):
		e.add("certificate", warning, "the connection is not encrypted; everybody on the way can read the key", "use https")
	case res.TLS != nil && len(res.TLS.PeerCertificates) > 0:
		e.ends("certificate", "the certificate of "+r.Base.Hostname(), res.TLS.PeerCertificates[0].NotAfter)
	}
	return true
}

// ends checks when a certificate ends.
func (e *examination) ends(check, what string, at time.Time) {
	left := at.Sub(e.app.Now())
	switch day := at.Format(time.DateOnly); {
	case left <= 0:
		e.add(check, problem, what+" has ended on "+day, "renew it")
	case left < soon:
		e.add(check, warning, what+" ends on "+day, "it should have been renewed; look at its last error")
	default:
		e.add(check, ok, what+" is valid until "+day, "")
	}
}

// message returns the message of an error.
func message(err error) string {
	if answer, is := asAnswer(err); is {
		return answer
	}
	return err.Error()
}

func (e *examination) show() error {
	raw, err := json.Marshal(e.findings)
	if err != nil {
		return err
	}
	rows, err := output.Decode[[]output.Row](raw)
	if err != nil {
		return err
	}
	bad := 0
	for _, one := range e.findings {
		if one.Status == problem {
			bad++
		}
	}
	columns := []output.Column{{Field: "check"}, {Field: "status"}, {Field: "detail"}, {Field: "fix"}}
	err = e.app.Print(output.View{Raw: raw, Rows: rows, Columns: columns, Draw: func(p *output.Page) {
		for _, one := range rows {
			p.Entry(fmt.Sprintf("%-7s", one.Text("status")), paint(one), one.Text("check")+": "+one.Text("detail"))
			if fix := one.Text("fix"); fix != "" {
				p.Entry("       ", output.Plain, "→ "+fix)
			}
		}
	}})
	if err == nil && bad > 0 {
		err = &app.Exit{Code: app.CodeError, Err: fmt.Errorf("%d problems", bad), Said: true}
	}
	return err
}

func paint(r output.Row) output.Style {
	switch r.Text("status") {
	case ok:
		return output.Green
	case warning:
		return output.Yellow
	case problem:
		return output.Red
	}
	return output.Dim
}
