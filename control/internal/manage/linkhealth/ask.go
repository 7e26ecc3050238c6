package linkhealth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/shortline/shortline/control/internal/platform/outbound"
	"github.com/shortline/shortline/shared/backoff"
)

const (
	maxBody = 4 << 10 // bytes that are read of an answer to GET
	maxHops = 5       // redirects
	// maxPause is the longest time that a host can ask for.
	maxPause = 24 * time.Hour
)

// Reasons are the codes that say why a destination does not just work.
const (
	Moved          = "moved"           // it redirects for good
	NotFound       = "not_found"       // 404
	Gone           = "gone"            // 410
	ServerError    = "server_error"    // 5xx
	NoAddress      = "no_address"      // the name does not exist
	Unreachable    = "unreachable"     // no connection
	BadCertificate = "bad_certificate" // no connection that a browser would trust
	TooSlow        = "too_slow"
	RedirectLoop   = "redirect_loop"
	Restricted     = "restricted"      // 401, 403 and other answers that visitors may not get
	Busy           = "busy"            // 429
	PrivateAddress = "private_address" // it was not asked
)

// Reasons lists all codes.
var Reasons = []string{Moved, NotFound, Gone, ServerError, NoAddress, Unreachable, BadCertificate, TooSlow, RedirectLoop, Restricted, Busy,
	PrivateAddress}

// result is what a question has shown.
type result uint8

const (
	works result = iota
	moved
	fails
	unclear // says nothing about visitors
	later   // the host wants no question now
)

type verdict struct {
	result result
	reason string
	status int
	silent bool          // there was no answer from the network, so it may be that of this process
	pause  time.Duration // until the host wants the next question; 0: it named no time
}

// ask asks an address, first with HEAD. Many servers know only GET, or answer HEAD wrongly, so all but good news come from GET.
func (s *Service) ask(ctx context.Context, address string) verdict {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	v := s.followRedirects(ctx, http.MethodHead, address)
	if v.result == works || v.result == moved || v.result == later || v.status == 0 {
		return v
	}
	return s.followRedirects(ctx, http.MethodGet, address)
}

// followRedirects sends a request and follows redirects.
func (s *Service) followRedirects(ctx context.Context, method, address string) verdict {
	at, err := url.Parse(address)
	if err != nil {
		return verdict{result: unclear}
	}
	permanent := true // as long as all redirects are
	for hop := range maxHops + 1 {
		r, err := http.NewRequestWithContext(ctx, method, at.String(), nil)
		if err != nil {
			return verdict{result: unclear}
		}
		r.Header.Set("User-Agent", s.agent)
		r.Header.Set("Accept", "text/html,*/*;q=0.8")
		res, err := s.client.Do(r)
		if err != nil {
			return ofError(err)
		}
		_, _ = io.CopyN(io.Discard, res.Body, maxBody) // lets the connection be used again if the answer is short
		_ = res.Body.Close()
		next := redirect(at, res)
		if next == nil {
			return ofAnswer(res, hop > 0 && permanent)
		}
		permanent = permanent && (res.StatusCode == http.StatusMovedPermanently || res.StatusCode == http.StatusPermanentRedirect)
		at = next
	}
	return verdict{result: fails, reason: RedirectLoop}
}

// redirect returns the address to which an answer leads; nil if it leads nowhere.
func redirect(from *url.URL, res *http.Response) *url.URL {
	to := res.Header.Get("Location")
	if res.StatusCode < 300 || res.StatusCode > 399 || to == "" {
		return nil
	}
	next, err := from.Parse(to)
	if err != nil || next.Scheme != "http" && next.Scheme != "https" || next.User != nil {
		return nil
	}
	return next
}

func ofAnswer(res *http.Response, permanent bool) verdict {
	v := verdict{status: res.StatusCode, pause: backoff.RetryAfter(res.Header.Get("Retry-After"), time.Now(), maxPause)}
	switch {
	case res.StatusCode < 300 && permanent:
		v.result, v.reason = moved, Moved
	case res.StatusCode < 300:
		v.result = works
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == http.StatusServiceUnavailable && v.pause > 0:
		v.result, v.reason = later, Busy
	case res.StatusCode == http.StatusNotFound:
		v.result, v.reason = fails, NotFound
	case res.StatusCode == http.StatusGone:
		v.result, v.reason = fails, Gone
	case res.StatusCode >= 500:
		v.result, v.reason = fails, ServerError
	default: // many sites answer robots with 403, and a login page says nothing about its visitors
		v.result, v.reason = unclear, Restricted
	}
	return v
}

func ofError(err error) verdict {
	var unknown *net.DNSError
	var untrusted *tls.CertificateVerificationError
	var named x509.HostnameError
	var network net.Error
	switch {
	case errors.Is(err, outbound.ErrForbidden):
		return verdict{result: unclear, reason: PrivateAddress}
	case errors.As(err, &untrusted), errors.As(err, &named):
		return verdict{result: fails, reason: BadCertificate}
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return verdict{result: fails, reason: NoAddress, silent: true}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return verdict{result: fails, reason: TooSlow, silent: true}
	}
	return verdict{result: fails, reason: Unreachable, silent: true}
}
