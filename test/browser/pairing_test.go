package browser_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// pairing is a `shortline login` that waits for its user.
type pairing struct {
	t       *testing.T
	b       *browser
	program string
	config  string
	command *exec.Cmd
	output  *testkit.Buffer
	done    chan error
	address string // of the page, below the console's address
	code    string
}

var pairingCode = regexp.MustCompile(`(?m)^Compare\s+([A-Z]{4}-[A-Z]{4})$`)

// unknownCode matches what the browser reports of a code that is not known any more.
var unknownCode = regexp.MustCompile(`404 \(Not Found\) http://[^/]+/api/auth/pairings\?code=`)

// login begins a sign-in of the command line program.
func login(t *testing.T, b *browser) *pairing {
	t.Helper()
	program, err := testkit.Release("shortline")
	testkit.Must(t, err)
	p := &pairing{t: t, b: b, program: program, config: t.TempDir(), output: &testkit.Buffer{}, done: make(chan error, 1)}
	p.command = p.run("login", "--url", b.base, "--no-browser")
	p.command.Stderr = p.output
	testkit.Must(t, p.command.Start())
	go func() { p.done <- p.command.Wait() }()
	t.Cleanup(func() { _ = p.command.Process.Kill() }) // it may have ended
	testkit.Eventually(t, "the program shows a code", func() bool {
		found := pairingCode.FindStringSubmatch(p.output.String())
		if found != nil {
			p.code = found[1]
		}
		return found != nil
	})
	p.address = "/login/pair?code=" + p.code
	if !strings.Contains(p.output.String(), p.address) {
		t.Errorf("the program shows no address of the page: %s", p.output.String())
	}
	return p
}

// run prepares the program with the profiles of this sign-in.
func (p *pairing) run(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.t.Context(), p.program, args...)
	cmd.Env = append(os.Environ(), "SHORTLINE_CONFIG="+p.config, "SHORTLINE_KEYRING=file")
	return cmd
}

// ends waits for the end of the sign-in, and checks its exit code and a text that it shows.
func (p *pairing) ends(code int, text string) {
	p.t.Helper()
	<-p.done
	if got := p.command.ProcessState.ExitCode(); got != code || !strings.Contains(p.output.String(), text) {
		p.t.Errorf("exit code %d instead of %d: %s", got, code, p.output.String())
	}
}

// A user confirms the code that the program shows, and the program has a key with the chosen permissions. Neither the page nor the
// program shows the key.
func TestPairing_signs_the_command_line_program_in(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	p := login(t, b)
	b.visit(p.address, "A program wants to sign in", p.code, "shortline on")
	b.barrierFree()
	b.narrow("pairing")
	b.until(`document.querySelector('[name="links:write"]').checked && !document.querySelector('[name=webhooks]').checked`)
	b.click(`document.querySelector('[name="links:write"]')`)
	b.click(`document.querySelector('[name="analytics:read"]')`)
	b.press("Allow", "Choose what the program may do.")
	b.click(`document.querySelector('[name="links:read"]')`)
	b.press("Allow", "Go back to the terminal")
	b.barrierFree()
	p.ends(0, "signed in to "+b.base+" as "+b.email)
	keys, err := os.ReadFile(filepath.Join(p.config, "keys.json"))
	testkit.Must(t, err)
	key := regexp.MustCompile(`sl_[0-9A-Za-z]{60}`).FindString(string(keys))
	if key == "" || strings.Contains(p.output.String(), key) || strings.Contains(b.text(`document.documentElement.outerHTML`), key) {
		t.Errorf("the key is missing, or was shown: %s", p.output.String())
	}
	if out, err := p.run("links", "list", "--jq", "length").Output(); err != nil || string(out) != "0\n" {
		t.Errorf("%q %v", out, err)
	}
	if err := p.run("links", "create", "https://example.com/").Run(); p.exit(err) != 3 {
		t.Errorf("the key may write: %v", err)
	}
	b.expected = unknownCode
	b.visit(p.address, "was used, or has expired") // each code works once
	// The key ends itself, although it may only read.
	testkit.Must(t, p.run("logout").Run())
	if status := request(t, "GET", b.base+"/api/urls", map[string]string{"Authorization": "Bearer " + key}).StatusCode; status != 401 {
		t.Errorf("after the sign-out, the key gets %d", status)
	}
}

func (p *pairing) exit(err error) int {
	if failed, is := err.(*exec.ExitError); is {
		return failed.ExitCode()
	}
	return 0
}

// A user who refuses gives nothing. Somebody who has not signed in, or has another code, sees what to do.
func TestPairing_can_be_refused(t *testing.T) {
	t.Parallel()
	stranger := newVisitor(t, "USER")
	p := login(t, stranger)
	stranger.visit(p.address, "Sign in first")
	stranger.barrierFree()
	b := newConsole(t)
	b.expected = unknownCode
	b.visit("/login/pair", "Enter the code")
	b.barrierFree()
	b.fill("code", "bcdf bcdf")
	b.press("Continue", "This code is wrong")
	b.fill("code", strings.ToLower(p.code))
	b.press("Continue", "A program wants to sign in")
	b.press("Refuse", "The program gets no access")
	p.ends(3, "refused in the browser")
	if _, err := os.Stat(filepath.Join(p.config, "keys.json")); err == nil {
		t.Error("the program has a key")
	}
}
