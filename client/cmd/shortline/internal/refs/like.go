package refs

import (
	"fmt"
	"strings"
)

// Like suggests the known name that is most like a wrong one, or nothing.
func Like(wrong string, known []string) string {
	best, least := "", 3
	for _, one := range known {
		if d := distance(strings.ToLower(wrong), strings.ToLower(one)); d < least && d < len(one) {
			best, least = one, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// distance returns how many letters must be added, removed or replaced.
func distance(a, b string) int {
	before := make([]int, len(b)+1)
	for i := range before {
		before[i] = i
	}
	for i := range len(a) {
		now := make([]int, len(b)+1)
		now[0] = i + 1
		for j := range len(b) {
			replace := before[j]
			if a[i] != b[j] {
				replace++
			}
			now[j+1] = min(before[j+1]+1, now[j]+1, replace)
		}
		before = now
	}
	return before[len(b)]
}
