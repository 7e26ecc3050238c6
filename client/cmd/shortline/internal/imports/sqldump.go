package imports

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// dump reads rows of tables from the text that mysqldump, pg_dump and sqlite3 .dump write. It keeps one value at a time, because tables
// with visits can be large.
type dump struct {
	in      *bufio.Reader
	escapes bool                // a backslash within a string has a meaning, as MySQL writes it
	columns map[string][]string // of tables, from CREATE TABLE
	next    *lexeme             // that was read too early
	found   bool                // rows of a wanted table, or none of a table that was made
}

// dumpRow is a row of a table. It is small, because an import keeps all rows of links in memory.
type dumpRow struct {
	columns []string // of the table, which its rows share
	values  []string // of the first columns, in their order; NULL is ""
}

// rowOf makes a row whose values have their bytes side by side.
func rowOf(columns, values []string) dumpRow {
	text, own := strings.Join(values, ""), make([]string, len(values))
	for n, one := range values {
		own[n], text = text[:len(one)], text[len(one):]
	}
	return dumpRow{columns, own}
}

// get returns the value of a column, or "" if that is NULL or the table does not have it.
func (r dumpRow) get(column string) string {
	if n := slices.Index(r.columns, column); n >= 0 && n < len(r.values) {
		return r.values[n]
	}
	return ""
}

// lexeme is a part of a statement.
type lexeme struct {
	kind rune   // 'w' for a word or a number, '\'' for a string, '"' for a quoted name, or the character itself
	text string // without quotes
}

// mostValue is the largest number of bytes of a value.
const mostValue = 16 << 20

var (
	errValue      = errors.New("the dump has a value that is too large")
	errMoreValues = errors.New("a row has more values than its table has columns")
	errNotText    = errors.New("the dump has NUL bytes, so it is not text in UTF-8; convert a file in UTF-16 first, as with iconv")
	errNoTables   = errors.New("the dump has no table with links; is it of the right database and complete?")
)

func newDump(r io.Reader) *dump {
	return &dump{in: bufio.NewReaderSize(r, 1<<20), columns: map[string][]string{}}
}

// eachRow calls row for each row of the wanted tables.
func (d *dump) eachRow(wanted func(table string) bool, row func(table string, r dumpRow)) error {
	var garbled error
	checked := func(table string, r dumpRow) {
		d.found = true
		for n, text := range r.values {
			if !utf8.ValidString(text) {
				garbled = fmt.Errorf("the column %s of the table %s is not in UTF-8; write the dump in UTF-8", r.columns[n], table)
			}
		}
		row(table, r)
	}
	for {
		if garbled != nil {
			return garbled
		}
		word, err := d.lex()
		if errors.Is(err, io.EOF) {
			if !d.found {
				return errNoTables
			}
			return nil
		}
		if err == nil {
			switch strings.ToUpper(word.text) {
			case "CREATE":
				err = d.create(wanted)
			case "INSERT":
				err = d.insert(wanted, checked)
			case "COPY":
				err = d.copy(wanted, checked)
			default:
				d.next = word
				err = d.skip()
			}
		}
		if errors.Is(err, io.EOF) {
			return errors.New("the dump ends within a statement; is the file complete?")
		}
		if err != nil {
			return fmt.Errorf("read the dump: %w", err)
		}
	}
}

// skip reads to the end of a statement.
func (d *dump) skip() error {
	for {
		if one, err := d.lex(); err != nil || one.kind == ';' {
			return err
		}
	}
}

// name reads the name of a table, without its schema.
func (d *dump) name(one *lexeme) (string, error) {
	for {
		dot, err := d.lex()
		if err != nil {
			return "", err
		}
		if dot.kind != '.' {
			d.next = dot
			return one.text, nil
		}
		if one, err = d.lex(); err != nil {
			return "", err
		}
	}
}

// create notes the columns of a table.
func (d *dump) create(wanted func(string) bool) error {
	table, err := d.lex()
	if err != nil || !strings.EqualFold(table.text, "TABLE") {
		d.next = table
		return errors.Join(err, d.skip())
	}
	name, err := d.lex()
	for err == nil && name.kind == 'w' && strings.Contains(" IF NOT EXISTS ", " "+strings.ToUpper(name.text)+" ") {
		name, err = d.lex()
	}
	if err != nil {
		return err
	}
	full, err := d.name(name)
	if err != nil {
		return err
	}
	var columns []string
	for depth, first := 0, false; ; {
		one, err := d.lex()
		if err != nil {
			return err
		}
		switch {
		case one.kind == ';':
			d.columns[full] = columns
			d.found = d.found || wanted(full)
			return nil
		case one.kind == '(':
			depth++
			first = depth == 1
		case one.kind == ')':
			depth--
		case one.kind == ',':
			first = depth == 1
		case first:
			if first = false; one.kind != 'w' || !isConstraint(one.text) {
				columns = append(columns, one.text)
			}
		}
	}
}

// isConstraint reports whether a definition in CREATE TABLE is none of a column.
func isConstraint(word string) bool {
	switch strings.ToUpper(word) {
	case "PRIMARY", "UNIQUE", "KEY", "CONSTRAINT", "INDEX", "FOREIGN", "CHECK", "FULLTEXT", "SPATIAL":
		return true
	}
	return false
}

// columnList reads the names of columns after their bracket.
func (d *dump) columnList() (columns []string, err error) {
	for {
		one, err := d.lex()
		if err != nil || one.kind == ')' {
			return columns, err
		}
		if one.kind != ',' {
			columns = append(columns, one.text)
		}
	}
}

// insert reads INSERT INTO table (columns) VALUES (…), (…);
func (d *dump) insert(wanted func(string) bool, row func(string, dumpRow)) error {
	one, err := d.lex()
	for err == nil && !strings.EqualFold(one.text, "INTO") {
		one, err = d.lex()
	}
	if err != nil {
		return err
	}
	if one, err = d.lex(); err != nil {
		return err
	}
	table, err := d.name(one)
	if err != nil {
		return err
	}
	if !wanted(table) {
		return d.skip()
	}
	columns := d.columns[table]
	for {
		if one, err = d.lex(); err != nil {
			return err
		}
		if one.kind == '(' {
			if columns, err = d.columnList(); err != nil {
				return err
			}
		}
		if one.kind == 'w' && strings.EqualFold(one.text, "VALUES") {
			break
		}
	}
	for {
		one, err := d.lex()
		switch {
		case err != nil:
			return err
		case one.kind == ';':
			return nil
		case one.kind == '(':
			values, err := d.tuple(columns)
			if err != nil {
				return err
			}
			row(table, rowOf(columns, values))
		}
	}
}

// tuple reads values after their bracket, at most as many as there are columns.
func (d *dump) tuple(columns []string) ([]string, error) {
	values := make([]string, 0, len(columns))
	text, depth := "", 0
	for {
		one, err := d.lex()
		switch {
		case err != nil:
			return nil, err
		case depth == 0 && (one.kind == ',' || one.kind == ')'):
			if len(values) >= len(columns) {
				return nil, errMoreValues
			}
			if values, text = append(values, text), ""; one.kind == ')' {
				return values, nil
			}
		case one.kind == '(':
			depth++
		case one.kind == ')':
			depth--
		case one.kind == '\'':
			text = one.text
		case one.kind == 'w' && !strings.EqualFold(one.text, "NULL"), one.kind == '-':
			text += one.text
		}
	}
}

// copy reads COPY table (columns) FROM stdin; and the lines after it, as pg_dump writes them.
func (d *dump) copy(wanted func(string) bool, row func(string, dumpRow)) error {
	one, err := d.lex()
	if err != nil {
		return err
	}
	table, err := d.name(one)
	if err != nil {
		return err
	}
	columns := d.columns[table]
	for one.kind != ';' {
		if one, err = d.lex(); err != nil {
			return err
		}
		if one.kind == '(' {
			if columns, err = d.columnList(); err != nil {
				return err
			}
		}
	}
	if _, err := d.line(); err != nil {
		return err
	}
	for {
		line, err := d.line()
		if line = strings.TrimRight(line, "\r\n"); line == `\.` {
			return nil
		}
		if err != nil {
			return err
		}
		if !wanted(table) {
			continue
		}
		values := strings.Split(line, "\t")
		if len(values) > len(columns) {
			return errMoreValues
		}
		for n, cell := range values {
			if cell == `\N` {
				cell = ""
			}
			values[n] = copyEscapes.Replace(cell)
		}
		row(table, rowOf(columns, values))
	}
}

// line reads to the end of a line.
func (d *dump) line() (string, error) {
	var text []byte
	for {
		part, err := d.in.ReadSlice('\n')
		if text = append(text, part...); len(text) > mostValue {
			return "", errValue
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(text), err
		}
	}
}

var copyEscapes = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")

// lex reads the next part of a statement. It passes over blanks and comments.
func (d *dump) lex() (*lexeme, error) {
	if one := d.next; one != nil {
		d.next = nil
		return one, nil
	}
	for {
		c, err := d.in.ReadByte()
		if err != nil {
			return nil, err
		}
		after, _ := d.in.Peek(1) // nothing at the end of the file
		switch {
		case c == 0:
			return nil, errNotText
		case c <= ' ':
		case c == '-' && string(after) == "-", c == '#':
			line, err := d.line()
			if err != nil {
				return nil, err
			}
			d.escapes = d.escapes || strings.Contains(line, "MySQL") || strings.Contains(line, "MariaDB")
		case c == '/' && string(after) == "*":
			if err := d.comment(); err != nil {
				return nil, err
			}
		case c == '\'' || c == '"' || c == '`':
			d.escapes = d.escapes || c == '`'
			text, err := d.quoted(c)
			if c == '`' {
				c = '"'
			}
			return &lexeme{rune(c), text}, err
		case isWord(c):
			return d.word(c)
		default:
			return &lexeme{rune(c), string(c)}, nil
		}
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// word reads a word or a number. The mark before strings such as E'…' makes a backslash count.
func (d *dump) word(c byte) (*lexeme, error) {
	text := []byte{c}
	for {
		after, err := d.in.Peek(1)
		if err == nil && after[0] == '\'' && strings.EqualFold(string(text), "E") {
			_, _ = d.in.Discard(1) // it was peeked at
			was := d.escapes
			d.escapes = true
			value, err := d.quoted('\'')
			d.escapes = was
			return &lexeme{'\'', value}, err
		}
		number := text[0] >= '0' && text[0] <= '9'
		if len(text) > mostValue {
			return nil, errValue
		}
		if err != nil || !isWord(after[0]) && !(number && after[0] == '.') {
			return &lexeme{'w', string(text)}, nil
		}
		text = append(text, after[0])
		_, _ = d.in.Discard(1) // it was peeked at
	}
}

// comment reads to the end of a comment.
func (d *dump) comment() error {
	last := byte(0)
	if _, err := d.in.Discard(1); err != nil {
		return err
	}
	for {
		c, err := d.in.ReadByte()
		if err != nil || last == '*' && c == '/' {
			return err
		}
		last = c
	}
}

var stringEscapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', '0': 0, 'Z': 26}

// quoted reads to the closing quotation mark. A doubled one stands for itself.
func (d *dump) quoted(mark byte) (string, error) {
	var text []byte
	for {
		c, err := d.in.ReadByte()
		if err != nil {
			return "", err
		}
		if len(text) > mostValue {
			return "", errValue
		}
		switch {
		case c == mark:
			if after, err := d.in.Peek(1); err != nil || after[0] != mark {
				return string(text), nil
			}
			_, _ = d.in.Discard(1) // it was peeked at
		case c == '\\' && d.escapes && mark != '`':
			if c, err = d.in.ReadByte(); err != nil {
				return "", err
			}
			if plain, special := stringEscapes[c]; special {
				c = plain
			}
		}
		text = append(text, c)
	}
}
