package browser_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// speaks sets the language of the console for the pages that are opened from then on.
func (b *browser) speaks(language string) {
	b.t.Helper()
	b.eval(fmt.Sprintf(`localStorage.setItem('shortline.language', %q)`, language), nil)
}

// notShown fails the test if the page shows one of the texts.
func (b *browser) notShown(texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		var shown bool
		if b.eval(`document.body.innerText.includes(`+quoted(text)+`)`, &shown); shown {
			b.t.Errorf("the page shows %q", text)
			b.explain("")
		}
	}
}

// Sentences of the server are in the language of the console, with its numbers.
func TestF6_sentences_of_the_server_are_German(t *testing.T) {
	t.Parallel()
	b := newConsole(t)
	u := b.made(map[string]any{"originalUrl": "https://shop.example.com/photos", "customSlug": b.own("shoes"), "title": "Shoes"})
	for _, name := range []string{"Photos", "Video"} {
		b.ask("POST", "/api/urls/"+u.ID+"/variants",
			map[string]any{"name": name, "weight": 50, "targetUrl": "https://shop.example.com/" + name},
			nil)
	}
	b.ask("PUT", "/api/urls/"+u.ID, map[string]any{"isABTesting": true}, nil)
	b.ask("PUT", "/api/urls/"+u.ID+"/experiment", map[string]any{"goal": "purchase"}, nil)
	b.speaks("de")
	b.visit("/console/links/"+u.ID+"/experiment", "Das Experiment hat begonnen.")
	b.notShown("The experiment")

	var experiment map[string]any
	b.ask("GET", "/api/urls/"+u.ID+"/experiment", nil, &experiment)
	decision := experiment["decision"].(map[string]any)
	decision["status"], decision["reason"], decision["reasonCode"] = "WINNER", "Video converts 7 % of its visitors, Photos 5 %.", "BETTER"
	decision["reasonValues"] = map[string]any{"variant": "Video", "other": "Photos", "rate": 0.0712, "otherRate": 0.05, "uplift": 0.4,
		"low": 0.205, "high": 0.61, "alpha": 0.05}
	decision["paused"], decision["pausedCode"] = "The link is not active.", "LINK_INACTIVE"
	answer, err := json.Marshal(experiment)
	testkit.Must(t, err)
	end := b.answerWith("/api/urls/*/experiment", 200, string(answer))
	b.do(chromedp.Reload())
	b.until(`document.body.innerText.replace(/\s/g, ' ').includes('Video konvertiert 7,12 % der Besucher, Photos 5 %. Der Zuwachs ist +40 ` +
		`%, mit 95 % Wahrscheinlichkeit zwischen +20,5 % und +61 %.')`)
	b.sees("Der Link ist nicht aktiv.")
	b.notShown("converts 7 %", "The link is not active")
	b.inspect("experiment-german")
	end()

	// The fields of a form, with a code and without one.
	b.visit("/console/links/" + u.ID + "?edit=1")
	b.fill("originalUrl", "not an address")
	b.fill("title", fmt.Sprintf("%0300d", 1))
	b.press("Speichern")
	b.until(`document.querySelectorAll('[aria-invalid=true]').length === 2`)
	b.sees("höchstens 255 Zeichen")
	b.notShown("must ")

	// The dry run of an import.
	b.visit("/console/imports")
	b.do(chromedp.SetUploadFiles(`input[type=file]`, []string{b.campaign()}, chromedp.ByQuery))
	b.until(`document.querySelectorAll('.counts dd').length === 5 && document.querySelectorAll('main td').length > 10`)
	b.sees("wird nicht importiert", "ist nötig")
	b.notShown("must ", "is required", "is not imported")

	// A link that the service has suspended.
	var suspended map[string]any
	b.ask("GET", "/api/urls/"+u.ID, nil, &suspended)
	suspended["status"], suspended["suspendedReason"] = "SUSPENDED",
		"The link leads to evil.example, which the operator of this service has blocked."
	suspended["suspendedWording"] = map[string]any{"code": "BLOCKED", "values": []string{"evil.example"}}
	answer, err = json.Marshal(suspended)
	testkit.Must(t, err)
	end = b.answerWith("/api/urls/"+u.ID, 200, string(answer))
	b.visit("/console/links/"+u.ID, "Der Link führt zu evil.example, was der Betreiber gesperrt hat.")
	b.notShown("The link leads")
	end()

	// A webhook that fails.
	hook := b.post("/api/webhooks", map[string]any{"name": "Shop", "url": "https://shop.example.com/hook",
		"events": []string{"url.created"}})
	var webhook map[string]any
	b.ask("GET", "/api/webhooks/"+hook, nil, &webhook)
	webhook["totalSent"], webhook["failureStreak"], webhook["lastError"] = 3, 3, "The receiver answered 500 Internal Server Error."
	webhook["code"], webhook["values"] = "ANSWERED", []string{"500", "Internal Server Error"}
	answer, err = json.Marshal(webhook)
	testkit.Must(t, err)
	end = b.answerWith("/api/webhooks/"+hook, 200, string(answer))
	b.visit("/console/webhooks/"+hook, "Der Empfänger hat 500 geantwortet.")
	b.notShown("The receiver")
	end()
}
