package hosts_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shortline/shortline/edge/internal/hosts"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

func openTable(t *testing.T, dir string) *hosts.Table {
	t.Helper()
	table, err := hosts.Open(hosts.Config{Dir: dir})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = table.Close() })
	return table
}

// Keys and sites stay when an update does not mention them, also over a restart, and after the file was rewritten.
func TestConversions_survive_other_updates_and_restarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table := openTable(t, dir)
	if c := table.Conversions(); c.Keys() != nil || c.Source("k") != nil || c.Allows("https://a.example") || c.Window() != 0 {
		t.Error("a new table knows something")
	}
	now := time.Now()
	first, last := conversion.PeriodsAt(now, 0)
	keys := conversion.Derive([][]byte{[]byte("a secret")}, first, last)
	table.Apply(&snapshot.Hosts{Cursor: snapshot.Cursor{Revision: 1}, Full: true, Hosts: []snapshot.Host{{Name: "a.example"}}})
	table.Apply(&snapshot.Hosts{Cursor: snapshot.Cursor{Revision: 2}, Conversions: &snapshot.Conversions{
		Keys: keys, Window: 1000, Sources: []snapshot.ConversionSource{{Key: "k", Workspace: 7, Hosts: []string{"shop.example"}}},
	}})
	id, ok := conversion.ClickID{Link: 1, Time: now.UnixMilli()}.Append(nil, table.Conversions().Keys())
	if !ok {
		t.Fatal("no key for now")
	}
	for i, u := range []*snapshot.Hosts{nil, {Hosts: []snapshot.Host{{Name: "b.example"}}}, {Full: true, Tickets: []string{}}} {
		if u != nil {
			u.Cursor.Revision = uint64(3 + i)
			table.Apply(u)
		}
		testkit.Must(t, table.Close())
		table = openTable(t, dir)
		c := table.Conversions()
		if _, v := c.Keys().ParseID(string(id)); v != conversion.Accepted || c.Window() != time.Second || c.Source("k") == nil ||
			c.Source("k").Workspace != 7 {
			t.Fatalf("update %d: %+v", i, c)
		}
	}
	table.Apply(&snapshot.Hosts{Conversions: &snapshot.Conversions{}})
	if c := table.Conversions(); c.Source("k") != nil || c.Allows("https://shop.example") {
		t.Errorf("%+v", c)
	}
}

func TestSource_allows_only_its_sites(t *testing.T) {
	t.Parallel()
	table := openTable(t, t.TempDir())
	table.Apply(&snapshot.Hosts{Full: true, Conversions: &snapshot.Conversions{Sources: []snapshot.ConversionSource{
		{Key: "k", Workspace: 7, Hosts: []string{"shop.example", "*.pages.example", "127.0.0.1"}},
		{Key: "l", Workspace: 8, Hosts: []string{"other.example"}},
	}}})
	c := table.Conversions()
	for origin, want := range map[string]bool{
		"https://shop.example": true, "http://shop.example:8080": true, "https://SHOP.example.": true, "http://127.0.0.1:9": true,
		"https://a.pages.example": true, "https://a.b.pages.example": true,
		"https://pages.example": false, "https://evilshop.example": false, "https://shop.example.evil.test": false,
		"https://a.shop.example": false, "null": false, "": false,
		"file://shop.example": false, "shop.example": false, "https://": false, "https://[::1]:80": false, "https://xpages.example": false,
		"https://other.example": false,
	} {
		if got := c.Source("k").Allows(origin); got != want {
			t.Errorf("%q: %v", origin, got)
		}
		if c.Allows(origin) != (want || origin == "https://other.example") {
			t.Errorf("any source, %q: %v", origin, c.Allows(origin))
		}
	}
}

// A new table settles when the control plane answers, or after five seconds. A table with a file is settled at once.
func TestTable_settles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		table := openTable(t, dir)
		time.Sleep(4 * time.Second)
		if table.Settled() {
			t.Error("settled without an answer")
		}
		time.Sleep(time.Second)
		if !table.Settled() {
			t.Error("not settled after five seconds")
		}
		testkit.Must(t, table.Close())
		table = openTable(t, dir)
		if table.Settled() {
			t.Error("settled by an empty folder")
		}
		table.Apply(&snapshot.Hosts{Cursor: snapshot.Cursor{Incarnation: 1, Revision: 7}, Full: true,
			Hosts: []snapshot.Host{{Name: "a.example"}}})
		if !table.Settled() {
			t.Error("not settled by an answer")
		}
		testkit.Must(t, table.Close())
		table = openTable(t, dir)
		if !table.Settled() || table.Len() != 1 {
			t.Error("not settled by its file")
		}
		// The file of an edge without conversions must not hide the keys that were told before its cursor.
		if at := table.Cursor(); at != (snapshot.Cursor{}) {
			t.Errorf("a table that was never told keys asks for changes after %+v", at)
		}
	})
}
