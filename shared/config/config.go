// Package config reads settings from the environment into structs, reports all problems at once, and keeps secrets out
// of output.
//
// A setting NAME of type Secret may also be set by NAME_FILE, the path of a file that holds the value. Container
// platforms provide secrets as files.
package config

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/caarlos0/env/v11"
)

// Secret is a setting that must not be shown. It prints as stars in every format.
type Secret string

const stars = "***"

// String hides the value.
func (s Secret) String() string { return stars }

// GoString hides the value from %#v.
func (s Secret) GoString() string { return stars }

// MarshalText hides the value from JSON and from structured logs.
func (s Secret) MarshalText() ([]byte, error) { return []byte(stars), nil }

// Reveal returns the value, for the one place that uses it.
func (s Secret) Reveal() string { return string(s) }

// Validator is implemented by settings with rules of their own. Validate reports every problem, joined with errors.Join.
type Validator interface{ Validate() error }

// Load fills the struct that settings points to from the environment. Its fields have the tags `env:"NAME"`,
// `envDefault:"…"` and `help:"…"`. The error lists every problem on a line of its own.
func Load(settings any) error { return LoadFrom(settings, environ()) }

// LoadFrom is Load with the given environment, which it may change.
func LoadFrom(settings any, environment map[string]string) error {
	var problems []error
	each(settings, func(f field) {
		if f.value.Type() != reflect.TypeFor[Secret]() {
			return
		}
		path, given := environment[f.name+"_FILE"]
		if !given || path == "" {
			return
		}
		if environment[f.name] != "" {
			problems = append(problems, fmt.Errorf("%s and %s_FILE are both set", f.name, f.name))
			return
		}
		text, err := os.ReadFile(path)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s_FILE: %w", f.name, err))
			return
		}
		environment[f.name] = strings.TrimRight(string(text), "\r\n")
	})
	if err := env.ParseWithOptions(settings, env.Options{Environment: environment}); err != nil {
		var all env.AggregateError
		if errors.As(err, &all) {
			for _, e := range all.Errors {
				problems = append(problems, plain(settings, e))
			}
		} else {
			problems = append(problems, err)
		}
	}
	if v, ok := settings.(Validator); ok && len(problems) == 0 {
		if err := v.Validate(); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// plain returns an error that names the variable instead of the Go field and omits the value, which may be secret.
func plain(settings any, err error) error {
	var pe env.ParseError
	if !errors.As(err, &pe) {
		return err
	}
	name := pe.Name
	each(settings, func(f field) {
		if f.goName == pe.Name {
			name = f.name
		}
	})
	return fmt.Errorf("%s: not a valid %s", name, kind(pe.Type))
}

func kind(t reflect.Type) string {
	switch {
	case t.String() == "time.Duration":
		return "duration (such as 90s or 24h)"
	case t.Kind() == reflect.Bool:
		return "boolean (true or false)"
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return "whole number"
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return strings.ToLower(t.Name())
	}
	return t.String()
}

// Usage writes the table of settings for -help: name, default and meaning.
func Usage(w io.Writer, settings any) {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	each(settings, func(f field) {
		def := f.def
		if def == "" {
			def = "-"
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\n", f.name, def, f.help)
	})
	tw.Flush()
}

// Markdown writes the table of settings for the documentation.
func Markdown(w io.Writer, settings any) {
	fmt.Fprint(w, "| Setting | Default | Meaning |\n|---|---|---|\n")
	each(settings, func(f field) {
		def := ""
		if f.def != "" {
			def = "`" + f.def + "`"
		}
		fmt.Fprintf(w, "| `%s` | %s | %s |\n", f.name, def, strings.ReplaceAll(f.help, "|", `\|`))
	})
}

type field struct {
	name, goName, def, help string
	value                   reflect.Value
}

// each calls f for every tagged field of the struct, including those of nested structs, in order.
func each(settings any, f func(field)) {
	v := reflect.Indirect(reflect.ValueOf(settings))
	for i := range v.NumField() {
		sf := v.Type().Field(i)
		name, _, _ := strings.Cut(sf.Tag.Get("env"), ",")
		if name == "" && sf.IsExported() && sf.Type.Kind() == reflect.Struct {
			each(v.Field(i).Addr().Interface(), f)
			continue
		}
		if name == "" {
			continue
		}
		f(field{name, sf.Name, sf.Tag.Get("envDefault"), sf.Tag.Get("help"), v.Field(i)})
	}
}

func environ() map[string]string {
	out := map[string]string{}
	for _, kv := range os.Environ() {
		if k, v, ok := strings.Cut(kv, "="); ok {
			out[k] = v
		}
	}
	return out
}
