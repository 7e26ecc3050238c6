//go:build linux

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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
	s := system{Kernel: said("uname", "-r"), Memory: "unknown", Commit: cmp.Or(commit, "unknown"), Mitigations: mitigations()}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		s.Memory = fmt.Sprintf("%.1f GiB", float64(info.Totalram)*float64(info.Unit)/(1<<30))
	}
	_, line, _ := strings.Cut(said("df", "--output=fstype,source", dir), "\n")
	s.Disk = strings.Join(strings.Fields(line), " on ")
	return s
}

// said returns what a program writes.
func said(program string, args ...string) string {
	b, err := exec.Command(program, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(b))
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
