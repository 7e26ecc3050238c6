package browser_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/acmetest"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// trusting returns an option with which Chromium trusts a root certificate: a home folder whose certificate database has it.
func trusting(t *testing.T, root []byte) chromedp.ExecAllocatorOption {
	t.Helper()
	home := t.TempDir()
	database, file := filepath.Join(home, ".pki", "nssdb"), filepath.Join(home, "root.pem")
	testkit.Must(t, os.MkdirAll(database, 0o700))
	testkit.Must(t, os.WriteFile(file, root, 0o600))
	for _, args := range [][]string{{"-N", "--empty-password"}, {"-A", "-t", "C,,", "-n", "the test's authority", "-i", file}} {
		if out, err := exec.Command("certutil", append([]string{"-d", "sql:" + database}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("This test needs certutil.  On Debian or Ubuntu:  sudo apt-get install -y libnss3-tools  (%v: %s)", err, out)
		}
	}
	return chromedp.Env("HOME="+home, "PATH="+os.Getenv("PATH"))
}

// TestTLS_Chromium_opens_a_link_on_a_custom_domain has Chromium trust the root of the authority that issued the domain's
// certificate, and nothing else: certificate errors are not ignored. A Chromium without the root refuses the same link.
func TestTLS_Chromium_opens_a_link_on_a_custom_domain(t *testing.T) {
	t.Parallel()
	const host = "go.acme.example.com"
	number := func(addr string) int {
		_, port, _ := net.SplitHostPort(addr)
		n, err := strconv.Atoi(port)
		testkit.Must(t, err)
		return n
	}
	secure := testkit.FreeAddr(t)
	ca := acmetest.Start(t, acmetest.Config{TLSPort: number(secure)})
	base := standalone(t, fmt.Sprintf("BASE_URL=https://sho.example.com:%d", number(secure)), "TLS_ADDR="+secure,
		"ACME_EMAIL=ops@example.com",
		"ACME_DIRECTORY="+ca.Directory, "ACME_CA_FILE="+ca.RootFile, "RESOLVERS="+ca.DNS, "ALLOW_PRIVATE_DESTINATIONS=true")
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>there</title><h1>You have arrived</h1>")
	}))
	t.Cleanup(there.Close)

	ctx, admin := t.Context(), api(base, signedIn(t, base, owner))
	d, err := admin.Domains.Create(ctx, client.CreateDomain{Hostname: host})
	testkit.Must(t, err)
	for _, r := range d.Records {
		ca.SetRecords([]acmetest.Record{{Type: string(r.Type), Name: r.Name, Value: r.Value}})
	}
	link, err := admin.Links.Create(ctx, client.CreateLink{OriginalURL: there.URL, CustomSlug: client.Set("spring"),
		Domain: client.Set(host)})
	testkit.Must(t, err)
	testkit.Eventually(t, "DNS answers", func() bool {
		d, err := admin.Domains.Verify(ctx, d.ID)
		testkit.Must(t, err)
		return d.Status == client.DomainStatusActive
	})
	testkit.Eventually(t, "the domain has a certificate", func() bool {
		c, err := tls.Dial("tcp", secure, &tls.Config{ServerName: host, RootCAs: ca.Roots()})
		if err != nil {
			return false
		}
		return c.Close() == nil
	})

	stranger := open(t, base)
	stranger.tolerant = true
	if err := chromedp.Run(stranger.ctx, chromedp.Navigate(link.ShortURL)); err == nil ||
		!strings.Contains(err.Error(), "ERR_CERT_AUTHORITY_INVALID") {
		t.Errorf("a browser that does not trust the authority: %v", err)
	}
	friend := open(t, base, trusting(t, ca.RootPEM()))
	friend.tolerant = true
	var heading string
	if err := chromedp.Run(friend.ctx, chromedp.Navigate(link.ShortURL), chromedp.Text("h1", &heading)); err != nil ||
		heading != "You have arrived" {
		t.Errorf("%s: %q %v", link.ShortURL, heading, err)
	}
}
