// Package design holds the design tokens: the colours and sizes of everything that people see. The console loads tokens.css. The
// pages of edges for visitors take the tokens that they use from it.
package design

import (
	_ "embed"
	"regexp"
	"strings"
)

//go:embed tokens.css
var tokens string

var (
	comment  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	block    = regexp.MustCompile(`(?s)(:root[^{]*)\{(.*?)\n\}`)
	property = regexp.MustCompile(`(?s)\s*([\w-]+):\s*([^;]+);`)
	use      = regexp.MustCompile(`var\((--[\w-]+)\)`)
	blanks   = regexp.MustCompile(`\s+`)
)

// conditions are the media queries under which a page without scripts shows a theme. The console has a menu for themes and
// names them in the attribute data-theme.
var conditions = map[string]string{
	":root":                        "",
	":root[data-theme='dark']":     "(prefers-color-scheme:dark)",
	":root[data-theme='contrast']": "(prefers-contrast:more)",
}

// Style returns style, preceded by the tokens that it uses, for a page that follows the theme of the visitor's system. The result
// has no '<', so it can stand in an element <style>. It panics if style uses a token that does not exist.
func Style(style string) string {
	wanted := map[string]bool{"color-scheme": true}
	for _, m := range use.FindAllStringSubmatch(style, -1) {
		wanted[m[1]] = true
	}
	var b strings.Builder
	missing := len(wanted)
	for _, m := range block.FindAllStringSubmatch(comment.ReplaceAllString(tokens, ""), -1) {
		condition, ok := conditions[strings.TrimSpace(m[1])]
		if !ok {
			panic("BUG: no media query for the theme " + m[1])
		}
		var rules strings.Builder
		for _, p := range property.FindAllStringSubmatch(m[2], -1) {
			if wanted[p[1]] {
				rules.WriteString(p[1] + ":" + blanks.ReplaceAllString(strings.TrimSpace(p[2]), " ") + ";")
				if condition == "" {
					missing--
				}
			}
		}
		rule := ":root{" + strings.TrimSuffix(rules.String(), ";") + "}"
		if condition != "" {
			rule = "@media" + condition + "{" + rule + "}"
		}
		b.WriteString(rule + "\n")
	}
	if missing != 0 {
		panic("BUG: the style uses a token that does not exist")
	}
	return b.String() + style
}
