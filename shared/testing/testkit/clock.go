package testkit

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

// clockSetting is the environment variable that shifts the clock of a program built with ClockOverlay, in seconds.
const clockSetting = "CLOCK_OFFSET_SECONDS"

const (
	// clockAsItIs is the first line of time.Now in the standard library, clockOff its replacement. Timers and durations
	// use the monotonic reading, which stays unchanged.
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

// ClockOverlay writes an overlay file for `go build -overlay` into dir and returns its path. A program built with it has a
// clock that ClockOffset can shift. module is a folder of the module that is built, since its go.mod may choose the
// toolchain. Go reads the system's clock without a system call, so nothing outside the program can shift it.
func ClockOverlay(dir, module string) (string, error) {
	ask := exec.Command("go", "env", "GOROOT")
	ask.Dir = module
	out, err := ask.Output()
	if err != nil {
		return "", fmt.Errorf("find the toolchain's folder: %w", err)
	}
	source := filepath.Join(strings.TrimSpace(string(out)), "src", "time")
	text, err := os.ReadFile(filepath.Join(source, "time.go"))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), clockAsItIs); n != 1 {
		return "", fmt.Errorf(
			"time.Now of this toolchain reads the clock differently (%d matches for the expected line): adapt testkit/clock.go",
			n)
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

// ClockOffset returns the environment setting, NAME=value, that shifts the clock of a program built with ClockOverlay.
func ClockOffset(off time.Duration) string {
	return clockSetting + "=" + strconv.FormatInt(int64(off/time.Second), 10)
}
