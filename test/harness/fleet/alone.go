package fleet

import (
	"path/filepath"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// Standalone is a running standalone: all roles in one process.
const Standalone Program = "standalone"

// StartAlone starts a standalone with additional NAME=value settings and waits until it is ready.
func StartAlone(t testing.TB, env ...string) *Node {
	t.Helper()
	dir := t.TempDir()
	n := &Node{Addr: testkit.FreeAddr(t), Ops: testkit.FreeAddr(t), Dir: filepath.Join(dir, "data")}
	n.Process = process(t, dir, "standalone", binary(t, string(Standalone)), nil, nil, answers("http://"+n.Ops+"/readyz"))
	n.env = append(n.env, "LISTEN_ADDR="+n.Addr, "OPS_ADDR="+n.Ops, "DATA_DIR="+n.Dir, "BASE_URL="+publicBase, "ADMIN_EMAIL="+adminEmail,
		"ADMIN_PASSWORD="+adminPassword, "LOG_FORMAT=text")
	// Beside other tests, a request may take longer than the service allows. Experiments of make proof have the machine for themselves.
	n.env = append(n.env, testkit.Size(testkit.LongRequests, nil)...)
	n.env = append(n.env, env...)
	n.Start()
	return n
}
