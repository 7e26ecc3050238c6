package webhooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// fields are the flags for the fields of a webhook.
type fields struct {
	name, address, scope, secretFile string
	events                           []string
	secretStdin                      bool
}

func (f *fields) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "name", "", "name")
	cmd.Flags().StringArrayVar(&f.events, "event", nil, "event, such as url.created; repeat it for several")
	cmd.Flags().StringVar(&f.scope, "scope", "", "own, or all for administrators")
	cmd.Flags().BoolVar(&f.secretStdin, "secret-stdin", false, "read a secret of your own from standard input")
}

func (f *fields) body(cmd *cobra.Command, a *app.App) (map[string]any, error) {
	body := map[string]any{}
	for field, value := range map[string]string{"name": f.name, "url": f.address, "scope": f.scope} {
		if value != "" {
			body[field] = value
		}
	}
	if cmd.Flags().Changed("event") {
		body["events"] = split(f.events)
	}
	if f.secretStdin {
		secret, err := a.Secret("Secret: ")
		if err != nil {
			return nil, err
		}
		body["secret"] = secret
	}
	return body, nil
}

func createWebhook(a *app.App) *cobra.Command {
	f := &fields{}
	cmd := &cobra.Command{
		Use: "create URL --event EVENT (--secret-file FILE | --secret-stdin)", Aliases: []string{"new", "add"}, Short: "Create a webhook",
		Long: "Create a webhook that sends events to URL. The secret that signs deliveries is written to a new file that only you can\n" +
			"read, or read from standard input. It is never shown.",
		Example: "  shortline webhooks create https://example.com/hooks --event url.created --secret-file hook.secret",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.address = args[0]
			if f.name == "" {
				f.name = f.address
			}
			body, err := f.body(cmd, a)
			if err != nil {
				return err
			}
			if len(split(f.events)) == 0 {
				return app.Usage("--event is missing, such as --event url.created")
			}
			var file *os.File
			if !f.secretStdin {
				if file, err = secretFile(f.secretFile); err != nil {
					return err
				}
				defer file.Close()
			}
			r, err := a.Remote()
			if err != nil {
				return err
			}
			raw, err := r.Send(cmd.Context(), http.MethodPost, path, body)
			if err != nil {
				if file != nil {
					_ = os.Remove(file.Name()) // it is empty
				}
				return err
			}
			raw, secret, err := withoutSecret(raw)
			if err != nil {
				return err
			}
			if file != nil {
				if _, err := fmt.Fprintln(file, secret); err != nil {
					return fmt.Errorf("the webhook exists, but its secret could not be written, so delete it: %w", err)
				}
				a.Say("the secret is in %s", file.Name())
			}
			return a.ShowOne(raw, columns, draw)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.secretFile, "secret-file", "", "new file for the secret")
	cmd.MarkFlagsMutuallyExclusive("secret-file", "secret-stdin")
	cmd.MarkFlagsOneRequired("secret-file", "secret-stdin")
	return cmd
}

// secretFile makes the file before the webhook, so that no secret is lost for lack of a place.
func secretFile(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, app.Usage("%s exists already; --secret-file must be the name of a new file", name)
	}
	if err != nil {
		return nil, app.Usage("make the file for the secret: %w", err)
	}
	return file, nil
}

// withoutSecret takes the secret out of a response.
func withoutSecret(raw []byte) ([]byte, string, error) {
	var secret struct {
		Secret json.RawMessage `json:"secret"`
	}
	var text string
	if err := json.Unmarshal(raw, &secret); err != nil {
		return nil, "", fmt.Errorf("the response cannot be read: %w", err)
	}
	if len(secret.Secret) == 0 || json.Unmarshal(secret.Secret, &text) != nil {
		return raw, "", nil
	}
	return bytes.ReplaceAll(raw, secret.Secret, []byte(`"***"`)), text, nil
}

func update(a *app.App) *cobra.Command {
	f := &fields{}
	var active, paused bool
	cmd := &cobra.Command{
		Use: "update WEBHOOK", Aliases: []string{"edit", "set"}, Short: "Change, pause or resume a webhook", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := f.body(cmd, a)
			if err != nil {
				return err
			}
			if active || paused {
				body["isActive"] = active
			}
			if len(body) == 0 {
				return app.Usage("nothing is to be changed; see %s --help for the flags", cmd.CommandPath())
			}
			r, hook, err := findWebhook(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			raw, err := r.Send(cmd.Context(), http.MethodPut, remote.Path("api", "webhooks", hook.ID), body)
			if err != nil {
				return err
			}
			if raw, _, err = withoutSecret(raw); err != nil {
				return err
			}
			return a.ShowOne(raw, columns, draw)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.address, "to", "", "address")
	cmd.Flags().BoolVar(&active, "resume", false, "deliver again")
	cmd.Flags().BoolVar(&paused, "pause", false, "deliver nothing for now")
	cmd.MarkFlagsMutuallyExclusive("resume", "pause")
	return cmd
}

// Trigger returns the command trigger.
func Trigger(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "trigger WEBHOOK", Short: "Send a test event to a webhook", Args: cobra.ExactArgs(1),
		Long: "Send the event webhook.test to a webhook, which is named by its name, its address or its id. The exit code is 1 if the\n" +
			"receiver does not accept it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, hook, err := findWebhook(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			raw, err := r.Send(cmd.Context(), http.MethodPost, remote.Path("api", "webhooks", hook.ID, "test"), nil)
			if err != nil {
				return err
			}
			row, err := output.Decode[output.Row](raw)
			if err != nil {
				return err
			}
			err = a.ShowOne(raw, testColumns, func(p *output.Page, row output.Row) {
				p.Facts(
					output.Fact{Name: "Accepted", Value: output.YesNo("success")(row), Style: output.Status("success")(row)},
					output.Fact{Name: "Status", Value: row.Text("statusCode")},
					output.Fact{Name: "Error", Value: row.Text("error"), Style: output.Red},
					output.Fact{Name: "Response", Value: row.Text("response")},
					output.Fact{Name: "Time", Value: output.Count("duration")(row) + " ms"},
				)
			})
			if err == nil && !row.Bool("success") {
				err = &app.Exit{Code: app.CodeError, Err: errors.New("the receiver did not accept the event"), Said: true}
			}
			return err
		},
	}
}

var testColumns = []output.Column{{Field: "success"}, {Field: "statusCode"}, {Field: "error"}, {Field: "duration"}}
