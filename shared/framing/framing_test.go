package framing_test

import (
	"errors"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/framing"
	"github.com/shortline/shortline/shared/framing/corpus"
)

// The verdict on a request does not depend on how its bytes are split into packets.
func TestTracker_corpus(t *testing.T) {
	t.Parallel()
	cases := corpus.Requests()
	if len(cases) < 300 {
		t.Fatalf("%d requests, want 300", len(cases))
	}
	for _, c := range cases {
		for _, piece := range []int{len(c.Raw), 1, 2, 3, 7, 64} {
			var tr framing.Tracker
			given, failed := 0, error(nil)
			for at := 0; at < len(c.Raw) && failed == nil; at += piece {
				part := []byte(c.Raw[at:min(at+piece, len(c.Raw))])
				n, err := tr.Take(part)
				if err == nil && n != len(part) {
					t.Fatalf("%s: %d of %d bytes without an error", c.Name, n, len(part))
				}
				given, failed = given+n, err
			}
			switch {
			case c.Verdict == corpus.Sound && (failed != nil || !tr.Between()):
				t.Errorf("%s in pieces of %d: %v, between %v", c.Name, piece, failed, tr.Between())
			case c.Verdict == corpus.Misframed && failed == nil:
				t.Errorf("%s in pieces of %d is accepted", c.Name, piece)
			case c.Verdict == corpus.Misframed && piece == len(c.Raw) && given > len(c.Before):
				var e *framing.Error
				if errors.As(failed, &e) && !e.Body {
					t.Errorf("%s: %d bytes are given, %d are before the bad request", c.Name, given, len(c.Before))
				}
			}
		}
	}
}

// Bytes after a request belong to the next one. The server may read the requests before a bad one.
func TestTracker_pipelined(t *testing.T) {
	t.Parallel()
	const good = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
	const post = "POST /a HTTP/1.1\r\nHost: h\r\ncontent-length:  3 \r\n\r\nabc"
	const chunked = "POST /a HTTP/1.1\r\nHost: h\r\ntransfer-encoding: Chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: v\r\n\r\n"
	before := good + post + chunked + "\r\n" + good + post
	var tr framing.Tracker
	n, err := tr.Take([]byte(before + "GET /b HTTP/1.1\nHost: h\r\n\r\n" + good))
	if n != len(before) || err == nil {
		t.Errorf("%d bytes of %d, %v", n, len(before), err)
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	wait := func(p *framing.Pace) time.Duration { return p.Until(now, framing.Patience).Sub(now) }
	var p framing.Pace
	if d := wait(&p); d != framing.Patience {
		t.Errorf("at first %v", d)
	}
	now = now.Add(4 * time.Second)
	p.Came(1, now, framing.Patience)
	if d := wait(&p); d > 1001*time.Millisecond || d < time.Second {
		t.Errorf("after a byte in 4 s: %v", d)
	}
	p.Came(1<<20, now, framing.Patience) // the credit never exceeds the patience
	if d := wait(&p); d != framing.Patience {
		t.Errorf("after a MiB: %v", d)
	}
	began := now
	for range 100 { // exactly the minimum rate, for longer than a body may take
		now = now.Add(time.Second)
		p.Came(framing.Rate, now, framing.Patience)
		if wait(&p) <= 0 {
			break
		}
	}
	if d := now.Sub(began); d > framing.Whole || d < framing.Whole-10*time.Second {
		t.Errorf("cut after %v", d)
	}
}

func FuzzTracker(f *testing.F) {
	for _, c := range corpus.Requests() {
		f.Add(c.Raw, uint8(5))
	}
	f.Fuzz(func(t *testing.T, raw string, piece uint8) {
		var whole, parts framing.Tracker
		n, err := whole.Take([]byte(raw))
		if n < 0 || n > len(raw) || err == nil && n != len(raw) {
			t.Fatalf("%d of %d, %v", n, len(raw), err)
		}
		var err2 error
		for rest := raw; rest != "" && err2 == nil; {
			k := min(len(rest), int(piece)+1)
			_, err2 = parts.Take([]byte(rest[:k]))
			rest = rest[k:]
		}
		if (err == nil) != (err2 == nil) {
			t.Fatalf("whole: %v, in pieces: %v", err, err2)
		}
	})
}
