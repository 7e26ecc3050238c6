package pages

import "github.com/shortline/shortline/shared/accept"

// languages are the languages of the pages for visitors, which are those of the console. The first is for everybody else.
var languages = [...]string{"en", "de", "fr", "es", "ja", "ar"}

// Language is a language of the pages. The zero value is English.
type Language uint8

// maxAcceptLanguage is how much of an Accept-Language header is read. Browsers send less.
const maxAcceptLanguage = 256

// LanguageOf returns the language of the pages that an Accept-Language header ranks highest. It does not allocate, because every visitor
// of an address without a link needs it.
func LanguageOf(header string) Language {
	header = header[:min(len(header), maxAcceptLanguage)]
	var best Language
	most := 0
	for tag, parameters := range accept.Elements(header) {
		for i, one := range languages {
			if !isOfLanguage(tag, one) {
				continue
			}
			if weight := parameters.Weight(); weight > most {
				best, most = Language(i), weight
			}
		}
	}
	return best
}

// isOfLanguage reports whether a tag such as de-AT is of a language.
func isOfLanguage(tag, language string) bool {
	return len(tag) >= 2 && tag[0]|0x20 == language[0] && tag[1]|0x20 == language[1] && (len(tag) == 2 || tag[2] == '-')
}
