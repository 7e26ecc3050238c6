// Package linkapi has the endpoints of links: rules, variants, pictures and domains of links, their groups, imports and saved views. The
// endpoints with which administrators handle reports of abuse are here, too, because they answer with links.
package linkapi

import (
	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/explain"
	"github.com/shortline/shortline/control/internal/manage/abuse"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/manage/imports"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/media"
	"github.com/shortline/shortline/control/internal/manage/pages"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/manage/utmtemplates"
	"github.com/shortline/shortline/control/internal/manage/views"
)

// Deps are use cases. The endpoints of one that is nil do not exist.
type Deps struct {
	Links        *links.Service
	Routing      *routing.Service // needs Links
	Bundles      *bundles.Service // needs Links
	Media        *media.Service
	Pages        *pages.Service
	Tags         *tags.Service // needs Links
	UTMTemplates *utmtemplates.Service
	Views        *views.Service
	Imports      *imports.Service // needs Links
	Domains      *domains.Service
	Explain      *explain.Service // needs Links
	Abuse        *abuse.Service   // needs Links
}

// server answers the requests.
type server struct {
	*kit.Kit
	Deps
}

// Register adds the resources and their endpoints to the API.
func Register(k *kit.Kit, d Deps) {
	s := &server{k, d}
	k.Resources(
		visitorResource, urlResource, ruleResource, variantResource, bundleResource, tagResource,
		importResource, viewResource, utmResource, domainResource, imageResource, abuseResource,
	)
	k.Presents(s.present)
	k.Schemas(conditionSchemas())
	if s.Links != nil {
		s.registerURLs()
		s.registerURLEdits()
		s.documentVisitors()
	}
	if s.Routing != nil {
		s.registerVariants()
		s.registerRouting()
	}
	if s.Explain != nil {
		s.registerExplain()
	}
	if s.Bundles != nil {
		s.registerBundles()
	}
	if s.Tags != nil {
		s.registerTags()
	}
	if s.UTMTemplates != nil {
		s.registerUTMTemplates()
	}
	if s.Views != nil {
		s.registerViews()
	}
	if s.Imports != nil {
		s.registerImports()
	}
	if s.Pages != nil {
		s.registerPages()
	}
	if s.Domains != nil {
		s.registerDomains()
	}
	if s.Media != nil {
		s.registerMedia()
	}
	if s.Abuse != nil {
		s.registerAbuse()
	}
}
