package click_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// TestBatch_Split splits a batch at every position. Both parts must be complete batches that follow each other.
func TestBatch_Split(t *testing.T) {
	t.Parallel()
	b := click.Batch{Lane: click.Lane{Edge: 7, Epoch: 3, Lane: 2}, First: 41, Count: 9, Repair: true}
	for i := range b.Count {
		b.Records = click.AppendRecord(b.Records, &click.Event{Seq: b.First + uint64(i), Time: 1, Link: 5,
			Referer: strings.Repeat("x", 40*i)})
	}
	for n := 1; n < b.Count; n++ {
		head, rest, err := b.Split(n)
		testkit.Must(t, err)
		if head.Count != n || rest.First != b.First+uint64(n) || head.Count+rest.Count != b.Count || !head.Repair || rest.Lane != b.Lane {
			t.Fatalf("split at %d: %d from %d, %d from %d", n, head.Count, head.First, rest.Count, rest.First)
		}
		if string(head.Records)+string(rest.Records) != string(b.Records) {
			t.Fatalf("split at %d: bytes were lost", n)
		}
		for _, part := range []*click.Batch{&head, &rest} {
			again, err := click.ParseBatch(click.AppendBatch(nil, part))
			if err != nil || again.Count != part.Count {
				t.Fatalf("split at %d: %v", n, err)
			}
		}
	}
	b.Records = b.Records[:10]
	if _, _, err := b.Split(8); !errors.Is(err, click.ErrCorrupt) {
		t.Errorf("records that end early: %v", err)
	}
}
