package testkit_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestFreeAddr(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		addr := testkit.FreeAddr(t)
		if seen[addr] {
			t.Fatalf("%s was returned twice", addr)
		}
		seen[addr] = true
		l, err := net.Listen("tcp", addr)
		testkit.Must(t, err)
		l.Close()
	}
}

// TestFreeAddr_processes takes 500 ports here and 500 in another process. If the processes did not know of each other,
// about 15 of the 17,000 ports would be given twice.
func TestFreeAddr_processes(t *testing.T) {
	t.Parallel()
	const each = 500
	if os.Getenv("FREE_ADDR_CHILD") != "" {
		for range each {
			fmt.Println(testkit.FreeAddr(t))
		}
		return
	}
	ours := map[string]bool{}
	for range each {
		ours[testkit.FreeAddr(t)] = true
	}
	child := exec.Command(os.Args[0], "-test.run=^TestFreeAddr_processes$")
	child.Env = append(os.Environ(), "FREE_ADDR_CHILD=1")
	out, err := child.Output()
	testkit.Must(t, err)
	theirs := 0
	for line := range strings.Lines(string(out)) {
		addr := strings.TrimSpace(line)
		if !strings.HasPrefix(addr, "127.0.0.1:") {
			continue
		}
		theirs++
		if ours[addr] {
			t.Errorf("%s was given to two processes", addr)
		}
	}
	if theirs != each {
		t.Fatalf("the other process printed %d addresses instead of %d", theirs, each)
	}
}
