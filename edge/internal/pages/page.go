// Package pages renders what visitors and programs read when a request does not end in a redirect: pages in HTML, in six languages and
// with the brand of the service or of a custom domain, and errors in JSON. It knows neither requests nor links in memory. Package redirect
// decides who gets which page.
package pages

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"sync"

	"github.com/shortline/shortline/shared/design"
	"github.com/shortline/shortline/shared/link"
)

// Page is a rendered page. Policy is the content security policy that callers must send with HTML. The bytes are shared, so callers must
// not change them.
type Page struct{ HTML, Policy []byte }

// Set is all pages with one brand. It is safe for concurrent use.
type Set struct {
	brand                            Brand
	policy, formPolicy, reportPolicy []byte   // policy is for all pages except the forms
	refusals                         sync.Map // pages by *notice
}

// newSet returns the pages with a brand. The error says why pages cannot show the logo.
func newSet(b Brand) (*Set, error) {
	b.Name = cmp.Or(b.Name, "Shortline")
	image, err := b.imageSource()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(style))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src " + image + "; base-uri 'none'; frame-ancestors 'none'"
	return &Set{
		brand: b, policy: []byte(policy + "; form-action 'none'"),
		// Browsers also apply form-action to redirects after a form. A correct password redirects to any host, so the
		// policy of the form cannot be limited to this host.
		formPolicy:   []byte(policy + "; form-action 'self' https: http:"),
		reportPolicy: []byte(policy + "; form-action 'self'"),
	}, nil
}

// values are those of a template. html/template escapes every value for its context, except the style, which is a constant.
type values struct {
	Brand                   Brand
	Style                   template.CSS
	Language, Heading, Text string
	Next                    string // what a visitor can do
	Words                   formWords
	Action                  template.URL // target of the form
	Wrong                   bool
	Open                    template.URL // destination of a link that opens an application
	URL, Image, Card        string       // values of the preview
	Report                  *reportValues
	Look                    *lookValues
}

func (s *Set) render(t *template.Template, v values, l Language, policy []byte) Page {
	v.Brand, v.Style, v.Language = s.brand, template.CSS(style), languages[l]
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		panic("BUG: cannot render a page: " + err.Error())
	}
	return Page{b.Bytes(), policy}
}

func (s *Set) notify(n notice, l Language) Page {
	return s.render(noticeTemplate, values{Heading: n.heading, Text: n.text, Next: n.next}, l, s.policy)
}

// Form returns the page that asks for the password of a link, at a path without its first slash. The form keeps path and query for the
// destination. An empty title means the usual heading. wrong says that the visitor has entered a wrong password.
func (s *Set) Form(path, query, title string, wrong bool, l Language) Page {
	action := "/" + path + "/verify"
	if query != "" {
		action += "?" + query
	}
	// The action starts with a slash and a slug, so it cannot name another scheme or host. The template still escapes
	// characters in the query that could end the attribute.
	v := values{Words: formTexts[l], Heading: cmp.Or(title, formTexts[l].Heading), Action: template.URL(action), Wrong: wrong}
	return s.render(formTemplate, v, l, s.formPolicy)
}

// Open returns the page of a visitor who has entered the right password of a link with another scheme than http and https: the policy
// of the form does not let browsers follow a redirect there. ok is false if the destination must not be offered.
func (s *Set) Open(destination string, l Language) (p Page, ok bool) {
	if link.IsNever(destination) {
		return Page{}, false // the control plane stores no such destination
	}
	// The template would refuse all schemes that it does not know. It still escapes what could end the attribute.
	v := values{Words: formTexts[l], Heading: formTexts[l].Open, Open: template.URL(destination)}
	return s.render(openTemplate, v, l, s.policy), true
}

// Preview returns the page of a link's preview, for the crawlers of social networks and for browsers. shortURL is the address of the link.
func (s *Set) Preview(r *link.Record, shortURL string, l Language) Page {
	card := "summary"
	if r.Preview.ImageURL != "" {
		card = "summary_large_image"
	}
	return s.render(previewTemplate, values{Words: formTexts[l], Heading: cmp.Or(r.Preview.Title, r.Title, s.brand.Name), URL: shortURL,
		Text: r.Preview.Description, Image: r.Preview.ImageURL, Card: cmp.Or(r.Preview.TwitterCard, card)}, l, s.policy)
}

// Icon is the icon of the service in browsers, an SVG picture.
const Icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2456e6"/><path d="M9 20.5 20.5 9M13 8.5h8.5V17" fill="none" stroke="#fff" stroke-width="3.4" stroke-linecap="round" stroke-linejoin="round"/></svg>`

// style is the design of all pages. It uses the console's tokens.
var style = design.Style(`*{box-sizing:border-box}body{margin:0;min-height:100vh;display:grid;place-items:center;padding:var(--space-4);background:var(--paper-2);color:var(--ink);font:var(--text)/1.5 var(--font)}
main{width:100%;max-width:26rem;padding:2rem;background:var(--paper);border:1px solid var(--line);border-radius:.75rem}
header{display:flex;align-items:center;gap:var(--space-3);margin-bottom:var(--space-5);color:var(--ink-2);font-weight:600;overflow-wrap:anywhere}header img{max-height:2rem;max-width:10rem}
h1{margin:0 0 var(--space-2);font-size:1.3rem;overflow-wrap:anywhere}p{margin:0 0 var(--space-4);color:var(--ink-2);overflow-wrap:anywhere}
label{display:block;margin-bottom:var(--space-1);font-weight:600}input,select,textarea,button,.button{display:block;width:100%;min-height:2.75rem;padding:var(--space-2) var(--space-3);font:inherit;border-radius:var(--radius)}
input,select,textarea{margin-bottom:var(--space-4);border:1px solid var(--line-2);background:var(--paper);color:inherit}textarea{resize:vertical}
select{appearance:none;padding-inline-end:2rem;background:linear-gradient(45deg,#0000 40%,var(--ink-2) 40% 60%,#0000 60%) no-repeat right 18px center/6px 6px,linear-gradient(-45deg,#0000 40%,var(--ink-2) 40% 60%,#0000 60%) no-repeat right 13px center/6px 6px,var(--paper);text-overflow:ellipsis}
[dir=rtl] select{background-position:left 13px center,left 18px center,0 0}
button,.button{border:0;background:var(--accent);color:var(--accent-ink);font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
.button{padding-block:calc((2.75rem - 1.5em)/2)}main>:last-child{margin-bottom:0}.aside{font-size:var(--text-s)}.wrong{margin-top:calc(var(--space-3)*-1)}
:focus-visible{outline:2px solid var(--focus);outline-offset:2px}.bad{color:var(--bad)}[aria-invalid]{border-color:var(--bad)}a{color:var(--accent-text)}`)

const layout = `{{define "top"}}<!doctype html>
<html lang="{{.Language}}"{{if eq .Language "ar"}} dir="rtl"{{end}}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">
<title>{{.Heading}} · {{.Brand.Name}}</title>{{block "tags" .}}{{end}}<style>{{.Style}}</style></head>
<body><main><header>{{if .Brand.LogoURL}}<img src="{{.Brand.LogoURL}}" alt="">{{end}}<span>{{.Brand.Name}}</span></header>
<h1>{{.Heading}}</h1>{{end}}{{define "end"}}</main></body></html>
{{end}}`

func withLayout(text string) *template.Template {
	return template.Must(template.Must(template.New("page").Parse(layout)).Parse(text))
}

var noticeTemplate = withLayout(`{{template "top" .}}<p>{{.Text}}</p>{{with .Next}}<p>{{.}}</p>{{end}}{{template "end" .}}`)

var formTemplate = withLayout(`{{template "top" .}}<p>{{.Words.Hint}}</p>
{{if .Wrong}}<p class="bad" id="wrong" role="alert">{{.Words.Wrong}}</p>{{end}}<form method="post" action="{{.Action}}">
<label for="password">{{.Words.Password}}</label><input id="password" name="password" type="password" required autofocus autocomplete="off" maxlength="72"{{if .Wrong}} aria-invalid="true" aria-describedby="wrong"{{end}}>
<button type="submit">{{.Words.Continue}}</button></form>{{template "end" .}}`)

var openTemplate = withLayout(`{{template "top" .}}<p>{{.Words.Right}}</p>
<p dir="ltr">{{.Open}}</p>
<p><a class="button" href="{{.Open}}">{{.Words.Open}}</a></p>{{template "end" .}}`)

var previewTemplate = withLayout(`{{define "tags"}}
<meta property="og:type" content="website"><meta property="og:url" content="{{.URL}}"><meta property="og:site_name" content="{{.Brand.Name}}">
<meta property="og:title" content="{{.Heading}}"><meta name="twitter:title" content="{{.Heading}}"><meta name="twitter:card" content="{{.Card}}">
{{if .Text}}<meta name="description" content="{{.Text}}"><meta property="og:description" content="{{.Text}}"><meta name="twitter:description" content="{{.Text}}">
{{end}}{{if .Image}}<meta property="og:image" content="{{.Image}}"><meta name="twitter:image" content="{{.Image}}">
{{end}}{{end}}{{template "top" .}}{{if .Text}}<p>{{.Text}}</p>{{end}}<p dir="ltr">{{.URL}}</p>
<p><a class="button" href="{{.URL}}">{{.Words.Open}}</a></p>{{template "end" .}}`)

// formWords are the texts of the password form and of the page after it, in one language.
type formWords struct{ Heading, Hint, Wrong, Password, Continue, Open, Right string }

var formTexts = [len(languages)]formWords{
	{"Password required", "This link is protected. Enter the password to continue." +
		" If you do not know it, ask the person who gave you the link.", "The password is wrong. Try again.", "Password",
		"Continue", "Open the link", "The password is right. This link opens an application:"},
	{"Passwort erforderlich", "Dieser Link ist geschützt. Geben Sie das Passwort ein." +
		" Wenn Sie es nicht kennen, fragen Sie die Person, von der Sie den Link haben.", "Das Passwort ist falsch. Versuchen Sie es noch einmal.",
		"Passwort", "Weiter", "Link öffnen", "Das Passwort stimmt. Dieser Link öffnet eine Anwendung:"},
	{"Mot de passe requis", "Ce lien est protégé. Saisissez le mot de passe pour continuer." +
		" Si vous ne le connaissez pas, demandez-le à la personne qui vous a donné le lien.", "Le mot de passe est incorrect. Réessayez.",
		"Mot de passe", "Continuer", "Ouvrir le lien", "Le mot de passe est correct. Ce lien ouvre une application :"},
	{"Contraseña necesaria", "Este enlace está protegido. Introduce la contraseña para continuar." +
		" Si no la sabes, pídesela a la persona que te dio el enlace.",
		"La contraseña no es correcta. Inténtalo de nuevo.", "Contraseña", "Continuar", "Abrir el enlace",
		"La contraseña es correcta. Este enlace abre una aplicación:"},
	{"パスワードが必要です", "このリンクは保護されています。続けるにはパスワードを入力してください。" +
		"わからない場合は、リンクを教えてくれた人に尋ねてください。", "パスワードが違います。もう一度お試しください。",
		"パスワード", "続ける", "リンクを開く", "パスワードを確認しました。このリンクはアプリを開きます:"},
	{"كلمة المرور مطلوبة", "هذا الرابط محمي. أدخل كلمة المرور للمتابعة." +
		" إن لم تكن تعرفها فاسأل من أعطاك الرابط.", "كلمة المرور خاطئة. حاول مرة أخرى.", "كلمة المرور", "متابعة",
		"فتح الرابط", "كلمة المرور صحيحة. يفتح هذا الرابط تطبيقًا:"},
}
