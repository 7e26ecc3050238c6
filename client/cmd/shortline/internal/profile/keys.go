package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	system "github.com/zalando/go-keyring"
)

// service is the name of the entries in a keyring.
const service = "shortline"

// keyring is what a Store needs of a keyring.
type keyring interface {
	Get(service, user string) (string, error)
	Set(service, user, secret string) error
	Delete(service, user string) error
}

// desktop is the keyring of the desktop: Keychain, or the Secret Service.
type desktop struct{}

// patience is how long a keyring may take. One that waits for a person on another screen must not block scripts.
const patience = 10 * time.Second

var errSilent = errors.New("the keyring does not answer; unlock it, or set SHORTLINE_KEYRING=file to keep keys in a file")

func (desktop) Get(service, user string) (string, error) {
	return timely(func() (string, error) { return system.Get(service, user) })
}

func (desktop) Set(service, user, secret string) error {
	_, err := timely(func() (string, error) { return "", system.Set(service, user, secret) })
	return err
}

func (desktop) Delete(service, user string) error {
	_, err := timely(func() (string, error) { return "", system.Delete(service, user) })
	return err
}

func timely(f func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := f()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-time.After(patience):
		return "", errSilent
	}
}

// keyringOf returns the keyring of the desktop, or nil if there is none. On Linux, the library would start a session bus of its
// own where there is none, such as on servers.
func keyringOf(getenv func(string) string) keyring {
	if getenv("SHORTLINE_KEYRING") == "file" {
		return nil
	}
	if runtime.GOOS == "linux" && getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
		dir := getenv("XDG_RUNTIME_DIR")
		if _, err := os.Stat(filepath.Join(dir, "bus")); dir == "" || err != nil {
			return nil
		}
	}
	return desktop{}
}

// PutKey stores a profile with its key.
func (s *Store) PutKey(name string, p Profile, key string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	p.KeyIn = InFile
	if s.keyring != nil && s.keyring.Set(service, entry(name, p), key) == nil {
		p.KeyIn = InKeyring
	}
	if p.KeyIn == InFile {
		keys, err := s.keysFile()
		if err != nil {
			return err
		}
		keys[entry(name, p)] = key
		if err := s.writeKeys(keys); err != nil {
			return err
		}
	}
	return s.Put(name, p)
}

// Key returns the key of a profile, or "" if it has none.
func (s *Store) Key(name string) (string, error) {
	p, ok := s.content.Profiles[name]
	if !ok {
		return "", nil
	}
	switch p.KeyIn {
	case InKeyring:
		if s.keyring == nil {
			return "", fmt.Errorf("the key of the profile %s is in the keyring of your desktop, which cannot be reached from here; "+
				"set SHORTLINE_API_KEY, or run: shortline login", name)
		}
		key, err := s.keyring.Get(service, entry(name, p))
		if errors.Is(err, system.ErrNotFound) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("read the key from the keyring: %w", err)
		}
		return key, nil
	case InFile:
		keys, err := s.keysFile()
		return keys[entry(name, p)], err
	}
	return "", nil
}

func (s *Store) deleteKey(name string, p Profile) error {
	switch p.KeyIn {
	case InKeyring:
		if s.keyring == nil {
			return nil // it stays there, and the server knows it no longer
		}
		if err := s.keyring.Delete(service, entry(name, p)); err != nil && !errors.Is(err, system.ErrNotFound) {
			return fmt.Errorf("delete the key from the keyring: %w", err)
		}
	case InFile:
		keys, err := s.keysFile()
		if err != nil {
			return err
		}
		delete(keys, entry(name, p))
		return s.writeKeys(keys)
	}
	return nil
}

// entry is the name of a key. It contains the address, so that a key is never sent elsewhere.
func entry(name string, p Profile) string { return name + " " + p.URL }

func (s *Store) keysPath() string { return filepath.Join(s.dir, "keys.json") }

func (s *Store) keysFile() (map[string]string, error) {
	keys := map[string]string{}
	at, err := os.Stat(s.keysPath())
	if errors.Is(err, fs.ErrNotExist) {
		return keys, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	if runtime.GOOS != "windows" && at.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("other users can read %s; run: chmod 600 %[1]s, and replace the keys in it", s.keysPath())
	}
	text, err := os.ReadFile(s.keysPath())
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	if err := json.Unmarshal(text, &keys); err != nil {
		return nil, fmt.Errorf("%s is damaged; delete it, and sign in again", s.keysPath()) // the error could quote a key
	}
	return keys, nil
}

func (s *Store) writeKeys(keys map[string]string) error {
	text, err := json.MarshalIndent(keys, "", "  ")
	if err != nil {
		return fmt.Errorf("write the keys: %w", err)
	}
	return s.write(s.keysPath(), append(text, '\n'))
}
