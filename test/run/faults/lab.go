package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	consoleFolder = "control/internal/console/web"
	consoleBuild  = "deploy/dev/web"

	goFlags = "GOFLAGS=-trimpath -buildvcs=false"
)

// lab plants faults in one checkout.
type lab struct {
	options
	root    string // absolute
	scratch string // temporary folder
	copied  bool   // the copy of the checkout is there
}

func newLab(o options) (*lab, error) {
	root := o.root
	if root == "" {
		var err error
		if root, err = rootFolder(); err != nil {
			return nil, err
		}
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "go.work")); err != nil {
		return nil, fmt.Errorf("%s is not a checkout of the project: %w", root, err)
	}
	scratch, err := os.MkdirTemp("", "shortline-faults-")
	if err != nil {
		return nil, err
	}
	return &lab{options: o, root: root, scratch: scratch}, nil
}

// close removes the copy and the overlays.
func (l *lab) close() error {
	var err error
	if l.copied {
		err = l.command(context.Background(), l.root, "git", "worktree", "remove", "--force", l.copy()).Run()
	}
	return errors.Join(err, os.RemoveAll(l.scratch))
}

func (l *lab) copy() string { return filepath.Join(l.scratch, "copy") }

// command returns a command whose output appears with -v only. It does not use programs that make test has built without the
// fault. -trimpath makes results in the build cache independent of the folder of the checkout.
func (l *lab) command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "SHORTLINE_PROGRAM_") && !strings.HasPrefix(e, "SHORTLINE_SOURCE_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, goFlags)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 30 * time.Second
	if l.verbose {
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	}
	return cmd
}

// goCommand returns a go command in the module of a package. overlay is the name of a file, or "".
func (l *lab) goCommand(ctx context.Context, root, pkg, overlay string, args ...string) (*exec.Cmd, error) {
	module, rest, err := moduleOf(root, pkg)
	if err != nil {
		return nil, err
	}
	work, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		return nil, err
	}
	cmd := l.command(ctx, filepath.Join(root, module), "go", append(args, "./"+rest)...)
	if overlay != "" {
		cmd.Env = append(cmd.Env, goFlags+" -overlay="+overlay, "PROGRAM_OVERLAY="+overlay)
	}
	if !strings.Contains(string(work)+"\n", "./"+module+"\n") {
		cmd.Env = append(cmd.Env, "GOWORK=off")
	}
	return cmd, nil
}

// moduleOf divides the pattern of a package, relative to the root, into the folder of its module and the rest.
func moduleOf(root, pkg string) (module, rest string, err error) {
	parts := strings.Split(strings.TrimPrefix(pkg, "./"), "/")
	for n := len(parts); n > 0; n-- {
		module = strings.Join(parts[:n], "/")
		if _, err := os.Stat(filepath.Join(root, module, "go.mod")); err == nil {
			return module, strings.Join(parts[n:], "/"), nil
		}
	}
	return "", "", fmt.Errorf("%s is in no module", pkg)
}

// planted is the checkout with a fault.
type planted struct {
	root    string
	overlay string       // file for the go command; "" for a copy
	refusal string       // what the compiler says if it refuses the fault
	remove  func() error // removes the fault; the lab has one fault at a time
}

func (l *lab) plant(ctx context.Context, f fault) (p planted, err error) {
	p = planted{root: l.root, remove: func() error { return nil }}
	text, err := f.text(l.root)
	if err != nil {
		return p, err
	}
	if !f.isGo() {
		return l.plantCopy(ctx, f, text)
	}
	file := filepath.Join(l.scratch, filepath.Base(f.File))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return p, err
	}
	content, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(l.root, f.File): file}})
	if err != nil {
		return p, err
	}
	p.overlay = filepath.Join(l.scratch, "overlay.json")
	if err := os.WriteFile(p.overlay, content, 0o600); err != nil {
		return p, err
	}
	build, err := l.goCommand(ctx, l.root, filepath.Dir(f.File), p.overlay, "build", "-o", os.DevNull)
	if err != nil {
		return p, err
	}
	p.refusal, err = refusal(build)
	return p, err
}

// plantCopy plants a fault that is not in a Go file.
func (l *lab) plantCopy(ctx context.Context, f fault, text []byte) (p planted, err error) {
	p = planted{root: l.copy(), remove: func() error { return nil }}
	if err := l.copyCheckout(ctx); err != nil {
		return p, fmt.Errorf("copy the checkout: %w", err)
	}
	file := filepath.Join(p.root, f.File)
	right, err := os.ReadFile(file)
	if err != nil {
		return p, err
	}
	p.remove = func() error { return os.WriteFile(file, right, 0o644) }
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return p, err
	}
	if strings.HasPrefix(f.File, consoleFolder+"/") && !l.options.check {
		p.refusal, err = refusal(l.command(ctx, p.root, filepath.Join(p.root, consoleBuild)))
	}
	return p, err
}

// copyCheckout makes a copy of the checkout, with everything that is not committed, unless it is there.
func (l *lab) copyCheckout(ctx context.Context) error {
	if l.copied {
		return nil
	}
	if err := l.command(ctx, l.root, "git", "worktree", "add", "--detach", l.copy(), "HEAD").Run(); err != nil {
		return err
	}
	l.copied = true
	var names []byte
	for _, args := range [][]string{{"diff", "--name-only", "-z", "HEAD"}, {"ls-files", "--others", "--exclude-standard", "-z"}} {
		cmd := l.command(ctx, l.root, "git", args...)
		cmd.Stdout = nil
		out, err := cmd.Output()
		if err != nil {
			return err
		}
		names = append(names, out...)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(names), "\x00"), "\x00") {
		if name == "" {
			continue
		}
		if err := copyFile(filepath.Join(l.root, name), filepath.Join(l.copy(), name)); err != nil {
			return err
		}
	}
	modules := filepath.Join(l.root, consoleFolder, "node_modules") // saves a download
	if _, err := os.Stat(modules); err != nil {
		return nil
	}
	return l.command(ctx, l.root, "cp", "-a", modules, filepath.Join(l.copy(), consoleFolder)).Run()
}

// copyFile copies a file, or removes the copy of one that is not there.
func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// refusal runs a compiler and returns its output if it fails, or "".
func refusal(cmd *exec.Cmd) (string, error) {
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return strings.TrimSpace(b.String()) + "\n" + exit.String(), nil
	}
	return "", err
}
