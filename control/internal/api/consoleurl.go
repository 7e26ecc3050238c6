package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// CheckConsoleURL reports what is wrong with a CONSOLE_URL. "" is none, and right.
func CheckConsoleURL(address string) error {
	u, err := url.Parse(address)
	if address == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" && !u.ForceQuery && u.Fragment == "" {
		return nil
	}
	return fmt.Errorf("CONSOLE_URL: %q is not an http or https address such as https://app.example.com", address)
}

// faceConsole applies CONSOLE_URL: it allows the console's origin and chooses the SameSite attribute of the session cookie.
func (s *Server) faceConsole(base *url.URL) {
	s.sameSite = http.SameSiteLaxMode
	if s.cfg.ConsoleURL == "" {
		return
	}
	u, _ := url.Parse(s.cfg.ConsoleURL) // Validate has parsed it
	s.console = strings.TrimSuffix(u.String(), "/")
	s.origins[originOf(u)] = true
	if siteOf(u) == siteOf(base) {
		return
	}
	// Browsers do not attach a Lax cookie to requests that a script of another site makes. SameSite=None allows that, but
	// only over https. The check of the request's origin then has to stop forged requests.
	if s.secure {
		s.sameSite = http.SameSiteNoneMode
	} else {
		s.log.Warn("pages at CONSOLE_URL can't use the session's cookie: it is another site than BASE_URL, which is not https", "console_url", s.cfg.ConsoleURL)
	}
}

// siteOf is what browsers take for one site: the scheme and the domain that somebody registered.
func siteOf(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		host = domain
	}
	return u.Scheme + "://" + host
}
