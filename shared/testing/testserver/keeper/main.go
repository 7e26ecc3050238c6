// Command keeper runs a server that all test processes of a user share, until none of them needs it any more. See package
// testserver, which starts it.
//
// The modification time of the file "used" in the server's folder says when a process used the server last. The keeper ends
// the server and removes the folder when that is ten minutes ago, or when the file is gone.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// idle is how long a server stays without a user.
const idle = 10 * time.Minute

func main() {
	dir := flag.String("dir", "", "folder of the server")
	uid := flag.Int("uid", 0, "user to run the server as; 0 is the current one")
	gid := flag.Int("gid", 0, "group to run the server as")
	flag.Parse()
	if err := run(*dir, *uid, *gid, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "keeper:", err)
		os.Exit(1)
	}
}

func run(dir string, uid, gid int, command []string) error {
	if dir == "" || len(command) == 0 {
		return errors.New("usage: keeper -dir FOLDER -- COMMAND [ARGUMENT ...]")
	}
	alive, err := os.OpenFile(dir+".alive", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer alive.Close()
	if err := syscall.Flock(int(alive.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}

	runtime.LockOSThread() // the system kills the server when the thread that started it ends
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	cmd.SysProcAttr = childOf(uid, gid)
	stdin, err := cmd.StdinPipe() // stays open, because some servers end with their input
	if err != nil {
		return err
	}
	defer stdin.Close()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			return fmt.Errorf("the server ended: %w", err)
		case <-look.C:
		}
		if used(dir) {
			continue
		}
		// A process that is starting to use the server holds the lock.
		unlock, ok := tryLock(dir + ".lock")
		if !ok {
			continue
		}
		if used(dir) {
			unlock()
			continue
		}
		end(cmd.Process, ended)
		err := remove(dir)
		unlock()
		return err
	}
}

// end ends the server. PostgreSQL's processes leave memory behind when they are killed, so the server is asked first.
func end(server *os.Process, ended <-chan error) {
	_ = server.Signal(os.Interrupt) // it may have ended already
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = syscall.Kill(-server.Pid, syscall.SIGKILL)
		<-ended
	}
}

// remove removes the folder. Processes of the server that are still ending may create files in it for a moment.
func remove(dir string) (err error) {
	for range 50 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// used reports whether a process needs the server.
func used(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "used"))
	return !errors.Is(err, fs.ErrNotExist) && (err != nil || time.Since(info.ModTime()) < idle)
}

func tryLock(name string) (unlock func(), ok bool) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		f.Close()
		return nil, false
	}
	return func() { f.Close() }, true
}
