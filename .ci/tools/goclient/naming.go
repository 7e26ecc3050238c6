package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// readNames reads the lines of names.txt, by their kinds. Groups are also ranked in the order of their lines.
func (g *generator) readNames(text string) error {
	for _, kind := range []string{"group", "op", "type", "hand", "enum", "params", "body", "field"} {
		g.names[kind] = map[string]string{}
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if len(words) != 3 || g.names[words[0]] == nil {
			return fmt.Errorf("names.txt: cannot read %q", line)
		}
		g.names[words[0]][words[1]] = words[2]
		if words[0] == "group" && g.rank[words[2]] == 0 {
			g.rank[words[2]] = len(g.rank) + 1
		}
	}
	return nil
}

// initialisms are written in capitals in Go.
var initialisms = map[string]string{
	"url": "URL", "urls": "URLs", "id": "ID", "ids": "IDs", "utm": "UTM", "ip": "IP", "ips": "IPs", "api": "API", "og": "OG", "oidc": "OIDC",
	"sso": "SSO", "ab": "AB", "hsts": "HSTS", "qr": "QR", "totp": "TOTP", "rp": "RP", "os": "OS", "https": "HTTPS", "json": "JSON",
	"csv": "CSV", "tls": "TLS", "dns": "DNS", "txt": "TXT", "acme": "ACME", "aaaa": "AAAA", "cname": "CNAME", "oauth": "OAuth", "ios": "IOS",
	"svg": "SVG", "png": "PNG", "pdf": "PDF", "requires2fa": "Requires2FA", "utf8": "UTF8", "etag": "ETag", "iss": "Iss",
}

// exported returns the name of a Go identifier for a name such as originalUrl, URL_CREATED or utm_source.
func exported(name string) string {
	var out strings.Builder
	for _, word := range words(name) {
		if known := initialisms[strings.ToLower(word)]; known != "" {
			out.WriteString(known)
			continue
		}
		out.WriteString(strings.ToUpper(word[:1]))
		out.WriteString(strings.ToLower(word[1:]))
	}
	return out.String()
}

// words divides a name at punctuation and where its case changes.
func words(name string) (out []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			out, word = append(out, string(word)), nil
		}
	}
	runes := []rune(strings.ReplaceAll(name, "URLs", "Urls"))
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && unicode.IsLower(runes[i-1]):
			end()
		case unicode.IsUpper(r) && i > 0 && unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1]) && len(word) > 1:
			end()
		}
		word = append(word, r)
	}
	end()
	return out
}

// unexported returns the name of a variable, such as id or ruleID.
func unexported(name string) string {
	parts := words(name)
	out := strings.ToLower(parts[0])
	for _, part := range parts[1:] {
		out += exported(part)
	}
	return out
}

// typeName returns the name of the Go type of a schema.
func (g *generator) typeName(schema string) string {
	if name := g.names["hand"][schema]; name != "" {
		return name
	}
	if name := g.names["type"][schema]; name != "" {
		return name
	}
	name := strings.TrimSuffix(strings.TrimSuffix(schema, "InBody"), "Request")
	name = strings.TrimSuffix(name, "Struct")
	if strings.HasPrefix(schema, "Url") && strings.HasSuffix(schema, "Event") {
		return "Link" + strings.TrimPrefix(name, "Url")
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "URLs", "Links"), "URL", "Link")
}

// sentenceEnd is the end of a sentence. A new one begins with a capital, a digit or code; "e.g." does not end one.
var sentenceEnd = regexp.MustCompile("\\.\\s+[A-Z0-9`]|\n\n")

// brief returns the first sentence of a description: the comments tell what a thing is, and the API's reference tells the rest. Otherwise
// comments would be most of the client's source, which programs import as a whole.
func brief(text string) string {
	text = strings.TrimSpace(text)
	if end := sentenceEnd.FindStringIndex(text); end != nil {
		return strings.TrimSpace(text[:end[0]+1])
	}
	return text
}

// comment returns a comment without an indent, or nothing for an empty text.
func comment(text string) string {
	out := &strings.Builder{}
	if text != "" {
		wrap(out, "", text)
	}
	return out.String()
}

// wrap writes a comment, divided into lines of at most 120 columns.
func wrap(out *strings.Builder, indent, text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			out.WriteString(indent + "//\n")
		}
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && len(line)+len(word)+len(indent)*4+4 > 120 {
				out.WriteString(indent + "//" + line + "\n")
				line = ""
			}
			line += " " + word
		}
		out.WriteString(indent + "//" + line + "\n")
	}
}
