package agent_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/edge/internal/agent"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func signingKey(of byte) snapshot.SigningKey {
	key, err := snapshot.ParseSigningKey(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{of}, 32)))
	if err != nil {
		panic(err)
	}
	return key
}

// trusting sets the keys of an agent.
func trusting(keys ...snapshot.SigningKey) func(*agent.Config) {
	return func(c *agent.Config) {
		var names []string
		for _, k := range keys {
			names = append(names, k.Public())
		}
		var err error
		if c.Keys, err = snapshot.ParseKeys(strings.Join(names, ",")); err != nil {
			panic(err)
		}
	}
}

// signs makes the source sign from now on.
func (s *source) signs(key snapshot.SigningKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

func TestAgent_takes_what_is_signed_only(t *testing.T) {
	t.Parallel()
	one, two := signingKey(1), signingKey(2)
	s := newSource()
	s.put(plains(10)...)
	e := start(t, t.TempDir(), s, trusting(one))
	refused := func(n uint64) {
		t.Helper()
		testkit.Eventually(t, "a rejected document", func() bool { return e.Stats().Unsigned >= n })
		if !strings.Contains(e.Status().Refused, "not signed") {
			t.Errorf("the reason in the status is %q", e.Status().Refused)
		}
	}
	refused(1)
	s.signs(two)
	refused(e.Stats().Unsigned + 2)
	if e.Ready() || e.has(plain(1).Key) {
		t.Fatal("a document without a signature by the key is served")
	}
	s.signs(one)
	e.reaches(t, s.cur)

	// The same holds for deltas, and for the documents that replace them.
	for _, other := range []snapshot.SigningKey{{}, two} {
		s.signs(other)
		before := s.cur
		now := s.put(plain(100))
		refused(e.Stats().Unsigned + 5)
		if e.Applied() != before || e.has(plain(100).Key) {
			t.Error("a delta without a signature by the key is served")
		}
		s.signs(one)
		e.reaches(t, now)
		s.drop(plain(100).Key)
		e.reaches(t, s.cur)
	}
	testkit.Eventually(t, "a status without a reason", func() bool { return e.Status().Refused == "" })
}

func TestAgent_a_state_that_was_taken_without_keys(t *testing.T) {
	t.Parallel()
	one, two := signingKey(1), signingKey(2)
	s := newSource()
	s.put(plains(10)...)
	dir := t.TempDir()
	once := func(from control, change func(*agent.Config), serves, asks bool) {
		t.Helper()
		fulls := s.fulls
		e := start(t, dir, from, change)
		defer e.stop()
		if e.Ready() != serves || e.has(plain(1).Key) != serves {
			t.Errorf("ready at the start: %v", e.Ready())
		}
		if from == s {
			e.reaches(t, s.cur)
			e.reaches(t, s.put(link.Record{Num: 50, Key: "again", Destination: "https://example.com/"}))
		}
		if (s.fulls > fulls) != asks {
			t.Errorf("%d full documents", s.fulls-fulls)
		}
	}
	once(s, nil, false, true)
	once(dead{}, nil, true, false)
	// With keys, that state is not used. It stays on disk until there is a signed one.
	s.signs(one)
	once(dead{}, trusting(one), false, false)
	once(dead{}, nil, true, false)
	once(s, trusting(one), false, true)
	once(dead{}, trusting(one), true, false)
	// Adding a second key needs no new document. The second key signs.
	s.signs(two)
	once(s, trusting(one, two), true, false)
	once(dead{}, trusting(one, two), true, false)
	// A state signed by the removed key is not used.
	once(s, trusting(two), false, true)
	once(s, trusting(two), true, false)
	// A state that was accepted without keys is not used either.
	once(s, nil, true, false)
	once(s, trusting(two), false, true)
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "trust"), []byte(""), 0o600))
	once(s, trusting(two), false, true)
}
