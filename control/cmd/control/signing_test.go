package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The command prints the public key, and never the private one.
func TestPublicKey(t *testing.T) {
	seed := []byte(strings.Repeat("s", ed25519.SeedSize))
	text := base64.StdEncoding.EncodeToString(seed)
	path := filepath.Join(t.TempDir(), "key")
	testkit.Must(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
	t.Setenv("SNAPSHOT_SIGNING_KEY_FILE", path)
	want := base64.StdEncoding.EncodeToString(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
	if code, out := call(t, "public-key"); code != 0 || strings.TrimSpace(out) != want {
		t.Errorf("%d %s", code, out)
	}
	for _, bad := range []string{"", "too short", text[:40]} {
		testkit.Must(t, os.WriteFile(path, []byte(bad), 0o600))
		if code, out := call(t, "public-key"); code == 0 || !strings.Contains(out, "SNAPSHOT_SIGNING_KEY") || bad != "" &&
			strings.Contains(out, bad) {
			t.Errorf("%q: %d %s", bad, code, out)
		}
	}
}
