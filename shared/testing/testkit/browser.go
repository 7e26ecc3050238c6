package testkit

import (
	"errors"
	"os/exec"
)

// Browser returns the path of the browser for tests of the console. The first one has no windows of its own and opens a page for half
// of the processor time. deploy/dev/tools installs it. Debian's command of that name is a script, and the browser outlives a script that
// is killed.
func Browser() (path string, err error) {
	for _, name := range []string{
		"/usr/lib/chromium/chromium-headless-shell", "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome",
	} {
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("the console tests need Chromium.  On Debian:  sudo apt-get install -y chromium-headless-shell")
}
