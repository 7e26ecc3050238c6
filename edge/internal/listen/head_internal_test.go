package listen

import "testing"

// The end of a head is found wherever the pieces that it comes in are parted, and not before.
func TestWholeHead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		end  int // bytes until the head is whole, 0: never
	}{
		{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27},
		{"GET / HTTP/1.1\r\nHost: a\r\n\r\nbody\r\n\r\n", 27},
		{"GET / HTTP/1.1\nHost: a\n\n", 24},
		{"GET / HTTP/1.1\r\nHost: a\n\r\n", 26},
		{"\r\n\r\n\r\nGET / HTTP/1.1\r\n\r\n", 24},
		{"\r\n\r\n\r\n\r\n", 0},
		{"GET / HTTP/1.1\r\nHost: a\r\n", 0},
		{"", 0},
	} {
		for parted := range len(c.text) + 1 {
			at := 0
			for n, searched := parted, 0; ; n++ { // the first piece, and then a byte at a time
				if wholeHead([]byte(c.text[:n]), searched) {
					at = n
					break
				}
				if searched = n; n == len(c.text) {
					break
				}
			}
			want := c.end
			if want > 0 {
				want = max(want, parted)
			}
			if at != want {
				t.Errorf("%q in a first piece of %d: whole after %d, want %d", c.text, parted, at, want)
			}
		}
	}
}
