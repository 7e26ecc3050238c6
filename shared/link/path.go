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
		if c == '%' && (i+2 >= len(path) || unhex(path[i+1]) < 0 || unhex(path[i+2]) < 0) || !inPath.has(c) {
			dst = appendEscaped(dst, c)
		} else {
			dst = append(dst, c)
		}
	}
	return append(dst, destination[end:]...)
}

// inPath is for a visitor's path.
var inPath = without("#?\"<>\\^`{|}")
