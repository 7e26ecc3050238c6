package pages

import (
	"net/http"
	"strings"

	"github.com/shortline/shortline/shared/link"
)

// States of a link in Look.
const (
	StateActive    = "active"
	StateEnded     = "ended" // expired, exhausted, turned off or suspended; edges do not tell these apart to visitors
	StateProtected = "protected"
)

// Look says where a link leads. Programs get it as JSON, and browsers get the page of Set.Look.
type Look struct {
	Slug        string  `json:"slug"`
	ShortURL    string  `json:"shortUrl"`
	State       string  `json:"state"`
	Title       *string `json:"title"`       // not empty; nil: none
	Destination *string `json:"destination"` // nil unless State is StateActive
	Varies      bool    `json:"varies"`      // the destination depends on the visitor
	ReportURL   string  `json:"-"`           // "" if nobody takes reports
}

// lookValues are the values of the template for a Look.
type lookValues struct {
	Look
	Words  lookWords
	Host   string // of the destination
	Next   string // what the visitor of a link that has ended can do
	Report string // the words for ReportURL
}

// Look returns the page that says where a link leads.
func (s *Set) Look(seen Look, l Language) Page {
	v := &lookValues{Look: seen, Words: lookTexts[l], Next: notices[http.StatusGone][l].next, Report: reportTexts[l].Heading}
	if seen.Destination != nil {
		v.Host = link.DestinationHost(*seen.Destination)
	}
	heading := v.Words.Heading
	if seen.Title != nil {
		heading = strings.TrimSpace(*seen.Title)
	}
	return s.render(lookTemplate, values{Heading: heading, Look: v}, l, s.policy)
}

var lookTemplate = withLayout(`{{template "top" .}}{{with .Look}}{{if eq .State "protected"}}<p>{{.Words.Protected}}</p>{{else if eq .State "ended"}}<p>{{.Words.Ended}}</p><p>{{.Next}}</p>{{else}}<p>{{.Words.LeadsTo}} <strong dir="ltr">{{.Host}}</strong></p>
<p dir="ltr">{{.Destination}}</p>{{if .Varies}}<p>{{.Words.Varies}}</p>{{end}}{{end}}
{{if ne .State "ended"}}<p><a rel="nofollow noreferrer" href="{{.ShortURL}}" class="button">{{.Words.Continue}}</a></p>{{end}}
{{if .ReportURL}}<p class="aside"><a href="{{.ReportURL}}">{{.Report}}</a></p>{{end}}{{end}}{{template "end" .}}`)

// lookWords are the texts of the page in one language.
type lookWords struct{ Heading, LeadsTo, Varies, Protected, Ended, Continue string }

// lookTexts are the texts, in the order of languages.
var lookTexts = [len(languages)]lookWords{
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
