package click

// Split splits the batch after its first n events, for a queue that rejects it as too large. Both parts share the
// memory of the records. An error wraps ErrCorrupt: there are fewer than n records. Split panics unless 0 < n < Count.
func (b *Batch) Split(n int) (head, rest Batch, err error) {
	if n <= 0 || n >= b.Count {
		panic("BUG: click: batch split at or beyond its end")
	}
	tail := b.Records
	for range n {
		if _, tail, err = splitRecord(tail); err != nil {
			return Batch{}, Batch{}, err
		}
	}
	head, rest = *b, *b
	head.Count, head.Records = n, b.Records[:len(b.Records)-len(tail):len(b.Records)-len(tail)]
	rest.First, rest.Count, rest.Records = b.First+uint64(n), b.Count-n, tail
	return head, rest, nil
}
