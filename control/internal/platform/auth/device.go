package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"regexp"

	"github.com/shortline/shortline/shared/visitor"
)

// device returns what identifies a device: a hash of the browser's name, the operating system and the network. Updates
// of the browser and a new address of the same network do not make a new device.
func (s SignIn) device() string {
	sum := sha256.Sum256([]byte(s.Browser() + "\x00" + s.network()))
	return hex.EncodeToString(sum[:])
}

// Browser names the browser and its operating system, such as "Firefox on Windows". Another program is named by the
// first word of its user agent, without the version. The result contains no other text of the client, because messages
// quote it.
func (s SignIn) Browser() string {
	a := visitor.Parse(s.UserAgent)
	name := a.Browser
	if name == "" {
		name = program.FindString(s.UserAgent)
	}
	switch {
	case name == "":
		return "an unknown program"
	case a.OS == "":
		return name
	}
	return name + " on " + a.OS
}

var program = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}`)

// network returns the /24 or, for IPv6, the /48 of the address.
func (s SignIn) network() string {
	a, err := netip.ParseAddr(s.IP)
	if err != nil {
		return s.IP
	}
	a = a.Unmap().WithZone("")
	bits := 48
	if a.Is4() {
		bits = 24
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return s.IP
	}
	return p.String()
}
