//go:build linux && amd64

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"regexp"
	"strings"

	"github.com/ClickHouse/ch-go/compress"
)

// front is ClickHouse's HTTP interface.
type front struct{ engine *engine }

// notSettings are URL parameters for the interface, which are not settings of the engine.
var notSettings = map[string]bool{"query": true, "database": true, "default_format": true, "compress": true, "decompress": true,
	"client_protocol_version": true, "query_id": true, "quota_key": true, "user": true, "password": true,
	"network_compression_method":     true,
	"network_zstd_compression_level": true, "wait_end_of_query": true}

var errorCode = regexp.MustCompile(`Code: (\d+)\.`)

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/ping" {
		_, _ = io.WriteString(w, "Ok.\n")
		return
	}
	err := f.serve(w, r)
	if err == nil {
		return
	}
	var failed failure
	if !errors.As(err, &failed) {
		log.Println("chd:", err)
	}
	status := http.StatusInternalServerError
	if code := errorCode.FindStringSubmatch(err.Error()); code != nil {
		w.Header().Set("X-ClickHouse-Exception-Code", code[1])
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, err.Error())
}

func (f *front) serve(w http.ResponseWriter, r *http.Request) error {
	url := r.URL.Query()
	// The whole body is read before any of it counts: a client that dies half way has inserted nothing.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if url.Get("decompress") == "1" {
		if body, err = inflate(body); err != nil {
			return fmt.Errorf("decompress the request: %w", err)
		}
	}
	query := url.Get("query")
	if query == "" {
		query, body = string(body), nil
	}
	reply := func(result []byte) error {
		return send(w, result, url.Get("compress") == "1", url.Get("network_compression_method"))
	}
	if query == hello {
		return reply(helloBlock())
	}

	st := statement{text: query, database: url.Get("database"), settings: map[string]string{}, params: map[string]string{},
		format: "TabSeparated", data: body}
	for name := range url {
		if p, ok := strings.CutPrefix(name, "param_"); ok {
			st.params[p] = url.Get(name)
		} else if !notSettings[name] {
			st.settings[name] = url.Get(name)
		}
	}
	if format := url.Get("default_format"); format != "" {
		st.format = format
	}
	return f.engine.serve(st, reply)
}

func inflate(data []byte) ([]byte, error) {
	out, err := io.ReadAll(compress.NewReader(bytes.NewReader(data)))
	if errors.Is(err, io.EOF) { // how the compress reader ends
		err = nil
	}
	return out, err
}

// blockSize is how many bytes are compressed at a time.
const blockSize = 1 << 20

func send(w http.ResponseWriter, data []byte, compressed bool, method string) error {
	w.Header().Set("Content-Type", "application/octet-stream")
	if !compressed || len(data) == 0 {
		_, err := w.Write(data)
		return err
	}
	m := compress.LZ4
	if strings.EqualFold(method, "zstd") {
		m = compress.ZSTD
	}
	c := compress.NewWriter(compress.LevelZero, m)
	for len(data) > 0 {
		n := min(len(data), blockSize)
		if err := c.Compress(data[:n]); err != nil {
			return err
		}
		if _, err := w.Write(c.Data); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// hello is the first query of the Go driver.
const hello = "SELECT displayName(), version(), revision(), timezone()"

// helloBlock answers hello in the form of a new protocol revision, which the driver expects before it knows any. It
// reports revision 0, so all later blocks are plain Native, which is the engine's format.
func helloBlock() []byte {
	// Block information: field 1, no overflow; field 2, bucket -1; end of fields.
	b := []byte{1, 0, 2, 0xff, 0xff, 0xff, 0xff, 0}
	b = append(b, 4, 1) // columns, rows
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	column := func(name, kind string) {
		text(name)
		text(kind)
		b = append(b, 0) // default serialization
	}
	column("displayName()", "String")
	text("chd")
	column("version()", "String")
	text(version)
	column("revision()", "UInt32")
	b = binary.LittleEndian.AppendUint32(b, 0)
	column("timezone()", "String")
	text("UTC")
	return b
}
