package kafkasource

// Message is a message that Unpack found.
type Message struct {
	Offset int64
	Value  []byte
}

// Unpack reads the records of a partition in small steps, starting at an offset. It also returns the offset at which to
// continue.
func Unpack(records []byte, from int64) (list []Message, next int64, err error) {
	at := unread{records: records, from: from, next: from}
	for len(at.records) > 0 && err == nil {
		var some []message
		some, err = at.decompress(0, 1)
		for _, m := range some {
			list = append(list, Message{m.offset, m.value})
		}
	}
	return list, at.next, err
}

// ParseAnswer parses a broker's response to a fetch and returns its records.
func ParseAnswer(data []byte, version int16) ([]byte, error) {
	a, err := parseResponse(data, version)
	if err != nil {
		return nil, err
	}
	return a.records, nil
}
