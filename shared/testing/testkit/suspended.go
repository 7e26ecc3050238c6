package testkit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// Suspended reports whether all threads of a process are suspended. SIGSTOP stops one thread after another, so a process may
// still answer for a moment after the signal. Without /proc it is always true.
func Suspended(pid int) bool {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		panic(fmt.Sprintf("BUG: the pattern is wrong: %v", err))
	}
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		// The state follows the name of the program, which is in brackets (proc_pid_stat(5)).
		if at := bytes.LastIndexByte(stat, ')'); err == nil && at >= 0 && !bytes.HasPrefix(stat[at:], []byte(") T")) {
			return false
		}
	}
	return true
}
