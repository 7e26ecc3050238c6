package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/testing/testserver"
)

// memoryFolder is where Linux keeps files in memory.
const memoryFolder = "/dev/shm"

const (
	scratchSize = 8 << 30 // how many bytes must be free; a run writes up to 3 GiB
	notExecuted = 8       // ST_NOEXEC of statvfs(3): programs on this file system cannot be started
)

// scratch makes a folder in memory the one for temporary files of this process and of those that it starts: databases, logs and
// test programs. Otherwise a run waits for the disk half of the time. The products call fsync as ever, and a process that is
// killed loses nothing that it has written to memory. TMPDIR, if it is set, wins, and so does the disk if there is little memory.
// The name of the folder is always the same, because Go's test cache compares TMPDIR.
//
// With keep, the folder and the servers in it stay as they are, for the next run. Otherwise the first of several runs at the same
// time empties the folder, and the last one removes it. Call leave at the end: until then, no other run empties the folder.
func scratch(keep bool) (leave func() error, err error) {
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memoryFolder, &fs) != nil {
		return func() error { return nil }, nil
	}
	if fs.Flags&notExecuted != 0 || fs.Bavail*uint64(fs.Bsize) < scratchSize {
		return func() error { return nil }, nil
	}
	return enter(filepath.Join(memoryFolder, "shortline-test-"+strconv.Itoa(os.Getuid())), keep)
}

func enter(dir string, keep bool) (leave func() error, err error) {
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if !keep { // what a run that was killed has left
		if _, err := removeUnused(lock, dir, 0); err != nil {
			return nil, err
		}
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_SH); err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { // PostgreSQL runs as another user and must enter
		return nil, err
	}
	return func() error {
		if keep {
			return lock.Close()
		}
		left, err := removeUnused(lock, dir, testkit.Patience)
		if len(left) > 0 {
			err = errors.Join(fmt.Errorf("tests have left processes behind: %s", strings.Join(left, "; ")), err)
		}
		return errors.Join(err, lock.Close())
	}, nil
}

// removeUnused stops the servers in the folder and removes the folder, unless another run holds the lock. It returns the processes that
// it had to kill: see killLeft.
func removeUnused(lock *os.File, dir string, patience time.Duration) (killed []string, err error) {
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	err = testserver.Stop()
	killed = killLeft(dir, patience)
	return killed, errors.Join(err, os.RemoveAll(dir))
}

// killLeft waits for the processes whose temporary files are in the folder. It kills those that have not ended in time, and returns
// their numbers and command lines.
func killLeft(dir string, patience time.Duration) (killed []string) {
	began := time.Now()
	for {
		left := processesOf(dir)
		if len(left) == 0 {
			return nil
		}
		if time.Since(began) < patience {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		for pid, name := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // an error means that it has ended
			killed = append(killed, name)
		}
		return killed
	}
}

// processesOf returns the other processes that were started with the folder as TMPDIR, with their command lines.
func processesOf(dir string) map[int]string {
	left := map[int]string{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ")) // of another user: empty
		if slices.Contains(strings.Split(string(env), "\x00"), "TMPDIR="+dir) {
			command, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
			line := strings.TrimSpace(strings.ReplaceAll(string(command), "\x00", " "))
			left[pid] = fmt.Sprintf("%d %s", pid, line[:min(len(line), 100)])
		}
	}
	return left
}
