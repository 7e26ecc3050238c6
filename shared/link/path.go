package link

import "strings"

// AppendPath appends a destination with a visitor's path behind its own one, before its query and its fragment. path begins with a slash
// and is part of a request target; one slash at the end of the destination's path is dropped. Destinations without a host, such as
// mailto:somebody, have no path and stay as they are. Bytes that addresses do not have are percent-encoded.
func AppendPath(dst []byte, destination string, path []byte) []byte {
	_, after, ok := strings.Cut(destination, ":")
	if !ok || !strings.HasPrefix(after, "//") {
		return append(dst, destination...)
	}
	end := strings.IndexAny(destination, "?#")
	if end < 0 {
		end = len(destination)
	}
	dst = append(dst, strings.TrimSuffix(destination[:end], "/")...)
	for i, c := range path {
		if c == '%' && (i+2 >= len(path) || Unhex(path[i+1]) < 0 || Unhex(path[i+2]) < 0) || !inPath.has(c) {
			dst = appendEscaped(dst, c)
		} else {
			dst = append(dst, c)
		}
	}
	return append(dst, destination[end:]...)
}

// Forwardable reports whether a destination may get a visitor's path. It must not have segments that a browser or a server could read
// as . or .., in whatever encoding, because these would lead out of the destination's own path, nor control characters.
func Forwardable(path []byte) bool {
	dots, only := 0, true // in the segment so far; it has only dots
	for i := 0; i < len(path); {
		c, size := NextByte(path[i:])
		i += size
		switch {
		case c < ' ' || c == 0x7f:
			return false
		case c == '/' || c == '\\' || c == ';':
			if only && (dots == 1 || dots == 2) {
				return false
			}
			dots, only = 0, c != ';'
		case c == '.':
			dots++
		default:
			only = false
		}
	}
	return !only || dots != 1 && dots != 2
}

// NextByte decodes the first byte of a path that is not empty. The byte may be percent-encoded several times.
func NextByte(path []byte) (c byte, size int) {
	c, size = path[0], 1
	for c == '%' && size+2 <= len(path) {
		high, low := Unhex(path[size]), Unhex(path[size+1])
		if high < 0 || low < 0 {
			break
		}
		c = byte(high<<4 | low)
		size += 2
	}
	return c, size
}

// inPath is for a visitor's path.
var inPath = without("#?\"<>\\^`{|}")
