package main_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/shoptest"
	"github.com/shortline/shortline/shared/testkit"
)

// attack is a source of click ids that must not count.
type attack struct {
	name string
	want conversion.Verdict
	id   func(i int) string
}

// victims is a program with real clicks of two users and an API key of the first.
type victims struct {
	*program
	shop          *client // with the API key
	admin         *client
	link          created
	real, foreign []string // click ids
	keys          *conversion.Keys
}

func startVictims(t *testing.T) *victims {
	t.Helper()
	p := start(t, "ENCRYPTION_KEY="+attackKey, "CONVERSION_LIMIT=0", "CONVERSION_KEY_LIMIT=0")
	c := p.Login()
	v := &victims{program: p, admin: c, link: c.CreateURL("https://shop.example.com/", map[string]any{"trackConversions": true}), keys: theirKeys(t, attackKey)}
	var key struct{ Key string }
	c.Do("POST", "/api/api-keys", map[string]any{"name": "shop", "scopes": []string{"conversions:write"}}, 201, &key)
	his := c.user("bob@example.com").CreateURL("https://bob.example.com/", map[string]any{"trackConversions": true})
	v.shop = &client{t: t, base: c.base, token: key.Key}
	for range 100 {
		v.real, v.foreign = append(v.real, p.clicked(v.link.Slug)), append(v.foreign, p.clicked(his.Slug))
	}
	for i, verdict := range v.shop.convert(v.real) {
		if verdict != conversion.Accepted {
			t.Fatalf("conversion %d: %s", i, verdict)
		}
	}
	testkit.Eventually(t, "the real conversions are stored", func() bool {
		return !slices.ContainsFunc(v.shop.convert(v.real), func(v conversion.Verdict) bool { return v != conversion.Duplicate })
	})
	return v
}

// attacks returns the sources of click ids that must not count.
func (v *victims) attacks() []attack {
	t, keys, real, foreign := v.t, v.keys, v.real, v.foreign
	parsed, verdict := keys.ParseID(real[0])
	if verdict != conversion.Accepted {
		t.Fatalf("the test does not derive the keys of the program: %s", verdict)
	}
	days := func(n int) int64 { return time.Now().AddDate(0, 0, -n).UnixMilli() }
	signed := func(keys *conversion.Keys, id conversion.ClickID) string {
		b, ok := id.Append(nil, keys)
		if !ok {
			t.Fatalf("no key for %+v", id)
		}
		return string(b)
	}
	strangers := theirKeys(t, "the key of another installation, which knows the numbers of links")
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	chance := rand.New(rand.NewPCG(1, 2))
	return []attack{
		{"random text", conversion.Forged, func(int) string {
			b := make([]byte, conversion.IDLength)
			for i := range b {
				b[i] = alphabet[chance.IntN(len(alphabet))]
			}
			return string(b)
		}},
		{"made with another key", conversion.Forged, func(i int) string {
			return signed(strangers, conversion.ClickID{Link: parsed.Link, Time: parsed.Time, Tag: uint64(i)})
		}},
		{"altered", conversion.Forged, func(i int) string {
			b, at := []byte(real[i%len(real)]), chance.IntN(conversion.IDLength)
			for was := b[at]; b[at] == was; {
				b[at] = alphabet[chance.IntN(len(alphabet))]
			}
			return string(b)
		}},
		{"cut", conversion.Malformed, func(i int) string { return real[i%len(real)][:1+chance.IntN(conversion.IDLength-1)] }},
		{"foreign", conversion.Foreign, func(i int) string { return foreign[i%len(foreign)] }},
		{"of no link", conversion.Foreign, func(i int) string {
			return signed(keys, conversion.ClickID{Link: parsed.Link + 1000, Time: parsed.Time, Tag: uint64(i)})
		}},
		{"expired", conversion.Expired, func(i int) string {
			return signed(keys, conversion.ClickID{Link: parsed.Link, Time: days(91), Tag: uint64(i)})
		}},
		{"of the future", conversion.InFuture, func(i int) string {
			return signed(keys, conversion.ClickID{Link: parsed.Link, Time: days(-1), Tag: uint64(i)})
		}},
		{"replayed", conversion.Duplicate, func(i int) string { return real[i%len(real)] }},
	}
}

// Click ids that are forged, altered, foreign, expired or replayed get their verdicts, from a server and from browsers. Nothing is
// stored except the real conversions. In make proof these are 100,000 ids from a server and 20,000 from browsers.
func TestConversions_abuse(t *testing.T) {
	t.Parallel()
	v := startVictims(t)
	attacks := v.attacks()
	ids := func(n, size int) (a attack, list []string) {
		a = attacks[n%len(attacks)]
		for i := range size {
			list = append(list, a.id(n*size+i))
		}
		return a, list
	}
	for n := range testkit.Size(len(attacks), 100) {
		a, list := ids(n, conversion.MaxItems)
		for i, verdict := range v.shop.convert(list) {
			if verdict != a.want {
				t.Fatalf("%s: %s got the verdict %s, want %s", a.name, list[i], verdict, a.want)
			}
		}
	}

	// The edge refuses what it can judge. It does not know who owns a link, and it forgets old conversions, so the pipeline
	// refuses the rest.
	const origin = "https://shop.example.com"
	var settings struct{ PublishableKey string }
	v.admin.Do("PUT", "/api/conversions/settings", map[string]any{"hosts": []string{"shop.example.com"}}, 200, &settings)
	last := v.clicked(v.link.Slug)
	testkit.Eventually(t, "the edge knows the site", func() bool { return v.sell(origin, settings.PublishableKey, nil) != nil })
	refused, passed := map[string]int{}, map[string]int{}
	for n := range testkit.Size(2*len(attacks), 200) {
		a, list := ids(n, 100)
		for i, verdict := range v.sell(origin, settings.PublishableKey, list) {
			switch {
			case verdict == a.want:
				refused[a.name]++
			case verdict == conversion.Accepted && (a.want == conversion.Foreign || a.want == conversion.Duplicate):
				passed[a.name]++
			case verdict == conversion.Duplicate && a.want == conversion.Foreign: // sent twice
				refused[a.name]++
			default:
				t.Fatalf("%s: %s got the verdict %s, want %s", a.name, list[i], verdict, a.want)
			}
		}
	}
	t.Logf("refused by the edge: %v; passed on: %v", refused, passed)

	// The real conversion comes last. When it is stored, everything before it has been judged.
	if verdicts := v.sell(origin, settings.PublishableKey, []string{last}); !slices.Equal(verdicts, []conversion.Verdict{conversion.Accepted}) {
		t.Fatalf("the real conversion got %v", verdicts)
	}
	testkit.Eventually(t, "the last conversion is stored", func() bool {
		return v.shop.convert([]string{last})[0] == conversion.Duplicate
	})
	v.Stop()
	if stored := storedConversions(t, v.Dir, v.keys); len(stored) != len(v.real)+1 {
		t.Errorf("%d conversions are stored, want %d", len(stored), len(v.real)+1)
	}
}

// sell sends conversions as a page of a site does, and returns the verdicts, or nil unless the edge answers 202. Without ids it
// sends one that is malformed.
func (v *victims) sell(origin, key string, ids []string) (verdicts []conversion.Verdict) {
	v.t.Helper()
	if ids == nil {
		ids = []string{"x"}
	}
	items := make([]map[string]any, len(ids))
	for i, id := range ids {
		items[i] = map[string]any{"clickId": id, "name": "purchase"}
	}
	body, err := json.Marshal(map[string]any{"key": key, "items": items})
	if err != nil {
		v.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, "http://"+v.Addr+"/c", bytes.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	request.Header.Set("Origin", origin)
	request.Header.Set("Content-Type", "text/plain")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		v.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		return nil
	}
	var answer struct {
		Results []struct{ Verdict conversion.Verdict }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || len(answer.Results) != len(ids) {
		v.t.Fatalf("%d verdicts for %d items, %v", len(answer.Results), len(ids), err)
	}
	for _, r := range answer.Results {
		verdicts = append(verdicts, r.Verdict)
	}
	return verdicts
}

// theirKeys derives the keys of click ids as a program with that ENCRYPTION_KEY does.
func theirKeys(t testing.TB, secret string) *conversion.Keys {
	t.Helper()
	first, last := conversion.PeriodsAt(time.Now(), 90*24*time.Hour)
	keys, err := conversion.NewKeys(conversion.Derive([][]byte{[]byte(secret)}, first, last))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// storedConversions reads the conversions out of the click store of a program that is stopped.
func storedConversions(t testing.TB, dir string, keys *conversion.Keys) (list []shoptest.Stored) {
	t.Helper()
	db, err := sql.Open("duckdb", filepath.Join(dir, "clicks.duckdb")+"?access_mode=read_only")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT link, ts, tag, goal, value, currency, external_id, attributed FROM conversions`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var c shoptest.Stored
		var id conversion.ClickID
		if err := rows.Scan(&id.Link, &id.Time, &id.Tag, &c.Goal, &c.Value, &c.Currency, &c.Number, &c.Attributed); err != nil {
			t.Fatal(err)
		}
		text, ok := id.Append(nil, keys)
		if !ok {
			t.Fatalf("no key for %+v", id)
		}
		c.Click = string(text)
		list = append(list, c)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// convert sends a conversion of the goal "purchase" for each click id, and returns the verdicts.
func (c *client) convert(ids []string) []conversion.Verdict {
	c.t.Helper()
	items := make([]map[string]any, len(ids))
	for i, id := range ids {
		items[i] = map[string]any{"clickId": id, "name": "purchase"}
	}
	var answer struct {
		Results []struct{ Verdict conversion.Verdict }
	}
	c.Do("POST", "/api/conversions", items, http.StatusAccepted, &answer)
	if len(answer.Results) != len(ids) {
		c.t.Fatalf("%d verdicts for %d items", len(answer.Results), len(ids))
	}
	list := make([]conversion.Verdict, len(ids))
	for i, r := range answer.Results {
		list[i] = r.Verdict
	}
	return list
}

// send sends a request with a body as it is, and returns the answer.
func (c *client) send(method, path, contentType, body string) (status int, answer string) {
	c.t.Helper()
	req, err := http.NewRequest(method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}
