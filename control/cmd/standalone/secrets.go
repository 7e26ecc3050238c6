package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/durable"
)

// secretsFile is the name of the file that keepSecrets writes.
const secretsFile = "secrets.json"

// secrets is the file in which a program without configuration keeps the secrets that it made for itself.
type secrets struct {
	JWTSecret     string `json:"jwtSecret"`
	EncryptionKey string `json:"encryptionKey"`
}

// keepSecrets fills in the secrets that were not given with those in dir, which are drawn at the first start and
// kept in a file that only its owner can read. Losing the file ends all sessions and makes sealed values (second
// factors, webhook and client secrets) unreadable, so it belongs in every backup.
func keepSecrets(dir string, jwtSecret, encryptionKey *config.Secret) error {
	if *jwtSecret != "" && *encryptionKey != "" {
		return nil
	}
	path := filepath.Join(dir, secretsFile)
	var kept secrets
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		kept = secrets{JWTSecret: draw(), EncryptionKey: draw()}
		if err := writePrivate(path, kept); err != nil {
			return fmt.Errorf("keep secrets: %w", err)
		}
	case err != nil:
		return fmt.Errorf("read secrets: %w", err)
	default:
		if err := json.Unmarshal(text, &kept); err != nil || len(kept.JWTSecret) < 32 || len(kept.EncryptionKey) != 64 {
			// Drawing new ones would silently orphan every sealed value.
			return fmt.Errorf("%s is damaged; restore it from a backup", path)
		}
	}
	if *jwtSecret == "" {
		*jwtSecret = config.Secret(kept.JWTSecret)
	}
	if *encryptionKey == "" {
		*encryptionKey = config.Secret(kept.EncryptionKey)
	}
	return nil
}

// draw returns 32 random bytes in hex.
func draw() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails: it ends the process rather than return less
	return hex.EncodeToString(b)
}

// writePrivate replaces a file that only its owner can read.
func writePrivate(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return durable.Write(path, append(text, '\n'))
}
