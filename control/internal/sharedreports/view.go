package sharedreports

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const listed = 50 // rows of each list

// View is what viewers of a shared report see. It is shared by all of them, so nobody may change it.
type View struct {
	Name      string
	About     string
	Subject   string // name of the link, tag, bundle or domain; "" for the workspace
	Title     string // of the link, if it has one
	Selection SharedSelection
	ShowLinks bool
	ExpiresAt int64 // 0: never

	ComputedAt int64         // when the computation of the figures began
	Every      time.Duration // how long they are shown
	Report     *report.Report
	Heatmap    *report.Heatmap
	TopLinks   []report.TopLink // nil: not shown
}

// viewerOf returns the caller that reports see: somebody who may read one workspace, as its VIEWERs do.
func viewerOf(workspace uint64) auth.Principal {
	return auth.Principal{Role: auth.User, Chosen: true, Workspace: auth.Workspace{Num: workspace, Role: auth.Viewer}}
}

// subject is what a report is about.
type subject struct {
	target, name, title string
}

// subject finds what a report is about. It is NotFound if the workspace does not have it, and if an ADMIN has suspended it.
func (s *Service) subject(ctx context.Context, workspace uint64, about, target string) (out subject, err error) {
	out.target = target
	var owner uint64
	gone := false
	switch about {
	case Workspace:
		return out, nil
	case Link:
		var u store.Link
		u, err = s.store.LinkByID(ctx, target)
		host := u.Hostname
		if host == "" {
			host = s.reports.Host()
		}
		owner, out.name, out.title, gone = u.Workspace, host+"/"+u.Slug, u.Title, u.SuspendedAt != 0
	case Tag:
		var t store.Tag
		t, err = s.store.TagByID(ctx, target)
		owner, out.name = t.Workspace, t.Name
	case Bundle:
		var b store.Bundle
		b, err = s.store.BundleByID(ctx, target)
		owner, out.name = b.Workspace, b.Name
	case Domain:
		host := strings.ToLower(store.WithoutPort(target))
		if host == s.reports.Host() {
			return subject{host, host, ""}, nil
		}
		var d store.Domain
		d, err = s.store.DomainOf(ctx, workspace, host)
		owner, out.target, out.name, gone = d.Workspace, d.Hostname, d.Hostname, d.Status == store.DomainSuspended
	}
	if err == nil && (gone || owner != workspace) {
		err = store.ErrNotFound
	}
	if err != nil {
		return subject{}, auth.Missing("Report", err)
	}
	return out, nil
}

// found finds the shared report of a token that is in force now.
func (s *Service) found(ctx context.Context, token string) (store.SharedReport, error) {
	r, err := s.store.SharedReportByToken(ctx, auth.Digest(token))
	if err != nil {
		return r, auth.Missing("Report", err)
	}
	if r.ExpiresAt != 0 && r.ExpiresAt <= s.now().UnixMilli() {
		return r, problem.New(problem.Gone, "This report is no longer shared: its time is over.")
	}
	return r, nil
}

// Frames returns the origins whose pages may embed the page of a token.
func (s *Service) Frames(ctx context.Context, token string) ([]string, error) {
	r, err := s.found(ctx, token)
	return strings.Fields(r.Origins), err
}

// View returns the figures of a token. The error is NotFound if there is no such report or its subject is gone, Gone if its time is
// over, and Unauthorized if it has a password and pass is not what Unlock returned for it.
func (s *Service) View(ctx context.Context, token, pass string) (*View, error) {
	r, err := s.found(ctx, token)
	if err != nil {
		return nil, err
	}
	if !s.admits(&r, pass) {
		return nil, problem.New(problem.Unauthorized, "This report needs its password.")
	}
	of, err := s.subject(ctx, r.Workspace, r.About, r.Target)
	if err != nil {
		return nil, err
	}
	return s.cache.get(ctx, r.ID, version{r.UpdatedAt, of}, func(ctx context.Context) (*View, error) { return s.compute(ctx, r, of) })
}

// compute asks the click store for the figures of a report.
func (s *Service) compute(ctx context.Context, r store.SharedReport, of subject) (*View, error) {
	slot, err := s.slots.Enter(ctx, fmt.Sprint(r.Workspace))
	if err != nil {
		return nil, err
	}
	defer slot.Leave()
	v := &View{Name: r.Name, About: r.About, Subject: of.name, Title: of.title, ShowLinks: r.ShowLinks, ExpiresAt: r.ExpiresAt,
		Every: s.cache.every, ComputedAt: s.now().UnixMilli()}
	if err := json.Unmarshal([]byte(r.Selection), &v.Selection); err != nil {
		return nil, fmt.Errorf("read the selection of shared report %s: %w", r.ID, err)
	}
	p, ask, link := viewerOf(r.Workspace), v.Selection.ask(), ""
	switch r.About {
	case Link:
		link = r.Target
		v.Report, _, err = s.reports.Link(ctx, p, link, ask)
	default:
		switch r.About {
		case Tag:
			ask.Tag = []string{of.name}
		case Bundle:
			ask.BundleID = []string{of.target}
		case Domain:
			ask.Domain = []string{of.target}
		}
		var o *report.Overview
		if o, err = s.reports.Overview(ctx, p, ask); err == nil {
			v.Report = &o.Report
			if r.ShowLinks {
				v.TopLinks = o.TopURLs
			}
		}
	}
	if err == nil {
		ask.Compare, ask.Series = "", ""
		v.Heatmap, err = s.reports.Heatmap(ctx, p, link, ask)
	}
	if problem.Is(err, problem.Invalid) { // such as a tag that has too many links by now
		err = problem.New(problem.NotFound, "This report cannot be computed any more.")
	}
	return v, err
}

// Filters returns the filters of a selection that viewers may know, by their names. Ids mean nothing to them.
func (s SharedSelection) Filters() map[string][]string {
	out := map[string][]string{
		"country": s.Country, "region": s.Region, "city": s.City, "device": s.Device, "os": s.OS, "browser": s.Browser,
		"referer": s.Referer, "language": s.Language, "utmSource": s.UTMSource, "utmMedium": s.UTMMedium, "utmCampaign": s.UTMCampaign,
		"utmTerm": s.UTMTerm, "utmContent": s.UTMContent, "domain": s.Domain, "tag": s.Tag, "bot": s.Bot,
	}
	maps.DeleteFunc(out, func(_ string, values []string) bool { return len(values) == 0 })
	return out
}
