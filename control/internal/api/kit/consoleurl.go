package kit

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// CheckConsoleURL validates CONSOLE_URL. "" is valid.
func CheckConsoleURL(address string) error {
	u, err := url.Parse(address)
	if address == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" &&
		!u.ForceQuery && u.Fragment == "" {
		return nil
	}
	return fmt.Errorf("CONSOLE_URL: %q is not an http or https address such as https://app.example.com", address)
}

// faceConsole applies CONSOLE_URL: it allows the console's origin and chooses the SameSite attribute of the session cookie.
func (k *Kit) faceConsole(base *url.URL) {
	k.SameSite = http.SameSiteLaxMode
	if k.cfg.ConsoleURL == "" {
		return
	}
	u, _ := url.Parse(k.cfg.ConsoleURL) // Validate has parsed it
	k.Console = strings.TrimSuffix(u.String(), "/")
	k.origins[originOf(u)] = true
	if siteOf(u) == siteOf(base) {
		return
	}
	// Browsers do not attach a Lax cookie to requests from scripts of another site. SameSite=None allows that, but only
	// over https. The check of the request's origin (see ours) then prevents forged requests.
	if k.Secure {
		k.SameSite = http.SameSiteNoneMode
	} else {
		k.log.Warn("console cannot use the session cookie", "reason", "CONSOLE_URL is another site than BASE_URL, which is not https",
			"console_url", k.cfg.ConsoleURL)
	}
}

// siteOf returns the site of an address as browsers define it: the scheme and the registered domain.
func siteOf(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		host = domain
	}
	return u.Scheme + "://" + host
}
