package mcpapi

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Results of tools contain text that visitors and other people have written: titles, referrers, User-Agents, names, notes, addresses. A
// model must not take it for instructions. Therefore every text in a result is replaced by {"untrusted": text}, unless its member is one of
// ownTexts, which the service itself fills, and the text has the form of such a value. New fields of the API are untrusted until they are
// added here. The text form of a result is in addition enclosed in a delimiter that nobody can guess (see content).
const untrusted = "untrusted"

// ownTexts are the names of members whose texts come from the service or from closed sets. Members whose names end with Id or At are such,
// too, except for foreignIDs.
var ownTexts = func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(`id ids status code type operator logicalOperator outcome chosenBy device role action
		entityType date startDate endDate timezone interval currency optimize onWinner reasonCode pausedCode color stickiness
		twitterCardType country continent regionCode shortUrl domain hostname at severity event events scopes nextCursor`) {
		set[name] = true
	}
	return set
}()

// foreignIDs are members that are not filled by the service although their names end like those that are.
var foreignIDs = map[string]bool{"externalId": true, "utmId": true}

var (
	// plain is the form of texts of the service: no spaces, so no sentences.
	plain = regexp.MustCompile(`^[\w.:/+#-]{1,200}$`)
	// memberName is the form of the names of members in the API. Other names are keys of a map, which can be text of a visitor.
	memberName = regexp.MustCompile(`^(?:[a-zA-Z][a-zA-Z0-9]{0,39}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d)$`)
)

// hidden are members that no model needs to see, if they are texts: secrets that the API shows once.
var hidden = map[string]bool{"secret": true, "password": true, "token": true, "key": true, "clientSecret": true, "accessToken": true,
	"signingSecret": true, "previousSecret": true}

// mark returns a value of a response as a model may see it, without members that are null. name is that of its member.
func mark(name string, v any) any {
	switch v := v.(type) {
	case string:
		if hidden[name] {
			return "(hidden)"
		}
		own := ownTexts[name] || !foreignIDs[name] && (strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "Ids") ||
			strings.HasSuffix(name, "IDs") || strings.HasSuffix(name, "At"))
		if v == "" || own && plain.MatchString(v) {
			return v
		}
		return map[string]any{untrusted: v}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = mark(name, v[i])
		}
		return out
	case map[string]any:
		return markObject(v)
	}
	return v
}

func markObject(v map[string]any) any {
	for name := range v {
		if !memberName.MatchString(name) || name == untrusted {
			return markMap(v)
		}
	}
	out := make(map[string]any, len(v))
	for name, member := range v {
		if member != nil {
			out[name] = mark(name, member)
		}
	}
	return out
}

// markMap returns a map whose keys can be text of a visitor, as a list.
func markMap(v map[string]any) any {
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		list = append(list, map[string]any{"name": map[string]any{untrusted: name}, "value": mark("", v[name])})
	}
	return list
}

// unmark undoes mark in arguments: a model that edits what it has read may send it back as it is.
func unmark(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = unmark(v[i])
		}
	case map[string]any:
		if text, ok := v[untrusted].(string); ok && len(v) == 1 {
			return text
		}
		for name, member := range v {
			v[name] = unmark(member)
		}
	}
	return v
}
