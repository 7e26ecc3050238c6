package linkapi

import (
	"encoding/json"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/explain"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
)

// draftBody is the most that a request with a draft may have. The conditions of a link can have 1 MiB together.
const draftBody = 2 << 20

// LinkDraft is an unsaved change of a link.
type LinkDraft struct {
	OriginalURL kit.Opt[string] `json:"originalUrl,omitempty"`
	URLFields
	DraftParts
}

func (d *LinkDraft) draft() *explain.Draft {
	if d == nil {
		return nil
	}
	return &explain.Draft{Link: d.input(d.OriginalURL), Draft: d.parts()}
}

// NewLinkDraft is a link that does not exist yet.
type NewLinkDraft struct {
	OriginalURL kit.Opt[string] `json:"originalUrl" required:"true" doc:"Same rules and stored form as originalUrl of a short URL."`
	CustomSlug  kit.Opt[string] `json:"customSlug,omitempty" doc:"3 to 50 letters, digits, hyphens or underscores."`
	Domain      kit.Opt[string] `json:"domain,omitempty" doc:"A domain of the workspace; if left out, the workspace's default domain. null or an empty string stands for the default domain of the service." example:"go.acme.com"`
	URLFields
	DraftParts
}

func (d *NewLinkDraft) draft() explain.NewDraft {
	return explain.NewDraft{
		Link:  links.Creation{Input: d.input(d.OriginalURL), CustomSlug: d.CustomSlug.Value, Domain: kit.Given(d.Domain, "")},
		Draft: d.parts(),
	}
}

// DraftParts are the rules and variants of a draft.
type DraftParts struct {
	Rules    kit.Opt[[]DraftRule]    `json:"rules,omitempty" doc:"All routing rules, instead of the saved ones; null or an empty list stands for none. At most 100. Rules with the same priority are evaluated in the order of their creation, new ones in the order of the list."`
	Variants kit.Opt[[]DraftVariant] `json:"variants,omitempty" doc:"All variants, instead of the saved ones; null or an empty list stands for none. At most 100."`
}

// DraftRule is a rule of a draft.
type DraftRule struct {
	ID         kit.Opt[string] `json:"id,omitempty" doc:"Id of a saved rule of the link, which this rule replaces. Left out for a new rule."`
	Name       kit.Opt[string] `json:"name" required:"true" doc:"1 to 100 characters."`
	TargetURL  kit.Opt[string] `json:"targetUrl" required:"true" doc:"Same rules and stored form as originalUrl of a short URL."`
	Conditions json.RawMessage `json:"conditions" required:"true" model:"ConditionGroup" doc:"A group of conditions, as for a saved rule."`
	RuleFields
}

// DraftVariant is a variant of a draft.
type DraftVariant struct {
	ID        kit.Opt[string] `json:"id,omitempty" doc:"Id of a saved variant of the link, which this variant replaces. Left out for a new variant."`
	Name      kit.Opt[string] `json:"name" required:"true" doc:"1 to 100 characters."`
	TargetURL kit.Opt[string] `json:"targetUrl" required:"true" doc:"Same rules and stored form as originalUrl of a short URL."`
	VariantFields
}

func (d *DraftParts) parts() (out routing.Draft) {
	if d.Rules.Set {
		list := make([]routing.RuleDraft, len(d.Rules.Value))
		for i := range list {
			r := &d.Rules.Value[i]
			list[i] = routing.RuleDraft{ID: r.ID.Value, RuleInput: r.input(r.Name, r.TargetURL, r.Conditions)}
		}
		out.Rules = &list
	}
	if d.Variants.Set {
		list := make([]routing.VariantDraft, len(d.Variants.Value))
		for i := range list {
			v := &d.Variants.Value[i]
			list[i] = routing.VariantDraft{ID: v.ID.Value, VariantInput: v.input(v.Name, v.TargetURL)}
		}
		out.Variants = &list
	}
	return out
}
