package reportapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/sharedreports"
)

// SharedFigures are the figures of a shared report. They are those of reports, without what can tell about a single visitor: complete
// referrers, and utm_term and utm_content, in which mailings carry the id of a recipient.
type SharedFigures struct {
	Overview    report.Summary `json:"overview"`
	TotalClicks int64          `json:"totalClicks"`
	report.Distinct
	TimeSeries       []report.DayFigures `json:"timeSeries" nullable:"false"`
	Countries        []report.Named      `json:"countries" nullable:"false"`
	Regions          []report.Named      `json:"regions" nullable:"false"`
	Cities           []report.Named      `json:"cities" nullable:"false"`
	Browsers         []report.Named      `json:"browsers" nullable:"false"`
	OperatingSystems []report.Named      `json:"operatingSystems" nullable:"false"`
	Devices          []report.Named      `json:"devices" nullable:"false"`
	Languages        []report.Named      `json:"languages" nullable:"false"`
	Sites            []report.SiteClicks `json:"sites" nullable:"false"`
	UTMSources       []report.Valued     `json:"utmSources" nullable:"false"`
	UTMMediums       []report.Valued     `json:"utmMediums" nullable:"false"`
	UTMCampaigns     []report.Valued     `json:"utmCampaigns" nullable:"false"`

	Series     *report.Split                   `json:"series,omitempty" doc:"Only if the report includes bots."`
	Comparison *report.Compared[SharedFigures] `json:"comparison,omitempty" doc:"Only if the report compares with an earlier period."`
}

func sharedFiguresOf(r *report.Report) SharedFigures {
	out := SharedFigures{Overview: r.Overview, TotalClicks: r.TotalClicks, Distinct: r.Distinct, TimeSeries: r.TimeSeries,
		Countries: r.Countries, Regions: r.Regions, Cities: r.Cities, Browsers: r.Browsers, OperatingSystems: r.OperatingSystems,
		Devices: r.Devices, Languages: r.Languages, Sites: r.Sites, UTMSources: r.UTMSources, UTMMediums: r.UTMMediums,
		UTMCampaigns: r.UTMCampaigns, Series: r.Series}
	if c := r.Comparison; c != nil {
		out.Comparison = &report.Compared[SharedFigures]{StartDate: c.StartDate, EndDate: c.EndDate, Periods: c.Periods,
			Figures: sharedFiguresOf(&c.Figures)}
	}
	return out
}

// SharedLink is a short URL in a shared report.
type SharedLink struct {
	Domain string  `json:"domain"`
	Slug   string  `json:"slug"`
	Title  *string `json:"title"`
	Clicks int64   `json:"clicks"`
}

// SharedView is a shared report as viewers see it.
type SharedView struct {
	Name           string              `json:"name"`
	About          string              `json:"about" values:"sharedReportAbout"`
	Subject        *string             `json:"subject" doc:"Name of the link, tag, bundle or domain. Null for the workspace."`
	Title          *string             `json:"title" doc:"Title of the link."`
	Timezone       string              `json:"timezone"`
	Interval       string              `json:"interval" enum:"hour,day,week,month"`
	IncludeBots    bool                `json:"includeBots"`
	Filters        map[string][]string `json:"filters" nullable:"false" doc:"The fixed filters by the names of the parameters of reports. Filters by ids are left out."`
	ComputedAt     kit.Time            `json:"computedAt"`
	RefreshSeconds int                 `json:"refreshSeconds" doc:"The figures are computed once in this time, however many people look at them."`
	ExpiresAt      *kit.Time           `json:"expiresAt" doc:"When the address stops working. Null: never."`
	Figures        SharedFigures       `json:"figures"`
	Heatmap        report.Heatmap      `json:"heatmap"`
	TopURLs        []SharedLink        `json:"topUrls,omitempty" nullable:"false" doc:"Only if the report lists short URLs."`
}

func sharedViewOf(v *sharedreports.View) SharedView {
	out := SharedView{Name: v.Name, About: v.About, Subject: kit.Text(v.Subject), Title: kit.Text(v.Title),
		Timezone: v.Heatmap.Timezone, Interval: "day", IncludeBots: v.Selection.IncludeBots, Filters: v.Selection.Filters(),
		ComputedAt: kit.Time(v.ComputedAt), RefreshSeconds: int(v.Every.Seconds()), Figures: sharedFiguresOf(v.Report), Heatmap: *v.Heatmap}
	if v.Selection.Interval != "" {
		out.Interval = v.Selection.Interval
	}
	if v.ExpiresAt != 0 {
		at := kit.Time(v.ExpiresAt)
		out.ExpiresAt = &at
	}
	if v.TopLinks != nil {
		out.TopURLs = []SharedLink{}
		for _, l := range v.TopLinks {
			out.TopURLs = append(out.TopURLs, SharedLink{l.Domain, l.Slug, l.Title, l.Clicks})
		}
	}
	return out
}

// SharedPass proves that a viewer knows the password of a shared report.
type SharedPass struct {
	Pass      string   `json:"pass" doc:"Send it as the header X-Report-Pass."`
	ExpiresAt kit.Time `json:"expiresAt"`
}

// SharedToken is embedded in the requests of viewers.
type SharedToken struct {
	Token string `path:"token" maxLength:"64" doc:"The last part of the address of the report."`
}

func (s *server) registerSharedView() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/shared/{token}", ID: "viewSharedReport",
		Summary: "Get the figures of a shared report", Tag: "Shared reports", Need: kit.Public, Limit: kit.LimitSharedReports}.
		About("What the page of the report shows. Credentials are ignored. The figures are computed once in `refreshSeconds` for all viewers. "+
			"The response is 401 if the report has a password and X-Report-Pass is not a valid pass, and 410 if its time is over.").
		Fails(http.StatusUnauthorized, http.StatusNotFound, http.StatusGone), func(ctx context.Context, in *struct {
		SharedToken
		Pass string `header:"X-Report-Pass" maxLength:"512" doc:"The pass of a report with a password."`
	}) (*kit.Body[SharedView], error) {
		return kit.Respond(sharedViewOf)(s.Shared.View(ctx, in.Token, in.Pass))
	})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: "/api/shared/{token}/unlock", ID: "unlockSharedReport",
		Summary: "Enter the password of a shared report", Tag: "Shared reports", Need: kit.Public, Limit: kit.LimitSharedReports,
		Status: http.StatusOK}.
		About("Exchanges the password for a pass, which is valid for 12 hours and until the password changes. After five wrong passwords an "+
			"address is locked out for a time that doubles (429). The response is 409 if the report has no password.").
		Example(`{"password":"correct horse"}`).
		Fails(http.StatusUnauthorized, http.StatusNotFound, http.StatusConflict, http.StatusGone), func(ctx context.Context, in *struct {
		SharedToken
		Body struct {
			Password string `json:"password" maxLength:"1000"`
		}
	}) (*kit.Body[SharedPass], error) {
		return kit.Respond(func(p sharedreports.Pass) SharedPass { return SharedPass{p.Text, kit.Time(p.ExpiresAt)} })(
			s.Shared.Unlock(ctx, in.Token, in.Body.Password))
	})
	if s.SharedPage != nil {
		s.HandleRaw(kit.Endpoint{Method: http.MethodGet, Path: "/share/{token}", ID: "sharedReportPage", Summary: "Show a shared report",
			Tag: "Shared reports", Need: kit.Public, Limit: kit.LimitSharedReports}, s.showShared)
	}
}

// showShared sends the page of a shared report. The page is the same for all reports, and asks for its figures itself. Only the origins
// that may embed it differ.
func (s *server) showShared(c echo.Context) error {
	h, frames := c.Response().Header(), "'none'"
	status := http.StatusOK
	origins, err := s.Shared.Frames(c.Request().Context(), c.Param("token"))
	switch {
	case problem.Is(err, problem.NotFound):
		status = http.StatusNotFound
	case problem.Is(err, problem.Gone):
		status = http.StatusGone
	case err != nil:
		return err
	}
	if len(origins) > 0 {
		frames = strings.Join(origins, " ")
		h.Del("X-Frame-Options") // cannot name other origins; browsers that know frame-ancestors ignore it
	}
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "+
		"frame-ancestors "+frames+"; base-uri 'none'; form-action 'none'")
	h.Set("X-Robots-Tag", "noindex, nofollow, noarchive, nosnippet")
	h.Set("Referrer-Policy", "no-referrer") // the address is a secret
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
	s.SharedPage(c.Response(), c.Request(), status)
	return nil
}
