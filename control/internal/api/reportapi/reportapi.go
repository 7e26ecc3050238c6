// Package reportapi has the endpoints of reports: analytics and their exports, the live stream of clicks, slugs that do not exist,
// conversions and experiments.
package reportapi

import (
	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/clicks/convert"
	"github.com/shortline/shortline/control/internal/clicks/live"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/experiments"
	"github.com/shortline/shortline/control/internal/mailreports"
	"github.com/shortline/shortline/control/internal/manage/abuse"
	"github.com/shortline/shortline/control/internal/manage/annotations"
	"github.com/shortline/shortline/control/internal/manage/conversions"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/segments"
)

// Deps are use cases. The endpoints of one that is nil do not exist.
type Deps struct {
	Reports            *report.Service
	Live               *live.Feed
	ConversionSettings *conversions.Service
	Conversions        *convert.Acceptor
	Experiments        *experiments.Service
	Abuse              *abuse.Service
	Links              *links.Service
	Segments           *segments.Service
	Annotations        *annotations.Service // needs Reports
	MailReports        *mailreports.Service
}

// server answers the requests.
type server struct {
	*kit.Kit
	Deps
}

// Register adds the resources and their endpoints to the API.
func Register(k *kit.Kit, d Deps) {
	s := &server{k, d}
	k.Resources(analyticsResource, conversionResource, experimentResource, conversionSettingsResource, segmentResource, annotationResource,
		mailReportResource)
	k.Presents(s.present)
	if s.Links != nil {
		s.documentBrowserConversions()
	}
	if s.ConversionSettings != nil {
		s.registerConversionSettings()
	}
	if s.Conversions != nil {
		s.registerConversions()
	}
	if s.Experiments != nil {
		s.registerExperiments()
	}
	if s.Reports != nil {
		s.registerAnalytics()
		s.registerConversionLists()
	}
	if s.Segments != nil {
		s.registerSegments()
	}
	if s.Annotations != nil {
		s.registerAnnotations()
	}
	if s.MailReports != nil {
		s.registerMailReports()
	}
	if s.Live != nil {
		s.registerLive()
	}
	if s.Abuse != nil {
		s.registerMissing()
	}
}
