//go:build linux && amd64

package main

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// statement is what a client asks, over either interface.
type statement struct {
	text     string
	database string            // "" is the engine's default
	settings map[string]string // of this statement only
	params   map[string]string
	format   string // of the result, unless the text names another
	data     []byte // what an insert adds
}

// serve runs a statement on a connection of its own, so that settings don't outlive it, and passes its result on; the
// bytes are valid during the call only.
func (e *engine) serve(s statement, with func([]byte) error) error {
	conn, err := e.open()
	if err != nil {
		return err
	}
	defer e.closeConn(conn)
	nothing := func([]byte) error { return nil }
	if s.database != "" {
		if err := e.run(conn, "USE `"+strings.ReplaceAll(s.database, "`", "\\`")+"`", "Null", nil, nothing); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.settings)) {
		value := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s.settings[name])
		if err := e.run(conn, "SET "+name+" = '"+value+"'", "Null", nil, nothing); err != nil {
			return err
		}
	}
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

// insertFrom makes an insert read a file. Data behind a statement's text would not do: the engine's parser ends it at
// an empty line, and two line feeds may well be part of a number.
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
