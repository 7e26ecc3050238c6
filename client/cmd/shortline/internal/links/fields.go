package links

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
)

// fields are the flags for the fields of a link.
type fields struct {
	app       *app.App
	texts     map[string]*string // by the name of the field; their flags are in names
	names     map[string]string  // the flag of a field
	tags      []string
	more      []string // name=value
	clear     []string
	password  bool
	max, code int
}

func (f *fields) text(cmd *cobra.Command, field, flag, usage string) {
	f.texts[field], f.names[field] = cmd.Flags().String(flag, "", usage), flag
}

func (f *fields) add(cmd *cobra.Command) {
	f.texts, f.names = map[string]*string{}, map[string]string{}
	f.text(cmd, "title", "title", "title")
	f.text(cmd, "externalId", "external-id", "your own id of the link")
	f.text(cmd, "notes", "notes", "notes")
	f.text(cmd, "startsAt", "starts", "when it begins to work: an instant, a date, or a time from now such as 2h or 7d")
	f.text(cmd, "expiresAt", "expires", "when it ends, likewise")
	f.text(cmd, "expiredUrl", "expired-url", "where visitors go after the end")
	f.text(cmd, "status", "status", "ACTIVE or INACTIVE")
	for _, name := range []string{"source", "medium", "campaign", "term", "content"} {
		f.text(cmd, "utm"+strings.ToUpper(name[:1])+name[1:], "utm-"+name, "utm_"+name+" of the destination")
	}
	cmd.Flags().StringArrayVar(&f.tags, "tag", nil, "tag; repeat it for several")
	cmd.Flags().IntVar(&f.max, "max-clicks", 0, "most clicks of people")
	cmd.Flags().IntVar(&f.code, "code", 0, "status of the redirect: 301, 302, 307, 308")
	cmd.Flags().BoolVar(&f.password, "password-stdin", false, "read a password for visitors from standard input")
	cmd.Flags().StringArrayVarP(&f.more, "field", "f", nil, "any field of the API as name=value; the value is JSON or text")
	fixed(cmd, "status", []string{"ACTIVE", "INACTIVE"})
	fixed(cmd, "code", []string{"301", "302", "307", "308"})
}

// body returns the fields whose flags were used.
func (f *fields) body(cmd *cobra.Command) (map[string]any, error) {
	body := map[string]any{}
	for field, flag := range f.names {
		if !cmd.Flags().Changed(flag) {
			continue
		}
		text := *f.texts[field]
		if field == "startsAt" || field == "expiresAt" {
			text = Instant(text, f.app.Now())
		}
		body[field] = text
	}
	if cmd.Flags().Changed("tag") {
		body["tags"] = slices.DeleteFunc(f.tags, func(tag string) bool { return tag == "" })
	}
	if cmd.Flags().Changed("max-clicks") {
		body["maxClicks"] = f.max
	}
	if cmd.Flags().Changed("code") {
		body["redirectCode"] = f.code
	}
	for _, one := range f.more {
		name, value, found := strings.Cut(one, "=")
		if !found || name == "" {
			return nil, app.Usage("--field must have the form name=value, not %q", one)
		}
		body[name] = JSONOrText(value)
	}
	for _, name := range f.clear {
		body[name] = nil
	}
	if f.password {
		password, err := f.app.Secret("Password for visitors: ")
		if err != nil {
			return nil, err
		}
		body["password"] = password
	}
	return body, nil
}

// JSONOrText returns the JSON value that a text is, or the text itself.
func JSONOrText(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(bytes.TrimSpace([]byte(text)))
	}
	return text
}

// Instant turns a time from now, such as 90m, 2h, 7d or 4w, into an instant. Another text stays as it is, because the server knows
// instants and dates.
func Instant(text string, now time.Time) string {
	if len(text) < 2 {
		return text
	}
	n, err := strconv.Atoi(text[:len(text)-1])
	unit := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[text[len(text)-1]]
	if err != nil || unit == 0 {
		return text
	}
	return now.Add(time.Duration(n) * unit).UTC().Format("2006-01-02T15:04:05.000Z")
}
