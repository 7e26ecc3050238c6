// Package parquet writes tables as Apache Parquet files, which other programs read without an import: DuckDB, ClickHouse, Spark, pandas.
//
// It writes the simplest valid form of the format: required columns, one page for each column of a row group, plain values, gzip. The
// format is described at https://parquet.apache.org/docs/file-format/. Nothing here reads Parquet.
package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// Kind is the type of the values of a column.
type Kind uint8

// The kinds.
const (
	Text    Kind = iota // string; bytes that are not UTF-8 are replaced
	Integer             // int64
	Time                // int64: Unix milliseconds
	Boolean             // bool
)

// Numbers of the format.
const (
	typeBoolean, typeInteger, typeBytes = 0, 2, 6
	convertedUTF8, convertedMillis      = 0, 9
	encodingPlain, encodingLevels       = 0, 3
	codecGzip                           = 2
)

// Column is a column of a file.
type Column struct {
	Name string
	Kind Kind
}

func (c *Column) physical() int64 {
	switch c.Kind {
	case Text:
		return typeBytes
	case Boolean:
		return typeBoolean
	}
	return typeInteger
}

// groupBytes is the size of the plain values after which a row group is written. It limits the memory of a Writer.
const groupBytes = 8 << 20

const magic = "PAR1"

// Writer writes one file. It is not safe for concurrent use.
type Writer struct {
	to      io.Writer
	columns []Column
	at      int64 // bytes written
	err     error

	pages  [][]byte // plain values of the present row group, by column
	size   int      // of the pages
	rows   int64    // in the present row group
	groups []group
}

type group struct {
	rows   int64
	chunks []chunk
}

type chunk struct{ at, plain, packed int64 }

// NewWriter returns a Writer of a file with the columns. Nothing is complete before Close.
func NewWriter(to io.Writer, columns []Column) *Writer {
	w := &Writer{to: to, columns: columns, pages: make([][]byte, len(columns))}
	w.writeBytes([]byte(magic))
	return w
}

func (w *Writer) writeBytes(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.to.Write(b)
	w.at += int64(n)
	w.err = err
}

// Write adds a row, which has a value of the right type for each column.
func (w *Writer) Write(row ...any) error {
	if len(row) != len(w.columns) {
		return fmt.Errorf("write parquet: %d values for %d columns", len(row), len(w.columns))
	}
	for i, v := range row {
		before := len(w.pages[i])
		switch v := v.(type) {
		case string:
			v = strings.ToValidUTF8(v, "\uFFFD")
			w.pages[i] = append(binary.LittleEndian.AppendUint32(w.pages[i], uint32(len(v))), v...)
		case int64:
			w.pages[i] = binary.LittleEndian.AppendUint64(w.pages[i], uint64(v))
		case bool: // eight values in a byte, the first one in the lowest bit
			if w.rows%8 == 0 {
				w.pages[i] = append(w.pages[i], 0)
			}
			if v {
				w.pages[i][len(w.pages[i])-1] |= 1 << (w.rows % 8)
			}
		default:
			return fmt.Errorf("write parquet: column %s cannot have a %T", w.columns[i].Name, v)
		}
		w.size += len(w.pages[i]) - before
	}
	if w.rows++; w.size >= groupBytes {
		w.flush()
	}
	return w.err
}

// flush writes the present row group.
func (w *Writer) flush() {
	if w.rows == 0 || w.err != nil {
		return
	}
	g := group{rows: w.rows}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // the level is valid
	for i, page := range w.pages {
		packed.Reset()
		z.Reset(&packed)
		_, _ = z.Write(page) // a Buffer never fails
		_ = z.Close()
		var head thrift
		head.integer(1, 0) // a page of data
		head.integer(2, int64(len(page)))
		head.integer(3, int64(packed.Len()))
		head.object(5, func(t *thrift) {
			t.integer(1, w.rows)
			t.integer(2, encodingPlain)
			t.integer(3, encodingLevels)
			t.integer(4, encodingLevels)
		})
		head.stop()
		c := chunk{w.at, int64(len(head.b) + len(page)), int64(len(head.b) + packed.Len())}
		w.writeBytes(head.b)
		w.writeBytes(packed.Bytes())
		g.chunks = append(g.chunks, c)
		w.pages[i] = page[:0]
	}
	w.groups, w.rows, w.size = append(w.groups, g), 0, 0
}

// Close writes the end of the file. It does not close what NewWriter was given.
func (w *Writer) Close() error {
	w.flush()
	var t thrift
	t.integer(1, 1) // version of the format
	t.listField(2, thriftObject, len(w.columns)+1, func(int) {})
	t.element(func(t *thrift) {
		t.textField(4, "rows")
		t.integer(5, int64(len(w.columns)))
	})
	for i := range w.columns {
		c := &w.columns[i]
		t.element(func(t *thrift) {
			t.integer(1, c.physical())
			t.integer(3, 0) // required
			t.textField(4, c.Name)
			switch c.Kind {
			case Text:
				t.integer(6, convertedUTF8)
			case Time:
				t.integer(6, convertedMillis)
			}
		})
	}
	var rows int64
	for i := range w.groups {
		rows += w.groups[i].rows
	}
	t.wide(3, rows)
	t.listField(4, thriftObject, len(w.groups), func(i int) { w.describe(&t, &w.groups[i]) })
	t.textField(6, "shortline")
	t.stop()
	t.b = binary.LittleEndian.AppendUint32(t.b, uint32(len(t.b)))
	w.writeBytes(append(t.b, magic...))
	return w.err
}

// describe adds the description of a row group.
func (w *Writer) describe(t *thrift, g *group) {
	t.element(func(t *thrift) {
		var plain int64
		t.listField(1, thriftObject, len(g.chunks), func(i int) {
			c := &g.chunks[i]
			plain += c.plain
			t.element(func(t *thrift) {
				t.wide(2, c.at)
				t.object(3, func(t *thrift) {
					t.integer(1, w.columns[i].physical())
					t.listField(2, thriftInteger, 1, func(int) { t.number(encodingPlain) })
					t.listField(3, thriftText, 1, func(int) { t.bytes(w.columns[i].Name) })
					t.integer(4, codecGzip)
					t.wide(5, g.rows)
					t.wide(6, c.plain)
					t.wide(7, c.packed)
					t.wide(9, c.at)
				})
			})
		})
		t.wide(2, plain)
		t.wide(3, g.rows)
	})
}
