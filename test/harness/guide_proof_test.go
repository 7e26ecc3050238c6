//go:build proof

package harness_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/fleet"
)

// debian finds an installed server, or unpacks Debian's packages into the cache without installing them. more lists
// packages with libraries that the server needs.
func debian(t *testing.T, name string, more ...string) (program, libraries string) {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path, ""
	}
	cache, err := os.UserCacheDir()
	testkit.Must(t, err)
	root := filepath.Join(cache, "shortline", name)
	if _, err := os.Stat(root); err != nil {
		fresh, err := os.MkdirTemp("", "debian")
		testkit.Must(t, err)
		defer os.RemoveAll(fresh)
		fetch := exec.Command("sh", "-c",
			`apt-get download "$@" && for p in *.deb; do dpkg -x "$p" . || exit 1; done && rm *.deb && mkdir -p "$(dirname "$0")" && cp -r . `+
				`"$0.new" && mv -T "$0.new" "$0"`,
			root, name)
		fetch.Args = append(fetch.Args, more...)
		fetch.Dir = fresh
		if out, err := fetch.CombinedOutput(); err != nil {
			t.Fatalf("%s not found; on Debian or Ubuntu: apt-get install %s (%v: %s)", name, name, err, out)
		}
	}
	for _, dir := range []string{"usr/sbin", "usr/bin"} {
		if path := filepath.Join(root, dir, name); program == "" {
			if _, err := os.Stat(path); err == nil {
				program = path
			}
		}
	}
	if found, err := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu")); err == nil && len(found) > 0 {
		libraries = found[0]
	}
	return program, libraries
}

// guided is a configuration of docs/operators/reverse-proxy.md and how to run it here: the text around it, and the
// ports and paths of the test.
type guided struct {
	heading, fence string
	packages       []string
	around         func(block string) string
	command        func(program, config string) []string
	plain          bool // it also redirects plain HTTP
}

var proxies = []guided{
	{"## nginx", "nginx", []string{"nginx"}, func(block string) string { return nginxHead + block + "}\n" }, runNginx, true},
	{"## Caddy", "caddy", []string{"caddy"}, func(block string) string {
		return "{\n admin off\n auto_https disable_redirects\n skip_install_trust\n}\n" + strings.Replace(block, "sho.rt {",
			"https://sho.rt:TLSPORT {\n tls DIR/sho.rt.crt DIR/sho.rt.key", 1)
	}, func(program, config string) []string {
		return []string{program, "run", "--adapter", "caddyfile", "--config", config}
	}, false},
	{"## HAProxy", "haproxy", []string{"haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"},
		func(block string) string {
			return block
		},
		func(program, config string) []string { return []string{program, "-f", config} }, true},
}

// Each configuration of the guide serves links over TLS, passes the client's own address to Shortline whatever headers
// the client sends, and redirects plain HTTP.
func TestGuide_reverse_proxies(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(testkit.Source(t, "docs/operators/reverse-proxy.md"))
	testkit.Must(t, err)
	n := fleet.StartAlone(t, "TRUSTED_PROXIES=127.0.0.1/32", "RATE_LIMIT_ANALYTICS=0")
	for _, p := range proxies {
		t.Run(p.fence, func(t *testing.T) { p.try(t, n, string(page)) })
	}
}

// serve runs a server with a configuration until the end of the test.
func serve(t *testing.T, packages []string, config string, command func(program, config string) []string) {
	t.Helper()
	program, libraries := debian(t, packages[0], packages[1:]...)
	args, dir := command(program, config), filepath.Dir(config)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+libraries, "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	says := &testkit.Buffer{}
	cmd.Stdout, cmd.Stderr = says, says
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(config) // only shown
			t.Logf("%s\n%s", text, says)
		}
	})
}

func runNginx(program, config string) []string {
	return []string{program, "-p", filepath.Dir(config), "-c", config}
}

// nginxHead begins a configuration of nginx in the folder DIR.
const nginxHead = "daemon off;\nmaster_process off;\npid DIR/pid;\nerror_log DIR/error.log;\nevents { worker_connections 256; }\nhttp {\naccess_log off;\n" +
	"client_body_temp_path DIR/body; proxy_temp_path DIR/proxy; fastcgi_temp_path DIR/fastcgi; uwsgi_temp_path DIR/uwsgi; scgi_temp_path " +
	"DIR/scgi;\n"

func (p guided) try(t *testing.T, n *fleet.Node, page string) {
	_, block, _ := strings.Cut(page, "\n"+p.heading+"\n")
	_, block, _ = strings.Cut(block, "```"+p.fence+"\n")
	block, _, ok := strings.Cut(block, "```")
	if !ok {
		t.Fatalf("the guide has no configuration under %q", p.heading)
	}
	dir, tlsAddr, plainAddr := t.TempDir(), testkit.FreeAddr(t), testkit.FreeAddr(t)
	certificate(t, dir)
	text := strings.NewReplacer("DIR", dir, "TLSPORT", strings.TrimPrefix(tlsAddr, "127.0.0.1:"), "127.0.0.1:8080", n.Addr,
		"/etc/ssl/", dir+"/",
		"listen 443 ssl", "listen "+tlsAddr+" ssl", "listen 80", "listen "+plainAddr,
		"bind :443", "bind "+tlsAddr, "bind :80", "bind "+plainAddr).Replace(p.around(block))
	config := filepath.Join(dir, "config")
	testkit.Must(t, os.WriteFile(config, []byte(text), 0o600))
	serve(t, p.packages, config, p.command)
	// The client uses another loopback address, which is no trusted proxy.
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}}
	visitor := &http.Client{Timeout: 2 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	},
		Transport: &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{ServerName: "sho.rt",
			InsecureSkipVerify: true}}}
	get := func(url string) (*http.Response, error) {
		req, err := http.NewRequest("GET", url, nil)
		testkit.Must(t, err)
		req.Host = "sho.rt"
		req.Header.Set("X-Forwarded-For", "192.0.2.1")
		req.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		res, err := visitor.Do(req)
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		return res, err
	}
	base := "https://" + tlsAddr
	testkit.Eventually(t, p.fence+" answers", func() bool {
		res, err := get(base + "/healthz")
		return err == nil && res.StatusCode == 200
	})
	api := n.Login(t)
	link := api.Create(client.CreateLink{OriginalURL: "https://example.com/"})
	if res, err := get(base + "/" + link.Slug); err != nil || res.StatusCode != 302 ||
		res.Header.Get("Location") != "https://example.com/" {
		t.Fatalf("redirect through the proxy: %v, %v", res, err)
	}
	testkit.Eventually(t, "the click has the visitor's address", func() bool {
		recent, err := api.Reports.RecentClicks(t.Context(), link.ID, client.ClicksParams{})
		testkit.Must(t, err)
		if len(recent.Clicks) == 1 && *recent.Clicks[0].IP != "127.0.0.9" {
			t.Fatalf("the click has the address %s", *recent.Clicks[0].IP)
		}
		return len(recent.Clicks) == 1
	})
	if !p.plain {
		return
	}
	if res, err := get("http://" + plainAddr + "/" + link.Slug); err != nil || res.StatusCode != 308 ||
		res.Header.Get("Location") != "https://sho.rt/"+link.Slug {
		t.Errorf("redirect from plain HTTP: %v, %v", res, err)
	}
}

// certificate writes a certificate for sho.rt and its key, as separate files and as one file.
func certificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sho.rt"}, DNSNames: []string{"sho.rt"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	testkit.Must(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	testkit.Must(t, err)
	crt := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	for name, b := range map[string][]byte{"sho.rt.crt": crt, "sho.rt.key": private,
		"sho.rt.pem": append(append([]byte{}, crt...), private...)} {
		testkit.Must(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
}
