package archive

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/platform/isotime"
	"github.com/shortline/shortline/control/internal/platform/parquet"
	"github.com/shortline/shortline/control/internal/platform/spreadsheet"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/link"
)

// clickRow is a row of figures/clicks.csv.
type clickRow struct {
	analytics.Row
	id   string // of the click in the API
	link string // id of the link
}

// conversionRow is a row of figures/conversions.csv. The click is complete if it is attributed.
type conversionRow struct {
	clickRow
	analytics.Conversion
}

// column is a column of a file of rows T.
type column[T any] struct {
	parquet.Column
	get func(*T) any // a string, an int64 or a bool
	set func(*T, any) error
}

func textColumn[T any](name string, most int, member func(*T) *string) column[T] {
	return column[T]{parquet.Column{Name: name, Kind: parquet.Text}, func(r *T) any { return *member(r) }, func(r *T, v any) error {
		if len(v.(string)) > most {
			return fmt.Errorf("must have at most %d bytes", most)
		}
		*member(r) = v.(string)
		return nil
	}}
}

func boolColumn[T any](name string, member func(*T) *bool) column[T] {
	return column[T]{parquet.Column{Name: name, Kind: parquet.Boolean}, func(r *T) any { return *member(r) }, func(r *T, v any) error {
		*member(r) = v.(bool)
		return nil
	}}
}

func numberColumn[T any](name string, kind parquet.Kind, member func(*T) *int64) column[T] {
	return column[T]{parquet.Column{Name: name, Kind: kind}, func(r *T) any { return *member(r) }, func(r *T, v any) error {
		*member(r) = v.(int64)
		return nil
	}}
}

func idColumn[T any](name string, member func(*T) *link.ID) column[T] {
	return column[T]{parquet.Column{Name: name, Kind: parquet.Text}, func(r *T) any { return analytics.IDString(*member(r)) },
		func(r *T, v any) error {
			if v.(string) == "" {
				return nil
			}
			id, err := uuid.Parse(v.(string))
			*member(r) = link.ID(id)
			return err
		}}
}

// maxCell is the size of a text in a row, in bytes.
const maxCell = 4096

// clickColumns returns the columns of a click in rows T.
func clickColumns[T any](of func(*T) *clickRow) []column[T] {
	text := func(name string, member func(*clickRow) *string) column[T] {
		return textColumn(name, maxCell, func(r *T) *string { return member(of(r)) })
	}
	return []column[T]{
		text("id", func(r *clickRow) *string { return &r.id }),
		numberColumn("time", parquet.Time, func(r *T) *int64 { return &of(r).Time }),
		text("link_id", func(r *clickRow) *string { return &r.link }),
		idColumn("variant_id", func(r *T) *link.ID { return &of(r).Variant }),
		idColumn("rule_id", func(r *T) *link.ID { return &of(r).Rule }),
		addressColumn("ip", func(r *T) *netip.Addr { return &of(r).IP }),
		text("country", func(r *clickRow) *string { return &r.Country }),
		text("region", func(r *clickRow) *string { return &r.Region }),
		text("city", func(r *clickRow) *string { return &r.City }),
		text("device", func(r *clickRow) *string { return &r.Device }),
		text("os", func(r *clickRow) *string { return &r.OS }),
		text("browser", func(r *clickRow) *string { return &r.Browser }),
		text("language", func(r *clickRow) *string { return &r.Language }),
		text("referer", func(r *clickRow) *string { return &r.Referer }),
		text("user_agent", func(r *clickRow) *string { return &r.UserAgent }),
		boolColumn("bot", func(r *T) *bool { return &of(r).Bot }),
		text("bot_name", func(r *clickRow) *string { return &r.BotName }),
		text("utm_source", func(r *clickRow) *string { return &r.UTM.Source }),
		text("utm_medium", func(r *clickRow) *string { return &r.UTM.Medium }),
		text("utm_campaign", func(r *clickRow) *string { return &r.UTM.Campaign }),
		text("utm_term", func(r *clickRow) *string { return &r.UTM.Term }),
		text("utm_content", func(r *clickRow) *string { return &r.UTM.Content }),
		text("utm_id", func(r *clickRow) *string { return &r.UTM.ID }),
		text("utm_source_platform", func(r *clickRow) *string { return &r.UTM.SourcePlatform }),
		{parquet.Column{Name: "visitor", Kind: parquet.Integer}, func(r *T) any { return int64(of(r).Visitor) }, func(r *T, v any) error {
			of(r).Visitor = uint64(v.(int64))
			return nil
		}},
		text("edge", func(r *clickRow) *string { return &r.EdgeName }),
		text("edge_region", func(r *clickRow) *string { return &r.EdgeRegion }),
		text("geo_version", func(r *clickRow) *string { return &r.GeoVersion }),
		text("bot_list", func(r *clickRow) *string { return &r.BotList }),
	}
}

func addressColumn[T any](name string, member func(*T) *netip.Addr) column[T] {
	return column[T]{parquet.Column{Name: name, Kind: parquet.Text}, func(r *T) any {
		if ip := *member(r); ip.IsValid() {
			return ip.String()
		}
		return ""
	}, func(r *T, v any) (err error) {
		if v.(string) != "" {
			*member(r), err = netip.ParseAddr(v.(string))
		}
		return err
	}}
}

var clickFile = clickColumns(func(r *clickRow) *clickRow { return r })

var conversionFile = append([]column[conversionRow]{
	textColumn("name", maxCell, func(r *conversionRow) *string { return &r.Name }),
	numberColumn("value", parquet.Integer, func(r *conversionRow) *int64 { return &r.Value }),
	textColumn("currency", maxCell, func(r *conversionRow) *string { return &r.Currency }),
	textColumn("external_id", maxCell, func(r *conversionRow) *string { return &r.ExternalID }),
	boolColumn("repeatable", func(r *conversionRow) *bool { return &r.Repeatable }),
	numberColumn("occurred_at", parquet.Time, func(r *conversionRow) *int64 { return &r.OccurredAt }),
	numberColumn("received_at", parquet.Time, func(r *conversionRow) *int64 { return &r.ReceivedAt }),
	boolColumn("from_browser", func(r *conversionRow) *bool { return &r.Conversion.Browser }),
	boolColumn("attributed", func(r *conversionRow) *bool { return &r.Attributed }),
	{parquet.Column{Name: "click_tag", Kind: parquet.Integer}, func(r *conversionRow) any {
		if r.Attributed { // the click has it
			return int64(0)
		}
		return int64(r.Click.Tag)
	},
		func(r *conversionRow, v any) error {
			r.Click.Tag = uint64(v.(int64))
			return nil
		}},
}, inClick(clickColumns(func(r *conversionRow) *clickRow { return &r.clickRow }))...)

// inClick puts the name of the click before those of its columns.
func inClick(list []column[conversionRow]) []column[conversionRow] {
	for i := range list {
		list[i].Name = "click_" + list[i].Name
	}
	return list
}

func names[T any](file []column[T]) []string {
	return each.At(file, func(c *column[T]) string { return c.Name })
}

func described[T any](file []column[T]) []parquet.Column {
	return each.At(file, func(c *column[T]) parquet.Column { return c.Column })
}

func values[T any](file []column[T], row *T) []any {
	return each.At(file, func(c *column[T]) any { return c.get(row) })
}

// A reader of CSV changes \r\n to \n, so carriage returns are written as \r, and backslashes as \\.
var (
	escape   = strings.NewReplacer(`\`, `\\`, "\r", `\r`)
	unescape = strings.NewReplacer(`\\`, `\`, `\r`, "\r")
)

// cells returns a row as the cells of a CSV file. No cell is a formula to a spreadsheet.
func cells[T any](file []column[T], row *T) []string {
	out := make([]string, len(file))
	for i := range file {
		switch v := file[i].get(row).(type) {
		case string:
			out[i] = spreadsheet.Inert(escape.Replace(analytics.Plain(v)))
		case bool:
			out[i] = strconv.FormatBool(v)
		case int64:
			if out[i] = strconv.FormatInt(v, 10); file[i].Kind == parquet.Time {
				out[i] = Time(v).String()
			}
		}
	}
	return out
}

// setCell sets a column from a cell.
func (c *column[T]) setCell(row *T, cell string) error {
	var v any
	var err error
	switch c.Kind {
	case parquet.Text:
		if !utf8.ValidString(cell) {
			return errors.New("must be UTF-8")
		}
		v = unescape.Replace(spreadsheet.Plain(cell))
	case parquet.Boolean:
		v, err = strconv.ParseBool(cell)
	case parquet.Time:
		v, err = isotime.Parse(cell)
	default:
		v, err = strconv.ParseInt(cell, 10, 64)
	}
	if err != nil {
		return err
	}
	return c.set(row, v)
}

// maxRecord is the size of a row in a CSV file and of a line of JSON, in bytes.
const maxRecord = 1 << 20

// record limits how much a csv.Reader reads for one row.
type record struct {
	from io.Reader
	left int
}

var errLong = fmt.Errorf("a row has more than %d bytes", maxRecord)

func (r *record) Read(b []byte) (int, error) {
	if r.left <= 0 {
		return 0, errLong
	}
	n, err := r.from.Read(b[:min(len(b), r.left)])
	r.left -= n
	return n, err
}

// eachRow calls f with each row of a CSV file. f must not keep the row. Rows are counted from 1.
func eachRow[T any](from io.Reader, file []column[T], f func(n int64, row *T) error) (rows int64, err error) {
	limited := &record{from: from, left: maxRecord}
	c := csv.NewReader(limited)
	c.ReuseRecord, c.FieldsPerRecord = true, len(file)
	head, err := c.Read()
	if err != nil || !slices.Equal(head, names(file)) {
		return 0, fmt.Errorf("the first row must be %s", strings.Join(names(file), ","))
	}
	for {
		limited.left = maxRecord
		line, err := c.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, fmt.Errorf("row %d: %w", rows+1, err)
		}
		rows++
		var row T
		for i := range file {
			if err := file[i].setCell(&row, line[i]); err != nil {
				return rows, fmt.Errorf("row %d: %s: %w", rows, file[i].Name, err)
			}
		}
		if err := f(rows, &row); err != nil {
			return rows, err
		}
	}
}
