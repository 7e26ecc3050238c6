package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/manage/slugs"
	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/manage/utmtemplates"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// unlessNamed returns a function that reports whether the workspace has an object with the name of another one.
func unlessNamed(key func(string) string, have map[string]bool) func(*object) (bool, error) {
	return func(o *object) (bool, error) {
		name := key(o.name)
		was := have[name]
		have[name] = true
		return was, nil
	}
}

func (r *run) tags(ctx context.Context) error {
	list, err := all[Tag](ctx, r.a, tagsName)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	err = paged(func(offset int) ([]store.Tag, error) {
		page, _, err := r.store.Tags(ctx, store.TagFilter{Workspace: r.p.Workspace.Num, Offset: offset, Limit: pageSize})
		return page, err
	}, func(t *store.Tag) (string, error) { return store.TagKey(t.Name), nil })(func(name *string) error {
		have[*name] = true
		return nil
	})
	if err != nil {
		return fmt.Errorf("read tags: %w", err)
	}
	objects := make([]object, len(list))
	for i := range list {
		t := &list[i]
		in := tags.Input{Name: &t.Name, Color: &t.Color}
		objects[i] = object{t.ID, t.Name, in.CheckInput, func(past store.Past) error {
			in.Past = past
			_, err := r.use.Tags.Create(ctx, r.p, in)
			return err
		}, t.CreatedAt, t.UpdatedAt}
	}
	return r.createEach(ctx, kindTag, "tags", objects, unlessNamed(store.TagKey, have))
}

func (r *run) templates(ctx context.Context) error {
	list, err := all[Template](ctx, r.a, templatesName)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	err = paged(func(offset int) ([]store.UTMTemplate, error) {
		page, _, err := r.store.UTMTemplates(ctx, r.p.Workspace.Num, "", offset, pageSize)
		return page, err
	}, func(t *store.UTMTemplate) (string, error) { return store.TagKey(t.Name), nil })(func(name *string) error {
		have[*name] = true
		return nil
	})
	if err != nil {
		return fmt.Errorf("read UTM templates: %w", err)
	}
	objects := make([]object, len(list))
	for i := range list {
		t := &list[i]
		in := utmtemplates.Input{Name: &t.Name, UTM: t.Fields}
		objects[i] = object{t.ID, t.Name, in.CheckInput, func(past store.Past) error {
			in.Past = past
			_, err := r.use.UTMTemplates.Create(ctx, r.p, in)
			return err
		}, t.CreatedAt, t.UpdatedAt}
	}
	return r.createEach(ctx, kindTemplate, "utm_templates", objects, unlessNamed(store.TagKey, have))
}

// domains adds the domains as PENDING. A domain that cannot be added takes its links with it.
func (r *run) domains(ctx context.Context) error {
	list, err := all[Domain](ctx, r.a, domainsName)
	if err != nil {
		return err
	}
	objects := make([]object, len(list))
	for i := range list {
		d := &list[i]
		in := domains.Input{RootURL: &d.RootURL, NotFoundURL: &d.NotFoundURL, ExpiredURL: &d.ExpiredURL, AppleApp: &d.AppleApp,
			AssetLinks: &d.AssetLinks, HSTS: &d.HSTS, BrandName: &d.BrandName, BrandLogo: &d.BrandLogo, Default: &d.IsDefault,
			CaseSensitive: new(!d.AnyCase), Slugs: new(slugForm(d.ExtendedSlugs)), MinSlug: &d.MinSlug}
		bad := func(err error) error {
			var e *problem.Error
			if errors.As(err, &e) {
				r.badDomains[d.Hostname] = true
			}
			return err
		}
		objects[i] = object{d.ID, d.Hostname, func() error {
			if err := r.use.Domains.CheckInput(d.Hostname, in); err != nil {
				return bad(err)
			}
			held, reserved, err := r.store.HostnameHeld(ctx, d.Hostname, 0, r.p.Workspace.Num, r.cfg.Now().UnixMilli())
			if err == nil && (held || reserved) {
				err = problem.OfField("hostname", "%q belongs to another workspace", d.Hostname)
			}
			if err != nil {
				return bad(err)
			}
			r.newDomains[d.Hostname] = true
			return nil
		}, func(past store.Past) error {
			in.Past = past
			_, err := r.use.Domains.Create(ctx, r.p, d.Hostname, in)
			return bad(err)
		}, d.CreatedAt, d.UpdatedAt}
	}
	return r.createEach(ctx, kindDomain, "domains", objects, func(o *object) (bool, error) {
		_, err := r.store.DomainOf(ctx, r.p.Workspace.Num, o.name)
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	})
}

// bundles adds the bundles without their links.
func (r *run) bundles(ctx context.Context) error {
	list, err := all[Bundle](ctx, r.a, bundlesName)
	if err != nil {
		return err
	}
	objects := make([]object, len(list))
	for i := range list {
		b := &list[i]
		in := bundles.Input{Name: &b.Name, Description: &b.Description, Color: &b.Color, Icon: &b.Icon}
		objects[i] = object{b.ID, b.Name, func() error {
			if len(b.URLIDs) > bundles.MaxURLs {
				return problem.OfField("urlIds", "must hold at most %d ids", bundles.MaxURLs)
			}
			return in.CheckInput()
		}, func(past store.Past) error {
			in.Past = past
			_, err := r.use.Bundles.Create(ctx, r.p, in, nil)
			return err
		}, b.CreatedAt, b.UpdatedAt}
	}
	return r.createEach(ctx, kindBundle, "bundles", objects, nil)
}

// fillBundles puts the links into the bundles that have none of the workspace's own order yet.
func (r *run) fillBundles(ctx context.Context) error {
	if r.dry {
		return nil
	}
	return eachLine(ctx, r.a, bundlesName, func(_ int64, b *Bundle) error {
		var ids []string
		for _, id := range b.URLIDs {
			if _, here := r.numbers[id]; here {
				ids = append(ids, cmpOr(r.ids[id], id))
			}
		}
		id := r.ids[b.ID]
		present, err := r.store.BundleByID(ctx, id)
		if errors.Is(err, store.ErrNotFound) || err == nil && present.Workspace != r.p.Workspace.Num {
			return nil // it was refused
		}
		if err != nil {
			return oursOr(fmt.Errorf("read a bundle: %w", err))
		}
		have, err := r.store.LinkIDsOfBundle(ctx, id)
		if err != nil {
			return oursOr(fmt.Errorf("read a bundle: %w", err))
		}
		missing := slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(have, id) })
		if missing {
			if _, err := r.use.Bundles.AddMany(ctx, r.p, id, ids); err != nil {
				return r.refuse(kindBundle, b.Name, err)
			}
		}
		if !missing && (!b.Archived || present.Archived) {
			return nil
		}
		return oursOr(r.store.Tx(ctx, func(tx *store.Tx) error { return tx.FinishBundle(ctx, id, b.Archived, int64(b.UpdatedAt)) }))
	})
}

// webhooks adds the webhooks as inactive, each with a new secret.
func (r *run) webhooks(ctx context.Context) error {
	list, err := all[Webhook](ctx, r.a, webhooksName)
	if err != nil {
		return err
	}
	objects := make([]object, len(list))
	for i := range list {
		w := &list[i]
		off := false
		in := webhooks.Input{Name: &w.Name, URL: &w.URL, Events: &w.Events, Long: &w.LongRetries, Active: &off}
		objects[i] = object{w.ID, w.Name, func() error { return r.use.Webhooks.CheckInput(ctx, in) }, func(past store.Past) error {
			in.Past = past
			_, _, err := r.use.Webhooks.Create(ctx, r.p, in)
			return err
		}, w.CreatedAt, w.UpdatedAt}
	}
	return r.createEach(ctx, kindWebhook, "webhooks", objects, nil)
}

func slugForm(extended bool) string { return slugs.Form(link.SlugRules{Extended: extended}) }
