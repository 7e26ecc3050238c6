package rules

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

func set(a *app.App) *cobra.Command {
	var file string
	var yes, dry bool
	cmd := &cobra.Command{
		Use: "set LINK --file FILE", Short: "Make the rules of a link those of a file",
		Long: "Make the rules of a link those of a file. A rule of the file replaces the saved one with its id, or else with its name.\n" +
			"Saved rules that the file does not have are deleted, after a question. All changes are made together, or none.\n\n" +
			refs.About,
		Example: "  shortline rules get fair -o yaml > rules.yaml\n  shortline rules set fair --file rules.yaml --dry-run\n" +
			"  shortline rules set fair --file rules.yaml",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := readRules(a, file)
			if err != nil {
				return err
			}
			r, err := a.Remote()
			if err != nil {
				return err
			}
			changes, err := w.applyTo(cmd.Context(), r, args[0], dry, func(gone []string) error {
				return a.Confirm(yes, "Delete the rules %s?", strings.Join(gone, ", "))
			})
			if err != nil {
				return err
			}
			return show(a, changes)
		},
	}
	cmd.Flags().StringVarP(&file, "file", "F", "", "file with rules, YAML or JSON; - is standard input")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only show what would change")
	if err := cmd.MarkFlagRequired("file"); err != nil {
		panic("BUG: " + err.Error())
	}
	return cmd
}

// change is a rule that the command adds, changes or deletes, or a change of the settings.
type change struct {
	Change string `json:"change"`
	Rule   string `json:"rule"`
}

// applyTo gives a link the wanted rules and settings, in one change. It asks before it deletes rules, and then changes the link only if it
// is still the one of the question.
func (w wanted) applyTo(ctx context.Context, r *remote.Remote, name string, dry bool, ask func(gone []string) error) ([]change, error) {
	link, err := refs.Link(ctx, r, name)
	if err != nil {
		return nil, err
	}
	known, err := saved(ctx, r, link.ID)
	if err != nil {
		return nil, err
	}
	w.Rules = match(w.Rules, known)
	item := w.draft()
	item["domain"], item["customSlug"], item["ifMatch"] = link.Row.Text("domain"), link.Row.Text("slug"), "*"
	planned, err := upsert(ctx, r, item, true)
	if err != nil {
		return nil, err
	}
	changes := changesOf(planned)
	if dry || len(changes) == 0 {
		return changes, nil
	}
	var gone []string
	for _, one := range changes {
		if one.Change == "delete" {
			gone = append(gone, one.Rule)
		}
	}
	if len(gone) > 0 {
		if err := ask(gone); err != nil {
			return nil, err
		}
	}
	item["ifMatch"] = *planned.ETag
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	made, err := upsert(context.WithoutCancel(ctx), r, item, false) // Ctrl-C does not leave in doubt whether it was made
	if err != nil {
		return nil, err
	}
	return changesOf(made), nil
}

// upsert asks what would become of a link, or changes it.
func upsert(ctx context.Context, r *remote.Remote, item map[string]any, dry bool) (*client.UpsertedLink, error) {
	list, err := r.Upsert(ctx, []any{item}, dry)
	if err != nil {
		return nil, err
	}
	if e := list[0].Error; e != nil {
		failed := &client.APIError{Status: e.StatusCode, Name: e.Error, Message: e.Message, Method: http.MethodPut, Path: remote.Bulk}
		if e.Code != nil {
			failed.Code = *e.Code
		}
		for _, problem := range e.Errors {
			problem.Field = strings.TrimPrefix(problem.Field, "items.0.")
			failed.Problems = append(failed.Problems, problem)
		}
		return nil, r.Failed(ctx, failed)
	}
	return &list[0], nil
}

// changesOf lists what an answer says.
func changesOf(got *client.UpsertedLink) []change {
	list := []change{}
	for _, part := range got.RoutingRules {
		name, what := part.Changes["name"], "change"
		switch {
		case isNull(name.Old) && !isNull(name.New):
			what = "add"
		case isNull(name.New) && !isNull(name.Old):
			what = "delete"
		}
		list = append(list, change{what, part.Name})
	}
	if len(got.Changes) > 0 {
		list = append(list, change{"settings", ""})
	}
	return list
}

// isNull reports whether a value is missing or null.
func isNull(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }

func show(a *app.App, list []change) error {
	rows := make([]output.Row, len(list))
	for i, one := range list {
		rows[i] = output.Row{"change": one.Change, "rule": one.Rule}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return a.Print(output.View{Raw: raw, Rows: rows, Empty: "The rules are as in the file.", Columns: []output.Column{
		{Head: "CHANGE", Field: "change"}, {Head: "RULE", Field: "rule", Least: 10},
	}})
}
