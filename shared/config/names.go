package config

import (
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

//go:embed names.txt
var names string

// Names returns the names of the settings of all programs and their commands. Programs are often started with one file of
// settings, so a setting of another program is no mistake.
func Names() []string { return strings.Fields(names) }

// Misspelt returns a sentence for each variable of the environment that is no setting of any program, but whose name differs
// by at most two letters from that of one of these settings.
func Misspelt(settings any) []string { return misspelt(settings, environ()) }

func misspelt(settings any, environment map[string]string) (out []string) {
	known := Names()
	var own []string
	each(settings, func(f field) {
		own = append(own, f.name)
		if f.value.Type() == reflect.TypeFor[Secret]() {
			own = append(own, f.name+"_FILE")
		}
	})
	for name := range environment {
		if slices.Contains(own, name) || slices.Contains(known, name) || slices.Contains(known, strings.TrimSuffix(name, "_FILE")) {
			continue
		}
		for _, want := range own {
			// Names of few letters are like those of others by chance.
			if len(want) >= 7 && distance(name, want) <= 2 {
				out = append(out, fmt.Sprintf("%s: is not a setting; %s is", name, want))
				break
			}
		}
	}
	slices.Sort(out)
	return out
}

// distance returns how many letters must be inserted, removed or replaced to make b of a (Levenshtein), or 3 if their
// lengths differ by more than 2.
func distance(a, b string) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 3
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := min(row[j]+1, row[j+1]+1, diagonal+1)
			if a[i] == b[j] {
				next = diagonal
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}

// Given returns the names of the variables that set something, such as BASE_URL and JWT_SECRET_FILE, in the order of the
// settings.
func Given(settings any) (out []string) {
	environment := environ()
	each(settings, func(f field) {
		if environment[f.name] != "" {
			out = append(out, f.name)
		}
		if f.value.Type() == reflect.TypeFor[Secret]() && environment[f.name+"_FILE"] != "" {
			out = append(out, f.name+"_FILE")
		}
	})
	return out
}

// Each calls f with the name and the value of each setting, in order. Secrets are stars.
func Each(settings any, f func(name, value string)) {
	each(settings, func(one field) { f(one.name, fmt.Sprint(one.value.Interface())) })
}
