package domains

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	maxBrandName = 60 // characters
	maxBrandLogo = 2048
)

// applyBrand writes the brand of the input to a domain and adds its problems to v.
func (in *Input) applyBrand(d *store.Domain, v *problem.Fields) {
	if in.BrandName != nil {
		d.BrandName = strings.TrimSpace(*in.BrandName)
		if utf8.RuneCountInString(d.BrandName) > maxBrandName || strings.ContainsFunc(d.BrandName, unicode.IsControl) ||
			!utf8.ValidString(d.BrandName) {
			v.Add("brandName", "must be a text of at most %d characters in one line", maxBrandName)
		}
	}
	if in.BrandLogo != nil {
		d.BrandLogo = strings.TrimSpace(*in.BrandLogo)
		if d.BrandLogo != "" && !isPicture(d.BrandLogo) {
			v.Add("brandLogoUrl", "must be an address that begins with https://, with at most %d characters", maxBrandLogo)
		}
	}
}

// isPicture reports whether edges can name the address in the content security policy of a page. A host with one of these
// characters would end the directive and begin another one, or stand for many hosts.
func isPicture(address string) bool {
	u, err := url.Parse(address)
	return err == nil && len(address) <= maxBrandLogo && u.Scheme == "https" && u.Hostname() != "" && u.User == nil &&
		!strings.ContainsAny(u.Host, " ;,'\"*")
}
