package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
)

// The functions readme… have the code of README.md between their first and their last line, in the same order.

const key = "sl_key"

func readmeCreate(ctx context.Context, address string) error {
	c := client.New(address, client.WithAPIKey(key))

	link, err := c.Links.Create(ctx, client.CreateLink{
		OriginalURL: "https://example.com/fair",
		Title:       client.Set("The fair"),
		Tags:        client.Set([]string{"spring"}),
	})
	if err != nil {
		return err
	}
	fmt.Println(link.ShortURL)
	return nil
}

func readmeNull(ctx context.Context, c *client.Client, id string) error {
	link, err := c.Links.Update(ctx, id, client.UpdateLink{
		Notes: client.Set("Until Sunday"), // set
		Title: client.Null[string](),      // cleared; all other fields are kept
	})
	if err != nil {
		return err
	}
	fmt.Println(link.Title == nil, *link.Notes)
	return nil
}

func readmeLists(ctx context.Context, c *client.Client) error {
	for link, err := range c.Links.All(ctx, client.ListLinksParams{Tag: []string{"spring"}}) {
		if err != nil {
			return err
		}
		fmt.Println(link.Slug)
	}
	return nil
}

func readmeErrors(ctx context.Context, c *client.Client) error {
	_, err := c.Links.Create(ctx, client.CreateLink{OriginalURL: "mailto:somebody"})
	var failed *client.APIError
	if errors.As(err, &failed) {
		fmt.Println(failed.Status, failed.Code, failed.Field())
	}
	fmt.Println(client.HasCode(err, client.CodeAddress))
	return nil
}

func readmeRules(ctx context.Context, c *client.Client, id string) error {
	rule, err := c.Rules.Create(ctx, id, client.CreateRule{
		Name:      "Phones in Germany and Austria, in the week",
		TargetURL: "https://example.com/app",
		Conditions: client.And(
			client.Country("DE", "AT"),
			client.OnDevice(client.DeviceMobile),
			client.Or(
				client.Weekdays("Europe/Berlin", time.Saturday, time.Sunday).Not(),
				client.Query("ref", client.StartsWith, "mail"),
			),
		),
	})
	if err != nil {
		return err
	}
	fmt.Println(rule.Conditions.Operator, len(rule.Conditions.Members))
	return nil
}

func readmeFiles(ctx context.Context, c *client.Client) error {
	export, err := c.Links.Export(ctx, client.ExportLinksParams{Format: client.ExportFormatCSV})
	if err != nil {
		return err
	}
	defer export.Close()
	_, err = io.Copy(os.Stdout, export)
	return err
}

func readmeLive(ctx context.Context, c *client.Client, id string) error {
	for event, err := range c.Reports.Live(ctx, client.LiveParams{URLID: id}) {
		if err != nil {
			return err
		}
		if event.Click == nil {
			fmt.Println("missed", event.Dropped)
			continue
		}
		fmt.Println(event.Click.Slug, event.Click.Country)
		break
	}
	return nil
}

func readmeWebhooks(secret string) error {
	receiver := client.WebhookReceiver{Secrets: []string{secret}}
	http.HandleFunc("POST /hooks", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "cannot read the body", http.StatusBadRequest)
			return
		}
		event, err := receiver.Read(r.Header, body)
		if err != nil {
			http.Error(w, "invalid delivery", http.StatusUnauthorized)
			return
		}
		if payload, err := event.Payload(); err == nil {
			if click, ok := payload.(*client.LinkClicked); ok {
				fmt.Println(event.Delivery, click.Slug)
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return nil
}

// Example runs the code of the README.
func Example() {
	ctx := context.Background()
	const link = `{"shortUrl":"https://sho.rt/fair","slug":"fair","title":null,"notes":"Until Sunday"}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch at := r.Method + " " + r.URL.Path; {
		case strings.Contains(string(body), "mailto"):
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"code":"ADDRESS","errors":[{"field":"originalUrl","message":"","code":"ADDRESS"}]}`)
		case at == "GET /api/urls":
			_, _ = io.WriteString(w, `{"data":[`+link+`],"page":1,"totalPages":1,"nextCursor":null}`)
		case strings.HasSuffix(at, "/routing-rules"):
			_, _ = w.Write(body)
		case strings.HasSuffix(at, "/export"):
			_, _ = io.WriteString(w, "slug\nfair\n")
		case strings.HasSuffix(at, "/live"):
			_, _ = io.WriteString(w, "id: 1\ndata: {\"slug\":\"fair\",\"country\":\"DE\"}\n\n")
		default:
			_, _ = io.WriteString(w, link)
		}
	}))
	defer s.Close()
	c := client.New(s.URL)
	err := errors.Join(readmeCreate(ctx, s.URL), readmeNull(ctx, c, "1"), readmeLists(ctx, c), readmeErrors(ctx, c),
		readmeRules(ctx, c, "1"), readmeFiles(ctx, c), readmeLive(ctx, c, "1"), readmeWebhooks("whsec_c2VjcmV0"))
	if err != nil {
		fmt.Println(err)
	}
	body := `{"event":"url.clicked","data":{"slug":"fair"}}`
	delivery := httptest.NewRequest("POST", "/hooks", strings.NewReader(body))
	delivery.Header = client.SignWebhook("whsec_c2VjcmV0", "d1", time.Now(), []byte(body))
	answer := httptest.NewRecorder()
	http.DefaultServeMux.ServeHTTP(answer, delivery)
	fmt.Println(answer.Code)
	// Output:
	// https://sho.rt/fair
	// true Until Sunday
	// fair
	// 400 ADDRESS originalUrl
	// true
	// AND 3
	// slug
	// fair
	// fair DE
	// d1 fair
	// 204
}

// The README shows the code that Example runs.
func TestReadme_shows_code_that_runs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	runs := regexp.MustCompile(`(?ms)^func readme.*?\n(.*?)^}$`).FindAllStringSubmatch(string(source), -1)
	if len(shown) != len(runs) {
		t.Fatalf("the README has %d pieces of code, %d run", len(shown), len(runs))
	}
	for i, piece := range shown {
		code := strings.ReplaceAll("\n"+runs[i][1], "\n\t", "\n")
		code = strings.TrimSuffix(strings.TrimPrefix(code, "\n"), "return nil\n")
		code = strings.TrimSuffix(code, "return err\n")
		if piece[1] != code {
			t.Errorf("the README has\n%s\nwhat runs is\n%s", piece[1], code)
		}
	}
}
