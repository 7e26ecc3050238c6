package board

import (
	"maps"
	"slices"
)

// sorted lists the keys in order, so that the files come out the same each time.
func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
