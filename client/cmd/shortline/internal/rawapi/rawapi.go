// Package rawapi has the command that calls any endpoint of the API.
package rawapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/links"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

type flags struct {
	fields, texts, headers        []string
	input                         string
	paginate, include, showSecret bool
}

var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// Command returns the command api.
func Command(a *app.App) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use: "api METHOD PATH", Short: "Call any endpoint of the API",
		Long: `Call any endpoint of the API with your key, and print what it answers.

Fields become the query of a GET, and else the JSON body. A value of -f that is JSON is sent as such: numbers, true, null, lists and
objects. -F sends the value as a text. Keys, tokens and secrets in the response are replaced by ***, unless --show-secrets is given.`,
		Example: "  shortline api GET /api/urls -f status=ACTIVE -f limit=5 --jq '.data[].slug'\n" +
			"  shortline api POST /api/tags -f name=events\n  shortline api GET /api/urls --paginate --jq '.[].shortUrl'\n" +
			"  echo '{\"originalUrl\": \"https://example.com\"}' | shortline api POST /api/urls --input -",
		Args: cobra.ExactArgs(2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return methods, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return call(cmd, a, f, args) },
	}
	set := cmd.Flags()
	set.StringArrayVarP(&f.fields, "field", "f", nil, "name=value; the value is JSON or text")
	set.StringArrayVarP(&f.texts, "raw-field", "F", nil, "name=value; the value is text")
	set.StringArrayVarP(&f.headers, "header", "H", nil, "name:value")
	set.StringVar(&f.input, "input", "", "file with the JSON body; - is standard input")
	set.BoolVar(&f.paginate, "paginate", false, "read all pages of a list, and print its rows as one list")
	set.BoolVarP(&f.include, "include", "i", false, "show status and headers on standard error")
	set.BoolVar(&f.showSecret, "show-secrets", false, "print keys, tokens and secrets")
	return cmd
}

func call(cmd *cobra.Command, a *app.App, f flags, args []string) error {
	in, err := request(a, f, args)
	if err != nil {
		return err
	}
	r, err := a.Remote()
	if err != nil {
		return err
	}
	if f.paginate {
		if in.Method != http.MethodGet {
			return app.Usage("--paginate needs the method GET")
		}
		list, err := r.List(cmd.Context(), in.Path, in.Query, 0, func(n, total int) { a.Progress("reading %d of %d …", n, total) })
		a.Done()
		if err != nil {
			return err
		}
		return show(a, f, list.JSON())
	}
	res, err := r.Do(cmd.Context(), in)
	if err != nil {
		return err
	}
	if f.include {
		fmt.Fprintf(a.Err, "HTTP %d\n", res.Status)
		for _, name := range sorted(res.Header) {
			if name != "Set-Cookie" {
				fmt.Fprintf(a.Err, "%s: %s\n", name, app.Redact([]byte(strings.Join(res.Header[name], ", "))))
			}
		}
		fmt.Fprintln(a.Err)
	}
	return show(a, f, res.Body)
}

func sorted(h http.Header) []string {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// request makes the request of the arguments.
func request(a *app.App, f flags, args []string) (in remote.Request, err error) {
	in.Method = strings.ToUpper(args[0])
	if !slices.Contains(methods, in.Method) {
		return in, app.Usage("METHOD must be one of %s, not %q", strings.Join(methods, ", "), args[0])
	}
	address, err := url.Parse(args[1])
	if err != nil || address.IsAbs() || address.Host != "" {
		return in, app.Usage("PATH must be a path such as /api/urls, not %q", args[1]) // an address could send the key elsewhere
	}
	in.Path, in.Query = "/"+strings.TrimLeft(address.EscapedPath(), "/"), address.Query()
	body := map[string]any{}
	for i, one := range slices.Concat(f.fields, f.texts) {
		name, value, found := strings.Cut(one, "=")
		if !found || name == "" {
			return in, app.Usage("a field must have the form name=value, not %q", one)
		}
		if in.Method == http.MethodGet {
			in.Query.Add(name, value)
		} else if body[name] = value; i < len(f.fields) {
			body[name] = links.JSONOrText(value)
		}
	}
	for _, one := range f.headers {
		name, value, found := strings.Cut(one, ":")
		if !found || name == "" {
			return in, app.Usage("a header must have the form name:value, not %q", one)
		}
		in.Options = append(in.Options, client.RequestHeader(strings.TrimSpace(name), strings.TrimSpace(value)))
	}
	switch {
	case f.input != "" && len(body) > 0:
		return in, app.Usage("give either --input or fields")
	case f.input != "":
		text, err := a.ReadFile(f.input)
		if err != nil {
			return in, app.Usage("read the input: %w", err)
		}
		if !json.Valid(text) {
			return in, app.Usage("the input is not JSON")
		}
		in.Body = json.RawMessage(text)
	case len(body) > 0:
		in.Body = body
	}
	return in, nil
}

// show prints a response. The formats table and csv show the rows of a list, and else JSON.
func show(a *app.App, f flags, raw []byte) error {
	if !f.showSecret {
		raw = app.RedactJSON(raw)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	if !json.Valid(raw) {
		_, err := a.Out.Write(raw)
		return err
	}
	p := a.Printer()
	if p.Format == "table" {
		p.Format = "json"
	}
	view := output.View{Raw: raw}
	if p.Format == "csv" {
		view.Rows, view.Columns = rows(raw)
	}
	return p.Print(view)
}

// rows returns the rows of a response and a column for each of their fields.
func rows(raw []byte) ([]output.Row, []output.Column) {
	list, err := output.Decode[[]output.Row](raw)
	if err != nil {
		object, err := output.Decode[output.Row](raw)
		if err != nil {
			return nil, nil
		}
		if list = object.Rows("data"); object.Get("data") == nil {
			list = []output.Row{object}
		}
	}
	known := map[string]bool{}
	var columns []output.Column
	for _, row := range list {
		names := make([]string, 0, len(row))
		for name := range row {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if !known[name] {
				known[name] = true
				columns = append(columns, output.Column{Field: name})
			}
		}
	}
	return list, columns
}
