package clients_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func (s *session) links() {
	t, ctx := s.t, s.ctx()
	var meta client.Meta
	create := client.CreateLink{
		OriginalURL: "https://example.com/fair", CustomSlug: client.Set("fair"), ExternalID: client.Set("crm:42"),
		Tags: client.Set([]string{"spring"}), UTMCampaign: client.Set("fair"), TrackConversions: client.Set(true),
	}
	s.link = got(s.Links.Create(ctx, create, client.Into(&meta)))(t)
	id := s.link.ID
	if s.link.Title != nil || s.link.Status != client.LinkStatusActive || meta.ETag == "" {
		t.Errorf("the new link is %+v with %+v", s.link, meta)
	}
	again := got(s.Links.Get(ctx, id, client.IfNoneMatch(`"0"`), client.Fields("id", "slug")))(t)
	if again.ID != id || again.OriginalURL != "" {
		t.Errorf("some fields of the link are %+v", again)
	}
	if _, err := s.Links.Get(ctx, id, client.IfNoneMatch(meta.ETag)); err != client.ErrNotModified {
		t.Errorf("the same version: %v", err)
	}
	change := client.UpdateLink{Title: client.Set("Fair"), Notes: client.Set("x")}
	changed := got(s.Links.Update(ctx, id, change, client.IfMatch(meta.ETag)))(t)
	if changed.Title == nil || *changed.Title != "Fair" {
		t.Errorf("the title is %v", changed.Title)
	}
	_, err := s.Links.Update(ctx, id, client.UpdateLink{}, client.IfMatch(meta.ETag))
	s.refused("the version is an old one", 412, err)
	cleared := got(s.Links.Put(ctx, id, client.UpdateLink{Title: client.Null[string](), Notes: client.Null[string]()}))(t)
	if cleared.Title != nil || cleared.Notes != nil {
		t.Errorf("the title is %v, the notes are %v", cleared.Title, cleared.Notes)
	}
	got(s.Links.GetByExternalID(ctx, "crm:42"))(t)
	got(s.Links.PutByExternalID(ctx, "a/b", client.PutLink{OriginalURL: client.Set("https://example.com/b")}))(t)
	if same := got(s.Links.GetByExternalID(ctx, "a/b"))(t); same.ExternalID == nil || *same.ExternalID != "a/b" {
		t.Errorf("the external id is %v", same.ExternalID)
	}
	if free := got(s.Links.CheckSlug(ctx, client.CheckSlugParams{Slug: "fair"}))(t); free.Status != client.SlugStatusTaken {
		t.Errorf("the slug of a link is %s", free.Status)
	}
	s.manyLinks()
	got(s.Links.UTMSuggestions(ctx, client.UTMSuggestionsParams{Field: client.UTMFieldUTMCampaign, Q: "f"}))(t)
	if stats := got(s.Links.Stats(ctx))(t); stats.TotalURLs < 2 {
		t.Errorf("the statistics are %+v", stats)
	}
	twin := got(s.Links.Duplicate(ctx, id, client.DuplicateLink{CustomSlug: client.Set("twin")}))(t)
	s.ok(s.Links.Delete(ctx, twin.ID, client.DeleteLinkParams{}))
	got(s.Links.Restore(ctx, twin.ID, client.RestoreLink{Slug: client.Set("twin-2")}))(t)
	s.ok(s.Links.Delete(ctx, twin.ID, client.DeleteLinkParams{Permanently: client.Set(true)}))
	history := got(s.Links.History(ctx, id, client.PageParams{}))(t)
	got(s.Links.RollBack(ctx, id, client.RollBackLink{Revision: history.Data[len(history.Data)-1].Revision}))(t)
	if text := s.readText(s.Links.Export(ctx, client.ExportLinksParams{Tag: []string{"spring"}})); !strings.Contains(text, "fair") {
		t.Errorf("the export is %s", text)
	}
	if code := s.readText(s.Links.QRCode(ctx, id, client.QRCodeParams{Format: client.QRFormatSVG})); !strings.Contains(code, "<svg") {
		t.Errorf("the code is %s", code)
	}
	code := s.readText(s.Links.QRCodeWithLogo(ctx, id, picture(), client.QRCodeParams{Format: client.QRFormatPNG}))
	if !strings.HasPrefix(code, "\x89PNG") {
		t.Error("the code with a logo is no PNG")
	}
	uploaded := got(s.Images.Upload(ctx, id, picture()))(t)
	s.readText(s.public.Images.Get(ctx, uploaded.Data.Key))
	got(s.Links.PreviewPage(ctx, client.PageAddressParams{URL: s.in.base + "/"}))(t)
	s.readText(s.Links.SiteIcon(ctx, client.PageAddressParams{URL: s.in.base}))
}

// manyLinks makes and reads more links than a page has.
func (s *session) manyLinks() {
	t, ctx := s.t, s.ctx()
	var many []client.CreateManyLink
	for range 7 {
		many = append(many, client.CreateManyLink{OriginalURL: client.Set("https://example.com/many")})
	}
	wanted := client.UpsertLinks{Items: []client.UpsertLink{
		{ExternalID: client.Set("upsert"), OriginalURL: client.Set("https://example.com/upsert"), Tags: client.Set([]string{"one"})},
	}}
	for _, want := range []client.UpsertedLinkResult{client.UpsertedLinkResultCreated, client.UpsertedLinkResultUnchanged} {
		planned := got(s.Links.Upsert(ctx, wanted, client.UpsertLinksParams{DryRun: client.Set(true)}))(t)
		done := got(s.Links.Upsert(ctx, wanted, client.UpsertLinksParams{}))(t)
		if planned.Items[0].Result != want || done.Items[0].Result != want || !planned.DryRun {
			t.Errorf("planned %+v, done %+v, want %s", planned, done, want)
		}
	}
	made := got(s.Links.CreateMany(ctx, client.CreateManyLinks{URLs: many}))(t)
	var ids []string
	for _, one := range made.Succeeded {
		ids = append(ids, one.URL.ID)
	}
	got(s.Links.UpdateMany(ctx, client.UpdateManyLinks{URLIDs: ids, Status: client.Set(client.LinkStatusInactive)}))(t)
	found := 0
	for link, err := range s.Links.All(ctx, client.ListLinksParams{Limit: 2, Status: client.LinkStatusInactive}) {
		if found++; err != nil || link.OriginalURL != "https://example.com/many" {
			t.Errorf("a link of the list is %+v: %v", link, err)
		}
	}
	if found != len(many) {
		t.Errorf("the list has %d links, want %d", found, len(many))
	}
	edit := client.EditLinks{URLIDs: client.Set(ids), Change: client.EditChange{Tags: client.Set([]string{"edited"})}}
	if preview := got(s.Links.PreviewLinkEdit(ctx, edit))(t); preview.Changed != len(many) {
		t.Errorf("an edit would change %d links", preview.Changed)
	}
	started := got(s.Links.StartLinkEdit(ctx, edit))(t)
	testkit.Eventually(t, "the edit is done", func() bool {
		return got(s.Links.GetLinkEdit(ctx, started.ID))(t).Status == client.LinkEditStatusDone
	})
	got(s.Links.ListLinkEdits(ctx, client.PageParams{}))(t)
	got(s.Links.ListLinkEditProblems(ctx, started.ID, client.PageParams{}))(t)
	got(s.Links.UndoLinkEdit(ctx, started.ID))(t)
	testkit.Eventually(t, "the edit is undone", func() bool {
		return got(s.Links.GetLinkEdit(ctx, started.ID))(t).Status == client.LinkEditStatusUndone
	})
	if deleted := got(s.Links.DeleteMany(ctx, client.DeleteManyLinks{URLIDs: ids}))(t); deleted.DeletedCount != len(many) {
		t.Errorf("%d links were deleted", deleted.DeletedCount)
	}
}

func picture() *bytes.Buffer {
	b := &bytes.Buffer{}
	if err := png.Encode(b, image.NewRGBA(image.Rect(0, 0, 64, 64))); err != nil {
		panic(err) // a buffer takes it
	}
	return b
}

// conditions has every type of condition.
func conditions() client.ConditionGroup {
	return client.And(
		client.Country("DE").Not(), client.Continent("EU", "NA").Not(), client.Region("DE-BY").Not(), client.City("Berlin").Not(),
		client.Language("fr").Not(), client.OnDevice(client.DeviceTablet).Not(), client.OS("iOS").Not(), client.Browser("Opera").Not(),
		client.UTM("utm_source", "mail").Not(), client.IP("192.0.2.0/24").Not(), client.Percentage(99.5),
		client.Or(
			client.Match(client.ConditionTypeReferer, client.Contains, "news"), client.Query("ref", client.Equals, "mail"),
			client.TimeOfDay(client.Between, client.Span{Start: "09:00", End: "18:00", Timezone: "Europe/Berlin"}),
			client.Date(client.Before, client.Span{Start: "2026-12-24T18:00", Timezone: "Europe/Berlin"}),
			client.Weekdays("Asia/Tokyo", time.Saturday, time.Sunday), client.ReturningVisitor(), client.NewVisitor(),
		),
	)
}

func (s *session) routing() {
	t, ctx, id := s.t, s.ctx(), s.link.ID
	rule := got(s.Rules.Create(ctx, id, client.CreateRule{
		Name: "All", TargetURL: "https://example.com/all", Conditions: conditions(), Priority: client.Set(3),
	}))(t)
	text, want := got(json.Marshal(rule.Conditions))(t), got(json.Marshal(conditions()))(t)
	if !bytes.Equal(text, want) {
		t.Errorf("the conditions are\n%s, sent were\n%s", text, want)
	}
	got(s.Rules.List(ctx, id))(t)
	got(s.Rules.Get(ctx, id, rule.ID))(t)
	french := client.UpdateRule{Conditions: client.Set(client.And(client.Country("FR"))), IsActive: client.Set(true)}
	got(s.Rules.Update(ctx, id, rule.ID, french))(t)
	templates := got(s.Rules.Templates(ctx))(t)
	got(s.Rules.CreateFromTemplate(ctx, id, client.RuleFromTemplate{
		TemplateKey: client.Set(client.RuleTemplateKey(templates.Templates[0].Key)), TargetURL: "https://example.com/t",
	}))(t)
	got(s.Rules.UpdateSettings(ctx, id, client.UpdateRoutingSettings{DefaultURL: client.Set("https://example.com/default")}))(t)
	explained := got(s.Links.Explain(ctx, id, client.ExplainLink{Country: client.Set("FR")}))(t)
	if explained.Destination.TargetURL != "https://example.com/all" {
		t.Errorf("a French visitor gets %+v", explained.Destination)
	}
	got(s.Links.ExplainNew(ctx, client.ExplainNewLink{Draft: client.NewLinkDraft{OriginalURL: "https://example.com/new"}}))(t)
	s.ok(s.Rules.Delete(ctx, id, rule.ID))

	a := got(s.Variants.Create(ctx, id, client.CreateVariant{Name: "A", TargetURL: "https://example.com/va", Weight: client.Set(50)}))(t)
	b := got(s.Variants.Create(ctx, id, client.CreateVariant{Name: "B", TargetURL: "https://example.com/vb", Weight: client.Set(50)}))(t)
	c := got(s.Variants.Create(ctx, id, client.CreateVariant{Name: "C", TargetURL: "https://example.com/vc", Weight: client.Set(0)}))(t)
	got(s.Variants.Get(ctx, id, a.ID))(t)
	got(s.Variants.List(ctx, id))(t)
	got(s.Variants.Update(ctx, id, a.ID, client.UpdateVariant{Name: client.Set("A2")}))(t)
	s.ok(s.Variants.Delete(ctx, id, c.ID))
	got(s.Links.Update(ctx, id, client.UpdateLink{IsABTesting: client.Set(true), Stickiness: client.Set(client.StickinessCookie)}))(t)
	got(s.Experiments.Put(ctx, id, client.PutExperiment{Goal: client.Set("purchase")}))(t)
	got(s.Experiments.Get(ctx, id, client.GetExperimentParams{}))(t)
	got(s.Experiments.Weights(ctx, id, client.PageParams{}))(t)
	got(s.Experiments.Restart(ctx, id))(t)
	got(s.Experiments.Promote(ctx, id, client.PromoteVariant{VariantID: b.ID}))(t)
	s.ok(s.Experiments.Delete(ctx, id))
}

func (s *session) collections() {
	t, ctx, id := s.t, s.ctx(), s.link.ID
	tag := got(s.Tags.Create(ctx, client.CreateTag{Name: "summer", Color: client.Set("#ff0000")}))(t)
	got(s.Tags.Update(ctx, tag.ID, client.UpdateTag{Name: client.Set("autumn")}))(t)
	if list := got(s.Tags.List(ctx, client.SearchParams{Search: "autumn"}))(t); len(list.Data) != 1 {
		t.Errorf("the tags are %+v", list.Data)
	}
	s.ok(s.Tags.Delete(ctx, tag.ID))

	bundle := got(s.Bundles.Create(ctx, client.CreateBundle{Name: "Fairs"}))(t)
	got(s.Bundles.Add(ctx, bundle.ID, client.AddToBundle{URLID: id}))(t)
	other := got(s.Links.GetByExternalID(ctx, "a/b"))(t)
	got(s.Bundles.AddMany(ctx, bundle.ID, client.AddManyToBundle{URLIDs: []string{other.ID}}))(t)
	got(s.Bundles.Move(ctx, bundle.ID, id, client.MoveInBundle{Order: 1}))(t)
	got(s.Bundles.Remove(ctx, bundle.ID, other.ID))(t)
	got(s.Bundles.Get(ctx, bundle.ID))(t)
	got(s.Bundles.List(ctx, client.ListBundlesParams{}))(t)
	got(s.Bundles.Update(ctx, bundle.ID, client.UpdateBundle{Description: client.Set("All of them")}))(t)
	got(s.Bundles.Stats(ctx, bundle.ID, client.BundleStatsParams{}))(t)
	got(s.Bundles.Archive(ctx, bundle.ID))(t)
	got(s.Bundles.Restore(ctx, bundle.ID))(t)
	s.ok(s.Bundles.Delete(ctx, bundle.ID))

	utm := got(s.UTMTemplates.Create(ctx, client.CreateUTMTemplate{Name: "Mail", UTMSource: client.Set("mail")}))(t)
	got(s.UTMTemplates.Update(ctx, utm.ID, client.UpdateUTMTemplate{UTMMedium: client.Set("email")}))(t)
	got(s.UTMTemplates.List(ctx, client.SearchParams{}))(t)
	s.ok(s.UTMTemplates.Delete(ctx, utm.ID))

	view := got(s.Views.Create(ctx, client.CreateView{Name: "Mine", Query: "status=ACTIVE", Screen: client.ScreenLinks}))(t)
	got(s.Views.Update(ctx, view.ID, client.UpdateView{Name: client.Set("Ours")}))(t)
	got(s.Views.List(ctx, client.ListViewsParams{Screen: client.ScreenLinks}))(t)
	s.ok(s.Views.Delete(ctx, view.ID))
	s.reporting()
}

// reporting names filters, notes an event, and makes a report by e-mail.
func (s *session) reporting() {
	t, ctx := s.t, s.ctx()
	segment := got(s.Segments.Create(ctx, client.CreateSegment{Name: "Phones",
		Filters: client.SegmentFilters{Device: []string{"MOBILE"}}}))(t)
	got(s.Segments.Update(ctx, segment.ID, client.UpdateSegment{Name: client.Set("All phones")}))(t)
	got(s.Segments.List(ctx, client.PageParams{}))(t)
	report := got(s.MailReports.Create(ctx, client.CreateMailReport{Name: "Weekly", Every: client.MailReportEveryWeek,
		SegmentID: client.Set(segment.ID)}))(t)
	got(s.MailReports.Update(ctx, report.ID, client.UpdateMailReport{IsActive: client.Set(false)}))(t)
	got(s.MailReports.List(ctx, client.PageParams{}))(t)
	s.ok(s.MailReports.Delete(ctx, report.ID))
	s.ok(s.Segments.Delete(ctx, segment.ID))
	note := got(s.Annotations.Create(ctx, client.CreateAnnotation{At: time.Now(), Text: "Newsletter"}))(t)
	got(s.Annotations.Update(ctx, note.ID, client.UpdateAnnotation{Text: client.Set("Newsletter sent")}))(t)
	got(s.Annotations.List(ctx, client.ListAnnotationsParams{}))(t)
	s.ok(s.Annotations.Delete(ctx, note.ID))

	shared := got(s.SharedReports.Create(ctx, client.CreateShared{Name: "Figures", About: client.SharedAboutWorkspace,
		Password: client.Set("battery staple")}))(t)
	got(s.SharedReports.Update(ctx, shared.ID, client.UpdateShared{Name: client.Set("Spring")}))(t)
	got(s.SharedReports.Get(ctx, shared.ID))(t)
	got(s.SharedReports.List(ctx, client.ListSharedReportsParams{}))(t)
	token := path.Base(*shared.Address)
	pass := got(s.SharedReports.Unlock(ctx, token, client.UnlockSharedReport{Password: "battery staple"}))(t)
	seen := got(s.SharedReports.View(ctx, token, client.RequestHeader("X-Report-Pass", pass.Pass)))(t)
	testkit.Equal(t, seen.Name, "Spring", "the name that viewers see")
	s.ok(s.SharedReports.Delete(ctx, shared.ID))
}

// visits follows links as a visitor does, and sends a conversion.
func (s *session) visits() {
	t, ctx := s.t, s.ctx()
	raw := got(s.public.Visitors.Follow(ctx, s.link.Slug, client.RequestHeader("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0")))(t)
	s.ok(raw.Close())
	to, err := url.Parse(raw.Location())
	testkit.Must(t, err)
	settings := got(s.Conversions.PutSettings(ctx, client.PutConversionSettings{Hosts: client.Set([]string{"example.com"})}))(t)
	click := to.Query().Get(settings.ClickParameter)
	if click == "" {
		t.Fatalf("the visitor is sent to %s", to)
	}
	s.event(raw.Location())
	sent := got(s.Conversions.Send(ctx, client.ConversionItems{Items: []client.ConversionItem{{
		ClickID: click, Name: "purchase", Value: client.Set(12.5), Currency: client.Set("EUR"),
	}}}))(t)
	if sent.Accepted != 1 {
		t.Errorf("the conversions are %+v", sent)
	}
	got(s.Conversions.Settings(ctx))(t)
	settings = got(s.Conversions.RotateKey(ctx))(t)
	testkit.Eventually(t, "the edge knows the new key", func() bool {
		_, err := s.public.Visitors.SendConversion(ctx, client.BrowserConversion{ClickID: click, Name: "visit"},
			client.SendBrowserConversionParams{Key: *settings.PublishableKey}, client.RequestHeader("Origin", "https://example.com"))
		return err == nil
	})
	got(s.Conversions.List(ctx, s.link.ID, client.ListConversionsParams{}))(t)
	got(s.Conversions.Goals(ctx, s.link.ID, client.ListGoalsParams{}))(t)
	s.readText(s.Conversions.Export(ctx, s.link.ID, client.ExportConversionsParams{}))
	if script := s.readText(s.public.Visitors.ConversionScript(ctx)); !strings.Contains(script, "/c") {
		t.Errorf("the script is %s", script)
	}

	got(s.public.Visitors.LinkInfo(ctx, s.link.Slug))(t)
	s.readText(s.public.Visitors.ReportForm(ctx, s.link.Slug))
	got(s.public.Visitors.ReportLink(ctx, s.link.Slug, client.AbuseForm{Reason: client.AbuseReasonSpam, Text: client.Set("Spam")}))(t)
	got(s.Links.Create(ctx, client.CreateLink{OriginalURL: "https://example.com/secret", CustomSlug: client.Set("secret"), Password: client.Set("open sesame")}))(t)
	opened := got(s.public.Visitors.OpenLink(ctx, "secret", client.LinkPassword{Password: "open sesame"}))(t)
	if !strings.HasPrefix(opened.RedirectURL, "https://example.com/secret") {
		t.Errorf("the password opens %+v", opened)
	}
	_, err = s.public.Visitors.OpenLink(ctx, "secret", client.LinkPassword{Password: "wrong"})
	s.refused("the password is wrong", 401, err)
}

// event reads the click of a visit from the live stream.
func (s *session) event(location string) {
	t := s.t
	// The stream has no clicks from before it began, unless an event of an earlier stream is named. So visit again while it is open.
	visit := func() {
		if raw, err := s.public.Visitors.Follow(s.ctx(), s.link.Slug); err == nil {
			_ = raw.Close() // nothing is written
		}
	}
	s.calls.after("/api/analytics/live", visit)
	for event, err := range s.Reports.Live(s.ctx(), client.LiveParams{IncludeBots: client.Set(true)}) {
		testkit.Must(t, err)
		if event.Click == nil || event.Click.Slug != s.link.Slug || event.ID == "" {
			t.Errorf("the event is %+v, the visitor was sent to %s", event, location)
		}
		return
	}
}
