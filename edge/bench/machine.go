//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// system describes what the figures of a run depend on, in addition to the processors.
type system struct {
	Kernel      string `json:"kernel"`
	Memory      string `json:"memory"`
	Disk        string `json:"disk"` // file system of the spool
	Commit      string `json:"commit"`
	Mitigations string `json:"mitigations"` // what the kernel says about vulnerabilities of the processor
}

// systemOf describes this machine, with the disk of a folder.
func systemOf(dir, commit string) system {
	s := system{Kernel: "unknown", Memory: "unknown", Disk: diskOf(dir), Commit: commit, Mitigations: mitigations()}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		s.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		s.Memory = fmt.Sprintf("%.1f GiB", float64(info.Totalram)*float64(info.Unit)/(1<<30))
	}
	if build, ok := debug.ReadBuildInfo(); ok && commit == "" {
		for _, setting := range build.Settings {
			if setting.Key == "vcs.revision" {
				s.Commit = setting.Value[:min(len(setting.Value), 12)]
			}
			if setting.Key == "vcs.modified" && setting.Value == "true" {
				s.Commit += " with changes"
			}
		}
	}
	return s
}

// diskOf returns the type and the device of the file system of a folder.
func diskOf(dir string) string {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "unknown"
	}
	b, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return "unknown"
	}
	best, found := "", "unknown"
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 3 || len(f[1]) < len(best) || f[1] != "/" && path != f[1] && !strings.HasPrefix(path, f[1]+"/") {
			continue
		}
		best, found = f[1], f[2]+" on "+f[0]
	}
	return found
}

// mitigations counts the kernel's statements about vulnerabilities of the processor, without those that do not affect it.
func mitigations() string {
	files, err := filepath.Glob("/sys/devices/system/cpu/vulnerabilities/*")
	if err != nil || len(files) == 0 {
		return "unknown"
	}
	var all []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		if state := string(bytes.TrimSpace(b)); err == nil && state != "Not affected" {
			all = append(all, filepath.Base(file)+": "+state)
		}
	}
	if len(all) == 0 {
		return "none needed"
	}
	return strings.Join(all, "; ")
}

func (s *system) write(w io.Writer) {
	fmt.Fprintf(w, "kernel %s, memory %s, %s, commit %s\nmitigations: %s\n", s.Kernel, s.Memory, s.Disk, s.Commit, s.Mitigations)
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
