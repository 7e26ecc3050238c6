package profile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	system "github.com/zalando/go-keyring"
)

// memory is a keyring. It refuses everything while broken is set.
type memory struct {
	secrets map[string]string
	broken  error
}

func (m *memory) Get(_, user string) (string, error) {
	secret, found := m.secrets[user]
	if !found {
		return "", errors.Join(m.broken, system.ErrNotFound)
	}
	return secret, m.broken
}

func (m *memory) Set(_, user, secret string) error {
	if m.broken == nil {
		m.secrets[user] = secret
	}
	return m.broken
}

func (m *memory) Delete(_, user string) error {
	delete(m.secrets, user)
	return m.broken
}

func open(t *testing.T, dir string, ring keyring) *Store {
	t.Helper()
	s, err := Open(dir, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	s.keyring = ring
	return s
}

func TestKeys_are_in_the_keyring_or_else_in_a_file(t *testing.T) {
	const key = "sl_x"
	p := Profile{URL: "https://sho.rt"}
	for name, one := range map[string]struct {
		ring keyring
		in   string
	}{
		"keyring":           {&memory{secrets: map[string]string{}}, InKeyring},
		"keyring is broken": {&memory{secrets: map[string]string{}, broken: errors.New("locked")}, InFile},
		"no keyring":        {nil, InFile},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "config")
			if err := open(t, dir, one.ring).PutKey("work", p, key); err != nil {
				t.Fatal(err)
			}
			s := open(t, dir, one.ring) // another run
			got, err := s.Key("work")
			kept, _ := s.Get("work")
			if err != nil || got != key || kept.KeyIn != one.in {
				t.Errorf("%q %q %v", got, kept.KeyIn, err)
			}
			if _, err := os.Stat(s.keysPath()); (err == nil) != (one.in == InFile) {
				t.Errorf("the file with keys: %v", err)
			}
			if err := s.Delete("work"); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Key("work"); got != "" || err != nil || len(s.Names()) != 0 {
				t.Errorf("after the deletion: %q %v", got, err)
			}
		})
	}
}

// A key of another address is not found under the name of a profile, even if somebody changes the address in the file.
func TestKeys_belong_to_an_address(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	if err := s.PutKey("work", Profile{URL: "https://sho.rt"}, "sl_x"); err != nil {
		t.Fatal(err)
	}
	if err := s.Put("work", Profile{URL: "https://elsewhere.example", KeyIn: InFile}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Key("work"); got != "" || err != nil {
		t.Errorf("%q %v", got, err)
	}
}

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"sho.rt": "https://sho.rt", "https://sho.rt/": "https://sho.rt", "localhost:8080": "http://localhost:8080",
		"127.0.0.1:8080": "http://127.0.0.1:8080", "http://sho.rt/?x#y": "http://sho.rt", "": "", "ftp://sho.rt": "", "https://": "",
		"https://ann:secret@sho.rt": "",
	} {
		got, err := Address(text)
		if want == "" && err == nil || want != "" && (err != nil || got.String() != want) {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
}
