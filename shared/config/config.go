// Package config reads settings from the environment into structs, reports all problems at once, and keeps secrets out
// of output.
//
// A setting NAME of type Secret may also be set by NAME_FILE, the path of a file that holds the value. Container
// platforms provide secrets as files.
package config

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
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
	problems = append(problems, parse(settings, environment)...)
	if v, ok := settings.(Validator); ok {
		if err := v.Validate(); err != nil {
			problems = append(problems, withoutKnown(err, problems)...)
		}
	}
	return errors.Join(distinct(problems)...)
}

// parse fills the fields, and gives those whose values are of the wrong form their defaults.
func parse(settings any, environment map[string]string) (problems []error) {
	for {
		err := env.ParseWithOptions(settings, env.Options{Environment: environment})
		if err == nil {
			return problems
		}
		var all env.AggregateError
		if !errors.As(err, &all) {
			return append(problems, err)
		}
		bad := 0
		for _, e := range all.Errors {
			name, err := plain(settings, environment, e)
			problems = append(problems, err)
			if _, given := environment[name]; given {
				delete(environment, name)
				bad++
			}
		}
		if bad == 0 {
			return problems
		}
	}
}

// withoutKnown returns the lines of an error about settings of which no problem is known yet.
func withoutKnown(err error, known []error) (lines []error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		name, _, _ := strings.Cut(line, ":")
		if !slices.ContainsFunc(known, func(k error) bool {
			of, _, _ := strings.Cut(k.Error(), ":")
			return of == name || of == name+"_FILE" || strings.HasPrefix(of, name+" and ")
		}) {
			lines = append(lines, errors.New(line))
		}
	}
	return lines
}

// distinct removes repetitions: two parts of a program may check the same setting.
func distinct(list []error) (out []error) {
	for _, err := range list {
		if !slices.ContainsFunc(out, func(have error) bool { return have.Error() == err.Error() }) {
			out = append(out, err)
		}
	}
	return out
}

// plain returns the name of the variable that an error is about, and an error that has it instead of the Go field and omits the
// value, which may be secret.
func plain(settings any, environment map[string]string, err error) (name string, _ error) {
	var pe env.ParseError
	if !errors.As(err, &pe) {
		return "", err
	}
	name = pe.Name
	each(settings, func(f field) {
		value := environment[f.name]
		if f.goName != pe.Name || f.value.Type() != pe.Type || value == "" {
			return
		}
		// Fields of different structs may have one name. The parsers' errors quote the value.
		if name == pe.Name || strings.Contains(pe.Err.Error(), strconv.Quote(value)) {
			name = f.name
		}
	})
	return name, fmt.Errorf("%s: not a valid %s", name, kindOf(pe.Type))
}

func kindOf(t reflect.Type) string {
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
		def := cmp.Or(f.def, "-")
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
