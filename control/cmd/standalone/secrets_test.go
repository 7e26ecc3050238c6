package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestKeepSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var jwt, key config.Secret
	testkit.Must(t, keepSecrets(dir, &jwt, &key))
	if len(jwt) < 32 || len(key) != 64 || jwt == key {
		t.Fatalf("generated %d and %d characters", len(jwt), len(key))
	}
	info, err := os.Stat(filepath.Join(dir, "secrets.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode of the file: %v, %v", info.Mode(), err)
	}

	t.Run("a restart keeps them", func(t *testing.T) {
		var jwt2, key2 config.Secret
		if err := keepSecrets(dir, &jwt2, &key2); err != nil || jwt2 != jwt || key2 != key {
			t.Fatalf("the secrets changed, or error %v", err)
		}
	})
	t.Run("configured secrets take precedence", func(t *testing.T) {
		given, key2 := config.Secret("given"), config.Secret("")
		if err := keepSecrets(dir, &given, &key2); err != nil || given != "given" || key2 != key {
			t.Fatalf("got %q, %v", given.Reveal(), err)
		}
	})
	t.Run("a damaged file is never replaced", func(t *testing.T) {
		bad := t.TempDir()
		testkit.Must(t, os.WriteFile(filepath.Join(bad, "secrets.json"), []byte(`{"jwtSecret":"x"`), 0o600))
		var a, b config.Secret
		if err := keepSecrets(bad, &a, &b); err == nil {
			t.Fatal("new secrets replaced a damaged file")
		}
	})
}
