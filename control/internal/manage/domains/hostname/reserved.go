package hostname

import (
	"fmt"
	"strings"
)

// neverNames have a meaning other than a host in DNS: this computer, no host, Tor, other name systems, and the DNS's own
// infrastructure (RFC 6761, 7686, 9476 and 3172).
var neverNames = []string{"localhost", "invalid", "onion", "alt", "arpa"}

// privateNames do not exist in the public DNS: RFC 6761, 6762 and 8375, ICANN's reservations, and names that routers and
// companies use by custom.
var privateNames = []string{
	"test", "example", "local", "internal", "localdomain", "home.arpa", "lan", "intranet", "home", "corp",
}

func checkReserved(ascii string, allowPrivate bool) error {
	for _, top := range privateNames {
		if !below(ascii, top) {
			continue
		}
		if allowPrivate {
			return nil
		}
		return fmt.Errorf("must be a name in the public DNS; names under .%s exist only inside a network", top)
	}
	for _, top := range neverNames {
		if below(ascii, top) {
			return fmt.Errorf("must be a name that visitors can reach by DNS; .%s is reserved for another use", top)
		}
	}
	return nil
}

func below(name, top string) bool {
	rest, ok := strings.CutSuffix(name, top)
	return ok && (rest == "" || strings.HasSuffix(rest, "."))
}
