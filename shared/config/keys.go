package config

import (
	"fmt"
	"strings"
)

// minKey is the least length of a key, in bytes.
const minKey = 32

// Keys splits a setting that holds several keys separated by commas, such as ENCRYPTION_KEY. The first key signs or
// seals; all of them are accepted.
func (s Secret) Keys() (keys [][]byte) {
	for key := range strings.SplitSeq(s.Reveal(), ",") {
		if key = strings.TrimSpace(key); key != "" {
			keys = append(keys, []byte(key))
		}
	}
	return keys
}

// CheckKeys returns an error if a key of the setting called name has fewer than 32 bytes. The error does not show it.
func (s Secret) CheckKeys(name string) error {
	for _, key := range s.Keys() {
		if len(key) < minKey {
			return fmt.Errorf("%s: must have at least %d bytes", name, minKey)
		}
	}
	return nil
}
