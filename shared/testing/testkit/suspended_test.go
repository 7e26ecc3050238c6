package testkit_test

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestSuspended(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "60")
	testkit.Must(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if testkit.Suspended(cmd.Process.Pid) {
		t.Error("a running process counts as suspended")
	}
	testkit.Must(t, cmd.Process.Signal(syscall.SIGSTOP))
	testkit.Eventually(t, "the process is suspended", func() bool { return testkit.Suspended(cmd.Process.Pid) })
	testkit.Must(t, cmd.Process.Signal(syscall.SIGCONT))
	testkit.Eventually(t, "the process runs again", func() bool { return !testkit.Suspended(cmd.Process.Pid) })
}
