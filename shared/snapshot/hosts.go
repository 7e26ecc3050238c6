package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/shortline/shortline/shared/conversion"
)

// Host is a host name that edges serve: that of a custom domain, or one of the service itself.
type Host struct {
	Name   string `json:"name"`             // ASCII, lower case, no trailing dot
	Domain uint64 `json:"domain,omitempty"` // number of the domain, a part of the keys of its links (link.Key); 0: the service's own

	RootURL     string `json:"rootUrl,omitempty"`     // where visitors of / go; "": 404
	NotFoundURL string `json:"notFoundUrl,omitempty"` // where visitors of unknown slugs go; "": 404
	ExpiredURL  string `json:"expiredUrl,omitempty"`  // where visitors of expired links without their own address go; "": 410
	HSTS        int64  `json:"hsts,omitempty"`        // max-age of Strict-Transport-Security in seconds; 0: no header

	BrandName string `json:"brandName,omitempty"` // on pages for visitors; "": the brand of the edge
	BrandLogo string `json:"brandLogo,omitempty"` // https URL of a picture on pages for visitors

	AppleAppSite json.RawMessage `json:"appleAppSite,omitempty"` // content of /.well-known/apple-app-site-association; nil: 404
	AssetLinks   json.RawMessage `json:"assetLinks,omitempty"`   // content of /.well-known/assetlinks.json; nil: 404

	SlugForm

	Certificate *Certificate `json:"certificate,omitempty"` // nil: edges have no TLS for this host
	Challenges  []Challenge  `json:"challenges,omitempty"`  // what a certificate authority asks for at present
}

// SlugForm says which slugs a host has beyond the usual ones; see link.SlugRules.
type SlugForm struct {
	Fold     bool `json:"fold,omitempty"`     // slugs are found in any case
	Extended bool `json:"extended,omitempty"` // slugs may have dots, slashes and letters beyond ASCII
}

// Base is what edges need to know of links on the host of BASE_URL, and of previews.
type Base struct {
	SlugForm
	// Hidden are the numbers of the workspaces whose links have no preview.
	Hidden []uint64 `json:"hidden,omitempty"`
}

// Certificate is what edges present for a host.
type Certificate struct {
	Chain [][]byte `json:"chain"` // X.509 in DER, the host's own certificate first
	// Key is the private key: PKCS #8 in DER, sealed by package seal for the purpose SealPurpose and the place
	// SealPlace(Host.Name).
	Key string `json:"key"`
}

// Challenge is a pending question of an ACME server (RFC 8555). Every edge can answer it by http-01 (section 8.3) and by
// tls-alpn-01 (RFC 8737).
type Challenge struct {
	Token            string `json:"token"`
	KeyAuthorization string `json:"keyAuthorization"`
}

// SealPurpose is the purpose of package seal under which private keys and ticket keys are sealed.
const SealPurpose = "certificate"

// TicketPlace is the place under which ticket keys are sealed.
const TicketPlace = "ticket"

// SealPlace returns the place under which the private key of a host is sealed.
func SealPlace(host string) string { return "host|" + host }

// Hosts are the host names that edges serve, or the changes of them since an earlier cursor.
type Hosts struct {
	Cursor Cursor   `json:"cursor"`         // after the changes
	Full   bool     `json:"full,omitempty"` // the list is complete; hosts that are not in it are gone
	Hosts  []Host   `json:"hosts,omitempty"`
	Gone   []string `json:"gone,omitempty"` // names that are not served any more

	// Withdrawn are names at which edges answer nobody's links. They are in Gone too, for edges that do not know this member.
	// A full list without it comes from a control plane that does not know it.
	Withdrawn []Withdrawn `json:"withdrawn,omitzero"`

	// Base is nil if it has not changed, or if the control plane does not know it: then links have no settings there.
	Base *Base `json:"base,omitempty"`

	// Tickets are the keys of TLS session tickets: 32 bytes each, in hex, sealed for SealPurpose and TicketPlace. The
	// first one encrypts, all decrypt. nil means that they have not changed.
	Tickets []string `json:"tickets,omitempty"`

	// Conversions is what edges need for click ids and for conversions that browsers send. nil means that it has not changed.
	Conversions *Conversions `json:"conversions,omitempty"`
}

// Withdrawn is the name of a custom domain that is not in service: nobody has proved it yet, the proof is missing, it was
// suspended, or it was deleted and still leads to edges.
type Withdrawn struct {
	Name      string `json:"name"`                // as Host.Name
	Suspended bool   `json:"suspended,omitempty"` // an administrator took it out of service
}

// Conversions is what edges need for click ids and for conversions that browsers send. Its keys are secret: who has them can
// invent clicks, but read nothing.
type Conversions struct {
	Keys    []conversion.Key   `json:"keys"`
	Window  int64              `json:"window"` // age of a click up to which conversions count, in milliseconds
	Sources []ConversionSource `json:"sources,omitempty"`
}

// ConversionSource is a workspace whose web sites send conversions from browsers.
type ConversionSource struct {
	Key       string   `json:"key"` // publishable: pages contain it
	Workspace uint64   `json:"workspace"`
	Hosts     []string `json:"hosts"` // host names of the sites, in ASCII and lower case; "*.example.com" is every name below example.com
}

// ErrNoHosts is wrapped by the error of a HostSource whose control plane is of a release without custom domains.
var ErrNoHosts = errors.New("snapshot: the control plane has no custom domains")

// HostSource provides host names to an edge. Its revisions are its own: they cannot be compared with those of a Source.
// Implementations are safe for concurrent use.
type HostSource interface {
	// Hosts waits for changes after the cursor and returns them in the wire form (see DecodeHosts). After a cursor that the
	// source does not know, such as the zero Cursor, it returns the full list at once. It may return (nil, nil) if nothing
	// changed for some time; the caller then calls it again. The bytes belong to the caller.
	Hosts(ctx context.Context, after Cursor) ([]byte, error)
}

// Wire form of Hosts, integers little-endian: magic "SLNKHOST", format u16, reserved u16, body length u32, the body as
// JSON, SHA-256 of everything before it, signature length u16, signature (see sign.go). Readers skip unknown members.
const (
	hostsMagic  = "SLNKHOST"
	hostsFormat = 1
	hostsHeader = 16
	hostsFooter = sha256.Size + 2

	maxHosts    = 1 << 30
	maxHostName = 253
)

// MaxAppLinks is the maximum size of Host.AppleAppSite and Host.AssetLinks together, in bytes. Edges keep them in memory.
const MaxAppLinks = 16 << 10

// AppendHosts appends the wire form of h to b, signed by the key unless it is zero. It panics if the wire form is larger
// than a gigabyte, which is enough for a hundred thousand hosts.
func AppendHosts(b []byte, h *Hosts, key SigningKey) []byte {
	body, err := json.Marshal(h)
	if err != nil || len(body) > maxHosts {
		panic(fmt.Sprintf("BUG: snapshot: hosts of %d bytes: %v", len(body), err))
	}
	start := len(b)
	b = append(b, hostsMagic...)
	b = binary.LittleEndian.AppendUint16(b, hostsFormat)
	b = binary.LittleEndian.AppendUint16(b, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = append(b, body...)
	sum := sha256.Sum256(b[start:])
	b = append(b, sum[:]...)
	signature := key.sign(sum[:])
	b = binary.LittleEndian.AppendUint16(b, uint16(len(signature)))
	return append(b, signature...)
}

// DecodeHosts verifies and decodes the wire form of Hosts at the start of b, and returns what follows it. Zero Keys require
// no signature. Errors wrap ErrCorrupt, ErrFormat or ErrUnsigned.
func DecodeHosts(b []byte, keys Keys) (h Hosts, rest []byte, err error) {
	if len(b) < hostsHeader+hostsFooter || string(b[:8]) != hostsMagic {
		return h, nil, corrupt("not a list of hosts")
	}
	end := hostsHeader + uint64(binary.LittleEndian.Uint32(b[12:])) // of the body
	if uint64(len(b)) < end+hostsFooter {
		return h, nil, corrupt("length of a list of hosts")
	}
	sum := sha256.Sum256(b[:end])
	if [sha256.Size]byte(b[end:]) != sum {
		return h, nil, corrupt("checksum of a list of hosts")
	}
	if f := binary.LittleEndian.Uint16(b[8:]); f != hostsFormat {
		return h, nil, fmt.Errorf("%w %d of a list of hosts", ErrFormat, f)
	}
	rest = b[end+hostsFooter:]
	n := int(binary.LittleEndian.Uint16(b[end+sha256.Size:]))
	if n > len(rest) {
		return h, nil, corrupt("signature of a list of hosts")
	}
	if err := keys.verify(sum[:], rest[:n]); err != nil {
		return h, nil, err
	}
	if err := json.Unmarshal(b[hostsHeader:end], &h); err != nil {
		return Hosts{}, nil, corrupt("a list of hosts: %v", err)
	}
	if err := h.check(); err != nil {
		return Hosts{}, nil, err
	}
	return h, rest[n:], nil
}

// check returns an error for a list that no control plane sends.
func (h *Hosts) check() error {
	for i := range h.Hosts {
		host := &h.Hosts[i]
		if !hostName(host.Name) || host.HSTS < 0 || host.Certificate != nil &&
			(len(host.Certificate.Chain) == 0 || host.Certificate.Key == "") {
			return corrupt("host %q of domain %d", host.Name, host.Domain)
		}
		for _, c := range host.Challenges {
			if c.Token == "" || c.KeyAuthorization == "" {
				return corrupt("challenge of host %q", host.Name)
			}
		}
	}
	if h.Conversions != nil {
		if _, err := conversion.NewKeys(h.Conversions.Keys); err != nil {
			return corrupt("keys of click ids: %v", err)
		}
	}
	for _, name := range h.Gone {
		if !hostName(name) {
			return corrupt("host %q", name)
		}
	}
	for i := range h.Withdrawn {
		if name := h.Withdrawn[i].Name; !hostName(name) {
			return corrupt("host %q", name)
		}
	}
	return nil
}

func hostName(s string) bool {
	return s != "" && len(s) <= maxHostName && strings.ToLower(s) == s && !strings.ContainsAny(s, "/:@ ")
}
