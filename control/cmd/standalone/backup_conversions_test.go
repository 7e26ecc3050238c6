package main_test

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testkit"
)

// A program is killed while a shop sends conversions, so that some are in their spool only. A backup of the stopped program has
// every conversion that was accepted.
func TestOps1_StandaloneBackup_of_a_killed_program_has_conversions(t *testing.T) {
	const secret = "ENCRYPTION_KEY=" + attackKey
	p := start(t, "RATE_LIMIT_DEFAULT=0", "RATE_LIMIT_CONVERSIONS=0", secret)
	c := p.Login()
	u := c.CreateURL("https://shop.example.com/", map[string]any{"trackConversions": true})
	p.published(u.Slug)
	keys := theirKeys(t, attackKey)
	one, verdict := keys.ParseID(p.clicked(u.Slug))
	if verdict != conversion.Accepted {
		t.Fatal(verdict)
	}
	accepted := make(chan []string)
	go func() {
		var all []string
		for tag := uint64(1); ; {
			var items []map[string]any
			var ids []string
			for range 20 {
				tag++
				text, _ := conversion.ClickID{Link: one.Link, Time: one.Time, Tag: tag}.Append(nil, keys)
				ids, items = append(ids, string(text)), append(items, map[string]any{"clickId": string(text), "name": "purchase"})
			}
			body, _ := json.Marshal(items)
			req, _ := http.NewRequest("POST", c.base+"/api/conversions", strings.NewReader(string(body)))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Authorization", "Bearer "+c.token)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				accepted <- all
				return
			}
			res.Body.Close()
			if res.StatusCode != http.StatusAccepted {
				t.Errorf("status %d", res.StatusCode)
			}
			all = append(all, ids...)
		}
	}()
	time.Sleep(2 * time.Second)
	p.Kill()
	sent := <-accepted
	before := len(storedConversions(t, p.Dir, keys))
	if before >= len(sent) {
		t.Logf("all %d conversions were stored before the kill, so their spool was not needed", before)
	}
	to := filepath.Join(t.TempDir(), "backup")
	if out, err := p.backUp(to); err != nil {
		t.Fatalf("backup: %v\n%s", err, out)
	}
	wantPrivate(t, to)
	r := prepare(t, secret, "RATE_LIMIT_DEFAULT=0")
	if out, err := exec.Command("cp", "-a", to+"/.", r.Dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.password = p.Password()
	r.Start()
	rc := r.Login()
	testkit.Within(t, 30*time.Second, "all accepted conversions are stored", func() bool {
		var goals struct{ Data []struct{ Conversions int } }
		rc.Do("GET", "/api/urls/"+u.ID+"/goals", nil, 200, &goals)
		return len(goals.Data) == 1 && goals.Data[0].Conversions >= len(sent)
	})
	r.Stop()
	have := map[string]int{}
	for _, s := range storedConversions(t, r.Dir, keys) {
		have[s.Click]++
	}
	for _, id := range sent {
		if have[id] != 1 {
			t.Fatalf("an accepted conversion is stored %d times", have[id])
		}
	}
	t.Logf("%d conversions, %d of them were only in the spool", len(sent), len(sent)-before)
}
