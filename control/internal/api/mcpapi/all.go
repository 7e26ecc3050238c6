package mcpapi

import (
	"slices"
	"strings"
)

// allTools returns the tools, in the order in which clients see them.
func allTools() []*tool {
	return slices.Concat(linkTools(), routingTools(), reportTools(), bulkTools(), []*tool{listTool()}, operationTools())
}

func sameTag(tag *foundTag, name string) bool {
	return strings.EqualFold(tag.ID, name) || strings.EqualFold(tag.Name, name)
}
