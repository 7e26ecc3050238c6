//go:build proof

package replicated_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/analyticstest"
	"github.com/shortline/shortline/control/internal/clicks/analytics/replicated"
)

// either lets any of two servers answer each question.
type either struct{ replicated.Fixed }

func (e either) Read(ctx context.Context) (replicated.View, error) {
	v, err := e.Fixed.Read(ctx)
	v.InSync = []string{v.InSync[rand.IntN(len(v.InSync))]}
	return v, err
}

// TestStore runs the suite on two servers. Any of them answers. Only readers beside a writer ask the first one, as in a fleet: it is
// written to last, so they never see fewer clicks than before.
func TestStore(t *testing.T) {
	t.Parallel()
	analyticstest.RunPart(t, 0, func(t *testing.T) analytics.Store {
		if strings.HasSuffix(t.Name(), "/readers_beside_a_writer") {
			s, _ := open(t, replicated.Fixed{"a", "b"})
			return s
		}
		s, servers := open(t, either{replicated.Fixed{"a", "b"}})
		if strings.HasSuffix(t.Name(), "/reclassify") { // counts how often its function is called: see TestReclassify_changes_all_servers
			return servers["a"]
		}
		return s
	})
}
