package app

import (
	"net/url"
	"slices"

	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
)

// certificateNames returns the host names in addresses of the service that begin with https. Names that no certificate authority
// issues a certificate for are in refused, with the reasons.
func certificateNames(policy hostname.Policy, addresses ...string) (names []string, refused map[string]error) {
	refused = map[string]error{}
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" {
			continue
		}
		name, err := hostname.Parse(u.Hostname(), policy)
		switch {
		case err != nil:
			refused[u.Hostname()] = err
		case !slices.Contains(names, name.ASCII):
			names = append(names, name.ASCII)
		}
	}
	return names, refused
}
