// Command faults plants faults in the product, one at a time, and reports which of them the tests find.
//
//	go run ./test/run/faults -check                     every fault applies, and the product compiles with it
//	go run ./test/run/faults -out bin/faults.md         test all faults; this takes hours
//	go run ./test/run/faults -only spool                only faults whose name or file matches
//	go run ./test/run/faults -root ../old               the same faults, with the sources and tests of another checkout
//
// faults.json has the faults, each with the packages whose tests should notice. The command tries them in the order of the
// list, and stops at the first one whose tests fail. It then repeats the failed test without the fault. A test that fails
// without the fault, too, has found nothing.
//
// The checkout stays as it is. A fault in a Go file is an overlay of the go command. Programs that tests build have the
// fault, too, by the variables GOFLAGS and PROGRAM_OVERLAY; those of testkit.ReleaseWithClock do not, because they have an
// overlay of their own. Other files, such as those of the console, are changed in a copy of the checkout.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

//go:embed faults.json
var list []byte

// options are the flags of the command.
type options struct {
	root    string
	only    string
	out     string
	check   bool
	verbose bool
	timeout time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", "", "folder of the checkout to test; the default is the folder above that has go.work")
	flag.StringVar(&o.only, "only", "", "regular expression for the names or files of the faults to plant")
	flag.StringVar(&o.out, "out", "", "file for the table in Markdown; it is written after every fault")
	flag.BoolVar(&o.check, "check", false, "check that every fault applies and compiles, without tests")
	flag.BoolVar(&o.verbose, "v", false, "print the output of the tests")
	flag.DurationVar(&o.timeout, "timeout", 30*time.Minute, "limit of the tests of one package")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	faults, err := parse(list)
	if err != nil {
		return err
	}
	l, err := newLab(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	var t table
	for _, f := range faults {
		if !only.MatchString(f.Name) && !only.MatchString(f.File) {
			continue
		}
		began := time.Now()
		r := result{fault: f}
		if o.check {
			r.verdict, r.note = l.check(ctx, f)
		} else {
			r.verdict, r.note = l.test(ctx, f)
		}
		if ctx.Err() != nil {
			return ctx.Err() // an interrupted test has failed for another reason
		}
		r.took = time.Since(began)
		if t = append(t, r); len(t) == 1 {
			fmt.Println(header)
		}
		fmt.Println(r)
		if o.out != "" {
			if err := os.WriteFile(o.out, []byte(t.markdown(l.root)), 0o644); err != nil {
				return err
			}
		}
	}
	fmt.Println("\n" + t.counts())
	if t.bad() {
		return errors.New("some faults were not found")
	}
	return nil
}

// rootFolder returns the folder above the working directory that has go.work.
func rootFolder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("no folder above this one has go.work")
}
