//go:build linux && amd64

package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/compress"
	wire "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

// native is ClickHouse's native interface. The engine reads and writes blocks without a revision, so each block is
// decoded and encoded again by the driver's own code.
type native struct{ engine *engine }

// revision is the supported protocol revision. Newer clients support it too.
const revision = proto.DBMS_TCP_PROTOCOL_VERSION

const version = "26.5.1.1"

func (n *native) serve(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			c := &session{engine: n.engine, conn: conn, in: wire.NewReader(conn)}
			if err := c.talk(); !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				log.Println("chd:", err)
			}
		}()
	}
}

// session is one client with one statement at a time. Settings do not outlive a statement.
type session struct {
	engine *engine
	conn   net.Conn
	in     *wire.Reader
	out    wire.Buffer

	database   string
	compressor *compress.Writer // of the current statement; nil disables compression
}

// talk serves a client until it disconnects, which is an error too. Failed statements are reported to the client and
// end nothing.
func (c *session) talk() error {
	if err := c.hello(); err != nil {
		return fmt.Errorf("greet a client: %w", err)
	}
	for {
		packet, err := c.in.ReadByte()
		if err != nil {
			return err
		}
		switch packet {
		case proto.ClientPing:
			c.out.PutByte(proto.ServerPong)
			err = c.flush()
		case proto.ClientCancel: // there is nothing to cancel
		case proto.ClientQuery:
			err = c.query()
		default:
			return fmt.Errorf("unexpected packet %d from a client", packet)
		}
		if err != nil {
			return err
		}
	}
}

func (c *session) hello() error {
	packet, err := c.in.ReadByte()
	if err != nil {
		return err
	}
	if packet != proto.ClientHello {
		return fmt.Errorf("the session began with packet %d", packet)
	}
	var theirs wire.ClientHello // its user and password are ignored: the engine has no users
	if err := theirs.Decode(c.in); err != nil {
		return err
	}
	c.database = theirs.Database
	if theirs.ProtocolVersion < revision {
		return c.refuse(failure(fmt.Sprintf("Code: 99. DB::Exception: the client uses revision %d; the oldest supported one is %d",
			theirs.ProtocolVersion, revision)))
	}
	if err := c.engine.serve(statement{text: "SELECT 1", database: c.database, format: "Null"}, func([]byte) error {
		return nil
	}); err != nil {
		return c.refuse(err)
	}
	ours := proto.ParseVersion(version)
	greeting := wire.ServerHello{Name: "ClickHouse", Major: int(ours.Major), Minor: int(ours.Minor), Patch: int(ours.Patch),
		Revision: revision, Timezone: "UTC", DisplayName: "chd"}
	greeting.EncodeAware(&c.out, revision)
	if err := c.flush(); err != nil {
		return err
	}
	_, err = c.in.Str() // the addendum: a quota's key
	return err
}

// refuse reports why a session is rejected, and ends it.
func (c *session) refuse(err error) error { return errors.Join(c.exception(err), io.EOF) }

// query reads a statement and the data of an insert, and answers.
func (c *session) query() error {
	st, method, err := c.statement()
	if err != nil {
		return fmt.Errorf("read a statement: %w", err)
	}
	c.compressor = nil
	if method != compress.None {
		c.compressor = compress.NewWriter(compress.LevelZero, method)
	}
	// An empty block ends the external tables of a client.
	if b, name, err := c.block(); err != nil {
		return fmt.Errorf("read a statement's tables: %w", err)
	} else if name != "" || len(b.Columns) > 0 {
		return errors.Join(c.exception(failure("Code: 48. DB::Exception: external tables are not supported")), io.EOF)
	}
	if m := waiting.FindStringSubmatch(st.text); m != nil {
		if err := c.announce(st, m[1], m[2]); err != nil {
			return c.tell(err)
		}
		if st.data, err = c.data(); err != nil {
			return fmt.Errorf("read an insert: %w", err)
		}
		// Without rows there is nothing to do, and no file for the engine to read.
		if len(st.data) == 0 {
			return c.end()
		}
	}
	err = c.engine.serve(st, func(result []byte) error {
		if len(result) == 0 && reads.MatchString(st.text) {
			return c.columns(st)
		}
		return c.blocks(result)
	})
	if err != nil {
		return c.tell(err)
	}
	return c.end()
}

var reads = regexp.MustCompile(`(?is)^\s*(SELECT|WITH)\s`)

// columns sends the columns of a result without rows, because the engine does not report them.
func (c *session) columns(st statement) error {
	columns, err := c.describe(st, "("+strings.TrimRight(st.text, "; \r\n\t")+")")
	if err != nil {
		return err
	}
	return c.header(columns)
}

// describe lists the columns of a table, or of a query in parentheses.
func (c *session) describe(st statement, what string) (list []described, err error) {
	st.text, st.format = "DESCRIBE TABLE "+what, "TabSeparatedRaw"
	err = c.engine.serve(st, func(result []byte) error {
		for line := range strings.Lines(string(result)) {
			if f := strings.Split(line, "\t"); len(f) >= 3 {
				list = append(list, described{f[0], f[1], f[2]})
			}
		}
		return nil
	})
	return list, err
}

// described is a column. how is the source of its values if they are not inserted.
type described struct{ name, kind, how string }

// waiting matches an insert whose blocks follow: table and columns.
var waiting = regexp.MustCompile(`(?is)^\s*INSERT\s+INTO\s+(?:TABLE\s+)?([^\s(]+)\s*(\(.*\))?\s*(?:FORMAT\s+Native|VALUES)\s*;?\s*$`)

// tell sends the engine's error to the client. Other errors concern the connection, and end it.
func (c *session) tell(err error) error {
	var failed failure
	if !errors.As(err, &failed) {
		return err
	}
	return c.exception(err)
}

func (c *session) statement() (st statement, method compress.Method, err error) {
	var q wire.Query
	if err := q.DecodeAware(c.in, revision); err != nil {
		return st, compress.None, err
	}
	st = statement{text: q.Body, settings: map[string]string{}, params: map[string]string{}, database: c.database, format: "Native"}
	for _, s := range q.Settings {
		st.settings[s.Key] = s.Value
		if s.Custom {
			st.settings[s.Key] = unquote(s.Value)
		}
	}
	for _, p := range q.Parameters {
		st.params[p.Key] = unquote(p.Value)
	}
	method = compress.None
	if q.Compression == wire.CompressionEnabled {
		method = compress.LZ4
		if strings.EqualFold(st.settings["network_compression_method"], "zstd") {
			method = compress.ZSTD
		}
	}
	return st, method, nil
}

// block reads a data packet.
func (c *session) block() (*proto.Block, string, error) {
	for {
		packet, err := c.in.ReadByte()
		if err != nil {
			return nil, "", err
		}
		switch packet {
		case proto.ClientData:
		case proto.ClientCancel:
			continue // the client closes the connection next
		default:
			return nil, "", fmt.Errorf("packet %d has no data", packet)
		}
		name, err := c.in.Str()
		if err != nil {
			return nil, "", err
		}
		if c.compressor != nil {
			c.in.EnableCompression()
			defer c.in.DisableCompression()
		}
		b := newBlock()
		return b, name, b.Decode(c.in, revision)
	}
}

func newBlock() *proto.Block {
	return &proto.Block{ServerContext: &column.ServerContext{Timezone: time.UTC}}
}

// data reads blocks up to the empty one, in the engine's format. An insert is complete before any of it counts: a
// client that dies half way has inserted nothing.
func (c *session) data() ([]byte, error) {
	var all wire.Buffer
	for {
		b, _, err := c.block()
		if err != nil {
			return nil, err
		}
		if b.Rows() == 0 {
			return all.Buf, nil
		}
		if err := b.Encode(&all, 0); err != nil {
			return nil, err
		}
	}
}

// announce sends the names and types of the columns to a client that is about to insert.
func (c *session) announce(st statement, table, columns string) error {
	all, err := c.describe(st, table)
	if err != nil {
		return err
	}
	if columns == "" {
		return c.header(slices.DeleteFunc(all, func(d described) bool { return d.how != "" && d.how != "DEFAULT" }))
	}
	var list []described
	for name := range strings.SplitSeq(strings.Trim(columns, "()"), ",") {
		name = strings.Trim(strings.TrimSpace(name), "`\"")
		at := slices.IndexFunc(all, func(d described) bool { return d.name == name })
		if at < 0 {
			return failure("Code: 16. DB::Exception: No such column " + name + " in table " + table + ". (NO_SUCH_COLUMN_IN_TABLE)")
		}
		list = append(list, all[at])
	}
	return c.header(list)
}

// header sends a block without rows. The driver's encoder cannot be used: it begins some columns with a prefix that
// only columns with rows have.
func (c *session) header(list []described) error {
	return c.packet(func() error {
		if err := (&proto.Block{}).EncodeHeader(&c.out, revision); err != nil {
			return err
		}
		c.out.Buf = c.out.Buf[:len(c.out.Buf)-2] // without the numbers of columns and rows
		c.out.PutUVarInt(uint64(len(list)))
		c.out.PutUVarInt(0)
		for _, d := range list {
			c.out.PutString(d.name)
			c.out.PutString(d.kind)
			c.out.PutBool(false) // default serialization
		}
		return nil
	})
}

// blocks sends a result, starting with its columns.
func (c *session) blocks(result []byte) error {
	in := wire.NewReader(strings.NewReader(string(result)))
	for first := true; ; first = false {
		b := newBlock()
		if err := b.Decode(in, 0); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return failure("Code: 1. DB::Exception: the result cannot be encoded: " + err.Error())
		}
		if first {
			var list []described
			for _, col := range b.Columns {
				list = append(list, described{name: col.Name(), kind: string(col.Type())})
			}
			if err := c.header(list); err != nil {
				return err
			}
		}
		if b.Rows() > 0 {
			if err := c.packet(func() error { return b.Encode(&c.out, revision) }); err != nil {
				return err
			}
		}
	}
}

// packet sends the data that f puts into the buffer.
func (c *session) packet(f func() error) error {
	c.out.PutByte(proto.ServerData)
	c.out.PutString("") // no table name
	start := len(c.out.Buf)
	if err := f(); err != nil {
		return err
	}
	if c.compressor != nil {
		plain := append([]byte(nil), c.out.Buf[start:]...)
		c.out.Buf = c.out.Buf[:start]
		for len(plain) > 0 {
			size := min(len(plain), blockSize)
			if err := c.compressor.Compress(plain[:size]); err != nil {
				return err
			}
			c.out.Buf = append(c.out.Buf, c.compressor.Data...)
			plain = plain[size:]
		}
	}
	return c.flush()
}

func (c *session) end() error {
	c.out.PutByte(proto.ServerEndOfStream)
	return c.flush()
}

var exceptionText = regexp.MustCompile(`(?s)^Code: (\d+)\. (?:DB::Exception: )?(.*)$`)

func (c *session) exception(err error) error {
	code, text := int64(1), err.Error()
	if m := exceptionText.FindStringSubmatch(text); m != nil {
		code, _ = strconv.ParseInt(m[1], 10, 32)
		text = m[2]
	}
	c.out.PutByte(proto.ServerException)
	(&wire.Exception{Code: wire.Error(code), Name: "DB::Exception", Message: "DB::Exception: " + text}).EncodeAware(&c.out, revision)
	return c.flush()
}

func (c *session) flush() error {
	_, err := c.conn.Write(c.out.Buf)
	c.out.Reset()
	return err
}

var escapes = strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\0`, "\x00")

// unquote returns the value of a custom setting or a parameter, which clients write as a literal of the engine.
func unquote(s string) string {
	if len(s) >= 2 && s[0] == '\'' && s[len(s)-1] == '\'' {
		s = escapes.Replace(s[1 : len(s)-1])
	}
	return s
}
