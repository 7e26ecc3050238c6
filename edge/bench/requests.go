//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"strings"
)

// defaultAgents are used without a file of User-Agents.
var defaultAgents = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0",
	"Mozilla/5.0 (iPad; CPU OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0.0.0 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (Linux; Android 14; SM-S928B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile " +
		"Safari/537.36",
}

// readAgents reads a file with one User-Agent per line. An empty name means defaultAgents.
func readAgents(file string) ([]string, error) {
	if file == "" {
		return defaultAgents, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n"), nil
}

var languages = []string{"en-US,en;q=0.9", "de-DE,de;q=0.9,en;q=0.8", "zh-TW,zh;q=0.9,en-US;q=0.8,en;q=0.7",
	"fr-CH, fr;q=0.9, en;q=0.8, *;q=0.5"}

// Parts of requests that the rules of P2 look for, in addition to what agents and addresses bring: see tenRules.
const (
	partnerReferer = "https://news.partner.example/today"
	usualReferer   = "https://www.social.example/feed"
	mailQuery      = "?utm_source=newsletter&utm_medium=email&utm_campaign=autumn"
	shelfQuery     = "?shelf=window"
	rareLanguage   = "pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7"
	rareCity       = "Zurich"
)

// rareCityNetworks are networks that are in rareCity, in the database of DB-IP and in the one that makeGeo writes.
var rareCityNetworks = []netip.Prefix{netip.MustParsePrefix("129.132.0.0/17"), netip.MustParsePrefix("130.60.0.0/17")}

// request is the request of a browser, with space for a slug and for an address of four three-digit octets.
type request struct {
	bytes    []byte
	slug, ip int
}

// requests returns a request of each agent.
func requests(agents []string, host string) []request {
	all := make([]request, len(agents))
	for i, agent := range agents {
		all[i] = browserRequest(host, agent, languages[i%len(languages)], usualReferer, "")
	}
	return all
}

// ruleRequests returns requests that meet the rules of tenRules in known shares: of a hundred requests, five have each query,
// ten the referrer of the partner, and eight the rare language.
func ruleRequests(agents []string) []request {
	random := rand.New(rand.NewPCG(7, 7))
	all := make([]request, max(len(agents), 2000))
	for i := range all {
		query, referer, language := "", usualReferer, languages[random.IntN(len(languages))]
		switch n := random.IntN(100); {
		case n < 5:
			query = shelfQuery
		case n < 10:
			query = mailQuery
		}
		if random.IntN(100) < 10 {
			referer = partnerReferer
		}
		if random.IntN(100) < 8 {
			language = rareLanguage
		}
		all[i] = browserRequest("sho.rt", agents[i%len(agents)], language, referer, query)
	}
	return all
}

func browserRequest(host, agent, language, referer, query string) request {
	var b bytes.Buffer
	b.WriteString("GET /")
	slug := b.Len()
	fmt.Fprintf(&b, "%*s%s HTTP/1.1\r\nHost: %s\r\nConnection: keep-alive\r\n", slugLength, "", query, host)
	b.WriteString(
		"sec-ch-ua: \"Chromium\";v=\"142\", \"Google Chrome\";v=\"142\", \"Not_A Brand\";v=\"99\"\r\nsec-ch-ua-mobile: " +
			"?0\r\nsec-ch-ua-platform: \"Windows\"\r\nUpgrade-Insecure-Requests: 1\r\n")
	fmt.Fprintf(&b, "User-Agent: %s\r\nAccept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n",
		agent)
	fmt.Fprintf(&b,
		"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-User: ?1\r\nSec-Fetch-Dest: document\r\nReferer: "+
			"%s\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n", referer)
	fmt.Fprintf(&b, "Accept-Language: %s\r\nX-Forwarded-For: ", language)
	ip := b.Len()
	b.WriteString("100.100.100.100\r\n\r\n")
	return request{b.Bytes(), slug, ip}
}

// putAddress writes a random public address into a request. One in twelve is in rareCityNetworks.
func putAddress(to []byte, r uint64) {
	v := uint32(r)
	a := [4]byte{byte(1 + v%222), byte(v >> 8), byte(v >> 16), byte(v >> 24)}
	if high := r >> 32; high%12 == 0 {
		network := rareCityNetworks[high/12%uint64(len(rareCityNetworks))].Addr().As4()
		a[0], a[1], a[2] = network[0], network[1], a[2]&127
	} else if a[0] == 10 || a[0] == 127 {
		a[0] = 11 // not public
	}
	n := len(netip.AddrFrom4(a).AppendTo(to[:0]))
	for ; n < len("100.100.100.100"); n++ {
		to[n] = ' '
	}
}

// Destinations of rules and variants have numbers of their own, so that an answer tells where it comes from.
const (
	firstRuleTarget    = 9_000_000
	firstVariantTarget = 9_100_000
)

var (
	destinationHead  = []byte("\r\nLocation: " + destination(0)[:len(destination(0))-len(destinationTail)-7])
	destinationLower = bytes.Replace(destinationHead, []byte("Location"), []byte("location"), 1) // of h2o
	destinationRest  = []byte(destinationTail)
)

// led returns the number of the destination to which an answer leads; ok is false if it leads elsewhere. The destination may
// have further parameters.
func led(answer []byte) (number uint32, ok bool) {
	i := bytes.Index(answer, destinationHead)
	if i < 0 {
		if i = bytes.Index(answer, destinationLower); i < 0 {
			return 0, false
		}
	}
	rest := answer[i+len(destinationHead):]
	if len(rest) < 7+len(destinationRest) || !bytes.HasPrefix(rest[7:], destinationRest) {
		return 0, false
	}
	for _, c := range rest[:7] {
		if c < '0' || c > '9' {
			return 0, false
		}
		number = 10*number + uint32(c-'0')
	}
	return number, true
}

// right reports whether an answer to a request for the slug with a number is the expected one, and which rule has decided, or
// -1.
func (o *order) right(answer []byte, number uint32) (rule int, ok bool) {
	if !bytes.HasPrefix(answer[len("HTTP/1.1 "):], []byte(o.Status)) {
		return -1, false
	}
	if o.Status != "302" {
		return -1, true
	}
	to, ok := led(answer)
	switch {
	case !ok:
		return -1, false
	case o.Constant:
		return -1, to == 0
	case o.Class == classRules && to >= firstRuleTarget && to < firstRuleTarget+ruleCount:
		return int(to - firstRuleTarget), true
	case o.Class == classVariants || o.Class == classTracked:
		return -1, to >= firstVariantTarget && to < firstVariantTarget+5
	}
	return -1, to == number
}
