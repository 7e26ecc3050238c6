//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// stated matches what lscpu says about the number and kind of the processors, and about vulnerabilities that affect them.
var stated = regexp.MustCompile(`^(CPU\(s\)|Model name|L3 cache|Vulnerability .*):`)

// machine describes what the figures of a run depend on, in the words of the system's tools: kernel, load, memory, the disk of a
// folder, and the processors.
func machine(dir string) (lines []string) {
	for _, tool := range [][]string{{"uname", "-sr"}, {"uptime"}, {"free", "-h"}, {"df", "--output=fstype,source", dir}, {"lscpu"}} {
		out, err := exec.Command(tool[0], tool[1:]...).Output()
		if err != nil {
			out = fmt.Appendf(nil, "%s: %v", tool[0], err)
		}
		for line := range strings.Lines(string(out)) {
			if line = strings.TrimSpace(line); tool[0] != "lscpu" || stated.MatchString(line) && !strings.HasSuffix(line, "Not affected") {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// machineTime returns the processor time that the machine has used since it started, in programs, in the kernel and in
// interrupts. It has a resolution of 10 ms. See proc_stat(5).
func machineTime() (time.Duration, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(b), "\n")
	f := strings.Fields(first) // cpu user nice system idle iowait irq softirq ...
	if len(f) < 8 {
		return 0, fmt.Errorf("/proc/stat begins with %q", first)
	}
	ticks := 0
	for _, i := range []int{1, 2, 3, 6, 7} {
		n, err := strconv.Atoi(f[i])
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil // a hundred ticks a second, on all systems that Go supports
}

// ownTime returns the processor time that this process has used.
func ownTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// threadTime returns the processor time of the current thread. The goroutine must be locked to the thread.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
