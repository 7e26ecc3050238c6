package visitor

import (
	_ "embed"
	"regexp"
	"regexp/syntax"
	"strings"
)

//go:generate go run ./internal/vendorcrawlers crawler-user-agents.json 1.60.0

// BotListVersion identifies the list that separates bots from people. Records made with another version may be worth
// classifying again. The number after the plus sign is the version of this package's own additions.
const BotListVersion = "crawler-user-agents/1.60.0+1"

//go:embed crawlers.tsv
var crawlerList string

// crawler is a bot and the regular expression that matches it.
type crawler struct{ name, pattern string }

// narrowed replaces patterns of the list that also match browsers of people.
var narrowed = map[string]string{
	"Sogou": `Sogou \w+ [sS]pider`, // not the mobile browser of Sogou
	"Viber": `^Viber`,              // not the in-app browser
	"Daum":  `Daum/|Daumoa`,        // not DaumApps
}

// moreCrawlers are bots that the list lacks.
var moreCrawlers = []crawler{
	{"Slackbot", `Slackbot-LinkExpanding`},
	{"Bluesky", `Cardyb`},
	{"Threema", `^Threema`},
	{"Signal", `^Signal`},
	{"Microsoft Office", `ms-office;|^Microsoft Office|MSOffice `},
	{"Outlook", `Microsoft Outlook|^Outlook-`},
	{"Apple app", `CFNetwork/`},
	{"Android app", `^Dalvik/`},
	{"Google-Snippet", `developers\.google\.com/\+/web/snippet`},
	{"curl", `^libcurl|pycurl`},
	{"Java", `^Java/|^Java-http-client`},
	{"Apache-HttpClient", `Apache-HttpAsyncClient`},
	{"Ktor", `^Ktor client|ktor-client`},
	{"Python", `^Python|^python-`},
	{"Go-http-client", `^Go-http-client|^Go 1\.|fasthttp|^resty|go-resty`},
	{"Ruby", `^Ruby|^rest-client|Faraday|^Typhoeus`},
	{"Perl", `^LWP|^HTTP-Tiny|Mojolicious`},
	{"PHP", `^PHP/|GuzzleHttp|^Guzzle|Symfony HttpClient`},
	{"Node.js", `^node$|^node/|^Node\.js|^undici|^got |^needle/|^superagent|^Deno/|^Bun/`},
	{"Rust", `^reqwest|^hyper/|^ureq`},
	{".NET", `^RestSharp|^\.NET|System\.Net\.Http`},
	{"PostmanRuntime", `PostmanRuntime`},
	{"Insomnia", `^insomnia/`},
	{"SlimerJS", `SlimerJS`},
	{"PowerShell", `WindowsPowerShell|PowerShell/`},
	{"Headless Edge", `HeadlessEdg`},
	{"Cypress", `Cypress/`},
	{"jsdom", `jsdom/`},
	{"k6", `^k6/|Grafana k6`},
	{"Load generator", `^ApacheBench|^hey/|^wrk|^vegeta|^fortio|JMeter|^Locust|^siege|^bombardier`},
}

// previews are texts that occur only in the User-Agents of link preview crawlers.
var previews = []string{
	"facebookexternalhit", "Facebot", "facebookcatalog", "Twitterbot", "LinkedInBot", "Slackbot", "Slack-ImgProxy", "Discordbot",
	"TelegramBot", "WhatsApp",
	"SkypeUriPreview", "MicrosoftPreview", "Pinterestbot", "Pinterest/0.", "redditbot", "vkShare", "^Viber", "line-poker", "Linespider",
	"kakaotalk-scrap",
	"Mastodon", "Pleroma", "Akkoma", "Misskey", "gotosocial", "Friendica", "Bluesky", "Cardyb", "Iframely", "Embedly", "Tumblr",
	"XING-contenttabreceiver",
	"Snap URL Preview", "SnapURLPreview", "OdklBot", "^Synapse", "Mattermost", "Rocket.Chat", "RocketChat", "Nextcloud",
	"Yahoo Link Preview",
	"Quora Link Preview", "developers.google.com/+/web/snippet", "Wire LinkPreview", "^Threema", "^Signal", "NotionEmbedder", "ZoomBot",
	"BitlyBot", "Google-PageRenderer",
	"LinkPreview", "Link Preview", "link preview", "Valve/Steam", "Zalo-Preview",
}

// botWords are the spellings of "bot" that count at the end of a word.
var botWords = []string{"bot", "Bot", "BOT"}

// marks holds all significant texts and the automaton that finds them.
type marks struct {
	find *automaton
	all  []mark
	bots []string
}

// The kinds of marks.
const (
	tellsBrowser = iota
	tellsSystem
	tellsForm
	tellsSign
	tellsBotWord
	tellsBot
)

type mark struct {
	tells       uint8
	rank        uint8 // index in its table, or the sign
	first, last bool  // counts only at the start, or only at the end
	size        int
	bot         int
	confirm     *regexp.Regexp // set for the few patterns that are more than literals
}

func newMarks() *marks {
	c := &marks{}
	var texts []string
	add := func(text string, m mark) {
		if rest, anchored := strings.CutPrefix(text, "^"); anchored {
			text, m.first = rest, true
		}
		m.size = len(text)
		texts, c.all = append(texts, text), append(c.all, m)
	}
	for tells, table := range [][]family{tellsBrowser: browsers, tellsSystem: systems, tellsForm: forms} {
		if len(table) >= unseen {
			panic("BUG: visitor: too many families")
		}
		for rank, f := range table {
			for _, t := range f.texts {
				add(t, mark{tells: uint8(tells), rank: uint8(rank)})
			}
		}
	}
	for _, s := range signs {
		add(s.text, mark{tells: tellsSign, rank: s.sign})
	}
	for _, t := range previews {
		add(t, mark{tells: tellsSign, rank: signPreview})
	}
	for _, t := range botWords {
		add(t, mark{tells: tellsBotWord})
	}
	for n, b := range crawlers() {
		c.bots = append(c.bots, b.name)
		found, confirm := literals(b.pattern)
		for _, l := range found {
			m := mark{tells: tellsBot, bot: n, first: l.first, last: l.last, size: len(l.text), confirm: confirm}
			texts, c.all = append(texts, l.text), append(c.all, m)
		}
	}
	c.find = newAutomaton(texts)
	return c
}

// crawlers returns the list and then our additions. Of two matches of equal length, the first one names the bot.
func crawlers() []crawler {
	var all []crawler
	for line := range strings.Lines(crawlerList) {
		name, pattern, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		if better, ok := narrowed[pattern]; ok {
			pattern = better
		}
		all = append(all, crawler{name, pattern})
	}
	return append(all, moreCrawlers...)
}

// literal is a text with its anchors.
type literal struct {
	text        string
	first, last bool
}

// mostLiterals is the maximum number of literals for one pattern.
const mostLiterals = 64

// literals returns a set of literals one of which occurs in every match of a regular expression. If a literal alone
// does not prove a match, literals also returns the compiled expression to confirm it. It panics on a pattern without
// such literals; the tests would find one.
func literals(pattern string) ([]literal, *regexp.Regexp) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic("BUG: visitor: " + err.Error())
	}
	re = re.Simplify()
	if all, ok := expand(re); ok && allTexts(all) {
		return all, nil
	}
	best := []literal{}
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	for _, part := range parts {
		if all, ok := expand(part); ok && allTexts(all) && (len(best) == 0 || shortest(all) > shortest(best)) {
			best = all
		}
	}
	if len(best) == 0 {
		panic("BUG: visitor: no text in the crawler pattern " + pattern)
	}
	return best, regexp.MustCompile(pattern)
}

// expand lists all texts that match re. It returns false if there are too many.
func expand(re *syntax.Regexp) ([]literal, bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 { // how the parser represents [wW]
			text := string(re.Rune)
			return []literal{{text: strings.ToLower(text)}, {text: strings.ToUpper(text)}}, len(re.Rune) == 1
		}
		return []literal{{text: string(re.Rune)}}, true
	case syntax.OpEmptyMatch:
		return []literal{{}}, true
	case syntax.OpBeginText, syntax.OpBeginLine:
		return []literal{{first: true}}, true
	case syntax.OpEndText, syntax.OpEndLine:
		return []literal{{last: true}}, true
	case syntax.OpCapture:
		return expand(re.Sub[0])
	case syntax.OpCharClass:
		var all []literal
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if len(all) == mostLiterals {
					return nil, false
				}
				all = append(all, literal{text: string(r)})
			}
		}
		return all, true
	case syntax.OpQuest:
		all, ok := expand(re.Sub[0])
		return append(all, literal{}), ok
	case syntax.OpAlternate:
		var all []literal
		for _, sub := range re.Sub {
			more, ok := expand(sub)
			if !ok || len(all)+len(more) > mostLiterals {
				return nil, false
			}
			all = append(all, more...)
		}
		return all, true
	case syntax.OpConcat:
		all := []literal{{}}
		for _, sub := range re.Sub {
			more, ok := expand(sub)
			if !ok || len(all)*len(more) > mostLiterals {
				return nil, false
			}
			var joined []literal
			for _, a := range all {
				for _, b := range more {
					if b.first && a.text != "" || a.last && b.text != "" {
						return nil, false
					}
					joined = append(joined, literal{a.text + b.text, a.first || b.first, a.last || b.last})
				}
			}
			all = joined
		}
		return all, true
	}
	return nil, false
}

func allTexts(all []literal) bool { return len(all) > 0 && shortest(all) > 0 }

func shortest(all []literal) int {
	n := len(all[0].text)
	for _, l := range all {
		n = min(n, len(l.text))
	}
	return n
}
