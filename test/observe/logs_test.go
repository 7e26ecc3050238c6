package observe_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

const messagesFile = "testdata/log-messages.txt"

// levels maps the methods of slog.Logger to the index of their message argument. Log and LogAttrs take the level as an
// argument.
var levels = map[string]int{
	"Debug": 0, "Info": 0, "Warn": 0, "Error": 0,
	"DebugContext": 1, "InfoContext": 1, "WarnContext": 1, "ErrorContext": 1, "Log": 2, "LogAttrs": 2,
}

// logCall returns the message argument of a call of a logger, and its level.
func logCall(call *ast.CallExpr) (message ast.Expr, level string, ok bool) {
	sel, isMethod := call.Fun.(*ast.SelectorExpr)
	if !isMethod {
		return nil, "", false
	}
	i, isLevel := levels[sel.Sel.Name]
	if !isLevel || len(call.Args) <= i {
		return nil, "", false
	}
	var logger string
	switch x := sel.X.(type) {
	case *ast.Ident:
		logger = x.Name
	case *ast.SelectorExpr:
		logger = x.Sel.Name
	case *ast.CallExpr: // log.With("part", p).Info
		if s, isSel := x.Fun.(*ast.SelectorExpr); isSel {
			logger = s.Sel.Name
		}
	}
	level = strings.TrimSuffix(sel.Sel.Name, "Context")
	switch strings.ToLower(logger) {
	case "log", "logger", "slog", "with", "withgroup", "default":
	default:
		// Other types have methods of these names too, as testing.T has Error and Log.
		if level == "Error" || level == "Log" || level == "LogAttrs" {
			return nil, "", false
		}
	}
	if strings.HasPrefix(level, "Log") {
		level = "-"
	}
	return call.Args[i], level, true
}

// phrase is the form of a message: a constant in lower case with spaces. Its data are attributes.
var phrase = regexp.MustCompile(`^[a-z0-9][a-z0-9'/-]*,?( [a-z0-9'/-]+,?)*$`)

// logMessages lists the message of each call of a logger in the programs as "package  level  message", and the calls
// whose message does not have the form.
func logMessages(t *testing.T) (messages, faults []string) {
	t.Helper()
	found := map[string]bool{}
	for _, module := range []string{"control", "deploy", "edge", "shared", "test"} {
		base := testkit.Source(t, module)
		err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			folder, err := filepath.Rel(filepath.Dir(base), filepath.Dir(path))
			if err != nil {
				return err
			}
			in, wrong, err := messagesOf(path)
			for _, m := range in {
				found[filepath.ToSlash(folder)+"  "+m] = true
			}
			faults = append(faults, wrong...)
			return err
		})
		testkit.Must(t, err)
	}
	return slices.Sorted(maps.Keys(found)), faults
}

// messagesOf lists the messages of a file as "level  message", and the calls whose message does not have the form.
func messagesOf(path string) (messages, faults []string, err error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		if !isCall {
			return true
		}
		arg, level, ok := logCall(call)
		if !ok {
			return true
		}
		lit, isLiteral := arg.(*ast.BasicLit)
		if !isLiteral {
			faults = append(faults, fmt.Sprintf("%s: the log message is not a constant string", files.Position(arg.Pos())))
			return true
		}
		text, bad := strconv.Unquote(lit.Value)
		if bad != nil {
			err = bad
		}
		if !phrase.MatchString(text) || strings.HasSuffix(text, ",") || len(strings.Fields(text)) > 8 {
			faults = append(faults, fmt.Sprintf("%s: %q", files.Position(arg.Pos()), text))
		}
		messages = append(messages, level+"  "+text)
		return true
	})
	return messages, faults, err
}

// Operators search for log messages and alert on them, so a changed message shows in a review.
func TestLogs_messages_are_the_listed_ones(t *testing.T) {
	t.Parallel()
	messages, faults := logMessages(t)
	for _, f := range faults {
		t.Error(f)
	}
	if len(faults) > 0 {
		t.Error("Write a log message as one constant phrase of at most 8 words in lower case, without underscores, colons, semicolons or a " +
			"period. Put data into attributes.")
	}
	if len(messages) < 50 {
		t.Fatalf("found only %d messages", len(messages))
	}
	text := strings.Join(messages, "\n") + "\n"
	if *update {
		testkit.Must(t, os.WriteFile(messagesFile, []byte(text), 0o644))
	}
	want, err := os.ReadFile(messagesFile)
	testkit.Must(t, err)
	listed := strings.Split(strings.TrimSpace(string(want)), "\n")
	for _, m := range messages {
		if !slices.Contains(listed, m) {
			t.Errorf("not in %s: %s", messagesFile, m)
		}
	}
	for _, m := range listed {
		if !slices.Contains(messages, m) {
			t.Errorf("only in %s: %s", messagesFile, m)
		}
	}
	if t.Failed() {
		t.Log("if these changes are intended, run in test/observe: go test -run TestLogs -update .")
	}
}

// quoted finds what documents say that a program logs, such as "logs `backup written`".
var quoted = regexp.MustCompile("(?i)\\b(?:logs|logged|log (?:line|message|entry)) [`\"]([a-z][a-z0-9_,' /-]*)[`\"]")

func TestLogs_documents_quote_messages_that_exist(t *testing.T) {
	t.Parallel()
	var known []string
	messages, _ := logMessages(t)
	for _, m := range messages {
		known = append(known, strings.SplitN(m, "  ", 3)[2])
	}
	paths := slices.Concat(glob(t, "*.md"), glob(t, "docs/*.md"), glob(t, "docs/*/*.md"), glob(t, "deploy/*/*.md"),
		glob(t, "deploy/prometheus/rules/*.yml"))
	for _, path := range paths {
		b, err := os.ReadFile(path)
		testkit.Must(t, err)
		for _, m := range quoted.FindAllStringSubmatch(strings.Join(strings.Fields(string(b)), " "), -1) {
			if !slices.Contains(known, m[1]) {
				t.Errorf("%s quotes %q, which no program logs", path, m[1])
			}
		}
	}
}
