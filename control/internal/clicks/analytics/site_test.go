package analytics_test

import (
	"testing"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
)

// ClickHouse takes a millisecond on an idle processor to analyse each 700 bytes of the expression, in every statement
// with a site.
func TestSite_column_is_short(t *testing.T) {
	t.Parallel()
	if n := len(analytics.Site.Column()); n > 4000 {
		t.Errorf("the expression has %d bytes", n)
	}
}
