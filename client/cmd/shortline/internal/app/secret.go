package app

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Secret reads a secret: from the terminal, which does not show it, or from the first line of standard input.
func (a *App) Secret(prompt string) (string, error) {
	var text string
	var err error
	if a.InTTY && a.Password != nil {
		text, err = a.Password(prompt)
	} else {
		text, err = ReadLine(a.In)
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", Usage("there is no secret on standard input")
	}
	return text, nil
}

// secrets are the forms of secrets: API keys, secrets of webhooks, and access tokens.
var secrets = regexp.MustCompile(`\bsl_[A-Za-z0-9]{12,}|\bwhsec_[A-Za-z0-9+/=_-]{8,}|\beyJ[\w-]+\.[\w-]+\.[\w-]+`)

// Redact replaces secrets in a text.
func Redact(text []byte) []byte {
	return secrets.ReplaceAllFunc(text, func(one []byte) []byte {
		if at := strings.IndexByte(string(one), '_'); at > 0 && at < 6 {
			return append(one[:at+1:at+1], "***"...)
		}
		return []byte("***")
	})
}

// secretFields are fields of JSON whose texts are secrets in any form.
var secretFields = regexp.MustCompile(`("(?:secret|clientSecret|password|accessToken|refreshToken|token)"\s*:\s*)"(?:[^"\\]|\\.)+"`)

// RedactJSON replaces secrets in JSON.
func RedactJSON(text []byte) []byte {
	return secretFields.ReplaceAll(Redact(text), []byte(`${1}"***"`))
}
