// Package systemapi has the endpoints of the installation: settings, the audit log, edges and how far their clicks are counted,
// webhooks and privacy.
package systemapi

import (
	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/manage/alerts"
	"github.com/shortline/shortline/control/internal/manage/privacy"
	"github.com/shortline/shortline/control/internal/manage/settings"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
)

// Deps are use cases. The endpoints of one that is nil do not exist.
type Deps struct {
	Settings *settings.Service
	Webhooks *webhooks.Service
	Alerts   *alerts.Service
	Privacy  *privacy.Service
	Reports  *report.Service // if nil, nobody asks how far reports reach
}

// server answers the requests.
type server struct {
	*kit.Kit
	Deps
}

// Register adds the resources and their endpoints to the API.
func Register(k *kit.Kit, d Deps) {
	s := &server{k, d}
	k.Resources(webhookResource, settingsResource, auditResource, edgeResource)
	k.Presents(s.present)
	if s.Settings != nil {
		s.registerSettings()
	}
	s.registerVersion()
	s.registerAudit()
	s.registerEdges()
	if s.Reports != nil {
		s.registerFreshness()
	}
	if s.Webhooks != nil {
		s.registerWebhooks()
		s.documentWebhooks()
	}
	if s.Alerts != nil {
		k.Resources(alertResource)
		s.registerAlerts()
	}
	if s.Privacy != nil {
		k.Resources(privacyResource)
		s.registerPrivacy()
	}
}
