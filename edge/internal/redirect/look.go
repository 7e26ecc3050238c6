package redirect

import (
	"cmp"
	"strings"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/valyala/fasthttp"
)

// States of a link in the answer of /{slug}+.
const (
	stateActive    = "active"
	stateEnded     = "ended" // expired, exhausted, turned off or suspended; edges do not tell these apart to visitors
	stateProtected = "protected"
)

// looked is what a visitor of /{slug}+ sees.
type looked struct {
	Slug        string  `json:"slug"`
	ShortURL    string  `json:"shortUrl"`
	State       string  `json:"state"`
	Title       *string `json:"title"`
	Destination *string `json:"destination"`
	Varies      bool    `json:"varies"` // the destination depends on the visitor
	Continues   bool    `json:"-"`
	Host        string  `json:"-"` // of the destination
	Words       words   `json:"-"`
	Next        string  `json:"-"` // what the visitor of a link that has ended can do
	ReportURL   string  `json:"-"` // "" if nobody takes reports
	Report      string  `json:"-"` // the words for ReportURL
}

// look answers GET /{slug}+ with where a link leads, without a click. A protected link shows only that it is one, and a link that has
// ended only that it has: its destination may be the reason. Before its start, and if its workspace wants no previews, a link does
// not exist.
func (h *Handler) look(ctx *fasthttp.RequestCtx, e *table.Entry, t target) {
	if h.refuseOverLimit(ctx) {
		return
	}
	if !h.refuseBeforeStart(ctx, e) || h.deps.Hosts != nil && h.deps.Hosts.HidesPreviews(e.Owner()) {
		h.missing(ctx)
		return
	}
	h.tally.add(ctx.ConnID(), cInfos)
	r := &h.deps.Table.Compiled(e).Record
	seen := looked{Slug: string(t.slug), ShortURL: h.addressOf(t), State: stateActive}
	terms := e.Terms()
	k := decision.Barrier{ExpiresAt: terms.ExpiresAt, Inactive: e.Inactive(), Exhausted: h.exhausted(e, &terms)}.
		Meet(at(h.now(ctx).UnixMilli()))
	switch {
	case r.PasswordHash != "":
		seen.State, seen.Continues = stateProtected, true
	case k != decision.Follow:
		seen.State = stateEnded
	default:
		seen.Continues, seen.Varies, seen.Title = true, e.SmartRouting() || e.ABTesting(), orNull(r.Title)
		to := r.Destination
		if r.Default != "" && e.SmartRouting() {
			to = r.Default
		}
		seen.Destination, seen.Host = &to, link.DestinationHost(to)
	}
	if !asksHTML(ctx) {
		h.json(ctx, seen)
		return
	}
	l := languageAsked(ctx)
	seen.Words = lookTexts[l]
	if seen.State == stateEnded {
		seen.Next = h.refusals[fasthttp.StatusGone].texts[l].next
	}
	if h.deps.Reports != nil {
		seen.ReportURL, seen.Report = "/"+t.public()+"/report", reportTexts[l].Heading
	}
	p := h.pagesOf(t)
	heading := seen.Words.Heading
	if seen.Title != nil {
		heading = strings.TrimSpace(cmp.Or(*seen.Title, heading))
	}
	ctx.Response.Header.Set("Vary", "Accept, Accept-Language")
	ctx.Response.Header.Set("X-Robots-Tag", "noindex, nofollow")
	h.page(ctx, p.render(p.look, page{Language: pageLanguages[l], Heading: heading, Looked: &seen}), p.policy)
}

const lookText = `{{template "top" .}}{{with .Looked}}{{if eq .State "protected"}}<p>{{.Words.Protected}}</p>{{else if eq .State "ended"}}<p>{{.Words.Ended}}</p><p>{{.Next}}</p>{{else}}<p>{{.Words.LeadsTo}} <strong dir="ltr">{{.Host}}</strong></p>
<p dir="ltr">{{.Destination}}</p>{{if .Varies}}<p>{{.Words.Varies}}</p>{{end}}{{end}}
{{if .Continues}}<p><a rel="nofollow noreferrer" href="{{.ShortURL}}" class="button">{{.Words.Continue}}</a></p>{{end}}
{{if .ReportURL}}<p class="aside"><a href="{{.ReportURL}}">{{.Report}}</a></p>{{end}}{{end}}{{template "end" .}}`

// words are the texts of the page in one language.
type words struct{ Heading, LeadsTo, Varies, Protected, Ended, Continue string }

// lookTexts are the texts, in the order of pageLanguages.
var lookTexts = [len(pageLanguages)]words{
	{"Where this link leads", "This link leads to", "It can lead elsewhere, depending on the visitor.",
		"This link is protected by a password.", "This link has expired or has been turned off.", "Open the link"},
	{"Wohin dieser Link führt", "Dieser Link führt zu", "Je nach Besucher kann er auch woandershin führen.",
		"Dieser Link ist mit einem Passwort geschützt.", "Dieser Link ist abgelaufen oder wurde abgeschaltet.", "Link öffnen"},
	{"Où mène ce lien", "Ce lien mène à", "Selon le visiteur, il peut mener ailleurs.",
		"Ce lien est protégé par un mot de passe.", "Ce lien a expiré ou a été désactivé.", "Ouvrir le lien"},
	{"Adónde lleva este enlace", "Este enlace lleva a", "Según el visitante, puede llevar a otro sitio.",
		"Este enlace está protegido con una contraseña.", "Este enlace ha caducado o se ha desactivado.", "Abrir el enlace"},
	{"このリンクの移動先", "このリンクの移動先:", "訪問者によって移動先が変わることがあります。",
		"このリンクはパスワードで保護されています。", "このリンクは期限切れか、無効になっています。", "リンクを開く"},
	{"إلى أين يقود هذا الرابط", "يقود هذا الرابط إلى", "قد يقود إلى مكان آخر بحسب الزائر.",
		"هذا الرابط محمي بكلمة مرور.", "انتهت صلاحية هذا الرابط أو أُوقف.", "فتح الرابط"},
}
