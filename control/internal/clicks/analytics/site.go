package analytics

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A site is the group to which a referrer belongs: its host without the usual prefixes, or the site behind a short
// domain or an app. It is computed when a report is made, so the table may change at any time.
//
// The expressions below are for Go and for both engines, which all use the syntax of RE2. They contain neither a
// question mark, which stands for a value in a Statement, nor a character that one engine escapes in a text.
const (
	// hostExpression finds the host of an absolute URL, or the package of android-app://, in group 2.
	hostExpression = `^[A-Za-z][A-Za-z0-9+.-]*://([^/#\x3f]*@){0,1}([A-Za-z0-9._-]+)([:/#\x3f]|$)`
	// prefixExpression matches a host that begins with labels such as www or m. Group 3 is the host without them.
	prefixExpression = `^((www|m|mobile|l|lm|amp)[.])+([^.]+[.].+)$`
	// countryExpression matches hosts such as google.co.uk of sites that have a domain in each country. Group 1 is the
	// name; siteSQL lists the names.
	countryExpression = `^(google|pinterest)[.](com[.]|co[.]){0,1}[a-z]{2}$`
)

// OtherSite is the site of a referrer that is not an absolute URL, so that no host can be read from it.
const OtherSite = "unknown"

// sites are the sites of hosts and Android packages.
var sites = map[string]string{
	"t.co": "x.com", "twitter.com": "x.com", "com.twitter.android": "x.com",
	"fb.me": "facebook.com", "fb.com": "facebook.com", "web.facebook.com": "facebook.com", "com.facebook.katana": "facebook.com",
	"com.facebook.lite": "facebook.com",
	"com.facebook.orca": "messenger.com", "com.instagram.android": "instagram.com", "com.instagram.barcelona": "threads.com",
	"threads.net":    "threads.com",
	"out.reddit.com": "reddit.com", "old.reddit.com": "reddit.com", "new.reddit.com": "reddit.com", "np.reddit.com": "reddit.com",
	"redd.it": "reddit.com", "com.reddit.frontpage": "reddit.com",
	"lnkd.in": "linkedin.com", "com.linkedin.android": "linkedin.com", "youtu.be": "youtube.com",
	"com.google.android.youtube":              "youtube.com",
	"com.google.android.googlequicksearchbox": "google.com", "com.google.android.gm": "mail.google.com",
	"t.me": "telegram.org", "web.telegram.org": "telegram.org", "org.telegram.messenger": "telegram.org",
	"wa.me": "whatsapp.com", "web.whatsapp.com": "whatsapp.com", "com.whatsapp": "whatsapp.com",
	"pin.it": "pinterest.com", "com.pinterest": "pinterest.com", "away.vk.com": "vk.com", "com.slack": "slack.com",
	"app.slack.com":                 "slack.com",
	"com.duckduckgo.mobile.android": "duckduckgo.com", "html.duckduckgo.com": "duckduckgo.com",
}

// siteNames are the names of sites that people know by another name than their domain.
var siteNames = map[string]string{
	"x.com": "X", "facebook.com": "Facebook", "messenger.com": "Messenger", "instagram.com": "Instagram", "threads.com": "Threads",
	"reddit.com":   "Reddit",
	"linkedin.com": "LinkedIn", "youtube.com": "YouTube", "google.com": "Google", "mail.google.com": "Gmail", "telegram.org": "Telegram",
	"whatsapp.com":  "WhatsApp",
	"pinterest.com": "Pinterest", "vk.com": "VK", "slack.com": "Slack", "duckduckgo.com": "DuckDuckGo", "bing.com": "Bing",
	"tiktok.com": "TikTok",
}

// SiteName returns the name of a site for people: its domain unless it has a better known name. The site "" is Direct.
func SiteName(site string) string {
	switch site {
	case "":
		return "Direct"
	case OtherSite:
		return "Unknown"
	}
	return cmp.Or(siteNames[site], site)
}

var hosts, prefixes, countries = regexp.MustCompile(hostExpression), regexp.MustCompile(prefixExpression),
	regexp.MustCompile(countryExpression)

// SiteOf returns the site of a referrer: "" if there is none, and OtherSite if it has no host.
func SiteOf(referer string) string {
	if referer == "" {
		return ""
	}
	found := hosts.FindStringSubmatch(referer)
	if found == nil {
		return OtherSite
	}
	host := strings.ToLower(found[2])
	if bare := prefixes.FindStringSubmatch(host); bare != nil {
		host = bare[3]
	}
	if name := countries.FindStringSubmatch(host); name != nil {
		return name[1] + ".com"
	}
	return cmp.Or(sites[host], host)
}

// siteSQL computes SiteOf from the column referer. transform(x, from, to, otherwise) is a function of ClickHouse and a
// macro of the DuckDB store. Both engines take milliseconds to analyse a long expression, so this one is short.
var siteSQL = func() string {
	host := "lower(regexp_extract(referer, '" + hostExpression + "', 2))"
	bare := "coalesce(nullif(regexp_extract(" + host + ", '" + prefixExpression + "', 3), ''), " + host + ")"
	from, to := []string{"''"}, []string{"'" + OtherSite + "'"}
	for _, h := range slices.Sorted(maps.Keys(sites)) {
		from, to = append(from, "'"+h+"'"), append(to, "'"+sites[h]+"'")
	}
	known := fmt.Sprintf("transform(%s, [%s], [%s], %[1]s)", bare, strings.Join(from, ", "), strings.Join(to, ", "))
	return "CASE WHEN referer = '' THEN '' ELSE transform(regexp_extract(" + bare + ", '" + countryExpression +
		"', 1), ['google', 'pinterest'], ['google.com', 'pinterest.com'], " + known + ") END"
}()
