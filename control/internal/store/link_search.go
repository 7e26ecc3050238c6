package store

import "strings"

// searched returns the condition on the text of a link.
func (c Conn) searched(f *LinkFilter) condition {
	s := condition{where: `search_text LIKE ? ESCAPE '\'`, args: []any{LikeContains(f.Search)}}
	if c.pg { // its planner uses the trigram index if there is one
		return s
	}
	// The full-text index of SQLite knows no escapes. A wildcard in the place of each special character finds too much, so
	// the text of the link is checked too.
	wild := strings.NewReplacer(`\`, `_`, `%`, `_`).Replace(strings.ToLower(f.Search))
	if longestRun(wild) >= trigram {
		s.source, s.sourceArgs = `SELECT rowid AS link FROM urls_search WHERE search_text LIKE ?`, []any{"%" + wild + "%"}
	}
	return s
}

// trigram is the number of characters of the entries in the indexes of text.
const trigram = 3

// longestRun returns the length of the longest part of text without wildcards, in characters.
func longestRun(text string) (longest int) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '_' || r == '%' || r == '\\' }) {
		longest = max(longest, len([]rune(part)))
	}
	return longest
}
