package ascode

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// exportOptions are the flags of export.
type exportOptions struct {
	owner, domain, search string
	tags                  []string
	shared                bool
}

// schema is the comment by which editors find the JSON Schema.
const schema = "# yaml-language-server: $schema=https://raw.githubusercontent.com/shortline/shortline/main/docs/public/schemas/links.json\n"

// runExport writes links as a file.
func runExport(ctx context.Context, a *app.App, o exportOptions) error {
	if o.owner != "" && !ownerForm.MatchString(o.owner) {
		return app.Usage("--owner must be 1 to 29 lower-case letters, digits, - or _")
	}
	r, err := a.Remote()
	if err != nil {
		return err
	}
	list, others, err := exported(ctx, a, r, o)
	if err != nil {
		return err
	}
	parts, err := partsOf(ctx, r, list)
	if err != nil {
		return err
	}
	file := ordered{{"version", 1}}
	if o.owner != "" {
		file = append(file, member{"owner", o.owner})
	}
	if o.shared {
		lists, err := writtenShared(ctx, r)
		if err != nil {
			return err
		}
		file = append(file, lists...)
	}
	out, secret := []any{}, 0
	for i := range list {
		if list[i].HasPassword {
			secret++
		}
		one, err := written(&list[i], parts[i])
		if err != nil {
			return err
		}
		out = append(out, one)
	}
	file = append(file, member{"links", out})
	if _, err := fmt.Fprint(a.Out, schema); err != nil {
		return err
	}
	e := yaml.NewEncoder(a.Out)
	e.SetIndent(2)
	if err := e.Encode(file); err != nil {
		return err
	}
	if secret > 0 {
		a.Say("%s with a password, which the file does not have; elsewhere they would be created without one", links(secret))
	}
	if others > 0 {
		a.Say("%s left out because of an owner; export them with --owner", were(others))
	}
	return e.Close()
}

// exported lists the links to write, sorted.
func exported(ctx context.Context, a *app.App, r *remote.Remote, o exportOptions) (list []client.Link, others int, err error) {
	query := url.Values{"sortBy": {"createdAt"}}
	for _, tag := range o.tags {
		query.Add("tag", tag)
	}
	if o.owner != "" {
		query.Add("tag", ownerTag(o.owner))
	}
	if o.domain != "" {
		query.Set("domain", o.domain)
	}
	if o.search != "" {
		query.Set("search", o.search)
	}
	rows, err := r.List(ctx, "/api/urls", query, 0, func(n, total int) { a.Progress("reading %s of %s …", figure(n), figure(total)) })
	a.Done()
	if err != nil {
		return nil, 0, err
	}
	var all []client.Link
	if err := json.Unmarshal(rows.JSON(), &all); err != nil {
		return nil, 0, fmt.Errorf("the list of links cannot be read: %w", err)
	}
	for i := range all {
		if ownerOf(all[i].Tags) != o.owner {
			others++
			continue
		}
		list = append(list, all[i])
	}
	slices.SortFunc(list, func(a, b client.Link) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Slug, b.Slug))
	})
	return list, others, nil
}

// parts are the rules and variants of a link.
type parts struct {
	rules    []rule
	variants []variant
	inactive bool
}

// partsOf reads the rules and variants of many links at once: a dry run that would remove them names them all.
func partsOf(ctx context.Context, r *remote.Remote, list []client.Link) ([]parts, error) {
	items := make([]map[string]any, len(list))
	for i := range list {
		// An expired link does not tell whether it is inactive, too; the change of its status does.
		items[i] = map[string]any{"status": "ACTIVE", "rules": []any{}, "variants": []any{}}
		if id := list[i].ExternalID; id != nil {
			items[i]["externalId"] = *id
		} else {
			items[i]["customSlug"], items[i]["domain"] = list[i].Slug, list[i].Domain
		}
	}
	got, err := dryRun(ctx, r, items, func(int) {})
	if err != nil {
		return nil, err
	}
	out := make([]parts, len(list))
	for i := range got {
		if got[i].Result == client.UpsertedLinkResultRefused || got[i].Result == client.UpsertedLinkResultCreated {
			return nil, fmt.Errorf("the rules of %s cannot be read: %s", shortName(list[i].ShortURL), refusal(got[i].Error))
		}
		_, out[i].inactive = got[i].Changes["status"]
		for _, one := range got[i].RoutingRules {
			next := rule{Name: one.Name}
			group := client.ConditionGroup{}
			if err := oldValues(one, map[string]any{"targetUrl": &next.TargetURL, "priority": &next.Priority, "isActive": &next.IsActive,
				"conditions": &group}); err != nil {
				return nil, err
			}
			next.Conditions = group
			out[i].rules = append(out[i].rules, next)
		}
		for _, one := range got[i].Variants {
			next := variant{Name: one.Name}
			into := map[string]any{"targetUrl": &next.TargetURL, "weight": &next.Weight, "isActive": &next.IsActive}
			if err := oldValues(one, into); err != nil {
				return nil, err
			}
			out[i].variants = append(out[i].variants, next)
		}
	}
	return out, nil
}

func oldValues(one client.PartChange, into map[string]any) error {
	for name, to := range into {
		if old := one.Changes[name].Old; !isNone(old) {
			if err := json.Unmarshal(old, to); err != nil {
				return fmt.Errorf("%s of %s: %w", name, one.Name, err)
			}
		}
	}
	return nil
}

// written is a link as a file has it. What is as if it were left out is left out.
func written(l *client.Link, p parts) (ordered, error) {
	raw, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", l.ShortURL, err)
	}
	var values map[string]any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&values); err != nil {
		return nil, fmt.Errorf("write %s: %w", l.ShortURL, err)
	}
	values["customSlug"] = l.Slug
	values["notes"], _ = splitNotes(text1(values["notes"]))
	active := 0
	for _, one := range p.variants {
		if one.IsActive {
			active++
		}
	}
	if l.IsSmartRouting == (len(p.rules) > 0) {
		delete(values, "isSmartRouting")
	}
	if l.IsABTesting == (active > 0) {
		delete(values, "isABTesting")
	}
	out := members(values, plainFields)
	if tags := tagsWithOwnerRemoved(l.Tags); len(tags) > 0 {
		out = append(out, member{"tags", tags})
	}
	if p.inactive {
		out = append(out, member{"active", false})
	}
	if utm := members(values, utmFields); len(utm) > 0 {
		out = append(out, member{"utm", utm})
	}
	if preview := members(values, previewFields); len(preview) > 0 {
		out = append(out, member{"preview", preview})
	}
	rules, err := writtenRules(p.rules)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.ShortURL, err)
	}
	if len(rules) > 0 {
		out = append(out, member{"rules", rules})
	}
	if len(p.variants) > 0 {
		out = append(out, member{"variants", writtenVariants(p.variants)})
	}
	return out, nil
}

func members(values map[string]any, fields []field) (out ordered) {
	for _, f := range fields {
		v := values[f.api]
		if v == nil || v == "" || f.missing != nil && fmt.Sprint(v) == fmt.Sprint(f.missing) {
			continue
		}
		out = append(out, member{f.key, v})
	}
	return out
}

func tagsWithOwnerRemoved(tags []string) (out []any) {
	for _, one := range tags {
		if ownerOf([]string{one}) == "" {
			out = append(out, one)
		}
	}
	return out
}

func writtenRules(rules []rule) (out []any, err error) {
	slices.SortStableFunc(rules, func(a, b rule) int { return cmp.Compare(b.Priority, a.Priority) })
	inOrder := slices.Clone(rules)
	rank(inOrder)
	for i, one := range rules {
		when, err := readable(one.Conditions.(client.ConditionGroup))
		if err != nil {
			return nil, err
		}
		next := ordered{{"name", one.Name}, {"when", when}, {"destination", one.TargetURL}}
		if !slices.EqualFunc(rules, inOrder, func(a, b rule) bool { return a.Priority == b.Priority }) {
			next = append(next, member{"priority", rules[i].Priority})
		}
		if !one.IsActive {
			next = append(next, member{"active", false})
		}
		out = append(out, next)
	}
	return out, nil
}

func writtenVariants(variants []variant) (out []any) {
	for _, one := range variants {
		next := ordered{{"name", one.Name}, {"destination", one.TargetURL}}
		if one.Weight != defaultWeight {
			next = append(next, member{"weight", one.Weight})
		}
		if !one.IsActive {
			next = append(next, member{"active", false})
		}
		out = append(out, next)
	}
	return out
}
