package snapshot_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func someHosts() *snapshot.Hosts {
	return &snapshot.Hosts{
		Cursor: snapshot.Cursor{Incarnation: 7, Revision: 42}, Full: true,
		Hosts: []snapshot.Host{
			{Name: "go.acme.com", Domain: 1, RootURL: "https://acme.com/", NotFoundURL: "https://acme.com/404",
				ExpiredURL: "https://acme.com/gone",
				HSTS:       31536000},
			{
				Name: "xn--bcher-kva.example", Domain: 2, AppleAppSite: json.RawMessage(`{"applinks":{}}`),
				AssetLinks:  json.RawMessage(`[]`),
				Certificate: &snapshot.Certificate{Chain: [][]byte{{1, 2}, {3}}, Key: "sealed"},
				Challenges:  []snapshot.Challenge{{Token: "t", KeyAuthorization: "t.thumbprint"}},
			},
			{Name: "sho.rt"},
		},
		Gone:      []string{"old.acme.com", "bad.acme.com"},
		Withdrawn: []snapshot.Withdrawn{{Name: "old.acme.com"}, {Name: "bad.acme.com", Suspended: true}}, Tickets: []string{"new", "old"},
	}
}

func hostKeys(t *testing.T) (snapshot.SigningKey, snapshot.Keys) {
	t.Helper()
	key, err := snapshot.ParseSigningKey(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	testkit.Must(t, err)
	keys, err := snapshot.ParseKeys(key.Public())
	testkit.Must(t, err)
	return key, keys
}

func TestHosts_round_trip(t *testing.T) {
	t.Parallel()
	key, keys := hostKeys(t)
	want := someHosts()
	wire := snapshot.AppendHosts(nil, want, key)
	for name, trusted := range map[string]snapshot.Keys{"signed": keys, "any": {}} {
		got, rest, err := snapshot.DecodeHosts(append(bytes.Clone(wire), "next"...), trusted)
		if err != nil || !reflect.DeepEqual(&got, want) || string(rest) != "next" {
			t.Errorf("%s: %+v, %q, %v", name, got, rest, err)
		}
	}
	if _, _, err := snapshot.DecodeHosts(snapshot.AppendHosts(nil, want, snapshot.SigningKey{}), keys); !errors.Is(err,
		snapshot.ErrUnsigned) {
		t.Errorf("an unsigned list: %v", err)
	}
}

// A signature of a list must not be valid for anything else, and every damaged byte must be noticed.
func TestHosts_damage(t *testing.T) {
	t.Parallel()
	key, keys := hostKeys(t)
	wire := snapshot.AppendHosts(nil, someHosts(), key)
	for at := range wire {
		for _, bit := range []byte{1, 0x80} {
			bad := bytes.Clone(wire)
			bad[at] ^= bit
			if _, _, err := snapshot.DecodeHosts(bad, keys); err == nil {
				t.Fatalf("a changed bit in byte %d was accepted", at)
			}
		}
	}
	for n := range wire {
		if _, _, err := snapshot.DecodeHosts(wire[:n], keys); err == nil {
			t.Fatalf("%d of %d bytes were accepted", n, len(wire))
		}
	}
}

func TestHosts_refuses_what_no_control_plane_sends(t *testing.T) {
	t.Parallel()
	for _, h := range []snapshot.Hosts{
		{Hosts: []snapshot.Host{{Name: "go.acme.com", Certificate: &snapshot.Certificate{Key: "sealed"}}}},
		{Hosts: []snapshot.Host{{Name: "go.acme.com", Certificate: &snapshot.Certificate{Chain: [][]byte{{1}}}}}},
		{Hosts: []snapshot.Host{{Name: "go.acme.com", Challenges: []snapshot.Challenge{{Token: "t"}}}}},
		{Hosts: []snapshot.Host{{Domain: 1}}},
		{Hosts: []snapshot.Host{{Name: "Go.acme.com", Domain: 1}}},
		{Hosts: []snapshot.Host{{Name: "go.acme.com:443", Domain: 1}}},
		{Hosts: []snapshot.Host{{Name: "go.acme.com", Domain: 1, HSTS: -1}}},
		{Gone: []string{""}},
		{Withdrawn: []snapshot.Withdrawn{{Name: "Go.acme.com"}}},
	} {
		if _, _, err := snapshot.DecodeHosts(snapshot.AppendHosts(nil, &h, snapshot.SigningKey{}), snapshot.Keys{}); !errors.Is(err,
			snapshot.ErrCorrupt) {
			t.Errorf("%+v: %v", h, err)
		}
	}
}

// A reader must distinguish a full list without withdrawn names from one of a release that does not know them.
func TestHosts_no_withdrawn_names(t *testing.T) {
	t.Parallel()
	for _, want := range []snapshot.Hosts{{Full: true, Withdrawn: []snapshot.Withdrawn{}}, {Full: true}} {
		got, _, err := snapshot.DecodeHosts(snapshot.AppendHosts(nil, &want, snapshot.SigningKey{}), snapshot.Keys{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v became %+v, %v", want, got, err)
		}
	}
}

func FuzzDecodeHosts(f *testing.F) {
	f.Add(snapshot.AppendHosts(nil, someHosts(), snapshot.SigningKey{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, _, err := snapshot.DecodeHosts(b, snapshot.Keys{})
		if err != nil {
			return
		}
		again, _, err := snapshot.DecodeHosts(snapshot.AppendHosts(nil, &h, snapshot.SigningKey{}), snapshot.Keys{})
		if err != nil || !reflect.DeepEqual(again, h) {
			t.Errorf("%+v became %+v, %v", h, again, err)
		}
	})
}
