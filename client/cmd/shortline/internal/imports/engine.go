package imports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shortline/shortline/client/cmd/shortline/internal/app"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// engine brings the records of a source to Shortline.
type engine struct {
	app       *app.App
	remote    *remote.Remote
	service   string    // prefix of external ids
	title     string    // of the service
	until     time.Time // when it has counted its clicks
	conflicts string
	to        string          // domain for all links; "" means that of their host
	own       string          // host of the service
	domains   map[string]bool // custom domains of the workspace
	dry       bool
	state     *store         // nil in a dry run
	seen      map[string]int // the row that has an address, by its key
	done      int            // records
	total     int            // of the source; 0 means unknown
	results   []Result       // of a dry run
}

// importAll reads the source to its end. Everything up to the last batch is kept if it fails.
func (e *engine) importAll(ctx context.Context, from Source) error {
	cursor := ""
	if e.state != nil {
		cursor, e.done = e.state.Cursor, e.state.Done
	}
	var batch []*row
	size := 0
	repeats := repetitions{cursor: true}
	for page, err := range from.Pages(ctx, cursor) {
		if err == nil && repeats.has(&page) {
			err = errors.New("the service repeats the same page, so its list has no end")
		}
		if err != nil {
			return err
		}
		e.total = max(e.total, page.Total)
		more, bytes, err := e.rowsOfAll(page.Records)
		if err != nil {
			return err
		}
		if len(batch) > 0 && (len(batch)+len(more) > mostItems || size+bytes > mostBody) { // few requests, because their rate is limited
			if err := e.batch(ctx, batch, cursor); err != nil {
				return err
			}
			batch, size = nil, 0
		}
		batch, size, cursor = append(batch, more...), size+bytes, page.Next
	}
	if len(batch) > 0 && ctx.Err() == nil {
		return e.batch(ctx, batch, cursor)
	}
	return ctx.Err()
}

// repetitions are the places of a list that were read.
type repetitions map[string]bool

// has notes a page. It reports whether the page, or the place after it, was there before.
func (r repetitions) has(p *Page) bool {
	if p.Next == "" {
		return false
	}
	if r[p.Next] {
		return true
	}
	r[p.Next] = true
	if len(p.Records) == 0 || p.Records[0].ID == "" {
		return false
	}
	first := "record " + p.Records[0].ID
	was := r[first]
	r[first] = true
	return was
}

// rowsOfAll converts records. bytes is the size of the items.
func (e *engine) rowsOfAll(records []Record) (rows []*row, bytes int, err error) {
	for i := range records {
		for _, one := range e.rowsOf(&records[i]) {
			text, err := json.Marshal(one.item)
			if err != nil {
				return nil, 0, fmt.Errorf("the link %s cannot be sent: %w", quoted(one.ID), err)
			}
			rows, bytes = append(rows, one), bytes+len(text)
		}
	}
	return rows, bytes, nil
}

// batch plans and writes rows, and notes that everything before cursor is done.
func (e *engine) batch(ctx context.Context, rows []*row, cursor string) error {
	for i, one := range rows {
		one.Row = e.done + i + 1
	}
	for _, part := range parts(rows) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := e.plan(ctx, part); err != nil {
			return err
		}
		if e.dry {
			continue
		}
		e.state.recall(part)
		if err := e.state.begin(part); err != nil {
			return err
		}
		if err := e.writeRows(ctx, part); err != nil {
			return err
		}
	}
	e.done += len(rows)
	results := make([]Result, len(rows))
	for i, one := range rows {
		results[i] = one.Result
	}
	if e.dry {
		e.results = append(e.results, results...)
	} else if err := e.state.finishRows(results, cursor); err != nil {
		return err
	}
	if e.total > 0 {
		e.app.Progress("%s of about %s links …", output.Number(int64(e.done)), output.Number(int64(e.total)))
	} else {
		e.app.Progress("%s links …", output.Number(int64(e.done)))
	}
	return nil
}

// parts divides rows into those of one request each.
func parts(rows []*row) (list [][]*row) {
	begin, size := 0, 0
	for i, one := range rows {
		text, err := json.Marshal(one.item)
		if err != nil {
			panic("BUG: run has marshalled the item before")
		}
		if i > begin && (i-begin >= mostItems || size+len(text) > mostBody) {
			list, begin, size = append(list, rows[begin:i]), i, 0
		}
		size += len(text)
	}
	if begin < len(rows) {
		list = append(list, rows[begin:])
	}
	return list
}

// learn reads the domains of the workspace.
func (e *engine) learn(ctx context.Context) error {
	list, err := e.remote.List(ctx, "/api/domains", nil, 0, nil)
	if err != nil {
		return err
	}
	e.domains, e.own = map[string]bool{}, strings.ToLower(e.remote.Base.Hostname())
	for _, raw := range list.Rows {
		row, err := output.Decode[output.Row](raw)
		if err != nil {
			return err
		}
		e.domains[row.Text("hostname")] = true
	}
	if e.to != "" && e.to != e.own && !e.domains[e.to] {
		return app.Usage("the workspace has no domain %s; see: shortline domains list", quoted(e.to))
	}
	if e.to == e.own {
		e.own = "" // domain names it
	}
	return nil
}

// finish returns the results of all runs of the import.
func (e *engine) finish() ([]Result, error) {
	e.app.Done()
	if e.dry {
		return e.results, nil
	}
	return e.state.rows()
}
