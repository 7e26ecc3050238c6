// Package spreadsheet makes cells of CSV files harmless to spreadsheets, and undoes that.
package spreadsheet

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Inert puts an apostrophe before text that a spreadsheet could evaluate. It checks the characters that start a formula
// and their full-width forms, also after leading space, which an import may trim.
func Inert(text string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, unicode.IsSpace))
	if text != "" && (strings.ContainsRune("=+-@＝＋－＠", first) || strings.ContainsRune("\t\r\n", rune(text[0]))) {
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
