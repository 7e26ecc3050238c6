package redirect

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"sync"

	"github.com/shortline/shortline/shared/design"
	"github.com/shortline/shortline/shared/link"
)

// Brand is shown on the pages for visitors.
type Brand struct {
	Name    string // "" means Shortline
	LogoURL string // absolute http(s) URL or a path on this host; "" means no logo
}

// Validate returns an error if pages cannot show the logo.
func (b Brand) Validate() error {
	_, err := b.imageSource()
	return err
}

// imageSource returns the logo's source for the img-src directive of the content security policy. A star would stand for many
// hosts.
func (b Brand) imageSource() (string, error) {
	if b.LogoURL == "" {
		return "'none'", nil
	}
	u, err := url.Parse(b.LogoURL)
	switch {
	case err != nil:
		return "", fmt.Errorf("brand logo: %w", err)
	case strings.HasPrefix(b.LogoURL, "/") && !strings.HasPrefix(b.LogoURL, "//"):
		return "'self'", nil
	case (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && !strings.ContainsAny(u.Host, " ;,'\"*"):
		return u.Scheme + "://" + u.Host, nil
	}
	return "", errors.New("brand logo: must be an http or https URL, or a path that starts with a slash")
}

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

const noticeText = `{{template "top" .}}<p>{{.Text}}</p>{{with .Next}}<p>{{.}}</p>{{end}}{{template "end" .}}`

const formText = `{{template "top" .}}<p>{{.Words.Hint}}</p>
{{if .Wrong}}<p class="bad" id="wrong" role="alert">{{.Words.Wrong}}</p>{{end}}<form method="post" action="{{.Action}}">
<label for="password">{{.Words.Password}}</label><input id="password" name="password" type="password" required autofocus autocomplete="off" maxlength="72"{{if .Wrong}} aria-invalid="true" aria-describedby="wrong"{{end}}>
<button type="submit">{{.Words.Continue}}</button></form>{{template "end" .}}`

const previewText = `{{define "tags"}}
<meta property="og:type" content="website"><meta property="og:url" content="{{.URL}}"><meta property="og:site_name" content="{{.Brand.Name}}">
<meta property="og:title" content="{{.Heading}}"><meta name="twitter:title" content="{{.Heading}}"><meta name="twitter:card" content="{{.Card}}">
{{if .Text}}<meta name="description" content="{{.Text}}"><meta property="og:description" content="{{.Text}}"><meta name="twitter:description" content="{{.Text}}">
{{end}}{{if .Image}}<meta property="og:image" content="{{.Image}}"><meta name="twitter:image" content="{{.Image}}">
{{end}}{{end}}{{template "top" .}}{{if .Text}}<p>{{.Text}}</p>{{end}}<p dir="ltr">{{.URL}}</p>
<p><a class="button" href="{{.URL}}">{{.Words.Open}}</a></p>{{template "end" .}}`

const openText = `{{template "top" .}}<p>{{.Words.Right}}</p>
<p dir="ltr">{{.Open}}</p>
<p><a class="button" href="{{.Open}}">{{.Words.Open}}</a></p>{{template "end" .}}`

// page holds the values of a template.
type page struct {
	Brand   Brand
	Style   template.CSS
	Heading string
	Text    string
	Next    string // what a visitor can do
	Words   formWords

	Action template.URL // target of the form
	Wrong  bool

	Open template.URL // destination of a link that opens an application

	URL, Image, Card string // values of the preview

	Language string // "" means English

	Report *reportForm
	Looked *looked
}

// pages renders all HTML pages of the edge. html/template escapes every value for its context, except the style,
// which is a constant.
type pages struct {
	brand                 Brand
	notice, form, preview *template.Template
	report, look, open    *template.Template
	policy                []byte // the content security policy of all pages except the forms
	formPolicy            []byte
	reportPolicy          []byte
	refusals              sync.Map // rendered pages by *refusal, of brands of custom domains
}

func newPages(b Brand) (*pages, error) {
	if b.Name == "" {
		b.Name = "Shortline"
	}
	image, err := b.imageSource()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(style))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src " + image + "; base-uri 'none'; frame-ancestors 'none'"
	parse := func(text string) *template.Template {
		return template.Must(template.Must(template.New("page").Parse(layout)).Parse(text))
	}
	return &pages{
		brand: b, notice: parse(noticeText), form: parse(formText), preview: parse(previewText), report: parse(reportText),
		look: parse(lookText), open: parse(openText),
		policy: []byte(policy + "; form-action 'none'"),
		// Browsers also apply form-action to redirects after a form. A correct password redirects to any host, so the
		// policy of the form cannot be limited to this host.
		formPolicy:   []byte(policy + "; form-action 'self' https: http:"),
		reportPolicy: []byte(policy + "; form-action 'self'"),
	}, nil
}

func (p *pages) render(t *template.Template, v page) []byte {
	v.Brand, v.Style, v.Language = p.brand, template.CSS(style), cmp.Or(v.Language, "en")
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		panic("BUG: cannot render a page: " + err.Error())
	}
	return b.Bytes()
}

// notify renders a notice in a language.
func (p *pages) notify(n notice, l pageLanguage) []byte {
	return p.render(p.notice, page{Language: pageLanguages[l], Heading: n.heading, Text: n.text, Next: n.next})
}

// formPage renders the password form at a path without its first slash. The form's action keeps path and query for the destination.
func (p *pages) formPage(path, query, title string, wrong bool, l pageLanguage) []byte {
	title = cmp.Or(title, formTexts[l].Heading)
	action := "/" + path + "/verify"
	if query != "" {
		action += "?" + query
	}
	// The action starts with a slash and a slug, so it cannot name another scheme or host. The template still escapes
	// characters in the query that could end the attribute.
	v := page{Language: pageLanguages[l], Words: formTexts[l], Heading: title, Action: template.URL(action), Wrong: wrong}
	return p.render(p.form, v)
}

// openPage renders the page of a visitor who has entered the right password of a link with another scheme than http and https: the policy
// of the form does not let browsers follow a redirect there. It returns nil if the destination must not be offered.
func (p *pages) openPage(destination string, l pageLanguage) []byte {
	if link.IsNever(destination) {
		return nil // the control plane stores no such destination
	}
	// The template would refuse all schemes that it does not know. It still escapes what could end the attribute.
	words := formTexts[l]
	return p.render(p.open, page{Language: pageLanguages[l], Words: words, Heading: words.Open, Open: template.URL(destination)})
}

// previewPage renders the page of a link with a preview for social crawlers.
func (p *pages) previewPage(r *link.Record, shortURL string, l pageLanguage) []byte {
	v := page{Language: pageLanguages[l], Words: formTexts[l], Heading: r.Preview.Title, Text: r.Preview.Description, URL: shortURL,
		Image: r.Preview.ImageURL, Card: r.Preview.TwitterCard}
	if v.Heading == "" {
		v.Heading = r.Title
	}
	if v.Heading == "" {
		v.Heading = p.brand.Name
	}
	if v.Card == "" {
		v.Card = "summary"
		if v.Image != "" {
			v.Card = "summary_large_image"
		}
	}
	return p.render(p.preview, v)
}
