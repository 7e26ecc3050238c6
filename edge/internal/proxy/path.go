package proxy

import (
	"bytes"
	"net/url"
	"strings"
)

// climbs reports whether the path of a request target holds a segment that some server takes for . or .., so that it could
// lead out of the paths that are passed on, for example to what the control plane tells edges. A segment may be
// percent-encoded, up to three times, end with parameters (;), or be parted by a backslash.
func climbs(target []byte) bool {
	if n := bytes.IndexAny(target, "?#"); n >= 0 {
		target = target[:n]
	}
	if bytes.IndexByte(target, '.') < 0 && bytes.IndexByte(target, '%') < 0 {
		return false
	}
	path := string(target)
	for range 4 {
		for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
			if name, _, _ := strings.Cut(segment, ";"); name == "." || name == ".." {
				return true
			}
		}
		decoded, err := url.PathUnescape(path)
		if err != nil || decoded == path {
			return false // what can't be decoded is refused later
		}
		path = decoded
	}
	return false
}
