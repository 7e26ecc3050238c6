package agent_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The time of the last success stands still while the control plane answers, but each answer is rejected.
func TestA4_a_rejected_answer_is_no_success(t *testing.T) {
	t.Parallel()
	older := newSource()
	older.signs(signingKey(1))
	older.put(plains(150)...)
	for name, c := range map[string]struct {
		spoil func(s *source)
		mend  func(s *source)
	}{
		"documents of an older revision": {
			spoil: func(s *source) {
				s.spoilFull = func([]byte, int) (io.Reader, error) { return bytes.NewReader(older.document()), nil }
				s.log = nil // so that it must take a full document
				s.cur.Revision++
			},
			mend: func(s *source) { s.spoilFull = nil },
		},
		"deltas and documents without a signature": {
			spoil: func(s *source) { s.key = signingKey(2); s.log = nil; s.cur.Revision++ },
			mend:  func(s *source) { s.key = signingKey(1) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSource()
			s.signs(signingKey(1))
			s.put(plains(150)...)
			s.put(plain(1))
			e := start(t, t.TempDir(), s, trusting(signingKey(1)))
			e.reaches(t, s.cur)
			s.with(func() { c.spoil(s) })
			testkit.Eventually(t, "a rejected document", func() bool { return e.Stats().Refused > 0 })
			before, refused := e.Stats().LastSuccess, e.Stats().Refused
			testkit.Eventually(t, "many more of them", func() bool {
				return e.Stats().Refused > refused+20 && time.Now().UnixMilli() > before+10
			})
			if now := e.Stats().LastSuccess; now != before {
				t.Errorf("the last success moved from %d to %d", before, now)
			}
			s.with(func() { c.mend(s) })
			testkit.Eventually(t, "a success", func() bool { return e.Stats().LastSuccess > before })
		})
	}
}
