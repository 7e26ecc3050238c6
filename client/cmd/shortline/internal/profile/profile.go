// Package profile keeps where a user's Shortlines are and as whom the user calls them. Keys are in the keyring of the desktop, or
// in a file that only the user can read.
package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Default is the name of the profile if nobody chooses one.
const Default = "default"

// Profile is one Shortline, and a key there.
type Profile struct {
	URL       string `yaml:"url"`
	Workspace string `yaml:"workspace,omitempty"` // id or slug; "" means that of the key
	Email     string `yaml:"email,omitempty"`     // of the user
	KeyID     string `yaml:"keyId,omitempty"`     // of the key, which logout deletes
	KeyIn     string `yaml:"keyIn,omitempty"`     // InKeyring or InFile
}

// Where a key is.
const (
	InKeyring = "keyring"
	InFile    = "file"
)

// file is the form of config.yaml.
type file struct {
	Current  string             `yaml:"current"`
	Profiles map[string]Profile `yaml:"profiles"`
}

// Store is the folder with the profiles.
type Store struct {
	dir     string
	content file
	keyring keyring // nil if there is none
}

// Folder returns where the profiles are: SHORTLINE_CONFIG, or shortline in XDG_CONFIG_HOME, which is ~/.config by default.
func Folder(getenv func(string) string) (string, error) {
	if dir := getenv("SHORTLINE_CONFIG"); dir != "" {
		return dir, nil
	}
	base := getenv("XDG_CONFIG_HOME")
	if base == "" {
		home := getenv("HOME")
		if home == "" {
			return "", errors.New("neither SHORTLINE_CONFIG, XDG_CONFIG_HOME nor HOME is set, so there is no place for profiles")
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, "shortline"), nil
}

// Open reads the profiles. A folder that does not exist has none.
func Open(dir string, getenv func(string) string) (*Store, error) {
	s := &Store{dir: dir, content: file{Profiles: map[string]Profile{}}, keyring: keyringOf(getenv)}
	text, err := os.ReadFile(s.path())
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the profiles: %w", err)
	}
	if err := yaml.Unmarshal(text, &s.content); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", s.path(), err)
	}
	if s.content.Profiles == nil {
		s.content.Profiles = map[string]Profile{}
	}
	return s, nil
}

func (s *Store) path() string { return filepath.Join(s.dir, "config.yaml") }

// Current returns the name of the profile in use.
func (s *Store) Current() string {
	if s.content.Current == "" {
		return Default
	}
	return s.content.Current
}

// Names returns the names of all profiles in order.
func (s *Store) Names() []string { return slices.Sorted(maps.Keys(s.content.Profiles)) }

// Get returns a profile.
func (s *Store) Get(name string) (Profile, bool) {
	p, ok := s.content.Profiles[name]
	return p, ok
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$`)

// CheckName returns an error if a profile cannot have the name.
func CheckName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("the name of a profile consists of up to 50 letters, digits, dots, hyphens and underscores, not %q", name)
	}
	return nil
}

// Put stores a profile, and makes it the current one if there is no other.
func (s *Store) Put(name string, p Profile) error {
	if err := CheckName(name); err != nil {
		return err
	}
	s.content.Profiles[name] = p
	if len(s.content.Profiles) == 1 {
		s.content.Current = name
	}
	return s.save()
}

// Use makes a profile the current one.
func (s *Store) Use(name string) error {
	s.content.Current = name
	return s.save()
}

// Delete removes a profile with its key.
func (s *Store) Delete(name string) error {
	p, ok := s.content.Profiles[name]
	if !ok {
		return nil
	}
	if err := s.deleteKey(name, p); err != nil {
		return err
	}
	delete(s.content.Profiles, name)
	if s.content.Current == name {
		s.content.Current = ""
		if names := s.Names(); len(names) == 1 {
			s.content.Current = names[0]
		}
	}
	return s.save()
}

func (s *Store) save() error {
	text, err := yaml.Marshal(s.content)
	if err != nil {
		return fmt.Errorf("write the profiles: %w", err)
	}
	return s.write(s.path(), text)
}

// write replaces a file as a whole, so that an interruption leaves the old one or the new one.
func (s *Store) write(path string, text []byte) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the profiles: %w", err)
	}
	temporary, err := os.CreateTemp(s.dir, ".new-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(temporary.Name()) // it does not exist after Rename
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Address returns the address of a Shortline as profiles keep it: with a scheme, and without a slash at its end.
func Address(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		scheme := "https://"
		if host, _, _ := strings.Cut(text, ":"); host == "localhost" || strings.HasPrefix(host, "127.") {
			scheme = "http://"
		}
		text = scheme + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("%q is not the address of a Shortline, such as https://sho.rt", text)
	}
	if u.User != nil {
		return nil, errors.New("the address must not contain a password")
	}
	u.RawQuery, u.Fragment, u.Path, u.RawPath = "", "", strings.TrimRight(u.Path, "/"), ""
	return u, nil
}
