package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// install gets the servers and tools that the tests run, and builds the console.
func (r *testRun) install(ctx context.Context) error {
	if err := r.step("tools and servers", func() error {
		return errors.Join(r.script(ctx, "deploy/dev/parts"), r.script(ctx, "test/observe/parts"), r.script(ctx, "test/clients/parts"))
	}); err != nil {
		return err
	}
	return r.step("console", func() error { return r.script(ctx, "deploy/dev/web") })
}

// helpers are the folders of the programs that tests run beside those of a release.
var helpers = []string{
	"shared/testing/testserver/keeper", "test/chd", "test/harness/cmd/fire", "test/kafka/cmd/kafkad", "shared/testing/shoptest/shop",
	"control/internal/platform/idptest/idp", "control/internal/platform/mail/mailtest",
	"control/internal/manage/domains/dnstest/nameserver",
}

// build builds every program that the tests run, and names it in the environment of the tests.
func (r *testRun) build(ctx context.Context, clocks bool) error {
	return r.step("programs", func() error {
		if err := os.Chdir(r.root); err != nil { // testkit looks for the project from here
			return err
		}
		add := func(name, path string, err error) error {
			r.env = append(r.env, testkit.ProgramVariable(name)+"="+path)
			return errors.Join(err, ctx.Err())
		}
		for _, name := range []string{"edge", "control", "standalone", "shortline"} {
			path, err := testkit.Release(name)
			if err := add(name, path, err); err != nil {
				return err
			}
			if !clocks || name == "shortline" {
				continue
			}
			path, err = testkit.ReleaseWithClock(name)
			if err := add(name+"-clock", path, err); err != nil {
				return err
			}
		}
		for _, folder := range helpers {
			path, err := testkit.Program(folder)
			if err := add(folder, path, err); err != nil {
				return err
			}
		}
		return r.checksums(ctx)
	})
}

// checksums adds checksums of the sources to the environment of the tests: of everything, of each file and folder in the root,
// and of each file and folder in those. See testkit.Source.
func (r *testRun) checksums(ctx context.Context) error {
	files, err := r.files(ctx)
	if err != nil {
		return err
	}
	slices.Sort(files)
	sums := map[string]hash.Hash{}
	for _, name := range files {
		text, err := contentOf(filepath.Join(r.root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, but not in the index yet
		}
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		first, _, _ := strings.Cut(name, "/")
		for _, variable := range slices.Compact([]string{testkit.SourceVariable(""), testkit.SourceVariable(first),
			testkit.SourceVariable(name)}) {
			if sums[variable] == nil {
				sums[variable] = sha256.New()
			}
			fmt.Fprintf(sums[variable], "%s %x\n", name, sum) // a hash accepts everything
		}
	}
	for variable, sum := range sums {
		r.env = append(r.env, variable+"="+hex.EncodeToString(sum.Sum(nil)))
	}
	return nil
}

// contentOf returns the content of a file, or the target of a link.
func contentOf(path string) ([]byte, error) {
	if target, err := os.Readlink(path); err == nil {
		return []byte(target), nil
	}
	return os.ReadFile(path)
}

// files returns the project's files, relative to the root: those that Git tracks, or would track. Without Git, all files that
// no tool has made.
func (r *testRun) files(ctx context.Context) (files []string, err error) {
	list := r.command(ctx, "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	list.Stdout = nil
	if out, err := list.Output(); err == nil {
		return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(name string) bool { return name == "" }), nil
	}
	made := []string{".git", "bin", "data", "node_modules", "dist"}
	err = filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(made, d.Name()) {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		name, err := filepath.Rel(r.root, path)
		files = append(files, filepath.ToSlash(name))
		return err
	})
	return files, err
}
