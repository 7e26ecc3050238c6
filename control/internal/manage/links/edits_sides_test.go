package links

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// An undo takes tags back also if the link had none before or after the edit.
func TestEdits_undo_the_first_and_the_last_tag(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2][]string{{nil, {"a"}}, {{"a"}, nil}} {
		was, is := sidesOf(&store.Link{Tags: pair[0]}, &store.Link{Tags: pair[1]}, moves{})
		for _, side := range []*editSides{&was, &is} {
			text, err := json.Marshal(side)
			testkit.Must(t, err)
			*side = editSides{}
			testkit.Must(t, json.Unmarshal(text, side))
		}
		after, whole, err := (&Service{}).undoing(&was, &is, &store.Link{Tags: pair[1]})
		if err != nil || !whole || !slices.Equal(after.Tags, pair[0]) {
			t.Errorf("from %v to %v: the undo makes %v, whole %v, %v", pair[0], pair[1], after.Tags, whole, err)
		}
	}
}
