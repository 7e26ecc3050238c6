//go:build linux && amd64

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// engine is the loaded library and the folder of its connections. One connection stays open; otherwise the engine would
// shut down after each request.
type engine struct {
	args     []string
	first    uintptr
	sessions sessions

	connect   func(argc int32, argv unsafe.Pointer) uintptr
	closeConn func(conn uintptr)
	query     func(conn uintptr, text unsafe.Pointer, textLen uintptr, format unsafe.Pointer, formatLen uintptr, names, nameLens, values,
		valueLens unsafe.Pointer, n uintptr) uintptr
	buffer         func(result uintptr) unsafe.Pointer
	length         func(result uintptr) uintptr
	failure        func(result uintptr) unsafe.Pointer
	destroy        func(result uintptr)
	signalHandlers func(enabled int32)
}

// settings limit the engine's use of a machine that runs other tests at the same time. Backups with File() go to the
// given folder, as in deploy/clickhouse/shortline.xml.
const settings = `<clickhouse>
	<backups><allowed_path>%s</allowed_path></backups>
	<max_server_memory_usage>4000000000</max_server_memory_usage>
	<mark_cache_size>67108864</mark_cache_size>
	<uncompressed_cache_size>67108864</uncompressed_cache_size>
</clickhouse>
`

func open(library, dir string) (*engine, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	backups := filepath.Join(dir, "backups") + "/"
	if err := os.MkdirAll(backups, 0o700); err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "config.xml")
	if err := os.WriteFile(config, fmt.Appendf(nil, settings, backups), 0o600); err != nil {
		return nil, err
	}
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", library, err)
	}
	e := &engine{args: []string{"chd", "--path=" + filepath.Join(dir, "store"), "--config-file=" + config}}
	for name, f := range map[string]any{
		"chdb_connect": &e.connect, "chdb_close_conn": &e.closeConn, "chdb_query_with_params_n": &e.query,
		"chdb_result_buffer": &e.buffer, "chdb_result_length": &e.length, "chdb_result_error": &e.failure,
		"chdb_destroy_query_result": &e.destroy, "chdb_set_signal_handlers_enabled": &e.signalHandlers,
	} {
		purego.RegisterLibFunc(f, handle, name)
	}
	keepSignals(func() { e.signalHandlers(0) })
	e.first, err = e.open()
	return e, err
}

// open opens a connection: a session with one statement at a time.
func (e *engine) open() (uintptr, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	argv, _ := cStrings(&pin, e.args)
	var conn uintptr
	keepSignals(func() { conn = e.connect(int32(len(e.args)), argv) })
	if conn == 0 {
		return 0, errors.New("the engine cannot open its folder; another process may use it")
	}
	return conn, nil
}

// run runs a statement and passes its result on. The bytes are valid only during the call.
func (e *engine) run(conn uintptr, text, format string, params map[string]string, with func([]byte) error) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	names, values := make([]string, 0, len(params)), make([]string, 0, len(params))
	for name, value := range params {
		names, values = append(names, name), append(values, value)
	}
	n, nLens := cStrings(&pin, names)
	v, vLens := cStrings(&pin, values)
	t, f := cString(&pin, text), cString(&pin, format)
	// conn is a pointer to the handle that statements use.
	handle := *(*uintptr)(*(*unsafe.Pointer)(unsafe.Pointer(&conn)))
	result := e.query(handle, t, uintptr(len(text)), f, uintptr(len(format)), n, nLens, v, vLens, uintptr(len(names)))
	if result == 0 {
		return errors.New("the engine returned no result")
	}
	defer e.destroy(result)
	if p := e.failure(result); p != nil {
		return failure(goString(p))
	}
	p, size := e.buffer(result), e.length(result)
	if p == nil {
		size = 0
	}
	return with(unsafe.Slice((*byte)(p), size))
}

// failure is the engine's message about a failed statement.
type failure string

func (f failure) Error() string { return string(f) }

func cString(pin *runtime.Pinner, s string) unsafe.Pointer {
	b := append([]byte(s), 0)
	pin.Pin(&b[0])
	return unsafe.Pointer(&b[0])
}

// cStrings makes a C array of strings, and one of their lengths.
func cStrings(pin *runtime.Pinner, list []string) (array, lengths unsafe.Pointer) {
	if len(list) == 0 {
		return nil, nil
	}
	pointers, sizes := make([]unsafe.Pointer, len(list)+1), make([]uintptr, len(list))
	for i, s := range list {
		pointers[i], sizes[i] = cString(pin, s), uintptr(len(s))
	}
	pin.Pin(&pointers[0])
	pin.Pin(&sizes[0])
	return unsafe.Pointer(&pointers[0]), unsafe.Pointer(&sizes[0])
}

func goString(p unsafe.Pointer) string {
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}
