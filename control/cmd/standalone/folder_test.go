package main_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// refuses starts the program, which must end with an error that has all the given texts.
func (p *program) refuses(what string, says ...string) {
	p.t.Helper()
	p.launch()
	testkit.Eventually(p.t, what+": the program ends", func() bool {
		select {
		case err := <-p.exited:
			p.exited <- err
			if err == nil {
				p.t.Errorf("%s: the program ended without an error", what)
			}
			return true
		default:
			return false
		}
	})
	for _, want := range says {
		if !strings.Contains(p.output.String(), want) {
			p.t.Errorf("%s: %q is missing in\n%s", what, want, p.output)
		}
	}
}

// A1: a first start that is killed at any moment leaves a folder that a second start completes, and the second start shows the
// password. make proof kills it at 50 moments.
func TestA1_a_first_start_that_is_killed_is_completed(t *testing.T) {
	t.Parallel()
	stages := []string{
		"LOCK", "secrets.json", "shortline.db", "clicks.duckdb.new", "clicks.duckdb", "edge/stamp", "edge/spool/instance.id",
		"edge/links/links.state",
	}
	kills := testkit.Size(5, 50)
	for n := range kills {
		stage, later := stages[n*len(stages)/kills], time.Duration(n%5)*7*time.Millisecond
		p := prepare(t)
		p.launch()
		testkit.Eventually(t, stage+" exists", func() bool {
			_, err := os.Stat(filepath.Join(p.Dir, stage))
			_, done := os.Stat(filepath.Join(p.Dir, "edge/links/links.state"))
			return err == nil || done == nil
		})
		<-time.After(later)
		p.Kill()
		p.Start()
		p.Login()
		p.Kill()
	}
}

// A1: a first start that fails shows no password, or one that nobody sees. The next one shows it, until the first sign-in.
func TestA1_the_password_is_shown_until_the_first_sign_in(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	taken, err := net.Listen("tcp", p.Addr)
	testkit.Must(t, err)
	p.refuses("a busy port", p.Addr)
	testkit.Must(t, taken.Close())
	p.env = append(p.env, "ADMIN_PASSWORD=battery staple")
	p.Start()
	p.Password()
	if said := p.output.String(); !strings.Contains(said, "admin password ignored, users exist") {
		t.Errorf("a password that has no effect is not noticed:\n%s", said)
	}
	p.Login()
	p.Stop()
	p.Start()
	p.Stop()
	if strings.Contains(p.output.String(), p.password) {
		t.Error("the password is shown after the first sign-in")
	}
	for _, line := range []string{
		`"msg":"program starting","program":"standalone","version":"shortline `, `"listen_addr":"` + p.Addr, `"settings":"LISTEN_ADDR `,
		`"msg":"program stopped"`,
	} {
		if !strings.Contains(p.output.String(), line) { // A10
			t.Errorf("the log lacks %s:\n%s", line, p.output)
		}
	}
}

// A1: the commands give access while the program runs, and while it is stopped.
func TestA1_commands_give_access(t *testing.T) {
	t.Parallel()
	p := start(t)
	admin := p.Login()
	run := func(args ...string) string {
		t.Helper()
		out, err := p.command(args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	password := func(said string) string {
		t.Helper()
		m := printedPassword.FindStringSubmatch(said)
		if m == nil {
			t.Fatalf("no password in %q", said)
		}
		return m[1]
	}
	signIn(t, admin.base, "second@example.com", password(run("create-admin", "second@example.com")))
	p.password = password(run("reset-password", "admin@example.com"))
	admin.Do("GET", "/api/auth/me", nil, 401, nil) // its session has ended
	p.Login()
	p.Stop()
	p.password = password(run("reset-password", "admin@example.com"))
	if said := run("disable-2fa", "admin@example.com"); !strings.Contains(said, "has no second factor") {
		t.Errorf("disable-2fa: %s", said)
	}
	cmd := p.command("create-admin", "third@example.com")
	cmd.Env = append(cmd.Env, "ENCRYPTION_KEY=another key than that of the running program")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "another key") {
		t.Errorf("with another key: %v\n%s", err, out)
	}
	p.Start()
	p.Login()
}

// A11: the folder is locked before anything in it is changed.
func TestA11_a_second_program_is_refused(t *testing.T) {
	t.Parallel()
	p := start(t)
	second := *p
	second.env = append(append([]string{}, p.env...), "LISTEN_ADDR="+testkit.FreeAddr(t), "OPS_ADDR="+testkit.FreeAddr(t))
	second.refuses("a second program", "DATA_DIR", "is in use by another standalone")
	if out, err := p.command("verify-clicks").CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "is in use by another standalone") {
		t.Errorf("a command for a stopped program: %v\n%s", err, out)
	}
}

// lived is a folder of a program with links and clicks, and an older copy of the folder.
type lived struct {
	*program
	old   string // copy of an earlier start
	link  *shortline.Link
	later *shortline.Link // made after the copy
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	testkit.Must(t, os.RemoveAll(to))
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func live(t *testing.T) *lived {
	t.Helper()
	l := &lived{program: start(t), old: filepath.Join(t.TempDir(), "old")}
	c := l.Login()
	l.link = c.link(shortline.CreateLink{OriginalURL: "https://example.com/first"})
	l.clicks(c, 3)
	l.Stop()
	copyTo(t, l.Dir, l.old)
	l.Start()
	c = l.Login()
	l.later = c.link(shortline.CreateLink{OriginalURL: "https://example.com/later"})
	l.clicks(c, 4)
	l.Stop()
	return l
}

// clicks visits the first link n times and waits for the report.
func (l *lived) clicks(c *client, n int64) {
	l.t.Helper()
	before := c.reportTotal(l.link.ID)
	for range n {
		if status, _ := l.follow(l.link.Slug, visitor); status != 302 {
			l.t.Fatalf("a visit: %d", status)
		}
	}
	testkit.Eventually(l.t, "the clicks are in the report", func() bool { return c.reportTotal(l.link.ID) == before+n })
}

// A2, A3: each file of the folder that is missing, empty, truncated, flipped, an older copy or from another folder is noticed at
// the start. The message names the file and what to do, or the program repairs it and nothing is lost.
func TestA2_files_of_the_folder_are_checked(t *testing.T) {
	t.Parallel()
	l, other := live(t), live(t)
	whole := filepath.Join(t.TempDir(), "whole")
	copyTo(t, l.Dir, whole)
	change := func(f func(text []byte) []byte) func(path, file string) error {
		return func(path, _ string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, f(text), 0o600)
		}
	}
	from := func(dir string) func(path, file string) error {
		return func(path, file string) error {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
			return exec.Command("cp", "-a", filepath.Join(dir, file), path).Run()
		}
	}
	ways := map[string]func(path, file string) error{
		"missing":             func(path, _ string) error { return os.RemoveAll(path) },
		"empty":               change(func([]byte) []byte { return nil }),
		"truncated":           change(func(text []byte) []byte { return text[:len(text)/2] }),
		"flipped":             change(flip),
		"older":               from(l.old),
		"from another folder": from(other.Dir),
	}
	for _, c := range []struct{ file, how, says string }{
		{"secrets.json", "missing", "secrets.json is missing or empty"},
		{"secrets.json", "empty", "secrets.json is missing or empty"},
		{"secrets.json", "truncated", "secrets.json is damaged"},
		{"secrets.json", "flipped", "secrets.json is damaged"},
		{"secrets.json", "older", ""}, // it never changes
		{"secrets.json", "from another folder", "secrets.json in"},
		{"shortline.db", "missing", "shortline.db is missing or empty"},
		{"shortline.db", "empty", "shortline.db is missing or empty"},
		{"shortline.db", "truncated", "shortline.db is damaged"},
		{"shortline.db", "flipped", "shortline.db is damaged"},
		{"shortline.db", "older", "so shortline.db is an older copy: links, users and changes since then are missing. Restore both from one backup"},
		{"shortline.db", "from another folder", "shortline.db"},
		{"clicks.duckdb", "missing", "clicks.duckdb is missing or empty"},
		{"clicks.duckdb", "empty", "clicks.duckdb is missing or empty"},
		{"clicks.duckdb", "truncated", "clicks.duckdb cannot be opened"},
		{"clicks.duckdb", "flipped", "clicks.duckdb cannot be opened"},
		{"clicks.duckdb", "older", "that the edge still has. Restore both from one backup"},
		{"clicks.duckdb", "from another folder", "are of different folders"},
		{"edge", "missing", ""},
		{"edge", "older", ""},
		{"edge", "from another folder", "are of different folders"},
	} {
		copyTo(t, whole, l.Dir)
		testkit.Must(t, ways[c.how](filepath.Join(l.Dir, c.file), c.file))
		if c.says != "" {
			l.refuses(c.file+" "+c.how, "DATA_DIR", c.says)
			continue
		}
		l.Start()
		l.works(c.file+" "+c.how, l.later.Slug, 7) // visits of another link
		l.Stop()
	}
	for _, pair := range [][2]string{
		{"shortline.db", "clicks.duckdb"}, {"secrets.json", "shortline.db"}, {"clicks.duckdb", "edge"}, {"secrets.json", "clicks.duckdb"},
	} {
		copyTo(t, whole, l.Dir)
		for _, file := range pair {
			testkit.Must(t, os.RemoveAll(filepath.Join(l.Dir, file)))
		}
		l.refuses(fmt.Sprint(pair, " missing"), "DATA_DIR", " is missing or empty")
	}
}

// flip changes a bit: of the header, or in the middle of a short file.
func flip(text []byte) []byte {
	if len(text) < 1000 {
		text[len(text)/2] ^= 4
	} else {
		text[2] ^= 4
	}
	return text
}

// works checks that links work, that new ones do at once, and that the first link has as many clicks.
func (l *lived) works(what, slug string, clicks int64) {
	l.t.Helper()
	c := l.Login()
	if status, _ := l.follow(slug, visitor); status != 302 {
		l.t.Errorf("%s: a link answers %d", what, status)
	}
	fresh := c.link(shortline.CreateLink{OriginalURL: "https://example.com/fresh"})
	if status, _ := l.follow(fresh.Slug, visitor); status != 302 {
		l.t.Errorf("%s: a new link answers %d", what, status)
	}
	testkit.Eventually(l.t, what+": the visit of the new link is in the report", func() bool { return c.reportTotal(fresh.ID) == 1 })
	if n := c.reportTotal(l.link.ID); n != clicks {
		l.t.Errorf("%s: the first link has %d clicks, want %d", what, n, clicks)
	}
}

// A3: the links and clicks of a backup are copied over a folder that was used since, with the journals of a killed run. All links
// of the backup work, and new ones, too. Clicks since the backup that the edge still has are stored again.
func TestA3_a_backup_over_a_used_folder(t *testing.T) {
	t.Parallel()
	l := &lived{program: start(t)}
	c := l.Login()
	l.link = c.link(shortline.CreateLink{OriginalURL: "https://example.com/first"})
	l.clicks(c, 3)
	backup := l.backedUp()
	lost := c.link(shortline.CreateLink{OriginalURL: "https://example.com/lost"})
	for range 3 {
		c.link(shortline.CreateLink{OriginalURL: "https://example.com/lost"})
	}
	l.clicks(c, 2)
	l.Kill()
	if out, err := exec.Command("cp", "-a", backup+"/.", l.Dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l.Start()
	testkit.Eventually(t, "the clicks since the backup are stored again", func() bool { return l.Login().reportTotal(l.link.ID) == 5 })
	if said := l.output.String(); !strings.Contains(said, "journals of a replaced database set aside") {
		t.Errorf("the journals of the killed run are still used:\n%s", said)
	}
	l.works("a backup over a used folder", l.link.Slug, 6) // and its own visit
	if status, _ := l.follow(lost.Slug, visitor); status != 404 {
		t.Errorf("a link that the backup does not have answers %d", status)
	}
	l.Kill() // nothing may be lost by a second start with the manifest in the folder
	l.Start()
	l.works("the next start", l.link.Slug, 7)
}

// A copy of a folder that is no backup, over the files of a killed program, gets its journal and is damaged by that. Nothing may call it
// usable.
func TestA3_a_copy_gets_the_journal_of_a_killed_program(t *testing.T) {
	t.Parallel()
	l := live(t)
	l.Start()
	l.clicks(l.Login(), 2)
	l.Kill()
	for _, file := range []string{"shortline.db", "clicks.duckdb"} {
		copyTo(t, filepath.Join(l.old, file), filepath.Join(l.Dir, file))
	}
	for range 2 { // the first try applies the journal
		l.refuses("a copy with a foreign journal", "shortline.db is damaged", "into an empty folder")
	}
	if out, err := l.command("repair").CombinedOutput(); err == nil || !strings.Contains(string(out), "shortline.db is damaged") {
		t.Errorf("repair: %v\n%s", err, out)
	}
}

// A2: repair accepts the loss of the click store. Counters keep their values, and clicks that the edge still has are in reports.
func TestA2_repair_accepts_a_loss(t *testing.T) {
	t.Parallel()
	l := live(t)
	for file, clicks := range map[string]int64{"clicks.duckdb": 7, "shortline.db": 7} {
		path := filepath.Join(l.Dir, file)
		if file == "clicks.duckdb" {
			testkit.Must(t, os.Remove(path))
		} else {
			copyTo(t, filepath.Join(l.old, file), path)
		}
		l.refuses("without "+file, file)
		if out, err := l.command("repair").CombinedOutput(); err != nil || !strings.Contains(string(out), "can be used") {
			t.Fatalf("repair: %v\n%s", err, out)
		}
		l.Start()
		c := l.Login()
		testkit.Eventually(t, "the clicks are in the report", func() bool { return c.reportTotal(l.link.ID) == clicks })
		if u := c.now(l.link.ID); u.ClickCount < 3 {
			t.Errorf("the counter went back to %d", u.ClickCount)
		}
		l.Stop()
	}
}

// A5: clicks that the click store loses with its log are shipped again. The log of a killed program is removed, or damaged.
func TestA5_the_log_of_the_click_store_is_lost(t *testing.T) {
	t.Parallel()
	l := &lived{program: start(t)}
	c := l.Login()
	l.link = c.link(shortline.CreateLink{OriginalURL: "https://example.com/first"})
	for i, lose := range []func(path string) error{
		os.Remove,
		func(path string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text[len(text)/2] ^= 4
			return os.WriteFile(path, text, 0o600)
		},
	} {
		l.clicks(c, 20)
		l.Kill()
		testkit.Must(t, lose(filepath.Join(l.Dir, "clicks.duckdb.wal")))
		l.Start()
		c = l.Login()
		testkit.Eventually(t, "all clicks are stored again", func() bool { return c.reportTotal(l.link.ID) == int64(20*(i+1)) })
		testkit.Eventually(t, "the log says so", func() bool { return strings.Contains(l.output.String(), "missing clicks stored again") })
	}
}
