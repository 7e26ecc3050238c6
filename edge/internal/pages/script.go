package pages

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
)

//go:embed sl.js
var scriptSource []byte

// Script is what web sites load to send conversions, and ScriptTag its ETag.
var Script, ScriptTag = func() (text []byte, tag string) {
	text = pack(scriptSource)
	sum := sha256.Sum256(text)
	return text, `"` + base64.RawURLEncoding.EncodeToString(sum[:9]) + `"`
}()

// pack removes lines of comments, indentation and line breaks. Each statement of the script must end with a semicolon.
func pack(source []byte) (text []byte) {
	for line := range bytes.Lines(source) {
		if line = bytes.TrimSpace(line); !bytes.HasPrefix(line, []byte("//")) {
			text = append(text, line...)
		}
	}
	return text
}
