package visitor

import (
	"sync"

	"github.com/shortline/shortline/shared/click"
)

// MaxUserAgent is how many bytes of a User-Agent are looked at: as many as a click keeps, so that the edge and
// who reads the click later come to the same answer.
const MaxUserAgent = click.MaxUserAgent

// The devices. Televisions, consoles, headsets and what does not say are none of these: "".
const (
	Mobile  = "MOBILE"
	Tablet  = "TABLET"
	Desktop = "DESKTOP"
)

// Agent is what a User-Agent tells of the program that sent it. All strings are from small fixed sets, and "" where
// it does not tell. A bot's device, system and browser are those that it claims.
type Agent struct {
	Device  string // Mobile, Tablet or Desktop
	OS      string // "iOS" (iPads too), "Android", "Windows", "macOS", "Linux", "ChromeOS", …
	Browser string // the family: an iPhone's Safari and a Mac's are both "Safari"; the app where it is an app's own

	Bot     bool   // a crawler, a library, a monitor, a headless browser, or one that says nothing
	BotName string // of a bot: its name if it is in the list, else OtherBot
	Preview bool   // of a bot: it fetches pages to draw link previews for people
}

// OtherBot names the bots that the list does not.
const OtherBot = "Other"

// NoAgent names the bots that send no User-Agent.
const NoAgent = "No User-Agent"

// Parse classifies a User-Agent in one pass over its first MaxUserAgent bytes. It allocates nothing, except that
// the first call of a process builds the tables (some 10 ms, 2.5 MB).
func Parse(ua string) Agent {
	if len(ua) > MaxUserAgent {
		ua = ua[:MaxUserAgent]
	}
	c := classifier()
	s := c.scan(ua)
	a := Agent{}
	if s.system < unseen {
		a.OS = systems[s.system].name
	}
	if s.browser < unseen {
		a.Browser = browsers[s.browser].name
	}
	a.Device = s.device(a.OS)
	a.OS, a.Browser = s.settle(a.OS, a.Browser)
	switch {
	case s.bot >= 0:
		a.Bot, a.BotName = true, c.bots[s.bot]
	case ua == "":
		a.Bot, a.BotName = true, NoAgent
	case s.signs&signRobot != 0 || s.signs&signPerson == 0:
		a.Bot, a.BotName = true, OtherBot
	}
	a.Preview = a.Bot && s.signs&signPreview != 0
	return a
}

// SocialPreview reports whether ua is a crawler that draws link previews: a social network's or a messenger's.
func SocialPreview(ua string) bool { return Parse(ua).Preview }

// unseen is the rank of a family of which no mark was found; less is more decisive.
const unseen = 255

// sighting is what one pass finds.
type sighting struct {
	browser, system, form uint8 // the most decisive family of each table, or unseen
	signs                 uint8
	bot                   int // index in classifier.bots, or -1
	botLen                int // length of the literal that named it: the longest wins
}

func (c *marks) scan(ua string) sighting {
	s := sighting{browser: unseen, system: unseen, form: unseen, bot: -1}
	state := uint16(0)
	for i := range len(ua) {
		var noted bool
		if state, noted = c.find.step(state, ua[i]); !noted {
			continue
		}
		for _, n := range c.find.found(state) {
			m := &c.all[n]
			if m.first && i+1 != m.size || m.last && i+1 != len(ua) {
				continue
			}
			switch m.tells {
			case tellsBrowser:
				s.browser = min(s.browser, m.rank)
			case tellsSystem:
				s.system = min(s.system, m.rank)
			case tellsForm:
				s.form = min(s.form, m.rank)
			case tellsSign:
				s.signs |= m.rank
			case tellsBotWord:
				if isBotWord(ua, i+1-m.size, i+1) {
					s.signs |= signRobot
				}
			case tellsBot:
				if (m.size > s.botLen || m.size == s.botLen && m.bot < s.bot) && (m.confirm == nil || m.confirm.MatchString(ua)) {
					s.bot, s.botLen = m.bot, m.size
				}
			}
		}
	}
	return s
}

// isBotWord says whether ua[from:to], some spelling of "bot", ends a word. The phones called Cubot don't count.
func isBotWord(ua string, from, to int) bool {
	if to < len(ua) && ua[to]|0x20 >= 'a' && ua[to]|0x20 <= 'z' {
		return false
	}
	return from < 2 || ua[from-2]|0x20 != 'c' || ua[from-1]|0x20 != 'u'
}

// device decides between the forms that were seen and what the system is known to run on.
func (s *sighting) device(os string) string {
	mobile := s.signs&signMobile != 0
	switch {
	case s.form == formOther:
		return ""
	case os == "macOS" && s.signs&signMobileBuild != 0: // a web view on an iPad that asks as a Mac; no Mac says so
		return Tablet
	case os == "Windows": // "Tablet PC" is in the agent of every desktop with a certain service
		return Desktop
	case s.form == formTablet:
		return Tablet
	case s.form == formPhone:
		return Mobile
	case os == "Android" && !mobile:
		return Tablet
	case mobile:
		return Mobile
	case os == "macOS", os == "Linux", os == "ChromeOS", os == "BSD":
		return Desktop
	}
	return ""
}

// settle names what no single mark tells.
func (s *sighting) settle(os, browser string) (string, string) {
	if os == "macOS" && s.signs&signMobileBuild != 0 {
		os = "iOS"
	}
	apple := os == "iOS" || os == "macOS"
	switch {
	case browser == "Chrome" && s.signs&signWebView != 0:
		browser = "Chrome WebView"
	case browser == "" && apple && s.signs&signWebKit != 0:
		browser = "Safari WebView"
	case browser != "Safari" || apple || os == "Windows":
	case os == "Android":
		browser = "Android Browser"
	case os == "Linux" || os == "BSD":
		browser = "GNOME Web"
	case os == "BlackBerry":
		browser = "BlackBerry Browser"
	default:
		browser = ""
	}
	return os, browser
}

var classifier = sync.OnceValue(newMarks)
