package browser_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// totp returns the code of an authenticator app at a time (RFC 6238).
func totp(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		t.Fatalf("decode the secret %q: %v", secret, err)
	}
	mac := hmac.New(sha1.New, key)
	_, _ = mac.Write(binary.BigEndian.AppendUint64(nil, uint64(at.Unix()/30))) // Write of a hash never fails
	sum := mac.Sum(nil)
	n := binary.BigEndian.Uint32(sum[sum[len(sum)-1]&15:]) & 0x7fffffff
	return fmt.Sprintf("%06d", n%1e6)
}

func (b *browser) signIn(email, password string) {
	b.t.Helper()
	b.fill("email", email)
	b.fill("password", password)
	b.press("Sign in")
}

// identityProvider starts the test identity provider. It signs in "+b.email+".
func identityProvider(t *testing.T) (issuer, client, secret string) {
	t.Helper()
	idp, err := testkit.Program("control/internal/platform/idptest/idp")
	testkit.Must(t, err)
	cmd := exec.Command(idp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	testkit.Must(t, err)
	if _, err := fmt.Sscanf(line, "issuer %s client %q secret %q", &issuer, &client, &secret); err != nil {
		t.Fatalf("unexpected output of the identity provider %q: %v", line, err)
	}
	return issuer, client, secret
}

// ask sends an API request from the page, as the signed-in user, and decodes the answer into out.
func (b *browser) ask(method, path string, body, out any) {
	b.t.Helper()
	status, text := b.try(method, path, body)
	if status/100 != 2 {
		b.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		b.t.Fatalf("%s %s: %v in %s", method, path, err, text)
	}
}

// has fails the test if an answer of the API lacks something.
func (b *browser) has(path, want string, args ...any) {
	b.t.Helper()
	var got any
	b.ask("GET", path, nil, &got)
	if !contains(got, b.parsed(want, args)) {
		b.t.Errorf("%s: %v, want "+want, append([]any{path, got}, args...)...)
	}
}

// becomes is has for a state that comes in a while.
func (b *browser) becomes(path, want string, args ...any) {
	b.t.Helper()
	testkit.Eventually(b.t, path+" has "+want, func() bool {
		var got any
		b.ask("GET", path, nil, &got)
		return contains(got, b.parsed(want, args))
	})
}

func (b *browser) parsed(text string, args []any) (out any) {
	b.t.Helper()
	if err := json.Unmarshal(fmt.Appendf(nil, text, args...), &out); err != nil {
		b.t.Fatalf("%s %v: %v", text, args, err)
	}
	return out
}

// contains compares JSON values. The wanted objects need not have all members, but the wanted lists have all elements.
func contains(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		has, ok := got.(map[string]any)
		for name, value := range want {
			ok = ok && contains(has[name], value)
		}
		return ok
	case []any:
		has, ok := got.([]any)
		return ok && slices.EqualFunc(has, want, contains)
	}
	return got == want
}

// post creates something with the API, and returns its id.
func (b *browser) post(path string, body any) string {
	b.t.Helper()
	var made struct{ ID string }
	b.ask("POST", path, body, &made)
	return made.ID
}

// domain creates the custom domain of this test, whose records are right.
func (b *browser) domain() (d ownDomain) {
	b.t.Helper()
	b.ask("POST", "/api/domains", map[string]any{"hostname": b.acme()}, &d)
	b.at.point(d)
	testkit.Eventually(b.t, "DNS answers for "+d.Hostname, func() bool { // the service asks for at most five seconds at a time
		var now struct{ Status string }
		b.ask("POST", "/api/domains/"+d.ID+"/verify", nil, &now)
		return now.Status == "ACTIVE"
	})
	return d
}

// try is ask for a request that may be refused. It returns the answer.
func (b *browser) try(method, path string, body any) (status int, text string) {
	b.t.Helper()
	sent, err := json.Marshal(body)
	testkit.Must(b.t, err)
	var answer struct {
		Status int
		Text   string
	}
	b.do(chromedp.Evaluate(fmt.Sprintf(`fetch(%q, {method: %q, headers: {'Content-Type': 'application/json'}, body: %q === 'null' ? undefined : %q})
		.then(async (r) => ({status: r.status, text: await r.text()}))`, path, method, sent, sent), &answer, awaited))
	return answer.Status, answer.Text
}

// ends creates a link that expires as soon as possible. An end that has passed when the request arrives is refused.
func (b *browser) ends(fields map[string]any) {
	b.t.Helper()
	status := 0
	for ahead := time.Second; status != http.StatusCreated; ahead *= 2 {
		fields["expiresAt"] = time.Now().Add(ahead).UTC().Format(time.RFC3339Nano)
		var text string
		if status, text = b.try("POST", "/api/urls", fields); status != http.StatusCreated &&
			!strings.Contains(text, "must lie in the future") {
			b.t.Fatalf("a link that ends: %d %s", status, text)
		}
	}
}

// ownCertificate returns a chain and its key in PEM, and the root.
func ownCertificate(t *testing.T, host string) (chain, key string, roots *x509.CertPool) {
	t.Helper()
	newKey := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		testkit.Must(t, err)
		return k
	}
	sign := func(c, by *x509.Certificate, k, signer *ecdsa.PrivateKey) *x509.Certificate {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(10*24*time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, c, by, k.Public(), signer)
		testkit.Must(t, err)
		made, err := x509.ParseCertificate(der)
		testkit.Must(t, err)
		return made
	}
	rootKey, leafKey := newKey(), newKey()
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{Organization: []string{"Acme Issuing CA"}}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	root = sign(root, root, rootKey, rootKey)
	leaf := sign(&x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{host}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, root, leafKey, rootKey)
	der, err := x509.MarshalPKCS8PrivateKey(leafKey)
	testkit.Must(t, err)
	roots = x509.NewCertPool()
	roots.AddCert(root)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), roots
}

// hostile is a title that would run a script, load a resource or end an attribute if a page treated it as markup.
const hostile = `<img src=x onerror=alert(1)>"'><script>alert(2)</script></title>{{7*7}}`

// request sends a request of a visitor, and returns the answer without its body. It follows no redirect.
func request(t testing.TB, method, address string, header map[string]string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(method, address, nil)
	testkit.Must(t, err)
	for name, value := range header {
		req.Header.Set(name, value)
	}
	req.Host = req.Header.Get("Host")
	res, err := http.DefaultTransport.RoundTrip(req)
	testkit.Must(t, err)
	res.Body.Close()
	return res
}

// follow requests a link with the given User-Agent and Referer, until it redirects.
func follow(t *testing.T, address, agent, referer string) {
	t.Helper()
	testkit.Eventually(t, address+" redirects", func() bool {
		return request(t, "GET", address, map[string]string{"User-Agent": agent, "Referer": referer}).StatusCode == http.StatusFound
	})
}

// served waits until the edge redirects. It sends HEAD, which is not counted as a click.
func served(t *testing.T, address string) {
	t.Helper()
	testkit.Eventually(t, address+" is served", func() bool { return request(t, "HEAD", address, nil).StatusCode == http.StatusFound })
}

const (
	phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 " +
		"Safari/604.1"
	laptop = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
)

// ownDomain is a domain as the API returns it.
type ownDomain struct {
	ID       string
	Hostname string
	Records  []struct{ Type, Name, Value string }
}

// at sends a visit to a host of the program, and returns the status.
func at(t *testing.T, base, host, path string) int {
	t.Helper()
	return request(t, "GET", base+path, map[string]string{"Host": host, "User-Agent": laptop}).StatusCode
}

const crawler = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"

// url is a link as the API returns it.
type url struct {
	ID, Title, Status, OriginalURL                         string
	StartsAt, ExpiresAt, ExpiredURL, ExternalID, UTMSource *string
	UTMCampaign, Notes                                     *string
	MaxClicks                                              *int
	RedirectCode                                           int
	Tags                                                   []string
}

// made creates a link from fields of the API.
func (b *browser) made(fields map[string]any) (u url) {
	b.t.Helper()
	b.ask("POST", "/api/urls", fields, &u)
	return u
}

// set changes an input without keys, as for dates.
func (b *browser) set(name, value string) {
	b.t.Helper()
	b.actions++
	b.until(fmt.Sprintf(`(() => {
		const within = [...document.querySelectorAll('dialog[open]')].pop() ?? document;
		const e = within.querySelector('[name=%s]');
		if (!e) return false;
		e.value = %q;
		for (const type of ['input', 'change']) e.dispatchEvent(new Event(type, {bubbles: true}));
		return true;
	})()`, name, value))
}

// journey begins to count what a person does. The returned function ends the journey. It fails the test if there were more actions
// than `most`.
func (b *browser) journey(most int) (end func()) {
	b.t.Helper()
	before := b.actions
	return func() {
		b.t.Helper()
		if n := b.actions - before; n > most {
			b.t.Errorf("the journey took %d actions, at most %d", n, most)
		}
	}
}

// aside does something that is no part of the journey.
func (b *browser) aside(do func()) {
	b.t.Helper()
	before := b.actions
	do()
	b.actions = before
}

// authenticator adds an authenticator to the browser that holds passkeys and verifies its user.
func (b *browser) authenticator() (id webauthn.AuthenticatorID) {
	b.t.Helper()
	b.do(webauthn.Enable(), chromedp.ActionFunc(func(ctx context.Context) (err error) {
		id, err = webauthn.AddVirtualAuthenticator(&webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Ctap2version: webauthn.Ctap2versionCtap21,
			Transport:      webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		}).Do(ctx)
		return err
	}))
	return id
}

// credentials returns the passkeys in the authenticator.
func (b *browser) credentials(id webauthn.AuthenticatorID) (list []*webauthn.Credential) {
	b.t.Helper()
	b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		list, err = webauthn.GetCredentials(id).Do(ctx)
		return err
	}))
	return list
}

// onLocalhost runs standalone at localhost. Browsers offer no passkeys at an IP address.
func onLocalhost(t *testing.T) string {
	t.Helper()
	addr := testkit.FreeAddr(t)
	base := strings.Replace("http://"+addr, "127.0.0.1", "localhost", 1)
	standalone(t, "LISTEN_ADDR="+addr, "BASE_URL="+base)
	return base
}

// user creates a user of the installation, and returns the id.
func (b *browser) user(name string) (id string) {
	b.t.Helper()
	var admin string
	if b.at != nil {
		admin = b.at.admin
	} else {
		admin = signedIn(b.t, b.base, owner)
	}
	u, err := api(b.base, admin).Users.Create(b.t.Context(), client.CreateUser{Email: b.mail(name), Password: password})
	testkit.Must(b.t, err)
	return u.ID
}

// as signs in as another user without the page's knowledge. Visit a page afterwards.
func (b *browser) as(email string) {
	b.t.Helper()
	b.mu.Lock()
	b.switched = true
	b.mu.Unlock()
	testkit.Eventually(b.t, email+" is signed in", func() bool {
		status, text := b.try("POST", "/api/auth/login", map[string]string{"email": email, "password": password})
		if status != http.StatusOK && status != http.StatusTooManyRequests { // the program is too busy
			b.t.Fatalf("%s does not sign in: %d %s", email, status, text)
		}
		return status == http.StatusOK
	})
}

// pauses is the time, in milliseconds, between two calls of the console's useRepeat on a page of hurry.
const pauses = 60

// hurry makes pages ask again a hundred times as often as they do (useRepeat of the console).
func (b *browser) hurry() {
	b.t.Helper()
	b.onEachPage(fmt.Sprintf(`{
		const plain = setTimeout;
		window.setTimeout = (run, pause, ...more) => plain(run, pause > 5000 && pause <= 6000 ? %d : pause, ...more);
	}`, pauses))
}

// keepMessages lets the messages at the bottom of pages stay. Otherwise they go after some seconds, which a busy machine may need to
// show and to find them.
func (b *browser) keepMessages() {
	b.t.Helper()
	b.onEachPage(`{
		const kept = new CSSStyleSheet();
		kept.replaceSync('.toast { animation-delay: 24h !important }');
		document.adoptedStyleSheets.push(kept);
	}`)
}

// onEachPage runs a script before those of each page.
func (b *browser) onEachPage(script string) {
	b.t.Helper()
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	}))
}

// also lets the browser report responses with a status that the test causes on purpose.
func (b *browser) also(status string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = regexp.MustCompile(b.expected.String() + "|" + regexp.QuoteMeta(status))
}

// receiver is a webhook receiver. It rejects deliveries until accepts is set.
type receiver struct {
	mu      sync.Mutex
	accepts bool
	got     []delivered
}

type delivered struct{ event, signature, custom, body string }

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body) // the signature check detects an incomplete body
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, delivered{q.Header.Get("X-Webhook-Event"), q.Header.Get("X-Webhook-Signature"), q.Header.Get("X-Token"),
		string(body)})
	if !r.accepts {
		http.Error(w, hostile, http.StatusInternalServerError)
	}
}

func (r *receiver) accept() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accepts = true
}

func (r *receiver) latest(event string) (out delivered) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.got {
		if d.event == event {
			out = d
		}
	}
	return out
}

// tick toggles the named checkbox in the open dialog, by keyboard.
func (b *browser) tick(name string) {
	b.t.Helper()
	b.until(`document.querySelector('dialog[open] [name="` + name + `"]')`)
	b.focusOn(`dialog[open] [name="` + name + `"]`)
	b.do(typed(" "))
}
