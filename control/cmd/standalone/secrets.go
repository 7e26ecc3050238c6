package main

import (
	"crypto/rand"
	"crypto/sha256"
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
	Sum           string `json:"sum,omitempty"` // finds damage; files of earlier releases have none
}

func (s *secrets) sum() string {
	digest := sha256.Sum256([]byte(s.JWTSecret + "\n" + s.EncryptionKey))
	return hex.EncodeToString(digest[:8])
}

// keepSecrets fills in the secrets that were not given with those in dir, which are drawn at the first start and
// kept in a file that only its owner can read. Losing the file ends all sessions and makes sealed values (second
// factors, webhook and client secrets) unreadable, so it belongs in every backup.
func keepSecrets(dir string, jwtSecret, encryptionKey *config.Secret) error {
	if *jwtSecret != "" && *encryptionKey != "" {
		return nil
	}
	kept, err := readSecrets(dir)
	if errors.Is(err, fs.ErrNotExist) {
		kept = secrets{JWTSecret: draw(), EncryptionKey: draw()}
		kept.Sum = kept.sum()
		if err = writePrivate(filepath.Join(dir, secretsFile), kept); err != nil {
			err = fmt.Errorf("keep secrets: %w", err)
		}
	}
	if err != nil {
		return err
	}
	if *jwtSecret == "" {
		*jwtSecret = config.Secret(kept.JWTSecret)
	}
	if *encryptionKey == "" {
		*encryptionKey = config.Secret(kept.EncryptionKey)
	}
	return nil
}

// readSecrets reads the file. The error wraps fs.ErrNotExist if there is none.
func readSecrets(dir string) (kept secrets, err error) {
	path := filepath.Join(dir, secretsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return kept, fmt.Errorf("read secrets: %w", err)
	}
	err = json.Unmarshal(text, &kept)
	if err != nil || len(kept.JWTSecret) < 32 || len(kept.EncryptionKey) != 64 || kept.Sum != "" && kept.Sum != kept.sum() {
		// New secrets would silently orphan every sealed value.
		return kept,
			fmt.Errorf("%s is damaged: restore the file from a backup. Without it, sessions end, and second factors and the secrets of webhooks "+
				"and identity providers cannot be decrypted", path)
	}
	return kept, nil
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
