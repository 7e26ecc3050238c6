package main_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	shortline "github.com/shortline/shortline/client"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/testkit"
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
	status, location := p.follow(slug, visitor)
	to, err := url.Parse(location)
	if err != nil || status != http.StatusFound || len(to.Query().Get("sl_click")) != conversion.IDLength {
		p.t.Fatalf("the visit of /%s got %d %s %v", slug, status, location, err)
	}
	return to.Query().Get("sl_click")
}

// Every program of the guide sends a conversion, and a second run counts nothing twice.
func TestGuide_send_conversions(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(testkit.Source(t, "docs/users/send-conversions.md"))
	testkit.Must(t, err)
	guide := string(b)
	p, c := shared(t)
	link := c.link(shortline.CreateLink{OriginalURL: "https://shop.example.com/"})
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
	testkit.Eventually(t, "visits get click ids", func() bool {
		_, location := p.follow(link.Slug, nil)
		return strings.Contains(location, "?sl_click=")
	})

	var want []string
	for _, s := range senders {
		dir := written(t, guide, s.heading, s.fence, s.file)
		env := append(env, "CLICK_ID="+p.clicked(link.Slug))
		if out := shell(t, dir, env, s.command...); !strings.Contains(out, "accepted") {
			t.Errorf("%s printed %q", s.heading, out)
		}
		testkit.Eventually(t, "the second conversion of "+s.heading+" is a duplicate", func() bool {
			return strings.Contains(shell(t, dir, env, s.command...), "duplicate")
		})
		want = append(want, "purchase 49.9 EUR "+s.order)
	}
	env = append(env, "CLICK_ID="+p.clicked(link.Slug))
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
	want = append(want, "newsletter 0  ", "refill 10 EUR r-1", "refill 12 EUR r-2")
	testkit.Eventually(t, "the last conversions are duplicates", func() bool {
		return strings.Count(shell(t, dir, env, "bash", "-c", marked(t, guide, "ndjson")), "duplicate") == 2
	})
	slices.Sort(want)
	var stored []string
	testkit.Eventually(t, "the conversions are stored with their clicks", func() bool {
		stored = nil
		clicks := map[string]bool{}
		for _, one := range c.conversions(link.ID) {
			clicks[one["clickId"]] = true
			stored = append(stored, strings.Join([]string{one["name"], one["value"], one["currency"], one["externalId"]}, " "))
		}
		return len(stored) >= len(want) && !clicks[""] && len(clicks) == len(senders)+1
	})
	if slices.Sort(stored); !slices.Equal(stored, want) {
		t.Errorf("stored: %q\nwant: %q", stored, want)
	}
	for _, v := range []conversion.Verdict{
		conversion.Accepted, conversion.Duplicate, conversion.Invalid, conversion.Malformed, conversion.Forged, conversion.Foreign,
		conversion.Expired,
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
