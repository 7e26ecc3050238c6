package archive

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/cluster/moves"
	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/utmtemplates"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/ops"
)

// Export is an archive that is ready to be written. Its figures are read while it is written.
type Export struct {
	service  *Service
	manifest Manifest
	objects  *os.File
	members  []Member
	links    map[uint64]exported
	scope    analytics.Scope
}

// exported is what figures say of a link.
type exported struct{ id, domain, slug string }

// pageSize is the number of objects that are read at a time.
const pageSize = 500

// Prepare reads the objects of the caller's workspace in one snapshot of the database, and writes an audit entry. The caller closes the
// Export.
func (s *Service) Prepare(ctx context.Context, p auth.Principal) (e *Export, err error) {
	leave, err := s.enter()
	if err != nil {
		return nil, err
	}
	now := s.cfg.Now()
	defer leave()
	e = &Export{service: s, links: map[uint64]exported{}}
	defer func() {
		if err != nil {
			e.Close()
		}
	}()
	e.manifest = Manifest{Format: formatName, Version: Version, ExportedAt: Time(now.UnixMilli()), Service: ops.Version,
		Host: s.use.Links.Host(&store.Link{})}
	if e.scope, err = moves.Apply(ctx, s.store, s.clicks, analytics.Scope{Owner: p.Workspace.Num, Bots: analytics.Everyone,
		To: now.UnixMilli() + 1}); err != nil {
		return nil, fmt.Errorf("export a workspace: %w", err)
	}
	if e.objects, err = s.Temporary(); err != nil {
		return nil, err
	}
	w := &writer{zip: zip.NewWriter(e.objects)}
	err = s.store.View(ctx, func(c store.Conn) error {
		row, err := c.WorkspaceRow(ctx, p.UserID, p.Workspace.Num)
		if err != nil {
			return err
		}
		e.manifest.Workspace = Workspace{row.ID, row.Name, row.Slug}
		return e.writeObjects(ctx, c, w, p.Workspace.Num)
	})
	if err != nil {
		return nil, fmt.Errorf("export a workspace: %w", full(err))
	}
	if err := w.zip.Close(); err != nil {
		return nil, fmt.Errorf("export a workspace: %w", full(err))
	}
	e.members = w.members
	rows := map[string]any{}
	for _, m := range e.members {
		rows[m.Name] = m.Rows
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "WORKSPACE_EXPORTED", EntityType: "workspace",
			EntityID: p.Workspace.ID, Workspace: p.Workspace.Num, Metadata: map[string]any{"rows": rows}})
	})
	if err != nil {
		return nil, fmt.Errorf("export a workspace: %w", err)
	}
	return e, nil
}

// Temporary makes a temporary file without a name.
func (s *Service) Temporary() (*os.File, error) {
	f, err := os.CreateTemp(s.cfg.Dir, "archive-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil { // the space is free when the file is closed, also if the process is killed
		f.Close()
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	return f, nil
}

// FileName returns the suggested name of the file. It has no characters that need quoting.
func (e *Export) FileName() string {
	return fmt.Sprintf("shortline-%s-%s.zip", e.manifest.Workspace.Slug, e.manifest.ExportedAt.String()[:10])
}

// Close releases what the Export holds.
func (e *Export) Close() {
	if e.objects != nil {
		e.objects.Close()
	}
}

// WriteTo writes the archive. After an error the file is incomplete, and an import refuses it.
func (e *Export) WriteTo(ctx context.Context, to io.Writer) error {
	size, err := e.objects.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("export a workspace: %w", err)
	}
	from, err := zip.NewReader(e.objects, size)
	if err != nil {
		return fmt.Errorf("export a workspace: %w", err)
	}
	w := &writer{zip: zip.NewWriter(to), members: e.members}
	for _, f := range from.File {
		if err := w.zip.Copy(f); err != nil {
			return fmt.Errorf("export a workspace: %w", err)
		}
	}
	if err := e.writeFigures(ctx, w); err != nil {
		return fmt.Errorf("export a workspace: %w", err)
	}
	return problem.Doing("export a workspace", w.finish(e.manifest))
}

func (e *Export) writeObjects(ctx context.Context, c store.Conn, w *writer, workspace uint64) error {
	for _, member := range []struct {
		name string
		f    func(io.Writer) (int64, error)
	}{
		{tagsName, lines(paged(func(offset int) ([]store.Tag, error) {
			list, _, err := c.Tags(ctx, store.TagFilter{Workspace: workspace, Offset: offset, Limit: pageSize})
			return list, err
		}, func(t *store.Tag) (Tag, error) {
			return Tag{t.ID, t.Name, t.Color, Time(t.CreatedAt), Time(t.UpdatedAt)}, nil
		}))},
		{templatesName, lines(paged(func(offset int) ([]store.UTMTemplate, error) {
			list, _, err := c.UTMTemplates(ctx, workspace, "", offset, pageSize)
			return list, err
		}, templateOf))},
		{domainsName, lines(paged(func(offset int) ([]store.Domain, error) {
			list, _, err := c.Domains(ctx, workspace, "", offset, pageSize)
			return list, err
		}, domainOf))},
		{linksName, lines(func(f func(*Link) error) error { return e.eachLink(ctx, c, workspace, f) })},
		{bundlesName, lines(func(f func(*Bundle) error) error { return eachBundle(ctx, c, workspace, f) })},
		{webhooksName, lines(paged(func(offset int) ([]store.Webhook, error) {
			list, _, err := c.Webhooks(ctx, workspace, "", pageSize, offset)
			return list, err
		}, func(h *store.Webhook) (Webhook, error) {
			return Webhook{h.ID, h.Name, h.URL, h.Events, h.Long, h.Active, Time(h.CreatedAt), Time(h.UpdatedAt)}, nil
		}))},
	} {
		if err := w.addMember(member.name, member.f); err != nil {
			return err
		}
	}
	return nil
}

// paged returns a function that calls its argument with each object of pages.
func paged[S, T any](page func(offset int) ([]S, error), convert func(*S) (T, error)) func(func(*T) error) error {
	return func(f func(*T) error) error {
		for offset := 0; ; offset += pageSize {
			list, err := page(offset)
			if err != nil {
				return err
			}
			for i := range list {
				v, err := convert(&list[i])
				if err != nil {
					return err
				}
				if err := f(&v); err != nil {
					return err
				}
			}
			if len(list) < pageSize {
				return nil
			}
		}
	}
}

func templateOf(t *store.UTMTemplate) (Template, error) {
	fields := utmtemplates.Values(t)
	for name, v := range fields {
		if v == "" {
			delete(fields, name)
		}
	}
	return Template{t.ID, t.Name, fields, Time(t.CreatedAt), Time(t.UpdatedAt)}, nil
}

func domainOf(d *store.Domain) (Domain, error) {
	return Domain{
		ID: d.ID, Hostname: d.Hostname, Status: d.Status, RootURL: d.RootURL, NotFoundURL: d.NotFoundURL, ExpiredURL: d.ExpiredURL,
		HSTS: d.HSTS, BrandName: d.BrandName, BrandLogo: d.BrandLogo, AppleApp: d.AppleApp, AssetLinks: d.AssetLinks,
		AnyCase: d.Slugs.Fold, ExtendedSlugs: d.Slugs.Extended, MinSlug: int64(d.Slugs.Min),
		IsDefault: d.Default, CreatedAt: Time(d.CreatedAt), UpdatedAt: Time(d.UpdatedAt),
	}, nil
}

// eachBundle orders bundles of the same millisecond by id. An import gives them other numbers, by which the store orders them.
func eachBundle(ctx context.Context, c store.Conn, workspace uint64, f func(*Bundle) error) error {
	for _, archived := range []bool{false, true} {
		var list []store.Bundle
		err := paged(func(offset int) ([]store.Bundle, error) {
			page, _, err := c.Bundles(ctx, store.BundleFilter{Workspace: workspace, Archived: &archived, Offset: offset, Limit: pageSize})
			return page, err
		}, func(b *store.Bundle) (store.Bundle, error) { return *b, nil })(func(b *store.Bundle) error {
			list = append(list, *b)
			return nil
		})
		if err != nil {
			return err
		}
		slices.SortFunc(list, func(a, b store.Bundle) int {
			return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.ID, b.ID))
		})
		for _, b := range list {
			ids, err := c.LinkIDsOfBundle(ctx, b.ID)
			if err != nil {
				return err
			}
			out := Bundle{b.ID, b.Name, b.Description, b.Color, b.Icon, b.Archived, ids, Time(b.CreatedAt), Time(b.UpdatedAt)}
			if err := f(&out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *Export) eachLink(ctx context.Context, c store.Conn, workspace uint64, f func(*Link) error) error {
	var created int64 = math.MinInt64
	var num uint64
	for {
		list, err := c.LinksAfter(ctx, workspace, created, num, pageSize)
		if err != nil {
			return err
		}
		states, err := c.StatesOf(ctx, list)
		if err != nil {
			return err
		}
		nums := each.At(list, func(l *store.Link) uint64 { return l.Num })
		experiments, err := c.ExperimentsOf(ctx, nums)
		if err != nil {
			return err
		}
		found, err := c.GoalsOf(ctx, nums)
		if err != nil {
			return err
		}
		goals := map[uint64][]string{}
		for _, g := range found {
			goals[g.Link] = append(goals[g.Link], g.Name)
		}
		for i := range states {
			l := linkOf(&states[i])
			l.Goals = goals[states[i].Link.Num]
			if x, ok := experiments[states[i].Link.Num]; ok {
				l.Experiment = experimentOf(&x)
			}
			e.links[states[i].Link.Num] = exported{l.ID, l.Domain, l.Slug}
			if err := f(&l); err != nil {
				return err
			}
		}
		if len(list) < pageSize {
			return nil
		}
		created, num = list[len(list)-1].CreatedAt, list[len(list)-1].Num
	}
}

func linkOf(s *store.LinkState) Link {
	u := &s.Link
	l := Link{ID: u.ID, Domain: u.Hostname, Slug: u.Slug, OriginalURL: u.OriginalURL, Active: u.Active, StartsAt: Time(u.StartsAt),
		ExpiresAt: Time(u.ExpiresAt), MaxClicks: u.MaxClicks, ExhaustedAt: Time(u.ExhaustedAt), RedirectCode: links.RedirectCode(u),
		Stickiness: u.Stickiness.String(), TrackConversions: u.TrackConversions, ForwardPath: u.ForwardPath,
		ABTesting: u.ABTesting, SmartRouting: u.SmartRouting,
		Texts: map[string]string{}, Tags: u.Tags, HasPassword: u.PasswordHash != "", Suspended: u.SuspendedAt != 0, Clicks: u.ClickCount,
		CreatedAt: Time(u.CreatedAt), UpdatedAt: Time(u.UpdatedAt)}
	if b := u.Baseline; b.Until != 0 {
		l.Baseline = &Baseline{b.Count, Time(b.Until), b.Source}
	}
	for _, f := range store.LinkTexts {
		if text := *f.Text(u); text != "" && f.Name != imageText {
			l.Texts[f.Name] = text
		}
	}
	for i := range s.Rules {
		r := &s.Rules[i]
		l.Rules = append(l.Rules, Rule{r.ID, r.Name, r.TargetURL, r.Priority, r.Active, json.RawMessage(r.Conditions), Time(r.CreatedAt),
			Time(r.UpdatedAt)})
	}
	for i := range s.Variants {
		v := &s.Variants[i]
		l.Variants = append(l.Variants, Variant{v.ID, v.Name, v.TargetURL, v.Weight, v.Active, Time(v.CreatedAt), Time(v.UpdatedAt)})
	}
	return l
}

// imageText is the key of a preview image, which an archive does not have.
const imageText = "ogImage"

func experimentOf(e *store.Experiment) *Experiment {
	return &Experiment{e.Goal, e.Optimize, e.OnWinner, e.Status, e.Variant, e.Reason, Time(e.StartedAt), Time(e.DecidedAt),
		Time(e.CreatedAt), Time(e.UpdatedAt)}
}
