// Command vendorcrawlers converts the JSON of the npm package crawler-user-agents to the files of package visitor:
// crawlers.tsv (name, pattern), which is embedded, and testdata/crawlers.tsv (name, quoted sample), which only the
// tests read. It downloads nothing: pass it the file and the version of the package.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"regexp"
	"regexp/syntax"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: vendorcrawlers crawler-user-agents.json version")
	}
	raw, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var list []struct {
		Pattern   string
		Instances []string
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		log.Fatal(err)
	}

	var patterns, samples strings.Builder
	fmt.Fprintf(&patterns, "# crawler-user-agents %s, MIT, see crawlers.LICENSE; made by internal/vendorcrawlers\n", os.Args[2])
	for _, c := range list {
		re, err := regexp.Compile(c.Pattern)
		if err != nil {
			log.Fatal(err)
		}
		sample := ""
		for _, s := range c.Instances {
			if re.MatchString(s) {
				sample = re.FindString(s)
				break
			}
		}
		name := nameOf(c.Pattern, sample)
		fmt.Fprintf(&patterns, "%s\t%s\n", name, c.Pattern)
		for _, s := range c.Instances {
			fmt.Fprintf(&samples, "%s\t%q\n", name, s)
		}
	}
	for file, text := range map[string]string{"crawlers.tsv": patterns.String(), "testdata/crawlers.tsv": samples.String()} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// nameOf returns the name that people see. It is the pattern itself if that is a literal, else the text that the
// pattern matches in sample, without the punctuation around it.
func nameOf(pattern, sample string) string {
	name := sample
	if re, err := syntax.Parse(pattern, syntax.Perl); err == nil && re.Simplify().Op == syntax.OpLiteral {
		name = string(re.Rune)
	}
	if name == "" {
		name = strings.Trim(pattern, "^$")
	}
	name, _, _ = strings.Cut(name, " (")
	name = strings.Trim(name, " /;,:()[]+-_\t")
	if len(name) > 48 {
		name = name[:48]
	}
	return name
}
