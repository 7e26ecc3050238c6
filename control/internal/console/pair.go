package console

import (
	"embed"
	"fmt"
)

// pairPage is the page on which a user confirms a program that asks for an API key. It is small and separate, because the user comes
// from a terminal and needs nothing else of the console.
//
//go:embed pair
var pairPage embed.FS

// pairFiles are the files of that page by their path.
var pairFiles = map[string]*asset{
	"/login/pair":          pairFile("pair.html", "text/html; charset=utf-8"),
	"/login/pair.css":      pairFile("pair.css", contentTypes[".css"]),
	"/login/pair.js":       pairFile("pair.js", contentTypes[".js"]),
	"/login/pair-texts.js": pairFile("pair-texts.js", contentTypes[".js"]),
}

func pairFile(name, contentType string) *asset {
	content, err := pairPage.ReadFile("pair/" + name)
	if err != nil {
		panic(fmt.Sprintf("BUG: read the embedded page: %v", err))
	}
	a := newAsset(contentType, content)
	return &a
}
