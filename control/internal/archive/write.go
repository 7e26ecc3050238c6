package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/shortline/shortline/control/internal/platform/parquet"
)

// writer adds members to a ZIP file and remembers what the manifest says of them.
type writer struct {
	zip     *zip.Writer
	members []Member
}

// counted passes bytes on and counts them.
type counted struct {
	to io.Writer
	n  int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += int64(n)
	return n, err
}

// addMember writes a member with what f writes. f returns the number of rows.
func (w *writer) addMember(name string, f func(io.Writer) (int64, error)) error {
	head := &zip.FileHeader{Name: name, Method: zip.Deflate}
	if name == clicksParquet || name == conversionParquet {
		head.Method = zip.Store // it is compressed
	}
	to, err := w.zip.CreateHeader(head)
	if err != nil {
		return err
	}
	sum := sha256.New()
	size := &counted{to: io.MultiWriter(to, sum)}
	buffered := bufio.NewWriterSize(size, 64<<10)
	rows, err := f(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	w.members = append(w.members, Member{name, rows, size.n, hex.EncodeToString(sum.Sum(nil))})
	return nil
}

// finish adds the manifest and ends the file.
func (w *writer) finish(m Manifest) error {
	m.Members = w.members
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	to, err := w.zip.Create(manifestName)
	if err != nil {
		return err
	}
	if _, err := to.Write(append(text, '\n')); err != nil {
		return err
	}
	return w.zip.Close()
}

// lines writes objects as lines of JSON. each calls its argument with every object.
func lines[T any](each func(func(*T) error) error) func(io.Writer) (int64, error) {
	return func(to io.Writer) (rows int64, err error) {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		err = each(func(v *T) error {
			b.Reset()
			if err := enc.Encode(v); err != nil {
				return err
			}
			rows++
			_, err := to.Write(b.Bytes())
			return err
		})
		return rows, err
	}
}

// sheet writes rows as CSV.
func sheet[T any](file []column[T], each func(func(*T) error) error) func(io.Writer) (int64, error) {
	return func(to io.Writer) (rows int64, err error) {
		c := csv.NewWriter(to)
		_ = c.Write(names(file)) // a csv.Writer keeps its first error
		err = each(func(row *T) error {
			rows++
			return c.Write(cells(file, row))
		})
		c.Flush()
		if err == nil {
			err = c.Error()
		}
		return rows, err
	}
}

// table writes rows as Parquet.
func table[T any](file []column[T], each func(func(*T) error) error) func(io.Writer) (int64, error) {
	return func(to io.Writer) (rows int64, err error) {
		p := parquet.NewWriter(to, described(file))
		err = each(func(row *T) error {
			rows++
			return p.Write(values(file, row)...)
		})
		if err == nil {
			err = p.Close()
		}
		return rows, err
	}
}
