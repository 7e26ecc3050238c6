//lint:file-ignore SA1019 Deprecated operations are called, too.

package clients_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/x509"
	"encoding/base32"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

const userPassword = "purple elephants sing loudly"

// pairing lets a program have a key, and another one none.
func (s *session) pairing() {
	t, ctx := s.t, s.ctx()
	program := got(s.public.Keys.BeginPairing(ctx, client.BeginPairing{Name: "a program"}))(t)
	got(s.Keys.Pairing(ctx, client.GetPairingParams{Code: program.UserCode}))(t)
	s.ok(s.Keys.ApprovePairing(ctx, client.ApprovePairing{Code: program.UserCode, Name: "a program"}))
	redeemed := got(s.public.Keys.RedeemPairing(ctx, client.RedeemPairing{DeviceCode: program.DeviceCode}))(t)
	if redeemed.Key == nil {
		t.Fatalf("no key: %+v", redeemed)
	}
	own := s.client(client.WithAPIKey(*redeemed.Key))
	s.ok(own.Keys.RevokeOwn(ctx, client.RevokeOwnKey{Prefix: (*redeemed.Key)[:10]}))
	other := got(s.public.Keys.BeginPairing(ctx, client.BeginPairing{Name: "another program"}))(t)
	s.ok(s.Keys.RefusePairing(ctx, client.RefusePairing{Code: other.UserCode}))
}

func (s *session) accounts() {
	t, ctx := s.t, s.ctx()
	me := got(s.Account.Me(ctx))(t)
	got(s.Account.UpdateMe(ctx, client.UpdateMe{Name: &me.Name}))(t)
	got(s.public.Account.SignInMethods(ctx))(t)
	got(s.Account.Sessions(ctx, client.PageParams{}))(t)
	_, err := s.public.Account.ForgotPassword(ctx, client.ForgotPassword{Email: me.Email})
	s.refused("there is no mail server", 403, err)
	_, err = s.public.Account.ResetPassword(ctx, client.ResetForgotten{Token: "t", NewPassword: userPassword})
	s.refused("nobody has got a token", 400, err)

	key := got(s.Keys.Create(ctx, client.CreateAPIKey{Name: "CI", Scopes: client.Set([]client.Scope{client.ScopeLinksRead})}))(t)
	if _, err := s.client(client.WithAPIKey(key.Key)).Links.Stats(ctx); err != nil {
		t.Errorf("the new key: %v", err)
	}
	got(s.Keys.Get(ctx, key.ID))(t)
	got(s.Keys.List(ctx, client.PageParams{}))(t)
	got(s.Keys.Rotate(ctx, key.ID, client.RotateAPIKey{}))(t)
	s.ok(s.Keys.Delete(ctx, key.ID, client.DeleteAPIKeyParams{EndMade: client.Set(true)}))

	s.pairing()

	got(s.public.Passkeys.BeginLogin(ctx))(t)
	_, err = s.public.Passkeys.FinishLogin(ctx, client.FinishPasskeyLogin{})
	s.refused("there is no authenticator", 400, err)
	got(s.Passkeys.BeginRegistration(ctx, client.BeginPasskey{Password: client.Set(adminPassword)}))(t)
	_, err = s.Passkeys.FinishRegistration(ctx, client.FinishPasskey{})
	s.refused("there is no authenticator", 400, err)
	got(s.Passkeys.List(ctx, client.PageParams{}))(t)
	_, err = s.Passkeys.Rename(ctx, "0", client.RenamePasskey{})
	s.refused("there is no passkey", 404, err)
	s.refused("there is no passkey", 404, s.Passkeys.Delete(ctx, "0"))
}

// totp returns the code of an authenticator app.
func totp(secret string) string {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(strings.TrimRight(secret, "=")))
	if err != nil {
		return err.Error()
	}
	mac := hmac.New(sha1.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(time.Now().Unix()/30)))
	sum := mac.Sum(nil)
	from := sum[len(sum)-1] & 15
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[from:from+4])&0x7fffffff%1_000_000)
}

func (s *session) reports() {
	t, ctx, id := s.t, s.ctx(), s.link.ID
	all := client.ReportParams{TimeRange: client.TimeRangeLast7Days, IncludeBots: client.Set(true), Limit: 5}
	got(s.Reports.Overview(ctx, client.FullReportParams{TimeRange: client.TimeRangeLast7Days, Compare: client.ComparePrevious}))(t)
	testkit.Eventually(t, "the clicks are counted", func() bool {
		return got(s.Reports.Link(ctx, id, client.FullReportParams{IncludeBots: client.Set(true)}))(t).TotalClicks > 0
	})
	got(s.Reports.TopLinks(ctx, all))(t)
	got(s.Reports.Conversions(ctx, client.ConversionsReportParams{}))(t)
	got(s.Reports.Trends(ctx, client.TrendsParams{URLIDs: []string{id}}))(t)
	got(s.Reports.Heatmap(ctx, all))(t)
	got(s.Reports.LinkHeatmap(ctx, id, all))(t)
	got(s.Reports.Groups(ctx, client.GroupReportParams{By: client.GroupByTag}))(t)
	got(s.Reports.Routing(ctx, id, all))(t)
	got(s.Reports.Bots(ctx, all))(t)
	got(s.Reports.BotsOverview(ctx, all))(t)
	got(s.Reports.LinkBots(ctx, id, all))(t)
	got(s.Reports.ABTests(ctx, all))(t)
	got(s.Reports.ABTestsAlias(ctx, all))(t)
	got(s.Reports.ABTest(ctx, id, all))(t)
	clicks := got(s.Reports.RecentClicks(ctx, id, client.ClicksParams{IncludeBots: client.Set(true)}))(t)
	if len(clicks.Clicks) == 0 {
		t.Error("there are no recent clicks")
	}
	got(s.Reports.RecentClicksAlias(ctx, id, client.ClicksParams{}))(t)
	got(s.Reports.Freshness(ctx))(t)
	got(s.Reports.MissingSlugs(ctx, client.ListMissingSlugsParams{}))(t)
	if text := s.readText(s.Reports.Export(ctx, client.ExportReportParams{})); text == "" {
		t.Error("the export of all links is empty")
	}
	if text := s.readText(s.Reports.ExportLink(ctx, id, client.ExportLinkReportParams{Format: client.ExportFormatJSON})); text[0] != '{' {
		t.Errorf("the export of a link is %s", text)
	}
	without := client.LinkDraft{Rules: client.Set([]client.DraftRule{})}
	got(s.Links.Replay(ctx, id, client.ReplayLink{Draft: without, Bots: client.Set(true)}))(t)
}

// webhooks also receives an event and verifies it.
func (s *session) webhooks() {
	t, ctx := s.t, s.ctx()
	type delivery struct {
		header http.Header
		body   string
	}
	received := make(chan delivery, 100)
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := &strings.Builder{}
		_ = r.Write(body) // it cannot fail
		_, text, _ := strings.Cut(body.String(), "\r\n\r\n")
		received <- delivery{r.Header, text}
		w.WriteHeader(http.StatusTeapot)
	}))
	defer sink.Close()
	var meta client.Meta
	hook := got(s.Webhooks.Create(ctx, client.CreateWebhook{
		Name: "Sink", URL: sink.URL, Events: []client.Event{client.EventURLCreated}, Headers: client.Set(map[string]string{"X-Mine": "1"}),
	}, client.Into(&meta)))(t)
	if test := got(s.Webhooks.Test(ctx, hook.ID))(t); test.Success || test.StatusCode == nil || *test.StatusCode != http.StatusTeapot {
		t.Errorf("the test is %+v", test)
	}
	d := <-received
	event := got(client.WebhookReceiver{Secrets: []string{hook.Secret}}.Read(d.header, []byte(d.body)))(t)
	payload := got(event.Payload())(t)
	if tested, ok := payload.(*client.WebhookTested); !ok || tested.WebhookName != "Sink" || event.Delivery == "" {
		t.Errorf("the payload is %+v", payload)
	}
	logs := got(s.Webhooks.Logs(ctx, hook.ID, client.ListWebhookLogsParams{Status: client.DeliveryStatusFailed}))(t)
	if len(logs.Data) != 1 || logs.Data[0].Payload.Event != client.EventWebhookTest {
		t.Fatalf("the log is %+v", logs.Data)
	}
	got(s.Webhooks.Retry(ctx, hook.ID, logs.Data[0].ID))(t)
	got(s.Webhooks.RetryFailures(ctx, hook.ID))(t)
	got(s.Webhooks.Get(ctx, hook.ID))(t)
	got(s.Webhooks.List(ctx, client.SearchParams{Search: "Sink"}))(t)
	rotated := got(s.Webhooks.RotateSecret(ctx, hook.ID, client.RotateWebhookSecret{OverlapSeconds: client.Set(60)}))(t)
	if rotated.Secret == hook.Secret || rotated.OldSecretUntil == nil {
		t.Errorf("rotated: %+v", rotated)
	}
	got(s.Webhooks.Update(ctx, hook.ID, client.UpdateWebhook{IsActive: client.Set(false)}))(t)
	s.ok(s.Webhooks.Delete(ctx, hook.ID))
}

func (s *session) alerts() {
	t, ctx := s.t, s.ctx()
	me := got(s.Account.Me(ctx))(t)
	channel := got(s.Alerts.CreateChannel(ctx, client.CreateAlertChannel{Name: "Mine", Kind: client.AlertChannelKindMail,
		Target: me.Email}))(t)
	got(s.Alerts.UpdateChannel(ctx, channel.ID, client.UpdateAlertChannel{QuietFrom: client.Set("22:00"), QuietTo: client.Set("07:00")}))(t)
	got(s.Alerts.Channels(ctx, client.PageParams{}))(t)
	rule := got(s.Alerts.CreateRule(ctx, client.CreateAlertRule{Name: "All", Causes: []client.AlertCause{client.AlertCauseDestination},
		ChannelIDs: client.Set([]string{channel.ID})}))(t)
	got(s.Alerts.UpdateRule(ctx, rule.ID, client.UpdateAlertRule{Days: client.Set(3)}))(t)
	got(s.Alerts.Rules(ctx, client.PageParams{}))(t)
	got(s.Alerts.List(ctx, client.ListAlertsParams{RuleID: rule.ID}))(t)
	s.ok(s.Alerts.DeleteRule(ctx, rule.ID))
	s.ok(s.Alerts.DeleteChannel(ctx, channel.ID))
}

func (s *session) domains() {
	t, ctx := s.t, s.ctx()
	d := got(s.Domains.Create(ctx, client.CreateDomain{Hostname: "links.example.org"}))(t)
	got(s.Domains.Get(ctx, d.ID))(t)
	got(s.Domains.List(ctx, client.SearchParams{}))(t)
	got(s.Domains.Update(ctx, d.ID, client.UpdateDomain{NotFoundURL: client.Set("https://example.com/404")}))(t)
	got(s.Domains.Verify(ctx, d.ID))(t)
	certificate, key := selfSigned(t, "links.example.org")
	got(s.Domains.UploadCertificate(ctx, d.ID, client.UploadCertificate{Certificate: certificate, PrivateKey: key}))(t)
	s.ok(s.Domains.DeleteCertificate(ctx, d.ID))
	_, err := s.Abuse.SuspendDomain(ctx, d.ID, client.SuspendDomain{Reason: "Phishing"})
	s.refused("the domain is not in service", 409, err)
	s.ok(s.Abuse.LiftDomainSuspension(ctx, d.ID)) // it has nothing to lift
	s.ok(s.Domains.Delete(ctx, d.ID))
}

func selfSigned(t *testing.T, host string) (certificate, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	testkit.Must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	testkit.Must(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

func (s *session) workspaces() {
	t, ctx := s.t, s.ctx()
	team := got(s.Workspaces.Create(ctx, client.CreateWorkspace{Name: "Team"}))(t)
	got(s.Workspaces.Get(ctx, team.ID, client.GetWorkspaceParams{}))(t)
	got(s.Workspaces.List(ctx, client.SearchParams{}))(t)
	got(s.Workspaces.Update(ctx, team.ID, client.UpdateWorkspace{Name: client.Set("Our team")}))(t)
	moved := got(s.Links.GetByExternalID(ctx, "a/b"))(t)
	got(s.Links.Transfer(ctx, client.TransferLinks{URLIDs: []string{moved.ID}, WorkspaceID: team.ID}))(t)
	if there := got(s.In(team.ID).Links.GetByExternalID(ctx, "a/b"))(t); there.WorkspaceID != team.ID {
		t.Errorf("the link is in the workspace %s", there.WorkspaceID)
	}
	invite := func(email string) *client.NewInvitation {
		return got(s.Invitations.Create(ctx, team.ID, client.CreateInvitation{Email: email, Role: client.RoleEditor}))(t)
	}
	revoked, accepted := invite("nobody@example.com"), invite("new@example.com")
	got(s.Invitations.List(ctx, team.ID, client.PageParams{}))(t)
	s.ok(s.Invitations.Revoke(ctx, team.ID, revoked.ID))
	if accepted.Link == nil {
		t.Fatal("the invitation has no link")
	}
	link := got(url.Parse(*accepted.Link))(t)
	_, token, _ := strings.Cut(link.Fragment, "=")
	member := got(s.public.Invitations.Accept(ctx, client.AcceptInvitation{
		Token: token, Name: client.Set("New"), Password: client.Set(userPassword),
	}))(t)
	got(s.Workspaces.Members(ctx, team.ID, client.PageParams{}))(t)
	got(s.Workspaces.SetMemberRole(ctx, team.ID, member.User.ID, client.SetMemberRole{Role: client.RoleViewer}))(t)
	s.ok(s.Workspaces.RemoveMember(ctx, team.ID, member.User.ID))
	archive := s.readText(s.Archives.ExportWorkspace(ctx, team.ID))
	report := got(s.Archives.ImportWorkspace(ctx, team.ID, strings.NewReader(archive), client.ImportWorkspaceParams{
		DryRun: client.Set(true)}))(t)
	if !report.DryRun || report.ProblemCount != 0 || report.Source.Workspace != "Our team" {
		t.Errorf("import of an archive: %+v", report)
	}
	s.ok(s.Workspaces.Delete(ctx, team.ID, client.TransferParams{DeleteLinks: client.Set(true)}))
}

func (s *session) people() {
	t, ctx := s.t, s.ctx()
	u := got(s.Users.Create(ctx, client.CreateUser{Email: "user@example.com", Password: userPassword, Name: client.Set("User")}))(t)
	got(s.Users.Get(ctx, u.ID))(t)
	got(s.Users.List(ctx, client.ListUsersParams{Role: client.UserRoleUser}))(t)
	got(s.Users.SetName(ctx, u.ID, client.SetName{}))(t)
	got(s.Users.SetRole(ctx, u.ID, client.SetRole{Role: client.UserRoleUser}))(t)
	got(s.Users.SetStatus(ctx, u.ID, client.SetStatus{Status: client.Set(client.UserStatusActive)}))(t)
	got(s.Users.ResetPassword(ctx, u.ID, client.ResetPassword{NewPassword: userPassword + "2"}))(t)
	got(s.Users.PatchPassword(ctx, u.ID, client.ResetPassword{NewPassword: userPassword + "3"}))(t)
	got(s.Users.OIDCAccounts(ctx, u.ID))(t)
	s.refused("the user has no such account", 404, s.Users.DeleteOIDCAccount(ctx, u.ID, "0"))

	signed := got(s.public.Account.Login(ctx, client.SignIn{Email: u.Email, Password: userPassword + "3"}))(t)
	own := s.client(client.WithToken(*signed.AccessToken))
	setup := got(own.Account.SetUp2FA(ctx, client.SetUpTOTP{Password: client.Set(userPassword + "3")}))(t)
	enabled := got(own.Account.Enable2FA(ctx, client.EnableTOTP{Code: totp(setup.Secret)}))(t)
	got(own.Account.Disable2FA(ctx, client.DisableTOTP{Password: userPassword + "3", Code: enabled.RecoveryCodes[0]}))(t)
	got(s.Users.TurnOff2FA(ctx, u.ID, client.TurnOffTOTP{Enabled: client.Set(false)}))(t)
	got(own.Account.ChangePassword(ctx, client.ChangePassword{CurrentPassword: client.Set(userPassword + "3"), NewPassword: userPassword + "4"}))(t)
	got(own.Account.PutPassword(ctx, client.ChangePassword{CurrentPassword: client.Set(userPassword + "4"), NewPassword: userPassword + "5"}))(t)
	got(s.Users.Delete(ctx, u.ID, client.TransferParams{DeleteLinks: client.Set(true)}))(t)
}

func (s *session) imports() {
	t, ctx := s.t, s.ctx()
	file := func() *client.Import {
		csv := strings.NewReader("originalUrl,customSlug\nhttps://example.com/i,imported\nnot an address,x\n")
		return got(s.Imports.Create(ctx, csv, client.CreateImportParams{Name: "links.csv"}))(t)
	}
	im, plan := file(), client.ImportPlan{Mapping: map[string]string{"originalUrl": "originalUrl", "slug": "customSlug"}}
	if preview := got(s.Imports.DryRun(ctx, im.ID, plan))(t); preview.Create != 1 || preview.Errors != 1 {
		t.Errorf("the dry run is %+v", preview)
	}
	got(s.Imports.Start(ctx, im.ID, plan))(t)
	testkit.Eventually(t, "the import is done", func() bool {
		return got(s.Imports.Get(ctx, im.ID))(t).Status == client.ImportStatusDone
	})
	got(s.Imports.Problems(ctx, im.ID, client.PageParams{}))(t)
	if text := s.readText(s.Imports.ExportProblems(ctx, im.ID)); !strings.Contains(text, "not an address") {
		t.Errorf("the problems are %s", text)
	}
	got(s.Imports.List(ctx, client.PageParams{}))(t)
	other := file()
	_, err := s.Imports.Cancel(ctx, other.ID)
	s.refused("the import does not run", 409, err)
	s.ok(s.Imports.Delete(ctx, other.ID))
}

func (s *session) administration() {
	t, ctx := s.t, s.ctx()
	reports := got(s.Abuse.Reports(ctx, client.ListAbuseReportsParams{}))(t)
	if len(reports.Data) == 0 {
		t.Fatal("there is no report of abuse")
	}
	got(s.Abuse.Report(ctx, reports.Data[0].ID))(t)
	got(s.Abuse.Resolve(ctx, reports.Data[0].ID, client.ResolveAbuseReport{Action: client.AbuseActionDismiss}))(t)
	got(s.Abuse.SuspendLink(ctx, s.link.ID, client.SuspendLink{Reason: "Spam"}))(t)
	s.ok(s.Abuse.LiftLinkSuspension(ctx, s.link.ID))
	got(s.Audit.List(ctx, client.ListAuditLogsParams{Action: client.AuditActionURLCreated, Limit: 1}))(t)
	got(s.Edges.List(ctx))(t)
	got(s.Privacy.Erase(ctx, client.EraseVisitor{IP: "192.0.2.1"}))(t)

	got(s.Settings.Put(ctx, "mine", client.PutSetting{Value: map[string]int{"a": 1}}))(t)
	if setting := got(s.Settings.Get(ctx, "mine"))(t); string(setting.Value) != `{"a":1}` {
		t.Errorf("the setting is %+v", setting)
	}
	got(s.Settings.List(ctx))(t)
	got(s.Settings.Version(ctx))(t)
	s.ok(s.Settings.Delete(ctx, "mine"))
	if setting := got(s.Settings.Get(ctx, "mine"))(t); setting != nil {
		t.Errorf("the deleted setting is %+v", setting)
	}

	got(s.IdentityProviders.Create(ctx, client.CreateOIDCProvider{
		Name: "Own", Slug: "own", ClientID: "c", ClientSecret: "s", DiscoveryURL: "https://id.example.com/.well-known/openid-configuration",
	}))(t)
	got(s.IdentityProviders.Get(ctx, "own"))(t)
	got(s.IdentityProviders.List(ctx))(t)
	got(s.IdentityProviders.Update(ctx, "own", client.UpdateOIDCProvider{Name: client.Set("Ours")}))(t)
	got(s.public.SSO.List(ctx))(t)
	for _, redirect := range []*client.Raw{
		got(s.public.SSO.Begin(ctx, "own", client.BeginSSOParams{Redirect: "/"}))(t),
		got(s.public.SSO.Finish(ctx, "own", client.FinishSSOParams{State: "s", Code: "c"}))(t),
	} {
		s.ok(redirect.Close())
		if !strings.Contains(redirect.Location(), "/login?error=") {
			t.Errorf("a provider that does not exist leads to %s", redirect.Location())
		}
	}
	s.ok(s.IdentityProviders.Delete(ctx, "own"))
}

func (s *session) signOut() {
	t, ctx := s.t, s.ctx()
	got(s.public.Account.Login(ctx, client.SignIn{Email: "admin@example.com", Password: adminPassword}))(t)
	for one, err := range s.Account.AllSessions(ctx, client.PageParams{}) {
		testkit.Must(t, err)
		if !one.IsCurrent {
			s.ok(s.Account.EndSession(ctx, one.ID))
			break
		}
	}
	s.ok(s.Account.EndOtherSessions(ctx))
	got(s.Account.Logout(ctx))(t)
	_, err := s.Account.Me(ctx)
	s.refused("the session has ended", 401, err)
}
