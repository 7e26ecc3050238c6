// Package each makes lists of lists: the ids of rows, or their form in an answer.
package each

// Of returns the value of f for each element.
func Of[From, To any](list []From, f func(From) To) []To {
	out := make([]To, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// At is Of with the address of each element, for those that are large.
func At[From, To any](list []From, f func(*From) To) []To {
	out := make([]To, len(list))
	for i := range list {
		out[i] = f(&list[i])
	}
	return out
}
