package certs

import (
	"maps"
	"slices"
)

// logRefused says why names of the service get no certificate. There is no order that could fail.
func (s *Service) logRefused() {
	for _, name := range slices.Sorted(maps.Keys(s.cfg.Refused)) {
		s.cfg.Logger.Warn("host name of the service gets no certificate", "hostname", name, "error", s.cfg.Refused[name].Error(),
			"advice", "use a name in the public DNS; with a private authority set ALLOW_PRIVATE_DOMAINS and ACME_DIRECTORY")
	}
}
