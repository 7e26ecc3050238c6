// Package rules has the commands for routing rules.
package rules

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/explain"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/refs"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// Commands returns the group rules.
func Commands(a *app.App) *cobra.Command {
	group := app.Group("rules", "Show, set and test the routing rules of a link", getRules(a), set(a), test(a))
	group.Aliases = []string{"rule"}
	return group
}

var columns = []output.Column{
	{Head: "RULE", Field: "name", Least: 10},
	{Head: "PRIORITY", Field: "priority", Right: true},
	{Head: "ACTIVE", Field: "isActive", Show: output.YesNo("isActive")},
	{Head: "WHEN", Field: "conditions", Show: func(r output.Row) string { return Sentence(r.Get("conditions")) }, Least: 20},
	{Head: "DESTINATION", Field: "targetUrl", Least: 20},
	{Head: "MATCHES", Field: "matchCount", Show: output.Count("matchCount"), Right: true, Rank: 1},
	{Head: "ID", Field: "id", Rank: 2, Paint: output.Faint},
}

// Sentence writes conditions in one line, such as: country equals DE and device equals MOBILE.
func Sentence(conditions any) string {
	group, ok := conditions.(map[string]any)
	if !ok {
		return ""
	}
	row := output.Row(group)
	items := row.Rows("conditions")
	if len(items) == 0 {
		items = row.Rows("items")
	}
	if len(items) == 0 && row.Text("type") != "" {
		return strings.TrimSpace(fmt.Sprintf("%s %s %s", row.Text("type"), row.Text("operator"), value(row)))
	}
	operator := row.Text("operator")
	if operator == "" {
		operator = row.Text("logicalOperator")
	}
	parts := make([]string, 0, len(items))
	for _, one := range items {
		text := Sentence(map[string]any(one))
		if one.Get("conditions") != nil || one.Get("items") != nil {
			text = "(" + text + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " "+strings.ToLower(operator)+" ")
}

// value writes the value of a condition. A value with parts has a range of times, or the name of a parameter.
func value(row output.Row) string {
	switch {
	case row.Text("value.end") != "":
		return row.Text("value.start") + " and " + row.Text("value.end")
	case row.Text("value.start") != "":
		return row.Text("value.start")
	case row.Text("value.name") != "":
		return row.Text("value.name") + "=" + row.Text("value.value")
	}
	return row.Text("value")
}

func getRules(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "get LINK", Aliases: []string{"list", "show"}, Short: "Show the rules of a link",
		Long: "Show the rules of a link in the order in which they are asked. With -o yaml, the result can be edited and given to\n" +
			"rules set.\n\n" + refs.About,
		Example: "  shortline rules get fair -o yaml > rules.yaml", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, id, err := a.LinkID(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			raw, err := r.Get(cmd.Context(), path(id), nil)
			if err != nil {
				return err
			}
			row, err := output.Decode[output.Row](raw)
			if err != nil {
				return err
			}
			return a.Print(output.View{Raw: raw, Rows: row.Rows("rules"), Columns: columns, Empty: "The link has no rules."})
		},
	}
}

func path(id string) string { return "/api/urls/" + id + "/routing-rules" }

// wanted is the content of a file with rules. The fields that rules get adds are ignored.
type wanted struct {
	IsSmartRouting *bool           `json:"isSmartRouting"`
	DefaultURL     json.RawMessage `json:"defaultUrl"` // null clears it; nil leaves it
	Rules          []rule          `json:"rules"`
}

type rule struct {
	ID         string          `json:"id,omitempty"`
	Name       string          `json:"name"`
	Priority   *int            `json:"priority,omitempty"`
	TargetURL  string          `json:"targetUrl"`
	IsActive   *bool           `json:"isActive,omitempty"`
	Conditions json.RawMessage `json:"conditions"`
}

// readRules reads rules from a file, or from standard input if its name is -.
func readRules(a *app.App, name string) (wanted, error) {
	var w wanted
	text, err := a.ReadFile(name)
	if err != nil {
		return w, app.Usage("read the rules: %w", err)
	}
	text, err = output.FromYAML(text)
	if err != nil {
		return w, app.Usage("%s is neither YAML nor JSON: %w", name, err)
	}
	if strings.HasPrefix(strings.TrimSpace(string(text)), "[") {
		err = json.Unmarshal(text, &w.Rules)
	} else {
		err = json.Unmarshal(text, &w)
	}
	if err != nil {
		return w, app.Usage("%s: %w", name, err)
	}
	if w.Rules == nil {
		return w, app.Usage("%s has no list of rules; an empty one is: rules: []", name)
	}
	return w, nil
}

// draft is the request with which the server checks rules without saving them.
func (w wanted) draft() map[string]any {
	draft := map[string]any{"rules": w.Rules}
	if w.IsSmartRouting != nil {
		draft["isSmartRouting"] = *w.IsSmartRouting
	}
	if w.DefaultURL != nil {
		draft["defaultUrl"] = w.DefaultURL
	}
	return draft
}

func test(a *app.App) *cobra.Command {
	var v explain.Visitor
	var file string
	cmd := &cobra.Command{
		Use: "test LINK", Short: "Try rules of a file with a simulated visitor, without saving them",
		Long: "Try rules of a file with a simulated visitor. Nothing is saved. Without --file, the saved rules are tried.\n\n" +
			refs.About,
		Example: "  shortline rules test fair --file rules.yaml --country DE --device MOBILE", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			body := v.Body(cmd)
			if file != "" {
				w, err := readRules(a, file)
				if err != nil {
					return err
				}
				body["draft"] = w.draft()
			}
			r, id, err := a.LinkID(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if body["draft"] != nil {
				known, err := saved(cmd.Context(), r, id)
				if err != nil {
					return err
				}
				w := body["draft"].(map[string]any)
				w["rules"] = match(w["rules"].([]rule), known)
			}
			raw, err := r.Send(cmd.Context(), http.MethodPost, "/api/urls/"+id+"/explain", body)
			if err != nil {
				return err
			}
			return explain.Show(a, raw)
		},
	}
	v.AddTo(cmd)
	cmd.Flags().StringVarP(&file, "file", "F", "", "file with rules, YAML or JSON; - is standard input")
	return cmd
}

// saved returns the rules that a link has.
func saved(ctx context.Context, r *remote.Remote, id string) ([]rule, error) {
	raw, err := r.Get(ctx, path(id), nil)
	if err != nil {
		return nil, err
	}
	var got struct {
		Rules []rule `json:"rules"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return nil, fmt.Errorf("the rules cannot be read: %w", err)
	}
	return got.Rules, nil
}

// match gives rules of a file the ids of the saved rules that they replace: those with the same id, or else with the same name. Fields
// that the file leaves out stay as they are.
func match(rules, known []rule) []rule {
	ids, names := map[string]rule{}, map[string]string{}
	for _, one := range known {
		ids[one.ID], names[one.Name] = one, one.ID
	}
	used := map[string]bool{}
	out := make([]rule, len(rules))
	for i, one := range rules {
		out[i] = one
		if _, exists := ids[one.ID]; !exists {
			out[i].ID = ""
		}
		used[out[i].ID] = true
	}
	for i, one := range out {
		if id := names[one.Name]; one.ID == "" && id != "" && !used[id] {
			out[i].ID, used[id] = id, true
		}
		old := ids[out[i].ID] // of a new rule, it has no fields
		out[i].Priority, out[i].IsActive = cmp.Or(one.Priority, old.Priority), cmp.Or(one.IsActive, old.IsActive)
	}
	return out
}
