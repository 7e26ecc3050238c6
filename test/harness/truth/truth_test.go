package truth_test

import (
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/truth"
)

func TestJudge_finds_each_kind_of_error(t *testing.T) {
	t.Parallel()
	log, err := truth.Create(filepath.Join(t.TempDir(), "run"))
	testkit.Must(t, err)
	now := time.Now()
	for n, status := range []int{302, 302, 302, 0, 0, 404} {
		log.Add(truth.Entry{ID: truth.ID{Client: 3, N: uint64(n + 1)}, Slug: "go", Edge: "a:1", Sent: now, Done: now, Status: status})
	}
	testkit.Must(t, log.Close())
	judge := func(stored map[string]int) truth.Verdict {
		t.Helper()
		v, err := truth.Judge(log.Path(), maps.All(stored))
		testkit.Must(t, err)
		return v
	}
	if v := judge(map[string]int{"c3-1": 1, "c3-2": 1, "c3-3": 1, "c3-4": 1, "": 7}); !v.Exact() || v.Acked != 3 || v.Sent != 6 ||
		v.InDoubt != 1 || v.Stored != 4 {
		t.Errorf("correct store: %v", v)
	}
	v := judge(map[string]int{"c3-1": 1, "c3-3": 3, "c3-9": 1, "c4-1": 1, "hello": 1})
	if v.Exact() || v.Lost != 1 || v.Twice != 2 || v.Ghosts != 3 {
		t.Errorf("faulty store: %v", v)
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for _, id := range []truth.ID{{Client: 0, N: 1}, {Client: 65535, N: 1<<48 - 1}} {
		if got, ok := truth.ParseID(id.String()); !ok || got != id {
			t.Errorf("ParseID(%v) = %v, %v", id, got, ok)
		}
	}
	for _, s := range []string{"", "c", "c1", "1-2", "c1-0", "c-1", "c1--2", "c1-2 ", "c70000-1", "c1-1-1"} {
		if id, ok := truth.ParseID(s); ok {
			t.Errorf("ParseID(%q) = %v, true; want false", s, id)
		}
	}
}
