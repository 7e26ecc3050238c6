package visitor

import (
	"sync"

	"github.com/shortline/shortline/shared/click"
)

// MaxUserAgent is how many bytes of a User-Agent are classified. A click keeps the same number, so the edge and later
// readers of the click get the same result.
const MaxUserAgent = click.MaxUserAgent

// The devices. Televisions, consoles, headsets and unknown devices have the device "".
const (
	Mobile  = "MOBILE"
	Tablet  = "TABLET"
	Desktop = "DESKTOP"
)

// Agent describes the program that sent a User-Agent. All strings come from small fixed sets; "" means unknown. The
// device, system and browser of a bot are those that it claims.
type Agent struct {
	Device  string // Mobile, Tablet or Desktop
	OS      string // "iOS" (iPads too), "Android", "Windows", "macOS", "Linux", "ChromeOS", …
	Browser string // the family: Safari on an iPhone and on a Mac are both "Safari"; the app's name for an in-app browser

	Bot     bool   // a crawler, a library, a monitor, a headless browser, or a client without a User-Agent
	BotName string // name of a bot: its name in the list, OtherBot or NoAgent
	Preview bool   // the bot fetches pages to show link previews to people
}

// OtherBot is the name of bots that are not in the list.
const OtherBot = "Other"

// NoAgent is the name of bots that send no User-Agent.
const NoAgent = "No User-Agent"

// Parse classifies a User-Agent in one pass over its first MaxUserAgent bytes. It does not allocate, except that the
// first call in a process builds the tables (about 10 ms, 2.5 MB).
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

// unseen is the rank if no mark of any family was found. A lower rank takes precedence.
const unseen = 255

// sighting is the result of one pass.
type sighting struct {
	browser, system, form uint8 // the lowest rank found in each table, or unseen
	signs                 uint8
	bot                   int // index in classifier.bots, or -1
	botLen                int // length of the literal that named the bot: the longest wins
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

// isBotWord reports whether ua[from:to], a spelling of "bot", ends a word. Phones of the brand Cubot do not count.
func isBotWord(ua string, from, to int) bool {
	if to < len(ua) && ua[to]|0x20 >= 'a' && ua[to]|0x20 <= 'z' {
		return false
	}
	return from < 2 || ua[from-2]|0x20 != 'c' || ua[from-1]|0x20 != 'u'
}

// device derives the device from the forms that were found and from the system.
func (s *sighting) device(os string) string {
	mobile := s.signs&signMobile != 0
	switch {
	case s.form == formOther:
		return ""
	case os == "macOS" && s.signs&signMobileBuild != 0: // an iPad's web view pretends to be a Mac; Macs send no "Mobile/"
		return Tablet
	case os == "Windows": // Windows desktops with a certain service send "Tablet PC"
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

// settle corrects the system and the browser where it takes several marks to tell them.
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
