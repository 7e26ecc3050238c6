package main_test

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// receivers contains the commands that start the programs of docs/users/webhooks.md.
var receivers = []struct {
	heading, fence, file string
	command              func(dir, port string) []string
}{
	{"### Go", "go", "main.go", func(dir, _ string) []string { return []string{"go", "run", filepath.Join(dir, "main.go")} }},
	{"### Node.js", "js", "hooks.js", func(dir, _ string) []string { return []string{"node", filepath.Join(dir, "hooks.js")} }},
	{"### Python", "python", "hooks.py", func(dir, _ string) []string { return []string{"python3", filepath.Join(dir, "hooks.py")} }},
	{"### PHP", "php", "hooks.php", func(dir, port string) []string {
		return []string{"php", "-S", "127.0.0.1:" + port, filepath.Join(dir, "hooks.php")}
	}},
}

// Every receiver of the guide accepts Shortline's requests and rejects a modified body.
func TestGuide_webhook_receivers(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(testkit.Source(t, "docs/users/webhooks.md"))
	testkit.Must(t, err)
	_, c := shared(t)
	for _, r := range receivers {
		t.Run(strings.TrimPrefix(r.heading, "### "), func(t *testing.T) {
			dir := written(t, string(guide), r.heading, r.fence, r.file)
			const secret = "a secret that only the two know"
			addr := runReceiver(t, dir, secret, r.command)
			hook, err := c.Webhooks.Create(t.Context(), shortline.CreateWebhook{Name: r.file, URL: "http://" + addr + "/hooks",
				Secret: shortline.Set(secret), Events: []shortline.Event{shortline.EventURLCreated}})
			testkit.Must(t, err)
			sent, err := c.Webhooks.Test(t.Context(), hook.ID)
			testkit.Must(t, err)
			if !sent.Success || *sent.StatusCode != http.StatusNoContent {
				t.Errorf("the receiver's answer: %+v", sent)
			}
			for what, signature := range map[string]string{
				"another body": "sha256=" + strings.Repeat("0", 64), "no signature": "", "a truncated signature": "sha256=",
			} {
				if status := post(t, "http://"+addr+"/hooks", `{"event":"url.created"}`, signature); status != http.StatusUnauthorized {
					t.Errorf("%s: got %d, want 401", what, status)
				}
			}
		})
	}
}

// fenced returns the code block that follows a heading.
func fenced(t *testing.T, text, heading, language string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("the guide has no %q", heading)
	}
	_, rest, _ = strings.Cut(rest, "```"+language+"\n")
	code, _, ok := strings.Cut(rest, "\n```")
	if !ok {
		t.Fatalf("the guide has no %s program under %q", language, heading)
	}
	return code + "\n"
}

// written writes the program under a heading of a guide to a new folder, and returns that.
func written(t *testing.T, guide, heading, language, file string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	const module = "module guide\n\ngo 1.22\n" // only Go needs it
	for name, text := range map[string]string{file: fenced(t, guide, heading, language), "go.mod": module} {
		testkit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// runReceiver starts a program of the guide and waits until it listens.
func runReceiver(t *testing.T, dir, secret string, command func(dir, port string) []string) (addr string) {
	t.Helper()
	addr = testkit.FreeAddr(t)
	_, port, err := net.SplitHostPort(addr)
	testkit.Must(t, err)
	args := command(dir, port)
	cmd := exec.Command(args[0], args[1:]...)
	var output bytes.Buffer
	cmd.Env = append(os.Environ(), "PORT="+port, "WEBHOOK_SECRET="+secret, "GOWORK=off")
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatalf("the guide's program needs %s, which deploy/dev/tools installs: %v", args[0], err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // go run starts a child
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("output of %v:\n%s", args, output.String())
		}
	})
	testkit.Eventually(t, "the receiver listens", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return addr
}

func post(t *testing.T, url, body, signature string) int {
	t.Helper()
	req, err := http.NewRequest("POST", url, strings.NewReader(body))
	testkit.Must(t, err)
	if signature != "" {
		req.Header.Set("X-Webhook-Signature", signature)
	}
	res, err := http.DefaultClient.Do(req)
	testkit.Must(t, err)
	res.Body.Close()
	return res.StatusCode
}
