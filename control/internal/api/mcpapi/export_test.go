package mcpapi

import (
	"github.com/shortline/shortline/control/internal/api/kit"
)

// Tool is what tests know of a tool.
type Tool struct {
	Name, Title                                  string
	Operations                                   []string
	Needed                                       int
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	Any                                          bool
}

// Tools returns all tools.
func Tools() (list []Tool) {
	for _, t := range allTools() {
		list = append(list, Tool{t.name, t.title, t.operations, max(1, t.needed), t.hints.readOnly, t.hints.destructive, t.hints.idempotent,
			t.hints.openWorld, t.any})
	}
	return list
}

// Safe reports whether an operation changes nothing.
func Safe(method, id string) bool { return safe(&kit.Endpoint{Method: method, ID: id}) }

// SafePosts and Confirmed are lists of operations.
var (
	SafePosts = safePosts
	Confirmed = confirmed
)

// Mark returns a value as a model may see it.
func Mark(v any) any { return mark("", v) }

// Unmark undoes Mark.
func Unmark(v any) any { return unmark(v) }
