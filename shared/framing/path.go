package framing

import (
	"bytes"
	"net/url"
	"strings"
)

// Climbs reports whether the path of a request target contains a segment that some server could read as . or .. Such
// a path could lead out of the forwarded paths, for example to the control plane's interface for edges. Climbs
// recognizes segments that are percent-encoded up to three times, end with parameters (;), or are separated by a
// backslash. Proxies do not forward such a path.
func Climbs(target []byte) bool {
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
			return false // a path that cannot be decoded is rejected later
		}
		path = decoded
	}
	return false
}
