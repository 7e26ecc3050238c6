// Package spreadsheet makes cells of CSV files harmless to spreadsheets, and undoes that.
package spreadsheet

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Inert puts an apostrophe before text that a spreadsheet could evaluate. It checks the characters that start a formula
// and their full-width forms, also after leading space, which an import may trim, and after apostrophes, so that Plain
// returns the text.
func Inert(text string) string {
	bare := strings.TrimLeft(text, "'")
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(bare, unicode.IsSpace))
	if bare != "" && (strings.ContainsRune("=+-@＝＋－＠", first) || strings.ContainsRune("\t\r\n", rune(bare[0]))) {
		return "'" + text
	}
	return text
}

// Plain removes the apostrophe that Inert has put before a text.
func Plain(cell string) string {
	if text, ok := strings.CutPrefix(cell, "'"); ok && Inert(text) == cell {
		return text
	}
	return cell
}
