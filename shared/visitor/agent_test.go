package visitor_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/shared/visitor"
)

const (
	iphoneSafari = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_6_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Mobile/15E148 Safari/604.1"
	windowsEdge  = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.2903.86"
	googlebot    = "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.6778.69 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)

// rows reads a tab-separated table from testdata. Lines that begin with # are comments.
func rows(t testing.TB, file string) [][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	testkit.Must(t, err)
	var all [][]string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			all = append(all, strings.Split(line, "\t"))
		}
	}
	return all
}

func TestParse_browsers_of_people(t *testing.T) {
	t.Parallel()
	table := rows(t, "agents.tsv")
	if len(table) < 300 {
		t.Fatalf("only %d agents in the table", len(table))
	}
	known := func(s string) string { return strings.TrimPrefix(s, "-") }
	for _, row := range table {
		want := visitor.Agent{Device: known(row[0]), OS: known(row[1]), Browser: known(row[2])}
		if got := visitor.Parse(row[3]); got != want {
			t.Errorf("%s\n got %+v\nwant %+v", row[3], got, want)
		}
	}
}

func TestParse_every_sample_of_the_list_is_a_bot(t *testing.T) {
	t.Parallel()
	table := rows(t, "crawlers.tsv")
	if len(table) < 2000 {
		t.Fatalf("only %d samples", len(table))
	}
	named := 0
	for _, row := range table {
		ua, err := strconv.Unquote(row[1])
		testkit.Must(t, err)
		a := visitor.Parse(ua)
		if !a.Bot || a.BotName == "" {
			t.Errorf("not a bot: %q", ua)
		}
		if a.BotName == row[0] {
			named++
		}
	}
	// Some samples match several bots of the list. The longest match names them.
	if named < len(table)*95/100 {
		t.Errorf("only %d of %d samples have the name of their own bot", named, len(table))
	}
}

func TestBotListVersion_is_that_of_the_list(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("crawlers.tsv")
	testkit.Must(t, err)
	header, _, _ := strings.Cut(string(list), ",")
	name, version, _ := strings.Cut(strings.TrimPrefix(header, "# "), " ")
	if !strings.HasPrefix(visitor.BotListVersion, name+"/"+version+"+") {
		t.Errorf("%q, but the list says %q", visitor.BotListVersion, header)
	}
}

func TestParse_bots(t *testing.T) {
	t.Parallel()
	for ua, name := range map[string]string{
		"":                              visitor.NoAgent,
		"curl/8.9.1":                    "curl",
		"Wget/1.21.4":                   "wget",
		"python-requests/2.32.3":        "python-requests",
		"Python/3.12 aiohttp/3.10.5":    "aiohttp",
		"Go-http-client/1.1":            "Go-http-client",
		"Java/17.0.12":                  "Java",
		"okhttp/4.12.0":                 "okhttp",
		"axios/1.7.7":                   "axios",
		"node":                          "Node.js",
		"undici":                        "Node.js",
		"PostmanRuntime/7.42.0":         "PostmanRuntime",
		"WhatsApp/2.24.20.89 A":         "WhatsApp",
		"TelegramBot (like TwitterBot)": "TelegramBot",
		"Twitterbot/1.0":                "Twitterbot",
		"k6/0.54.0 (https://k6.io/)":    "k6",
		"Example/3.1 (made up)":         visitor.OtherBot,
		"-":                             visitor.OtherBot,
		"SomeNewBot":                    visitor.OtherBot,
		"Mozilla/5.0 (compatible; madeupbot/1.0)":                                                                       visitor.OtherBot,
		"Mozilla/5.0 (compatible; Made-Up-Crawler)":                                                                     visitor.OtherBot,
		"Mozilla/5.0 (compatible; X; +https://example.com/x)":                                                           visitor.OtherBot,
		"Dalvik/2.1.0 (Linux; U; Android 13; SM-S901B Build/TP1A.220624.014)":                                           "Android app",
		"SomeApp/12 CFNetwork/1494.0.7 Darwin/23.4.0":                                                                   "Apple app",
		"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)":                                     "facebookexternalhit",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36": "HeadlessChrome",
		"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)":                                       "bingbot",
		googlebot: "Googlebot",
	} {
		if a := visitor.Parse(ua); !a.Bot || a.BotName != name {
			t.Errorf("%q: bot %v, name %q, want %q", ua, a.Bot, a.BotName, name)
		}
	}
}

func TestParse_a_bot_keeps_what_it_claims(t *testing.T) {
	t.Parallel()
	a := visitor.Parse(googlebot)
	if a.Device != visitor.Mobile || a.OS != "Android" || a.Browser != "Chrome" {
		t.Errorf("got %+v", a)
	}
}

func TestParse_reads_as_much_as_a_click_keeps(t *testing.T) {
	t.Parallel()
	ua := iphoneSafari + strings.Repeat(" ", visitor.MaxUserAgent-len(iphoneSafari))
	if got, want := visitor.Parse(ua+"Googlebot/2.1"), visitor.Parse(ua); got != want || got.Bot {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if a := visitor.Parse(ua[:visitor.MaxUserAgent-13] + "Googlebot/2.1"); !a.Bot {
		t.Error("the last bytes were not read")
	}
}

func TestSocialPreview(t *testing.T) {
	t.Parallel()
	for _, ua := range []string{
		"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 " +
			"facebookexternalhit/1.1 Facebot Twitterbot/1.0",
		"Twitterbot/1.0",
		"LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
		"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
		"Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
		"TelegramBot (like TwitterBot)",
		"WhatsApp/2.23.20.0",
		"WhatsApp/2.2441.7 W",
		"Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com",
		"Mozilla/5.0 (compatible; Pinterestbot/1.0; +http://www.pinterest.com/bot.html)",
		"Pinterest/0.2 (+http://www.pinterest.com/)",
		"Mozilla/5.0 (compatible; redditbot/1.0; +http://www.reddit.com/feedback)",
		"Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)",
		"Viber/13.3.0 CFNetwork/1128.0.1 Darwin/19.6.0",
		"facebookexternalhit/1.1;line-poker/1.0",
		"facebookexternalhit/1.1; kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984",
		"Mastodon/4.3.1 (http.rb/5.2.0; +https://mastodon.social/) Bot",
		"Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)",
		"Iframely/1.3.1 (+https://iframely.com/docs/about)",
		"Mozilla/5.0 (compatible; Embedly/0.2; +http://support.embed.ly/)",
		"Mozilla/5.0 (compatible) SnapURLPreview/1.0; +https://www.snapchat.com",
		"Synapse (bot; +https://github.com/matrix-org/synapse)",
	} {
		if !visitor.Parse(ua).Preview {
			t.Errorf("not recognized as a preview crawler: %q", ua)
		}
	}
	for _, ua := range []string{
		"", iphoneSafari, windowsEdge, googlebot, "curl/8.9.1",
		"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_6_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21G93 [Pinterest/iOS]",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Mattermost/5.9.0 Chrome/126.0.6478.234 Electron/31.4.0 " +
			"Safari/537.36",
	} {
		if visitor.Parse(ua).Preview {
			t.Errorf("wrongly recognized as a preview crawler: %q", ua)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(iphoneSafari)
	f.Add(googlebot)
	f.Add("\x00\xff(((Cubot")
	agents := visitor.NewAgents(64)
	f.Fuzz(func(t *testing.T, ua string) {
		a := visitor.Parse(ua)
		if a.Bot != (a.BotName != "") || a.Preview && !a.Bot {
			t.Errorf("%+v contradicts itself", a)
		}
		switch a.Device {
		case "", visitor.Mobile, visitor.Tablet, visitor.Desktop:
		default:
			t.Errorf("device %q", a.Device)
		}
		for range 2 {
			if b := agents.Lookup(ua); a != b {
				t.Errorf("parsed %+v, looked up %+v", a, b)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for name, ua := range map[string]string{"phone": iphoneSafari, "desktop": windowsEdge, "bot": googlebot} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				visitor.Parse(ua)
			}
		})
	}
}
