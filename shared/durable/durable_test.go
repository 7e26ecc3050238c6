package durable_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/shortline/shortline/shared/durable"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func TestLock_refuses_a_second_one(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := durable.Lock(dir)
	testkit.Must(t, err)
	if _, err := durable.Lock(dir); !errors.Is(err, durable.ErrInUse) {
		t.Fatalf("second lock: %v, want ErrInUse", err)
	}
	testkit.Must(t, durable.Unlock(first))
	again, err := durable.Lock(dir)
	if err != nil {
		t.Fatalf("lock after unlock: %v", err)
	}
	testkit.Must(t, durable.Unlock(again))
}

func TestReplace_keeps_the_old_file_after_an_error(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	testkit.Must(t, durable.Write(path, []byte("old")))
	failure := errors.New("no more data")
	err := durable.Replace(path, func(f *os.File) error {
		_, err := io.WriteString(f, "ne")
		return errors.Join(err, failure)
	})
	if !errors.Is(err, failure) {
		t.Fatalf("error %v, want %v", err, failure)
	}
	for _, want := range []string{"old", "new"} {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Fatalf("file has %q, want %q (%v)", text, want, err)
		}
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
			t.Fatalf("%d files in the folder, want 1 (%v)", len(left), err)
		}
		testkit.Must(t, durable.WriteUnsynced(path, []byte("new")))
	}
}
