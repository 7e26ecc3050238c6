package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockSetting is what a program with a clock of its own reads at its start: seconds, of which none means 0.
const clockSetting = "CLOCK_OFFSET_SECONDS"

const (
	// What time.Now begins with in the toolchain's own source, and what it begins with for a clock that is off. Timers
	// and durations go by the monotonic reading, which stays.
	clockAsItIs = "\tsec, nsec, mono := runtimeNow()\n"
	clockOff    = clockAsItIs + "\tsec += clockOffset\n"

	clockSource = `package time

import "syscall"

var clockOffset = func() (sec int64) {
	text, _ := syscall.Getenv("` + clockSetting + `")
	for _, c := range []byte(text) {
		if '0' <= c && c <= '9' {
			sec = sec*10 + int64(c-'0')
		}
	}
	if text != "" && text[0] == '-' {
		return -sec
	}
	return sec
}()
`
)

// overlay writes, into dir, what the compiler is to take in place of the standard library's clock for a program that
// it builds from the folder where, and returns the file that says so. The system's clock is read without a system
// call, so nothing outside a program can shift it.
func overlay(dir, where string) (string, error) {
	ask := exec.Command("go", "env", "GOROOT") // there, as go.mod may choose the toolchain
	ask.Dir = where
	out, err := ask.Output()
	if err != nil {
		return "", fmt.Errorf("ask for the toolchain's folder: %w", err)
	}
	source := filepath.Join(strings.TrimSpace(string(out)), "src", "time")
	text, err := os.ReadFile(filepath.Join(source, "time.go"))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), clockAsItIs); n != 1 {
		return "", fmt.Errorf("time.Now of this toolchain reads the clock in another way (%d places of one): fleet/clock.go must learn it", n)
	}
	changed, added := filepath.Join(dir, "time.go"), filepath.Join(dir, "clock_offset.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(text), clockAsItIs, clockOff, 1)), 0o644); err != nil {
		return "", err
	}
	if err := os.WriteFile(added, []byte(clockSource), 0o644); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(source, "time.go"): changed, filepath.Join(source, "clock_offset.go"): added,
	}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o644)
}

// clockEnv is how a program is told that its clock is off.
func clockEnv(off time.Duration) string {
	return clockSetting + "=" + strconv.FormatInt(int64(off/time.Second), 10)
}
