package fleet

import (
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// API calls a control plane as one user, with the Go client. It sends each request once: an error can mean that the outcome is not
// known.
type API struct {
	*client.Client
	t           testing.TB
	base, token string
}

func newAPI(t testing.TB, n *Node, token string) *API {
	base := "http://" + n.Addr
	return &API{client.New(base, client.WithToken(token), client.WithRetry(client.NoRetry), client.WithTimeout(patience)), t, base, token}
}

// Login signs in to a control plane as the first administrator.
func (n *Node) Login(t testing.TB) *API {
	t.Helper()
	return n.LoginAs(t, adminEmail, adminPassword)
}

// LoginAs signs in to a control plane as the given user.
func (n *Node) LoginAs(t testing.TB, email, password string) *API {
	t.Helper()
	session, err := newAPI(t, n, "").Account.Login(t.Context(), client.SignIn{Email: email, Password: password})
	testkit.Must(t, err)
	return newAPI(t, n, *session.AccessToken)
}

// At returns the same session at another control plane.
func (a *API) At(n *Node) *API { return newAPI(a.t, n, a.token) }

// In returns the same session in another workspace.
func (a *API) In(workspace string) *API { return &API{a.Client.In(workspace), a.t, a.base, a.token} }

// Prove waits until the control plane has found the TXT record of a domain. It asks DNS for at most five seconds at a time.
func (a *API) Prove(d *client.Domain) {
	a.t.Helper()
	testkit.Eventually(a.t, "DNS answers for "+d.Hostname, func() bool {
		now, err := a.Domains.Verify(a.t.Context(), d.ID)
		testkit.Must(a.t, err)
		return now.Status == client.DomainStatusActive
	})
}

// Create creates a link.
func (a *API) Create(body client.CreateLink) client.Link {
	a.t.Helper()
	l, err := a.Links.Create(a.t.Context(), body)
	testkit.Must(a.t, err)
	return *l
}

// Change changes a link.
func (a *API) Change(id string, body client.UpdateLink) {
	a.t.Helper()
	_, err := a.Links.Update(a.t.Context(), id, body)
	testkit.Must(a.t, err)
}

// Rule adds a rule to a link, and lets the link follow its rules.
func (a *API) Rule(id string, body client.CreateRule) {
	a.t.Helper()
	_, err := a.Rules.Create(a.t.Context(), id, body)
	testkit.Must(a.t, err)
	_, err = a.Rules.UpdateSettings(a.t.Context(), id, client.UpdateRoutingSettings{IsSmartRouting: client.Set(true)})
	testkit.Must(a.t, err)
}

// User creates a user who is no administrator.
func (a *API) User(email, password string) {
	a.t.Helper()
	_, err := a.Users.Create(a.t.Context(), client.CreateUser{Email: email, Password: password, Role: client.Set(client.UserRoleUser)})
	testkit.Must(a.t, err)
}

// Webhook sends events to an address.
func (a *API) Webhook(address, secret string, events ...client.Event) (id string) {
	a.t.Helper()
	hook, err := a.Webhooks.Create(a.t.Context(), client.CreateWebhook{Name: "receiver", URL: address, Secret: client.Set(secret),
		Events: events})
	testkit.Must(a.t, err)
	return hook.ID
}

// Key creates an API key with some scopes, or with all of them.
func (a *API) Key(scopes ...client.Scope) *client.NewAPIKey {
	a.t.Helper()
	body := client.CreateAPIKey{Name: "key"}
	if len(scopes) > 0 {
		body.Scopes = client.Set(scopes)
	}
	key, err := a.Keys.Create(a.t.Context(), body)
	testkit.Must(a.t, err)
	return key
}

// Report returns the total clicks in a link's report from a month ago until tomorrow. Shortly before midnight, an edge whose
// clock is ahead records clicks of the next day.
func (a *API) Report(id string) (int, error) {
	const day = 24 * time.Hour
	now := time.Now().UTC()
	report, err := a.Reports.Link(a.t.Context(), id, client.FullReportParams{StartDate: now.Add(-30 * day).Format(time.DateOnly),
		EndDate: now.Add(day).Format(time.DateOnly)})
	if err != nil {
		return 0, err
	}
	return report.TotalClicks, nil
}

// URL returns the base URL.
func (a *API) URL() string { return a.base }
