//go:build linux && amd64

package main

import (
	"fmt"
	"log"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// statement is a client's statement, from either interface.
type statement struct {
	text     string
	database string            // "" is the engine's default
	settings map[string]string // of this statement only
	params   map[string]string
	format   string // of the result, unless the statement names another
	data     []byte // data of an insert
}

// defaults are settings of statements that do not name them. Tests ask small questions of many shapes: compiling them to
// machine code, or dividing them among threads, takes longer than answering them.
var defaults = map[string]string{
	"compile_aggregate_expressions": "0", "compile_expressions": "0", "compile_sort_description": "0", "max_threads": "1",
}

// lateAfter is after how long a statement is logged that has not ended. Tests that fail show these lines.
const lateAfter = time.Minute

// serve runs a statement on a connection that no other statement uses, and passes its result on. The bytes are valid only during the
// call.
func (e *engine) serve(s statement, with func([]byte) error) error {
	setup := s.setup()
	name := strings.Join(setup, ";")
	var runs atomic.Bool
	late := time.AfterFunc(lateAfter, func() {
		log.Printf("chd: a statement takes longer than %v (it has a connection: %v): %.300s", lateAfter, runs.Load(), s.text)
	})
	defer late.Stop()
	conn, ok := e.sessions.take(name)
	var err error
	if !ok {
		conn, err = e.openWith(setup)
	}
	if err != nil {
		return err
	}
	runs.Store(true)
	if err = e.runOn(conn, s, with); err != nil || ownState.MatchString(s.text) {
		e.closeConn(conn)
		return err
	}
	e.sessions.add(name, conn, e.closeConn)
	return nil
}

// ownState matches statements after which a connection differs from others with the same database and settings.
var ownState = regexp.MustCompile(`(?i)^\s*(SET|USE|CREATE\s+TEMPORARY|ATTACH|DETACH)\b`)

// setup returns the statements that choose the database and the settings.
func (s statement) setup() (list []string) {
	if s.database != "" {
		list = append(list, "USE `"+strings.ReplaceAll(s.database, "`", "\\`")+"`")
	}
	settings := maps.Clone(defaults)
	maps.Copy(settings, s.settings)
	var set []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		set = append(set, name+" = '"+strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(settings[name])+"'")
	}
	return append(list, "SET "+strings.Join(set, ", "))
}

// openWith opens a connection and runs the statements in setup on it. That takes as long as a small statement.
func (e *engine) openWith(setup []string) (uintptr, error) {
	conn, err := e.open()
	if err != nil {
		return 0, err
	}
	for _, text := range setup {
		if err := e.run(conn, text, "Null", nil, func([]byte) error { return nil }); err != nil {
			e.closeConn(conn)
			return 0, err
		}
	}
	return conn, nil
}

func (e *engine) runOn(conn uintptr, s statement, with func([]byte) error) error {
	text := s.text
	if s.data != nil {
		file, err := memoryFile(s.data)
		if err != nil {
			return err
		}
		defer file.Close()
		text = insertFrom(text, file)
	}
	return e.run(conn, text, s.format, s.params, with)
}

var insertFormat = regexp.MustCompile(`(?is)\s+FORMAT\s+(\w+)\s*;?\s*$`)

// insertFrom makes an insert read its data from a file. Data in the statement does not work: the engine's parser ends
// it at an empty line, and two line feeds may be part of a number.
func insertFrom(query string, file *os.File) string {
	format := "Native"
	if at := insertFormat.FindStringSubmatchIndex(query); at != nil {
		format, query = query[at[2]:at[3]], query[:at[0]]
	}
	return fmt.Sprintf("%s FROM INFILE '/proc/self/fd/%d' COMPRESSION 'none' FORMAT %s", query, file.Fd(), format)
}

func memoryFile(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("insert", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	file := os.NewFile(uintptr(fd), "insert")
	if _, err := file.Write(data); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
