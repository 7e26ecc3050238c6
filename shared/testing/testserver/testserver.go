// Package testserver runs a server once for all test processes of a user, for example PostgreSQL.
//
// The first process that needs the server starts it. Later processes find it. It stays for a while after the last process
// has ended, so that the second run of a package's tests does not wait for it. Tests share the server, so each of them uses
// a database, topic or prefix of its own, and no test kills or stops it.
//
// A small program, keeper, runs beside the server. It removes the server and its folder after ten minutes without a user,
// and immediately when Stop asks for it. The system kills the server if the keeper dies.
package testserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Server describes a server.
type Server struct {
	// Name identifies the server. It names everything that makes a difference, such as the version: processes that ask for
	// the same name get the same server.
	Name string
	// Prepare fills the server's empty folder and returns the command that runs the server in the foreground.
	Prepare func(dir string) (Command, error)
	// Ready returns nil once the server in the folder answers. It is called repeatedly.
	Ready func(dir string) error
}

// Command runs a server. Its output goes to the file log in the server's folder.
type Command struct {
	Path string
	Args []string
	Env  []string // in addition to the environment of the first process
	// UID and GID are the user and group to run as; 0 means those of this process.
	UID, GID int
}

// The files in the folder of all servers, and in the folder of one server.
const (
	lockSuffix  = ".lock"  // held while a server is started or stopped
	aliveSuffix = ".alive" // held by the keeper while it lives
	usedFile    = "used"   // its modification time is the last time when a process used the server
	logFile     = "log"    // output of the server and of the keeper
)

// root returns the folder of all servers. Other users may enter it, because PostgreSQL does not run as root.
func root() string {
	return filepath.Join(os.TempDir(), "shortline-servers-"+strconv.Itoa(os.Getuid()))
}

// Use returns the folder of the server, and starts the server if it does not run. The server then runs at least until this
// process ends.
func (s Server) Use() (dir string, err error) {
	dir, err = s.use()
	if err != nil {
		return "", fmt.Errorf("server %s for tests: %w", s.Name, err)
	}
	return dir, nil
}

func (s Server) use() (string, error) {
	dir := filepath.Join(root(), s.Name)
	if err := os.MkdirAll(root(), 0o755); err != nil {
		return "", err
	}
	unlock, err := testkit.LockFile(dir + lockSuffix)
	if err != nil {
		return "", err
	}
	defer unlock()
	if running(dir) {
		err = touch(dir)
	} else {
		err = s.start(dir)
	}
	if err != nil {
		return "", err
	}
	go func() {
		for range time.Tick(20 * time.Second) {
			_ = touch(dir) // Stop has removed the folder
		}
	}()
	return dir, s.wait(dir)
}

// start runs the keeper, and the server with it, in a new folder.
func (s Server) start(dir string) error {
	keeper, err := testkit.Program("shared/testing/testserver/keeper")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil { // of a server that was killed
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	command, err := s.Prepare(dir)
	if err != nil {
		return err
	}
	if err := touch(dir); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, logFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{"-dir", dir, "-uid", strconv.Itoa(command.UID), "-gid", strconv.Itoa(command.GID), "--", command.Path}
	cmd := exec.Command(keeper, append(args, command.Args...)...)
	cmd.Env = append(os.Environ(), command.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives this process and its terminal
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its log says how it ended
		close(ended)
	}()
	for deadline := time.Now().Add(testkit.Patience); !running(dir); {
		select {
		case <-ended:
			return fmt.Errorf("it ended before it answered; its log: %s", logEnd(dir))
		case <-time.After(2 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the keeper did not start; its log: %s", logEnd(dir))
		}
	}
	return nil
}

// wait returns when the server answers.
func (s Server) wait(dir string) error {
	for deadline := time.Now().Add(testkit.Patience); ; time.Sleep(10 * time.Millisecond) {
		err := s.Ready(dir)
		switch {
		case err == nil:
			return nil
		case !running(dir):
			return fmt.Errorf("it ended before it answered: %w; its log: %s", err, logEnd(dir))
		case time.Now().After(deadline):
			return fmt.Errorf("it does not answer: %w; its log: %s", err, logEnd(dir))
		}
	}
}

// Stop ends all servers of this user, and returns when their folders are removed.
func Stop() error {
	locks, err := filepath.Glob(filepath.Join(root(), "*"+aliveSuffix))
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, len(locks))
	for i, name := range locks {
		wg.Go(func() { errs[i] = stop(strings.TrimSuffix(name, aliveSuffix)) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// stop ends one server. A process that starts to use it meanwhile keeps it.
func stop(dir string) error {
	if !running(dir) {
		return nil
	}
	if err := os.Remove(filepath.Join(dir, usedFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for deadline := time.Now().Add(testkit.Patience); running(dir); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("server %s for tests does not end", filepath.Base(dir))
		}
	}
	return nil
}

// running reports whether the keeper of the server lives.
func running(dir string) bool {
	f, err := os.OpenFile(dir+aliveSuffix, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// touch records that the server is used now.
func touch(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, usedFile), os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	f.Close()
	now := time.Now()
	return os.Chtimes(f.Name(), now, now)
}

// logEnd returns the end of the server's output.
func logEnd(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, logFile))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4096):])
}
