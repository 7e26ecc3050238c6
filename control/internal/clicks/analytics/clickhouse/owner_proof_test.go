//go:build proof

package clickhouse_test

import (
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// The builds of the release before these tables do not count after the upgrade, also if they finish later, and are replaced.
func TestStore_reports_of_owners_after_an_upgrade(t *testing.T) {
	t.Parallel()
	w := ownerWorldIn(t, scratch, 0)
	w.build()
	want := w.reports()
	for _, name := range []string{"visits", "sample", "counts"} {
		ask(t, w.server, "DROP TABLE rollup_owner_"+name)
	}
	for _, name := range []string{"visited", "sampled", "counted"} {
		ask(t, w.server, "DROP VIEW rollup_owner_"+name)
	}
	ask(t, w.server, "ALTER TABLE migrations DELETE WHERE version >= 13 SETTINGS mutations_sync = 2")
	// The earlier release is also writing another build. Of two builds with the same marks, the higher one counts.
	const last = "18446744073709551615"
	ask(t, w.server, "INSERT INTO rollup_begun (slot, build) SELECT max(slot), "+last+" FROM rollup_builds")
	testkit.Must(t, w.Close())
	w.open(0)
	w.same("after the upgrade", want)
	for _, table := range []string{"visits", "counts"} {
		ask(t, w.server, "INSERT INTO rollup_"+table+" SELECT * REPLACE ("+last+" AS build) FROM rollup_"+table+" WHERE slot = (SELECT max(slot) FROM rollup_builds)")
		ask(t, w.server, "ALTER TABLE rollup_owner_"+table+" DELETE WHERE build = "+last+" SETTINGS mutations_sync = 2")
	}
	ask(t, w.server, "INSERT INTO rollup_builds SELECT slot, marks, "+last+" FROM rollup_builds WHERE slot = (SELECT max(slot) FROM rollup_builds)")
	w.same("after the unfinished build finished", want)
	w.build()
	w.same("after the slots were built again", want)
	w.drift("after the upgrade", false)
	w.store(21, 200)
	want = w.reports()
	w.build()
	w.same("with more clicks", want)
}
