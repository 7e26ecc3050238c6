package main_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/shoptest"
	"github.com/shortline/shortline/shared/testkit"
)

// senders are the programs of docs/users/send-conversions.md, with the orders that they send.
var senders = []struct {
	heading, fence, file, order string
	command                     []string
}{
	{"### curl", "sh", "send.sh", "order-1001", []string{"bash", "send.sh"}},
	{"### Go", "go", "main.go", "order-1002", []string{"go", "run", "main.go"}},
	{"### Node.js", "js", "send.js", "order-1003", []string{"node", "send.js"}},
	{"### Python", "python", "send.py", "order-1004", []string{"python3", "send.py"}},
	{"### PHP", "php", "send.php", "order-1005", []string{"php", "send.php"}},
}

// shell runs a command of a guide in a folder, and returns what it prints.
func shell(t *testing.T, dir string, env []string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the guide's %v (deploy/dev/tools installs the tools of the guides): %v\n%s%s", command, err, out, problems.String())
	}
	return string(out)
}

// clicked visits a link and returns the click id that the destination gets.
func (p *program) clicked(slug string) string {
	p.t.Helper()
	status, location := p.follow(slug, map[string]string{"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0"})
	to, err := url.Parse(location)
	if err != nil || status != http.StatusFound || len(to.Query().Get("sl_click")) != conversion.IDLength {
		p.t.Fatalf("the visit of /%s got %d %s %v", slug, status, location, err)
	}
	return to.Query().Get("sl_click")
}

// Every program of the guide sends a conversion, and a second run counts nothing twice.
func TestGuide_send_conversions(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../../docs/users/send-conversions.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(b)
	p := start(t, "ENCRYPTION_KEY="+attackKey)
	c := p.Login()
	link := c.CreateURL("https://shop.example.com/", nil)
	p.published(link.Slug)
	env := []string{"SHORTLINE_URL=http://" + p.Addr, "TOKEN=" + c.token, "LINK_ID=" + link.ID, "GOWORK=off"}
	dir := t.TempDir()

	var tracked struct{ TrackConversions bool }
	parse(t, shell(t, dir, env, "bash", "-c", marked(t, guide, "prepare")), &tracked)
	if !tracked.TrackConversions {
		t.Fatal("the link does not track conversions")
	}
	var key struct{ Key string }
	parse(t, shell(t, dir, env, "bash", "-c", marked(t, guide, "key")), &key)
	env = append(env, "SHORTLINE_KEY="+key.Key)
	testkit.Within(t, 10*time.Second, "visits get click ids", func() bool {
		_, location := p.follow(link.Slug, nil)
		return strings.Contains(location, "?sl_click=")
	})

	var want []shoptest.Stored
	for _, s := range senders {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, s.file), []byte(fenced(t, guide, s.heading, s.fence)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module shop\n\ngo 1.22\n"), 0o600); err != nil { // only Go needs it
			t.Fatal(err)
		}
		click := p.clicked(link.Slug)
		env := append(env, "CLICK_ID="+click)
		if out := shell(t, dir, env, s.command...); !strings.Contains(out, "accepted") {
			t.Errorf("%s printed %q", s.heading, out)
		}
		testkit.Within(t, time.Minute, "the second conversion of "+s.heading+" is a duplicate", func() bool {
			return strings.Contains(shell(t, dir, env, s.command...), "duplicate")
		})
		want = append(want, shoptest.Stored{Click: click, Goal: "purchase", Value: 49_9000, Currency: "EUR", Number: s.order, Attributed: true})
	}
	click := p.clicked(link.Slug)
	env = append(env, "CLICK_ID="+click)
	for _, many := range []struct{ mark, want string }{{"batch", "accepted malformed"}, {"ndjson", "accepted accepted"}} {
		var answer struct{ Results []struct{ Verdict string } }
		parse(t, shell(t, dir, env, "bash", "-c", marked(t, guide, many.mark)), &answer)
		var got []string
		for _, r := range answer.Results {
			got = append(got, r.Verdict)
		}
		if strings.Join(got, " ") != many.want {
			t.Errorf("%s: %v, want %s", many.mark, got, many.want)
		}
	}
	want = append(want, shoptest.Stored{Click: click, Goal: "newsletter", Attributed: true},
		shoptest.Stored{Click: click, Goal: "refill", Value: 10_0000, Currency: "EUR", Number: "r-1", Attributed: true},
		shoptest.Stored{Click: click, Goal: "refill", Value: 12_0000, Currency: "EUR", Number: "r-2", Attributed: true})
	testkit.Within(t, time.Minute, "the last conversions are duplicates", func() bool {
		return strings.Count(shell(t, dir, env, "bash", "-c", marked(t, guide, "ndjson")), "duplicate") == 2
	})
	order := func(a, b shoptest.Stored) int { return strings.Compare(a.Goal+a.Number, b.Goal+b.Number) }
	slices.SortFunc(want, order)
	stored := p.storedWhen(func(stored []shoptest.Stored) bool {
		slices.SortFunc(stored, order)
		return slices.Equal(stored, want)
	})
	if !slices.Equal(stored, want) {
		t.Errorf("stored: %+v\nwant: %+v", stored, want)
	}
	for _, v := range []conversion.Verdict{
		conversion.Accepted, conversion.Duplicate, conversion.Invalid, conversion.Malformed, conversion.Forged, conversion.Foreign, conversion.Expired,
		conversion.BeforeClick, conversion.InFuture, conversion.TooManyGoals,
	} {
		if !strings.Contains(guide, "\n| `"+string(v)+"` |") {
			t.Errorf("the guide does not explain the verdict %s", v)
		}
	}
}

// marked returns the code block that follows a comment "tested: name" of a guide.
func marked(t *testing.T, guide, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(guide, "\n<!-- tested: "+name+" -->\n```")
	_, rest, _ = strings.Cut(rest, "\n")
	code, _, ended := strings.Cut(rest, "\n```")
	if !found || !ended {
		t.Fatalf("the guide has no code marked %q", name)
	}
	return code
}

func parse(t *testing.T, text string, out any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}
