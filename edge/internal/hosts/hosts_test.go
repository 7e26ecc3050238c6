package hosts_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shortline/shortline/edge/internal/hosts"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// source serves one update after another, each to callers with the cursor before it.
type source struct {
	mu      sync.Mutex
	updates []snapshot.Hosts // the first is full
	err     error
}

func (s *source) Hosts(_ context.Context, after snapshot.Cursor) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	for i := range s.updates {
		if i > 0 && s.updates[i-1].Cursor == after {
			return snapshot.AppendHosts(nil, &s.updates[i], snapshot.SigningKey{}), nil
		}
	}
	if n := len(s.updates); n > 0 && s.updates[n-1].Cursor != after {
		return snapshot.AppendHosts(nil, &s.updates[0], snapshot.SigningKey{}), nil
	}
	return nil, nil
}

func (s *source) put(u snapshot.Hosts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.Cursor = snapshot.Cursor{Incarnation: 1, Revision: uint64(len(s.updates) + 1)}
	u.Full = len(s.updates) == 0
	s.updates = append(s.updates, u)
}

func open(t *testing.T, dir string, s snapshot.HostSource) *hosts.Table {
	t.Helper()
	table, err := hosts.Open(hosts.Config{Dir: dir, Source: s})
	testkit.Must(t, err)
	t.Cleanup(func() { table.Close() })
	return table
}

func host(name string, domain uint64) snapshot.Host { return snapshot.Host{Name: name, Domain: domain} }

func TestTable_finds_hosts_in_any_form(t *testing.T) {
	t.Parallel()
	table := open(t, t.TempDir(), &source{})
	if table.Find([]byte("go.acme.com")) != nil {
		t.Error("an empty table found a host")
	}
	table.Apply(&snapshot.Hosts{Full: true, Hosts: []snapshot.Host{host("go.acme.com", 3)}})
	for field, want := range map[string]bool{
		"go.acme.com": true, "GO.acme.COM": true, "go.acme.com:8080": true, "go.acme.com.": true, "Go.Acme.Com.:443": true,
		"": false, "acme.com": false, "x.go.acme.com": false, ":443": false, "go.acme.com..": false, strings.Repeat("a", 10_000): false,
		"[::1]:80": false,
	} {
		if h := table.Find([]byte(field)); (h != nil) != want || want && h.Domain != 3 {
			t.Errorf("%q: %v", field, h)
		}
	}
}

func TestTable_finds_without_allocating(t *testing.T) {
	table := open(t, t.TempDir(), &source{})
	table.Apply(&snapshot.Hosts{Full: true, Hosts: []snapshot.Host{host("go.acme.com", 3)}})
	for _, field := range []string{"go.acme.com", "GO.ACME.COM:8080", "sho.rt"} {
		b := []byte(field)
		if n := testing.AllocsPerRun(100, func() { table.Find(b) }); n != 0 {
			t.Errorf("%s: %v allocations", field, n)
		}
	}
}

func TestTable_follows_and_keeps(t *testing.T) {
	t.Parallel()
	s, dir := &source{}, t.TempDir()
	table := open(t, dir, s)
	stop := testkit.Run(t, table.Run)
	s.put(snapshot.Hosts{
		Hosts: []snapshot.Host{host("one.example", 1), host("two.example", 2)}, Withdrawn: []snapshot.Withdrawn{},
		Conversions: &snapshot.Conversions{}, Base: &snapshot.Base{},
	})
	testkit.Eventually(t, "the first list arrives", func() bool { return table.Len() == 2 })
	s.put(snapshot.Hosts{Hosts: []snapshot.Host{host("three.example", 3)}, Gone: []string{"one.example"}})
	testkit.Eventually(t, "a change arrives", func() bool { return table.Find([]byte("three.example")) != nil })
	stop()
	if table.Find([]byte("one.example")) != nil || table.Find([]byte("two.example")) == nil {
		t.Error("the change was not applied as a whole")
	}
	table.Close()

	// Everything is on disk, and the table continues there.
	again := open(t, dir, &source{err: errors.New("down")})
	if again.Len() != 2 || again.Find([]byte("three.example")) == nil || again.Cursor() != table.Cursor() {
		t.Errorf("after a restart: %d hosts at %v", again.Len(), again.Cursor())
	}
}

// A full list replaces everything: a control plane whose database was restored may know less.
func TestTable_replaces_everything_by_a_full_list(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table := open(t, dir, &source{})
	table.Apply(&snapshot.Hosts{Full: true, Hosts: []snapshot.Host{host("one.example", 1)}})
	table.Apply(&snapshot.Hosts{Full: true, Hosts: []snapshot.Host{host("two.example", 2)}})
	table.Close()
	for _, table := range []*hosts.Table{table, open(t, dir, &source{})} {
		if table.Len() != 1 || table.Find([]byte("two.example")) == nil {
			t.Errorf("%d hosts", table.Len())
		}
	}
}

// The file may end anywhere after a crash. What is complete counts, and the next change repairs the file.
func TestTable_survives_a_torn_file(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table := open(t, dir, &source{})
	table.Apply(&snapshot.Hosts{Full: true, Hosts: []snapshot.Host{host("one.example", 1)}})
	path := filepath.Join(dir, "hosts")
	first, err := os.ReadFile(path)
	testkit.Must(t, err)
	table.Apply(&snapshot.Hosts{Hosts: []snapshot.Host{host("two.example", 2)}})
	table.Close()
	whole, err := os.ReadFile(path)
	testkit.Must(t, err)
	for n := range whole {
		dir := t.TempDir()
		testkit.Must(t, os.WriteFile(filepath.Join(dir, "hosts"), whole[:n], 0o600))
		torn := open(t, dir, &source{})
		want := 0
		if n >= len(first) {
			want = 1
		}
		if torn.Len() != want {
			t.Fatalf("%d of %d bytes: %d hosts, want %d", n, len(whole), torn.Len(), want)
		}
		torn.Apply(&snapshot.Hosts{Hosts: []snapshot.Host{host("three.example", 3)}})
		torn.Close()
		if again := open(t, dir, &source{}); again.Len() != want+1 {
			t.Fatalf("%d of %d bytes: %d hosts after the repair", n, len(whole), again.Len())
		}
	}
}

// Withdrawn names stay over restarts until the control plane tells otherwise. A table that may not know all of them asks for the
// full list.
func TestS3_withdrawn_names_survive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table := open(t, dir, &source{})
	state := func() string {
		var out []string
		for _, name := range []string{"a.example", "b.example", "C.example:80"} {
			switch h := table.Lookup([]byte(name)); {
			case h == nil:
				out = append(out, "-")
			case h.Suspended:
				out = append(out, "suspended")
			case h.Withdrawn:
				out = append(out, "withdrawn")
			default:
				out = append(out, "served")
			}
			if h := table.Find([]byte(name)); h != nil && h.Withdrawn {
				t.Errorf("%s is found as a domain in service", name)
			}
		}
		return strings.Join(out, " ")
	}
	at := func(revision uint64) snapshot.Cursor { return snapshot.Cursor{Incarnation: 1, Revision: revision} }
	for i, c := range []struct {
		update snapshot.Hosts
		want   string
		served int
		known  bool
	}{
		// of an earlier release
		{snapshot.Hosts{Full: true, Hosts: []snapshot.Host{host("a.example", 1)}, Conversions: &snapshot.Conversions{},
			Base: &snapshot.Base{}},
			"served - -", 1, false},
		{snapshot.Hosts{Gone: []string{"a.example"}, Withdrawn: []snapshot.Withdrawn{{Name: "a.example", Suspended: true}}},
			"suspended - -", 0, false},
		{snapshot.Hosts{Full: true, Hosts: []snapshot.Host{host("a.example", 1)}, Withdrawn: []snapshot.Withdrawn{{Name: "b.example"}}},
			"served withdrawn -", 1, true},
		{snapshot.Hosts{Gone: []string{"a.example"}, Withdrawn: []snapshot.Withdrawn{{Name: "a.example", Suspended: true},
			{Name: "c.example"}}},
			"suspended withdrawn withdrawn", 0, true},
		{snapshot.Hosts{Hosts: []snapshot.Host{host("a.example", 1)}, Gone: []string{"b.example"}}, "served - withdrawn", 1, true},
	} {
		c.update.Cursor = at(uint64(i + 1))
		table.Apply(&c.update)
		for _, when := range []string{"at once", "after a restart"} {
			if got := state(); got != c.want && (c.known || when == "at once") || table.Len() != c.served {
				t.Errorf("update %d, %s: %s, %d served; want %s, %d", i, when, got, table.Len(), c.want, c.served)
			}
			if when == "at once" {
				table.Close()
				table = open(t, dir, &source{})
			}
		}
		want := snapshot.Cursor{}
		if c.known {
			want = at(uint64(i + 1))
		}
		if got := table.Cursor(); got != want {
			t.Errorf("update %d: the next start asks after %v, want %v", i, got, want)
		}
	}
}

func TestTable_bounds_its_file(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table := open(t, dir, &source{})
	long := "https://example.com/" + strings.Repeat("x", 2000)
	for i := range 2000 {
		table.Apply(&snapshot.Hosts{Hosts: []snapshot.Host{{Name: fmt.Sprintf("h%d.example", i%10), Domain: uint64(i + 1), RootURL: long}}})
	}
	info, err := os.Stat(filepath.Join(dir, "hosts"))
	if err != nil || info.Size() > 512<<10 {
		t.Errorf("%v, %v", info, err)
	}
	table.Close()
	if again := open(t, dir, &source{}); again.Len() != 10 || again.Find([]byte("h9.example")).Domain != 2000 {
		t.Errorf("%d hosts", again.Len())
	}
}
