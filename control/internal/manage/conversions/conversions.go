// Package conversions implements the settings of a workspace for conversions: the name of the query parameter with the click
// id, the web sites whose pages send conversions, and the key that these pages contain.
//
// Edges enforce the settings. They learn the sites and the key with the host names (package hosts), and the parameter with
// each link.
package conversions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

const (
	maxHosts  = 50
	keyPrefix = "slp_"
	keyBytes  = 16
)

// Settings of a workspace.
type Settings struct {
	ClickParameter string   // name of the query parameter with the click id
	Hosts          []string // ASCII, lower case; "*.example.com" is every name below example.com
	Key            string   // publishable; "" before the settings were first written
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct{ store *store.Store }

// New returns a Service.
func New(s *store.Store) *Service { return &Service{s} }

// Get reads the settings of the caller's workspace.
func (s *Service) Get(ctx context.Context, p auth.Principal) (Settings, error) {
	out, _, err := readSettings(ctx, s.store.Conn, p.Workspace.Num)
	return out, problem.Doing("read settings of conversions", err)
}

// readSettings also reports whether the workspace has a key.
func readSettings(ctx context.Context, c store.Conn, workspace uint64) (out Settings, exists bool, err error) {
	if out.ClickParameter, err = c.ClickParameter(ctx, workspace); err != nil {
		return out, false, err
	}
	if out.ClickParameter == "" {
		out.ClickParameter = link.DefaultClickParameter
	}
	source, err := c.ConversionSource(ctx, workspace)
	if errors.Is(err, store.ErrNotFound) {
		return out, false, nil
	}
	out.Hosts, out.Key = source.Hosts, source.Key
	return out, err == nil, err
}

// Input lists the settings that a request sets. Nil keeps a setting.
type Input struct {
	ClickParameter *string // "" stands for the default
	Hosts          *[]string
}

var parameterForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)

func (in *Input) apply(s *Settings) error {
	var v problem.Fields
	if in.ClickParameter != nil {
		name := *in.ClickParameter
		if name == "" {
			name = link.DefaultClickParameter
		}
		switch {
		case !parameterForm.MatchString(name):
			v.Add("clickParameter", "must be a letter and at most 31 letters, digits, hyphens and underscores")
		case strings.HasPrefix(strings.ToLower(name), "utm_"):
			v.Add("clickParameter", "must not begin with utm_, because campaign parameters do")
		}
		s.ClickParameter = name
	}
	if in.Hosts != nil {
		s.Hosts = nil
		if len(*in.Hosts) > maxHosts {
			v.Add("hosts", "must have at most %d items", maxHosts)
		} else {
			for i, typed := range *in.Hosts {
				host, err := parseHost(typed)
				if err != nil {
					v.Add(fmt.Sprintf("hosts.%d", i), "%s", err)
				} else if !slices.Contains(s.Hosts, host) {
					s.Hosts = append(s.Hosts, host)
				}
			}
		}
	}
	return v.Err()
}

// parseHost reads the name of a web site. Sites in private networks and on the developer's machine are allowed, because the
// list only says whose pages may send.
func parseHost(typed string) (string, error) {
	typed = strings.TrimSpace(typed)
	name, wild := strings.CutPrefix(typed, "*.")
	if strings.EqualFold(name, "localhost") {
		return strings.ToLower(typed), nil
	}
	if ip, err := netip.ParseAddr(name); err == nil && ip.Is4() && !wild {
		return name, nil
	}
	host, err := hostname.Parse(name, hostname.Policy{AllowPrivate: true})
	if err != nil {
		return "", err
	}
	if wild {
		return "*." + host.ASCII, nil
	}
	return host.ASCII, nil
}

// Update changes the settings that the input sets. A new name of the parameter reaches edges with the links that track
// conversions.
func (s *Service) Update(ctx context.Context, p auth.Principal, in Input) (after Settings, err error) {
	num, revision := p.Workspace.Num, uint64(0)
	renamed := false
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockWorkspace(ctx, num); err != nil {
			return err
		}
		before, exists, err := readSettings(ctx, tx.Conn, num)
		if err != nil {
			return err
		}
		after = before
		if err := in.apply(&after); err != nil {
			return err
		}
		renamed = after.ClickParameter != before.ClickParameter
		if exists && !renamed && slices.Equal(after.Hosts, before.Hosts) {
			return nil
		}
		if renamed {
			if err := tx.SetClickParameter(ctx, num, parameter(after)); err != nil {
				return err
			}
			if err := tx.TouchTracking(ctx, num, 0); err != nil {
				return err
			}
		}
		if !exists {
			after.Key = newKey()
		}
		if err := put(ctx, tx, num, &after); err != nil {
			return err
		}
		revision = tx.Revision()
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "CONVERSION_SETTINGS_UPDATED", EntityType: "conversion_settings",
			EntityID: p.Workspace.ID, Workspace: num, Old: fields(&before), New: fields(&after)})
	})
	if err == nil && renamed {
		// A link that began to track in a transaction beside the first one has the old name at edges.
		err = s.store.Tx(ctx, func(tx *store.Tx) error { return tx.TouchTracking(ctx, num, revision) })
	}
	return after, problem.Doing("update settings of conversions", err)
}

// RotateKey replaces the publishable key. Edges refuse the old one from then on.
func (s *Service) RotateKey(ctx context.Context, p auth.Principal) (after Settings, err error) {
	num := p.Workspace.Num
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockWorkspace(ctx, num); err != nil {
			return err
		}
		before, _, err := readSettings(ctx, tx.Conn, num)
		if err != nil {
			return err
		}
		after = before
		after.Key = newKey()
		if err := put(ctx, tx, num, &after); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "CONVERSION_KEY_ROTATED", EntityType: "conversion_settings",
			EntityID: p.Workspace.ID, Workspace: num})
	})
	return after, problem.Doing("rotate the publishable key", err)
}

func put(ctx context.Context, tx *store.Tx, workspace uint64, s *Settings) error {
	return tx.PutConversionSource(ctx, &store.ConversionSource{Workspace: workspace, Key: s.Key, Hosts: s.Hosts, UpdatedAt: store.Now()})
}

// parameter returns the name as the store keeps it.
func parameter(s Settings) string {
	if s.ClickParameter == link.DefaultClickParameter {
		return ""
	}
	return s.ClickParameter
}

// fields returns the audited fields.
func fields(s *Settings) map[string]any {
	return map[string]any{"clickParameter": s.ClickParameter, "hosts": append([]string{}, s.Hosts...)}
}

func newKey() string {
	b := make([]byte, keyBytes)
	_, _ = rand.Read(b) // never fails
	return keyPrefix + hex.EncodeToString(b)
}
