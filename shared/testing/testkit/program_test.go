package testkit_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestProgram(t *testing.T) {
	t.Parallel()
	program, err := testkit.Program("shared/testing/testkit/testdata/hello")
	testkit.Must(t, err)
	if out, err := exec.Command(program).CombinedOutput(); err != nil || string(out) != "hello\n" {
		t.Errorf("%q, %v", out, err)
	}
	if again, err := testkit.Program("shared/testing/testkit/testdata/hello"); again != program || err != nil {
		t.Errorf("%q, %v", again, err)
	}
	if _, err := testkit.Program("no/such/folder"); err == nil || !strings.Contains(err.Error(), "no/such/folder") {
		t.Error(err)
	}
}
