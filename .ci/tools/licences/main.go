// Command licences lists the third-party parts of the programs and their licences: in docs/operators/licences.md for readers, and
// with every full text as THIRD_PARTY_LICENSES-<program>.txt. That file is distributed with the program, because most
// licences ask for it. The command fails if a licence is not on its list.
//
// It reads the licence files and notices in the folders of the linked packages, up to the root of their module, and
// recognises licences with licensecheck. Parts that are not Go packages are listed in this package, with their texts in
// the folder texts. The same modules produce the same output on any machine.
//
//	licences                       write docs/operators/licences.md
//	licences -check                compare the page, and generate all texts without writing them
//	licences -texts DIR [NAME…]    write the texts of the named programs, or of all, for GOOS and GOARCH
//
// The C library of a static program is under the LGPL. That is allowed as long as every recipient of the program can get
// the source that it is linked from, which is this repository.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// programs are the shipped programs: name, folder of the module, package.
var programs = []struct{ name, dir, pkg string }{
	{"edge", "edge", "./cmd/edge"},
	{"control", "control", "./cmd/control"},
	{"standalone", "control/cmd/standalone", "."},
	{"shortline", "client/cmd/shortline", "."},
}

func main() {
	root := flag.String("root", "../..", "the repository's `folder`")
	check := flag.Bool("check", false, "compare docs/operators/licences.md with the generated page")
	texts := flag.String("texts", "", "write the texts of programs into this `folder`")
	flag.Parse()
	var err error
	if *texts != "" {
		err = writeTexts(*root, *texts, flag.Args())
	} else {
		err = run(*root, *check)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

// run writes or compares the page, which is about Linux.
func run(root string, check bool) error {
	all := map[string]*part{}
	for _, p := range programs {
		linked, err := collect(p.name, filepath.Join(root, p.dir), p.pkg, "linux", "amd64")
		if err != nil {
			return err
		}
		if _, err := render(root, p.name, linked); err != nil {
			return err
		}
		for _, m := range linked {
			if have := all[m.Path]; have != nil {
				have.used = append(have.used, m.used...)
				for _, l := range m.licences {
					if !slices.Contains(have.licences, l) {
						have.licences = append(have.licences, l)
					}
				}
				slices.Sort(have.licences)
			} else {
				all[m.Path] = m
			}
		}
	}
	page := filepath.Join(root, "docs", "operators", "licences.md")
	text := table(all)
	if !check {
		return os.WriteFile(page, text, 0o644)
	}
	if is, err := os.ReadFile(page); err != nil || !bytes.Equal(is, text) {
		return fmt.Errorf("docs/operators/licences.md is not up to date: cd .ci/tools && GOWORK=off go run ./licences (%v)", err)
	}
	return nil
}

// writeTexts writes what goes beside the programs of these names, or beside all.
func writeTexts(root, dir string, names []string) error {
	goos, goarch := runtime.GOOS, runtime.GOARCH
	if v := os.Getenv("GOOS"); v != "" {
		goos = v
	}
	if v := os.Getenv("GOARCH"); v != "" {
		goarch = v
	}
	var problems []error
	for _, p := range programs {
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		linked, err := collect(p.name, filepath.Join(root, p.dir), p.pkg, goos, goarch)
		if err != nil {
			return err
		}
		text, err := render(root, p.name, linked)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "THIRD_PARTY_LICENSES-"+p.name+".txt"), text, 0o644)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// table is the page.
func table(all map[string]*part) []byte {
	var b bytes.Buffer
	b.WriteString(
		"# Licences\n\nThis page lists the third-party parts of the programs for Linux, with their licences. Shortline itself is under " +
			"Apache-2.0.\n`.ci/tools/licences` generates the page, and `make check` compares it. The tool rejects licences that ask for more " +
			"than a notice, or (MPL)\nfor the source of changed files; we changed none.\n\n")
	b.WriteString(
		"The full texts are in `THIRD_PARTY_LICENSES-<program>.txt`, which `make build` writes beside the programs. Images contain them " +
			"in\n`/usr/share/doc/shortline`. Distribute them with a program. A statically linked control plane contains the GNU C library. Its " +
			"licence\nasks that recipients can link it again; the source of this release allows that.\n\n")
	b.WriteString("| module | version | licence | in |\n|---|---|---|---|\n")
	for _, path := range sorted(all) {
		p := all[path]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p.Path, p.Version, strings.Join(p.licences, ", "), strings.Join(p.used, ", "))
	}
	b.WriteString("\nAlso:\n\n| what | licence | in |\n|---|---|---|\n")
	for _, o := range others {
		where := strings.Join(o.in, ", ")
		switch len(o.in) {
		case 0:
			where = "-"
		case len(programs):
			where = "all"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", o.name, o.licence, where)
	}
	return b.Bytes()
}

func sorted(all map[string]*part) []string {
	var list []string
	for path := range all {
		list = append(list, path)
	}
	slices.Sort(list)
	return list
}
