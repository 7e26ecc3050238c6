package accounts

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"strings"
	"sync"
)

// commonText has those of the 10,000 most common passwords that have the minimum length, one per line, in lower case.
// The source is the frequency list of zxcvbn 4.5.0 (MIT, see commonpasswords.LICENSE), which ranks passwords of public
// leaks.
//
//go:embed commonpasswords.txt.gz
var commonText []byte

var commonPasswords = sync.OnceValue(func() map[string]struct{} {
	r, err := gzip.NewReader(bytes.NewReader(commonText))
	if err != nil {
		panic("BUG: the list of common passwords: " + err.Error())
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic("BUG: the list of common passwords: " + err.Error())
	}
	list := map[string]struct{}{}
	for word := range strings.Lines(string(text)) {
		list[strings.TrimSpace(word)] = struct{}{}
	}
	return list
})

// IsCommon reports whether a password is a common one, ignoring case.
func IsCommon(password string) bool {
	_, common := commonPasswords()[strings.ToLower(password)]
	return common
}
