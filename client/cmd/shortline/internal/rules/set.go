package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// step is one change on the way from the saved rules to those of the file.
type step struct {
	what         string // add, change, delete
	rule         rule
	method, path string
	body         any
}

func set(a *app.App) *cobra.Command {
	var file string
	var yes, dry bool
	cmd := &cobra.Command{
		Use: "set LINK --file FILE", Short: "Make the rules of a link those of a file",
		Long: "Make the rules of a link those of a file. A rule of the file replaces the saved one with its id, or else with its name.\n" +
			"Saved rules that the file does not have are deleted, after a question. The server checks all rules before the first change.\n\n" +
			refs.About,
		Example: "  shortline rules get fair -o yaml > rules.yaml\n  shortline rules set fair --file rules.yaml --dry-run\n" +
			"  shortline rules set fair --file rules.yaml",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := readRules(a, file)
			if err != nil {
				return err
			}
			r, id, err := a.LinkID(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			steps, err := plan(cmd.Context(), r, id, w)
			if err != nil {
				return err
			}
			if gone := names(steps, "delete"); !dry && len(gone) > 0 {
				if err := a.Confirm(yes, "Delete the rules %s?", strings.Join(gone, ", ")); err != nil {
					return err
				}
			}
			if !dry {
				if err := applySteps(cmd.Context(), a, r, steps); err != nil {
					return err
				}
			}
			return show(a, steps)
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

// plan lists the steps, after the server has checked the rules as a whole.
func plan(ctx context.Context, r *remote.Remote, id string, w wanted) ([]step, error) {
	known, err := saved(ctx, r, id)
	if err != nil {
		return nil, err
	}
	w.Rules = match(w.Rules, known)
	if _, err := r.Send(ctx, http.MethodPost, "/api/urls/"+id+"/explain", map[string]any{"draft": w.draft()}); err != nil {
		return nil, err
	}
	before := map[string]rule{}
	for _, one := range known {
		before[one.ID] = one
	}
	var steps []step
	kept := map[string]bool{}
	for _, one := range w.Rules {
		at, body := one.ID, one
		body.ID = ""
		switch old, exists := before[at]; {
		case !exists:
			steps = append(steps, step{"add", one, http.MethodPost, path(id), body})
		case !same(old, one):
			steps = append(steps, step{"change", one, http.MethodPut, path(id) + "/" + at, body})
		}
		kept[at] = true
	}
	for _, one := range known {
		if !kept[one.ID] {
			steps = append(steps, step{"delete", one, http.MethodDelete, path(id) + "/" + one.ID, nil})
		}
	}
	settings := w.draft()
	delete(settings, "rules")
	if len(settings) > 0 {
		steps = append(steps, step{"settings", rule{}, http.MethodPatch, path(id) + "/settings", settings})
	}
	return steps, nil
}

// same reports whether a rule of a file changes nothing. Fields that the file leaves out stay as they are.
func same(old, now rule) bool {
	var a, b any
	if json.Unmarshal(old.Conditions, &a) != nil || json.Unmarshal(now.Conditions, &b) != nil {
		return false
	}
	return old.Name == now.Name && old.TargetURL == now.TargetURL && reflect.DeepEqual(a, b) &&
		(now.Priority == nil || old.Priority != nil && *old.Priority == *now.Priority) &&
		(now.IsActive == nil || old.IsActive != nil && *old.IsActive == *now.IsActive)
}

// applySteps takes all steps. Ctrl-C ends the program after the last one, so that no link is left with half of its rules.
func applySteps(ctx context.Context, a *app.App, r *remote.Remote, steps []step) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	whole := context.WithoutCancel(ctx)
	for i, one := range steps {
		a.Progress("change %d of %d …", i+1, len(steps))
		if _, err := r.Send(whole, one.method, one.path, one.body); err != nil {
			a.Done()
			return fmt.Errorf("%d of %d changes were made, and then: %w", i, len(steps), err)
		}
	}
	a.Done()
	return ctx.Err()
}

func names(steps []step, what string) (out []string) {
	for _, one := range steps {
		if one.what == what {
			out = append(out, one.rule.Name)
		}
	}
	return out
}

func show(a *app.App, steps []step) error {
	type change struct {
		Change string `json:"change"`
		Rule   string `json:"rule"`
	}
	list := make([]change, len(steps))
	rows := make([]output.Row, len(steps))
	for i, one := range steps {
		list[i] = change{one.what, one.rule.Name}
		rows[i] = output.Row{"change": one.what, "rule": one.rule.Name}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return a.Print(output.View{Raw: raw, Rows: rows, Empty: "The rules are as in the file.", Columns: []output.Column{
		{Head: "CHANGE", Field: "change"}, {Head: "RULE", Field: "rule", Least: 10},
	}})
}
