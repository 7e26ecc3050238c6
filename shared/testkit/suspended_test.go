package testkit_test

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/shortline/shortline/shared/testkit"
)

func TestSuspended(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if testkit.Suspended(cmd.Process.Pid) {
		t.Error("a running process counts as suspended")
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the process is suspended", func() bool { return testkit.Suspended(cmd.Process.Pid) })
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the process runs again", func() bool { return !testkit.Suspended(cmd.Process.Pid) })
}
