package imports

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// setSlug accepts a slug, an address with or without scheme, and a JSON array with one of these.
func setSlug(cell string, to *record) string {
	if strings.HasPrefix(cell, "[") {
		list, form := jsonNames(cell)
		if form != namesInJSON || len(list) == 0 {
			return "must be a slug or a short URL"
		}
		if list[0] = strings.TrimSpace(list[0]); len(list) > 1 {
			warnOfOthers(list, to)
		}
		cell = list[0]
	} else if list := separateAddresses(cell); len(list) > 1 {
		cell = list[0]
		warnOfOthers(list, to)
	}
	host, path, ok := splitAddress(cell)
	if !ok {
		to.CustomSlug = cell
		return ""
	}
	if path == "" {
		return "has no slug: the address ends after the host"
	}
	to.host = host
	if at := strings.LastIndexByte(path, '/'); at >= 0 {
		to.warn(slugField, "only the last part of the path %q becomes the slug", path)
		path = path[at+1:]
	}
	to.CustomSlug = path
	return ""
}

func warnOfOthers(list []string, to *record) {
	to.warn(slugField, "%q is taken; other addresses of the link that are lost: %d", list[0], len(list)-1)
}

// separateAddresses returns the addresses of a cell such as "bit.ly/one, bit.ly/two", or nil if the cell has other parts.
func separateAddresses(cell string) []string {
	list := strings.FieldsFunc(cell, func(c rune) bool { return strings.ContainsRune(tagSeparators, c) || unicode.IsSpace(c) })
	for _, part := range list {
		if _, _, ok := splitAddress(part); !ok {
			return nil
		}
	}
	return list
}

// isBlankSlug reports whether a cell names no address. Exports of APIs write an empty array for none.
func isBlankSlug(cell string) bool { return cell == "" || cell == "[]" }

// splitAddress returns the host in lower case without port, and the path without slashes at its ends, of an address such as
// https://bit.ly/abc?x=1 or bit.ly/abc. ok is false if the text is no address.
func splitAddress(text string) (host, path string, ok bool) {
	_, rest, absolute := strings.Cut(text, "://")
	if !absolute {
		rest = text
	}
	if at := strings.IndexAny(rest, "?#"); at >= 0 {
		rest = rest[:at]
	}
	host, path, _ = strings.Cut(rest, "/")
	host, _, _ = strings.Cut(strings.ToLower(host), ":")
	return host, strings.Trim(path, "/"), absolute || strings.Contains(rest, "/") && isHost(host)
}

// isHost reports whether a text has the form of a host name with a top-level domain. The first part of a slug with slashes,
// such as conf/2024, has not.
func isHost(name string) bool {
	at := strings.LastIndexByte(name, '.')
	top, _ := utf8.DecodeRuneInString(name[at+1:])
	if at <= 0 || len(name)-at < 3 || !unicode.IsLetter(top) {
		return false
	}
	return !strings.ContainsFunc(name, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '-' && c != '.'
	})
}
