package webhooks

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// Listen returns the command listen.
func Listen(a *app.App) *cobra.Command {
	l := &listener{app: a, seen: map[string]bool{}}
	var events []string
	var secretName string
	cmd := &cobra.Command{
		Use: "listen --forward-to URL --event EVENT", Args: cobra.NoArgs,
		Short: "Forward events to your own machine, with valid signatures",
		Long: `Forward events to a receiver on your own machine, until Ctrl-C. The requests have the headers and signatures of real deliveries.

The command makes a webhook that leads nowhere (a name under .invalid), reads its log every second, signs each event anew, and deletes
the webhook in the end. So the server needs no way to your machine; its log shows attempts that failed. The secret of the signatures is
in the file of --secret-file, which is made if it does not exist.`,
		Example: "  shortline listen --forward-to http://localhost:3000/hooks --event url.created --secret-file hook.secret",
		RunE: func(cmd *cobra.Command, _ []string) error {
			to, err := url.Parse(l.to)
			if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
				return app.Usage("--forward-to must be an address such as http://localhost:3000/hooks, not %q", l.to)
			}
			if l.secret, err = ownSecret(a, secretName); err != nil {
				return err
			}
			if l.remote, err = a.Remote(); err != nil {
				return err
			}
			return l.forwardAll(cmd.Context(), split(events))
		},
	}
	cmd.Flags().StringVar(&l.to, "forward-to", "", "address of the receiver")
	cmd.Flags().StringArrayVar(&events, "event", nil, "event, such as url.created; repeat it for several")
	cmd.Flags().StringVar(&secretName, "secret-file", "", "file with the secret; without it, one is made up that nobody knows")
	cmd.Flags().IntVarP(&l.count, "count", "n", 0, "end after this many events")
	for _, name := range []string{"forward-to", "event"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic("BUG: " + err.Error())
		}
	}
	return cmd
}

// ownSecret reads the secret of a file, or makes one.
func ownSecret(a *app.App, name string) (string, error) {
	if name != "" {
		text, err := os.ReadFile(name)
		if err == nil {
			return strings.TrimSpace(string(text)), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", app.Usage("read the secret: %w", err)
		}
	}
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	secret := "whsec_" + base64.StdEncoding.EncodeToString(random)
	if name == "" {
		return secret, nil
	}
	file, err := secretFile(name)
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintln(file, secret)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("write the secret: %w", err)
	}
	a.Say("the secret is in %s", name)
	return secret, nil
}

// listener forwards the deliveries of a temporary webhook.
type listener struct {
	app    *app.App
	remote *remote.Remote
	to     string
	secret string
	count  int // ends after as many events; 0 means never
	sent   int
	seen   map[string]bool // ids of deliveries; retries repeat them
}

// every is the time between two looks at the log.
const every = time.Second

func (l *listener) forwardAll(ctx context.Context, events []string) error {
	body := map[string]any{
		"name": "shortline listen", "url": "https://" + strings.ToLower(rand.Text()) + ".shortline-listen.invalid/", "events": events,
		"secret": l.secret,
	}
	raw, err := l.remote.Send(ctx, http.MethodPost, path, body)
	if err != nil {
		return err
	}
	hook, err := output.Decode[output.Row](raw)
	if err != nil {
		return err
	}
	at := remote.Path("api", "webhooks", hook.Text("id"))
	defer l.remove(at)
	l.app.Say("forwarding %s to %s; end with Ctrl-C", strings.Join(events, ", "), l.to)
	for {
		err := l.look(ctx, at)
		if l.count > 0 && l.sent >= l.count {
			return nil
		}
		var away *remote.Unreachable
		if err != nil && !errors.As(err, &away) && !remote.Is(err, http.StatusTooManyRequests, http.StatusServiceUnavailable) {
			return err
		}
		if err := l.app.Wait(ctx, every); err != nil {
			return err
		}
	}
}

// remove deletes the webhook, also after Ctrl-C.
func (l *listener) remove(at string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := l.remote.Send(ctx, http.MethodDelete, at, nil); err != nil {
		l.app.Say("the temporary webhook could not be deleted; run: shortline webhooks delete %s", at[strings.LastIndex(at, "/")+1:])
	}
}

// delivery is a row of the log.
type delivery struct {
	DeliveryID string          `json:"deliveryId"`
	Event      string          `json:"event"`
	Payload    json.RawMessage `json:"payload"`
}

// look forwards what is new in the log, in the order in which it happened.
func (l *listener) look(ctx context.Context, at string) error {
	raw, err := l.remote.Get(ctx, at+"/logs", url.Values{"limit": {"100"}})
	if err != nil {
		return err
	}
	var log struct {
		Data []delivery `json:"data"` // newest first
	}
	if err := json.Unmarshal(raw, &log); err != nil {
		return fmt.Errorf("the log cannot be read: %w", err)
	}
	for _, one := range slices.Backward(log.Data) {
		if l.seen[one.DeliveryID] || l.count > 0 && l.sent >= l.count {
			continue
		}
		l.seen[one.DeliveryID] = true
		l.sent++
		if err := l.forward(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// forward sends an event to the receiver. A receiver that is away ends nothing.
func (l *listener) forward(ctx context.Context, one delivery) error {
	var payload bytes.Buffer
	if err := json.Compact(&payload, one.Payload); err != nil {
		return fmt.Errorf("the event cannot be read: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, l.app.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.to, bytes.NewReader(payload.Bytes()))
	if err != nil {
		return err
	}
	req.Header = client.SignWebhook(l.secret, one.DeliveryID, l.app.Now(), payload.Bytes())
	for name, value := range map[string]string{
		"User-Agent": "Shortline-Webhook/1", "X-Webhook-Event": one.Event, "X-Webhook-Attempt": "1",
	} {
		req.Header.Set(name, value)
	}
	begun := l.app.Now()
	plain := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := plain.Do(req)
	result := ""
	switch {
	case err == nil:
		_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // as the server does
		_ = res.Body.Close()
		result = res.Status
	case ctx.Err() != nil && context.Cause(ctx) != context.DeadlineExceeded:
		return context.Cause(ctx)
	default:
		result = "no answer: " + err.Error()
	}
	at := begun.Local().Format(time.TimeOnly)
	_, err = fmt.Fprintf(l.app.Out, "%s  %s  %s  %s\n", at, one.Event, one.DeliveryID, output.Clean(result))
	return err
}
