package redirect_test

import (
	"strings"
	"testing"
)

// allowed evaluates robots.txt as RFC 9309 (2.2) does: the rules of the groups with the crawler's name, else those of *, and of
// the matching ones the longest. Allow wins among equals. It knows no wildcards in paths.
func allowed(t *testing.T, robots, crawler, path string) bool {
	t.Helper()
	groups := map[string][][2]string{}
	var agents []string
	rules := true // the last line was a rule, so the next User-agent begins a group
	for line := range strings.Lines(robots) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch name {
		case "user-agent":
			if rules {
				agents, rules = nil, false
			}
			agents = append(agents, strings.ToLower(value))
		case "allow", "disallow":
			rules = true
			if strings.ContainsAny(value, "*$") {
				t.Fatalf("a wildcard in %q", line)
			}
			for _, a := range agents {
				groups[a] = append(groups[a], [2]string{name, value})
			}
		}
	}
	group, named := groups[strings.ToLower(crawler)]
	if !named {
		group = groups["*"]
	}
	verdict, longest := "allow", -1
	for _, r := range group {
		n := len(r[1])
		if n == 0 || !strings.HasPrefix(path, r[1]) || n < longest || n == longest && r[0] == "disallow" {
			continue
		}
		verdict, longest = r[0], n
	}
	return verdict == "allow"
}

// firstMatch evaluates robots.txt as crawlers do that stop at the first rule that matches.
func firstMatch(robots, path string) bool {
	for line := range strings.Lines(robots) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if name != "User-agent" && strings.HasPrefix(path, value) {
			return name == "Allow"
		}
	}
	return true
}

// Crawlers may fetch a link and the picture of its preview, and nothing else of the API, on every host.
func TestF1_crawlers_may_fetch_pictures_of_previews(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, withHosts(t, acme))
	for _, host := range []string{"sho.rt", "go.acme.com"} {
		robots := w.get("/robots.txt", "Host", host)
		for _, name := range []string{"Twitterbot", "LinkedInBot", "facebookexternalhit", "Slackbot", "Discordbot", "Pinterestbot",
			"Googlebot"} {
			for path, want := range map[string]bool{
				"/ogx": true, "/api/og-images/og-images%2F0197%2F1.webp": true, "/api/og-images/x.png?v=1": true,
				"/api/urls": false, "/api/": false, "/api/og-images": false, "/api/og-imagesx/1": false,
			} {
				if got := allowed(t, robots.body, name, path); got != want {
					t.Errorf("%s on %s may fetch %s: %v", name, host, path, got)
				}
				if got := firstMatch(robots.body, path); got != want {
					t.Errorf("a crawler that stops at the first match may fetch %s: %v", path, got)
				}
			}
		}
	}
}
