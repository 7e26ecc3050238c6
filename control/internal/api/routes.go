package api

// routes registers every resource whose use case is not nil.
func (s *Server) routes() {
	if s.Links != nil {
		s.registerURLs()
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
	if s.Domains != nil {
		s.registerDomains()
	}
	s.registerAids()
	if s.Media != nil {
		s.registerMedia()
	}
	if s.Abuse != nil {
		s.registerAbuse()
	}
}

// registerAids declares the endpoints of what helps people to work with links.
func (s *Server) registerAids() {
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
}
