package imports

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
)

// lookEvery is the time between two looks at an import that runs on the server.
const lookEvery = 500 * time.Millisecond

// fromCSV returns the command import csv.
func fromCSV(a *app.App) *cobra.Command {
	var o csvOptions
	cmd := &cobra.Command{
		Use: "csv FILE", Short: "Import links from a CSV file", Args: cobra.ExactArgs(1),
		Long: `Import links from a CSV file; - is standard input. The server knows the columns of exports of many services and of Shortline.
--column names others, such as --column originalUrl=target. The import runs on the server, and goes on there if this command ends.

Dates may be in ISO 8601, or written like 31.01.2027 (dots), 31/01/2027 (dayFirst) or 01/31/2027 (monthFirst). With auto, the server takes
the only one of these that fits all dates of the file, and --dry-run shows how it reads the first ones.`,
		Example: "  shortline import csv links.csv --dry-run\n  shortline import csv links.csv --column originalUrl=target --conflicts rename\n" +
			"  shortline import csv links.csv --date-format monthFirst --time-zone America/New_York",
		RunE: func(cmd *cobra.Command, args []string) error {
			return upload(cmd.Context(), a, args[0], &o)
		},
	}
	cmd.Flags().StringArrayVar(&o.columns, "column", nil, "field=name of a column; repeat it for several")
	addShared(cmd, &o.conflicts, &o.dry)
	o.addDates(cmd)
	return cmd
}

// csvOptions are the flags of an import that runs on the server.
type csvOptions struct {
	conflicts, dateFormat, zone string
	dry                         bool
	columns                     []string
}

// addDates adds the flags for dates.
func (o *csvOptions) addDates(cmd *cobra.Command) {
	formats := []string{string(client.DateFormatAuto), string(client.DateFormatIso), string(client.DateFormatDots),
		string(client.DateFormatDayFirst), string(client.DateFormatMonthFirst)}
	cmd.Flags().StringVar(&o.dateFormat, "date-format", formats[0], "how dates are written: "+strings.Join(formats, ", "))
	cmd.Flags().StringVar(&o.zone, "time-zone", "UTC", "IANA time zone of dates without one")
	err := cmd.RegisterFlagCompletionFunc("date-format", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return formats, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic("BUG: " + err.Error())
	}
}

// upload imports a file with the server's own import, which keeps dates and goes on after a restart.
func upload(ctx context.Context, a *app.App, name string, o *csvOptions) error {
	if err := checkConflicts(o.conflicts); err != nil {
		return err
	}
	r, err := a.Remote()
	if err != nil {
		return err
	}
	text, err := a.ReadFile(name)
	if err != nil {
		return app.Usage("read the file: %w", err)
	}
	imports := r.Client().Imports
	made, err := imports.Create(ctx, bytes.NewReader(text), client.CreateImportParams{Name: filepath.Base(name)})
	if err != nil {
		return r.Failed(ctx, err)
	}
	u := &uploaded{app: a, imports: imports, id: made.ID}
	plan, err := o.planOf(made)
	if err == nil {
		err = u.runOnServer(ctx, plan, o.dry)
	}
	var exit *app.Exit
	if err != nil && !errors.As(err, &exit) {
		return r.Failed(ctx, err)
	}
	return err
}

// planOf maps the columns that the server knows, and those that the user names.
func (o *csvOptions) planOf(made *client.Import) (client.ImportPlan, error) {
	plan := client.ImportPlan{Mapping: map[string]string{}, Conflicts: client.Set(client.Conflicts(o.conflicts)),
		DateFormat: client.Set(client.DateFormat(o.dateFormat)), TimeZone: client.Set(o.zone)}
	for _, c := range made.Columns {
		if c.Suggested != "" {
			plan.Mapping[c.Suggested] = c.Name
		}
	}
	for _, one := range o.columns {
		field, column, found := strings.Cut(one, "=")
		if !found || field == "" {
			return plan, app.Usage("--column must have the form field=column, not %s", quoted(one))
		}
		if plan.Mapping[field] = column; column == "" {
			delete(plan.Mapping, field)
		}
	}
	if plan.Mapping["originalUrl"] == "" {
		return plan, app.Usage("no column looks like destinations; name it with --column originalUrl=NAME")
	}
	return plan, nil
}

// uploaded is a file on the server.
type uploaded struct {
	app     *app.App
	imports *client.ImportService
	id      string
}

func (u *uploaded) runOnServer(ctx context.Context, plan client.ImportPlan, dry bool) error {
	if dry {
		defer u.discard()
		preview, err := u.imports.DryRun(ctx, u.id, plan)
		if err != nil {
			return err
		}
		u.showDates(&preview.Dates)
		return u.showCounts(preview.Problems, preview.Warnings, map[string]int{"create": preview.Create, "update": preview.Update,
			"skip": preview.Skip, "rename": preview.Rename, "fail": preview.Errors}, preview.Errors > 0)
	}
	if _, err := u.imports.Start(ctx, u.id, plan); err != nil {
		u.discard()
		return err
	}
	for {
		is, err := u.imports.Get(ctx, u.id)
		if err != nil {
			return err
		}
		p := is.Progress
		u.app.Progress("%s of %s rows …", output.Number(int64(p.Done)), output.Number(int64(p.Rows)))
		switch is.Status {
		case client.ImportStatusRunning, client.ImportStatusMapping:
		case client.ImportStatusDone:
			u.app.Done()
			var problems []client.ImportProblem
			for one, err := range u.imports.AllProblems(ctx, u.id, client.PageParams{}) {
				if err != nil {
					return err
				}
				problems = append(problems, one)
			}
			return u.showCounts(problems, nil, map[string]int{"created": p.Created, "updated": p.Updated, "skipped": p.Skipped,
				"renamed": p.Renamed, "failed": p.Failed}, p.Failed > 0)
		default:
			u.app.Done()
			return &app.Exit{Code: app.CodeError, Err: fmt.Errorf("the import is %s: %s", is.Status, deref(is.Failure))}
		}
		if err := u.app.Wait(ctx, lookEvery); err != nil {
			u.app.Done()
			u.app.Say("the import goes on at the server; see: shortline api GET /api/imports/%s", u.id)
			return err
		}
	}
}

// showDates says how the first dates that are not in ISO 8601 are read.
func (u *uploaded) showDates(dates *client.ImportDates) {
	if deref(dates.Format) == client.DateFormatIso {
		return
	}
	if dates.Format == nil && len(dates.First) > 0 {
		u.app.Say("several formats of dates fit the file, or none; choose one with --date-format")
	}
	for _, one := range dates.First {
		if one.Time != nil {
			u.app.Say("line %d, %s: %s is read as %s", one.Row, one.Column, quoted(one.Value), one.Time.Format(time.RFC3339))
		}
	}
}

// discard deletes a file that was only looked at, also after Ctrl-C.
func (u *uploaded) discard() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := u.imports.Delete(ctx, u.id); err != nil {
		u.app.Say("the uploaded file could not be deleted; run: shortline api DELETE /api/imports/%s", u.id)
	}
}

var problemColumns = []output.Column{
	{Head: "LINE", Field: "row", Right: true},
	{Head: "KIND", Field: "kind"},
	{Head: "FIELD", Field: "field"},
	{Head: "VALUE", Field: "value", Least: 12},
	{Head: "REASON", Field: "message", Least: 24},
}

// showCounts prints the counts and why rows are left out.
func (u *uploaded) showCounts(problems, warnings []client.ImportProblem, counts map[string]int, failed bool) error {
	var rows []output.Row
	for kind, list := range map[string][]client.ImportProblem{"problem": problems, "warning": warnings} {
		for _, one := range list {
			rows = append(rows, output.Row{"row": one.Row, "kind": kind, "field": one.Field, "value": one.Value, "message": one.Message})
		}
	}
	slices.SortStableFunc(rows, func(a, b output.Row) int {
		x, _ := a["row"].(int)
		y, _ := b["row"].(int)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.Text("kind"), b.Text("kind")))
	})
	raw, err := json.Marshal(map[string]any{"counts": counts, "rows": rows})
	if err != nil {
		return err
	}
	err = u.app.Print(output.View{Raw: raw, Columns: problemColumns, Rows: rows, Draw: func(g *output.Page) {
		var facts []output.Fact
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			facts = append(facts, output.Fact{Name: name, Value: output.Number(int64(counts[name]))})
		}
		g.Facts(facts...)
		if len(rows) > 0 {
			g.Line("")
			g.Table(problemColumns, rows)
		}
	}})
	if err == nil && failed {
		return &app.Exit{Code: app.CodeError, Said: true, Err: errors.New("some rows are not imported")}
	}
	return err
}
