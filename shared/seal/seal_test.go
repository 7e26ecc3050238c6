package seal_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/seal"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func box(t testing.TB, purpose string, keys ...byte) *seal.Box {
	t.Helper()
	var ring [][]byte
	for _, k := range keys {
		ring = append(ring, bytes.Repeat([]byte{k}, seal.MinKey))
	}
	b, err := seal.New(purpose, ring...)
	testkit.Must(t, err)
	return b
}

func TestBox(t *testing.T) {
	t.Parallel()
	b := box(t, "totp", 1)
	for _, text := range []string{"", "secret", strings.Repeat("long ", 1000)} {
		sealed := b.Seal("users|1", text)
		if text != "" && strings.Contains(sealed, text) || sealed == b.Seal("users|1", text) {
			t.Fatalf("%q is sealed as %q", text, sealed)
		}
		if got, err := b.Open("users|1", sealed); err != nil || got != text {
			t.Fatalf("%q comes back as %q, %v", text, got, err)
		}
		for what, open := range map[string]func() (string, error){
			"another place":   func() (string, error) { return b.Open("users|2", sealed) },
			"another purpose": func() (string, error) { return box(t, "webhook", 1).Open("users|1", sealed) },
			"another key":     func() (string, error) { return box(t, "totp", 2).Open("users|1", sealed) },
			"a changed text":  func() (string, error) { return b.Open("users|1", sealed[:len(sealed)-3]+"AAA") },
			"a cut text":      func() (string, error) { return b.Open("users|1", sealed[:20]) },
			"nothing":         func() (string, error) { return b.Open("users|1", "") },
		} {
			if got, err := open(); err == nil {
				t.Errorf("%s opens: %q", what, got)
			}
		}
	}
}

func TestBox_rotation(t *testing.T) {
	t.Parallel()
	old := box(t, "totp", 1).Seal("p", "x")
	b := box(t, "totp", 2, 1)
	if got, err := b.Open("p", old); err != nil || got != "x" || b.Current(old) {
		t.Fatalf("%q %v current: %v", got, err, b.Current(old))
	}
	if sealed := b.Seal("p", "x"); !b.Current(sealed) {
		t.Fatal("the first key must seal")
	}
}

func TestNew_refuses_weak_keys(t *testing.T) {
	t.Parallel()
	if _, err := seal.New("p"); err == nil {
		t.Error("no key is accepted")
	}
	if _, err := seal.New("p", make([]byte, seal.MinKey-1)); err == nil {
		t.Error("a short key is accepted")
	}
}

func FuzzOpen(f *testing.F) {
	b := box(f, "totp", 1)
	f.Add(b.Seal("p", "x"))
	f.Add("v1..")
	f.Add("v1.00000000.AAAA")
	f.Fuzz(func(t *testing.T, sealed string) {
		if text, err := b.Open("p", sealed); err == nil && text != "x" {
			t.Fatalf("%q opens as %q", sealed, text)
		}
	})
}
