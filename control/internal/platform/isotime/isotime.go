// Package isotime reads dates and times as clients and files write them.
package isotime

import (
	"fmt"
	"time"
)

var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999Z07", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04Z0700", "2006-01-02T15:04Z07",
	"2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02",
}

// Parse returns the Unix milliseconds of any ISO 8601 instant or date. Without a zone it is UTC.
func Parse(s string) (int64, error) {
	norm := []byte(s)
	for i, c := range norm {
		switch c {
		case ' ', 't':
			norm[i] = 'T'
		case 'z':
			norm[i] = 'Z'
		}
	}
	for _, layout := range layouts {
		if v, err := time.Parse(layout, string(norm)); err == nil {
			return v.UnixMilli(), nil
		}
	}
	return 0, fmt.Errorf("%q is not a date or time in ISO 8601", s)
}
