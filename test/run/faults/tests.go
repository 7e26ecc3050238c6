package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// check reports whether the fault applies, and whether its package compiles.
func (l *lab) check(ctx context.Context, f fault) (verdict, note string) {
	p, err := l.plant(ctx, f)
	return judge(applies, p.refusal, errors.Join(err, p.remove()))
}

// test reports whether the packages notice the fault, and the test that failed first.
func (l *lab) test(ctx context.Context, f fault) (verdict, note string) {
	p, err := l.plant(ctx, f)
	var failed outcome
	verdict = noTests
	for i, pattern := range f.Packages {
		if err != nil || p.refusal != "" || failed.failed {
			break
		}
		selected := ""
		if i == len(f.Packages)-1 {
			selected = f.Run
		}
		if failed, err = l.packages(ctx, p.root, p.overlay, pattern, selected); failed.tests > 0 {
			verdict = notFound
		}
	}
	if err = errors.Join(err, p.remove()); err != nil || !failed.failed {
		return judge(verdict, p.refusal, err)
	}
	alone, err := l.packages(ctx, p.root, "", failed.pattern, failed.selector())
	if verdict = found; alone.failed {
		verdict = failsAlone
	}
	if err != nil {
		return judge("", "", err)
	}
	return verdict, failed.name()
}

// judge chooses the verdict if there is an error or the compiler refuses the fault.
func judge(verdict, refusal string, err error) (v, note string) {
	switch {
	case errors.Is(err, errText):
		return noFault, err.Error()
	case err != nil:
		return broken, err.Error()
	case refusal != "":
		return noCompile, refusal
	}
	return verdict, ""
}

// outcome is the result of the tests of a pattern.
type outcome struct {
	tests  int // that ended
	failed bool
	// pattern repeats what failed: that of the package, or a command.
	pattern string
	first   string // the test that failed first; "" if a package failed without one
}

// project is the beginning of the import paths of all modules.
const project = "github.com/shortline/shortline/"

// name is what the table shows.
func (o outcome) name() string {
	return strings.TrimSpace(strings.TrimPrefix(o.pattern, "./") + " " + o.first)
}

// selector returns the flag -run that repeats the test that failed first, with all its subtests.
func (o outcome) selector() string {
	if o.first == "" {
		return ""
	}
	top, _, _ := strings.Cut(o.first, "/")
	return "^" + regexp.QuoteMeta(top) + "$"
}

// packages runs the tests of a pattern, or a command.
func (l *lab) packages(ctx context.Context, root, overlay, pattern, selected string) (o outcome, err error) {
	if !strings.HasPrefix(pattern, "./") {
		words := strings.Fields(pattern)
		refused, err := refusal(l.command(ctx, root, filepath.Join(root, words[0]), words[1:]...))
		return outcome{tests: 1, failed: refused != "", pattern: pattern}, err
	}
	args := []string{"test", "-json", "-vet=off", "-count=1", "-failfast", "-timeout=" + l.timeout.String()}
	if selected != "" {
		args = append(args, "-run="+selected)
	}
	cmd, err := l.goCommand(ctx, root, pattern, overlay, args...)
	if err != nil {
		return o, err
	}
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		return o, err
	}
	if err := cmd.Start(); err != nil {
		return o, err
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			o.add(line)
			if l.verbose {
				fmt.Fprint(cmd.Stderr, string(line))
			}
		}
		if err != nil {
			break
		}
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && o.failed:
		return o, nil
	case err == nil && o.failed:
		return o, errors.New("go test reports a failure and ends with status 0")
	}
	if err != nil {
		err = fmt.Errorf("go test %s: %w", pattern, err)
	}
	return o, err
}

// add reads a line of `go test -json` (see go doc test2json). A subtest ends before its parent, so the first failure is the most
// exact one.
func (o *outcome) add(line []byte) {
	var e struct{ Action, Package, Test string }
	if json.Unmarshal(line, &e) != nil {
		return // a message of the go command itself
	}
	if e.Test != "" && (e.Action == "pass" || e.Action == "fail") {
		o.tests++
	}
	if e.Action != "fail" {
		return
	}
	if !o.failed {
		o.failed, o.pattern, o.first = true, "./"+strings.TrimPrefix(e.Package, project), e.Test
	}
}
