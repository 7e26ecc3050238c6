//go:build proof

package harness_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/framing/corpus"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// TestM4_Framing sends a corpus of raw requests through an edge to a control plane, to the control plane directly, and
// through nginx to the edge. Servers in a chain must agree on where a request ends: a second request on the connection
// must get its own answer.
func TestM4_Framing(t *testing.T) {
	t.Parallel()
	c := startChain(t, fleet.Config{Edges: 1, Controls: 1, EdgeEnv: []string{"PROXY_API=true"},
		ControlEnv: []string{"RATE_LIMIT_DEFAULT=0"}},
		1)
	nginx := startNginx(t, c.Edges[0].Addr)
	for _, front := range []struct {
		name, addr string
		strict     bool
	}{{"edge to control", c.Edges[0].Addr, true}, {"control", c.Controls[0].Addr, true}, {"nginx to edge to control", nginx, false}} {
		tried := 0
		for i, r := range corpus.Requests() {
			tried++
			if err := corpus.Try(front.addr, r, fmt.Sprintf("second-%d", i), front.strict); err != nil {
				t.Errorf("%s: %v", front.name, err)
			}
		}
		t.Logf("%s: %d raw requests", front.name, tried)
	}
	if failed := c.Edges[0].Metric("shortline_edge_upstream_errors_total"); failed > 0 {
		t.Errorf("the edge counts %.0f requests as failures of the control plane", failed)
	}
}

// startNginx starts nginx in front of an edge, with keep-alive connections to the edge, and returns its address.
func startNginx(t *testing.T, upstream string) string {
	t.Helper()
	dir, addr := t.TempDir(), testkit.FreeAddr(t)
	config := filepath.Join(dir, "nginx.conf")
	text := strings.NewReplacer("DIR", dir, "ADDR", addr, "UPSTREAM", upstream).Replace(nginxHead + `
  upstream edge { server UPSTREAM; keepalive 4; }
  server {
    listen ADDR;
    location / {
      proxy_pass http://edge;
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_set_header Connection "";
      proxy_set_header Host sho.rt;
    }
  }
}
`)
	testkit.Must(t, os.WriteFile(config, []byte(text), 0o600))
	serve(t, []string{"nginx"}, config, runNginx)
	testkit.Eventually(t, "nginx answers", func() bool {
		res, err := http.Get("http://" + addr + "/healthz")
		if err == nil {
			res.Body.Close()
		}
		return err == nil && res.StatusCode == http.StatusOK
	})
	return addr
}
