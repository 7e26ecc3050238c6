// Command goclient writes the types and methods of the Go client from the OpenAPI document on standard input. Run it with go generate
// in the folder client. With -check it writes nothing, and fails if a file is not what it would write.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"io"
	"os"
	"path/filepath"
)

//go:embed names.txt
var names string

const suffix = ".gen.go"

func main() {
	dir := flag.String("dir", ".", "folder of the client")
	check := flag.Bool("check", false, "fail if a file is not what would be written")
	flag.Parse()
	if err := run(os.Stdin, *dir, *check); err != nil {
		fmt.Fprintln(os.Stderr, "goclient:", err)
		os.Exit(1)
	}
}

func run(document io.Reader, dir string, check bool) error {
	text, err := io.ReadAll(document)
	if err != nil {
		return err
	}
	files, err := generate(text)
	if err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return err
	}
	for _, path := range old {
		if files[filepath.Base(path)] != nil {
			continue
		}
		if check {
			return fmt.Errorf("%s is stale: the document does not lead to such a file; run go generate in client", filepath.Base(path))
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for _, name := range sorted(files) {
		path := filepath.Join(dir, name)
		if !check {
			if err := os.WriteFile(path, files[name], 0o644); err != nil {
				return err
			}
			continue
		}
		if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, files[name]) {
			return fmt.Errorf("%s is stale: it differs from the document of the API; run go generate in client", name)
		}
	}
	return nil
}

// generate returns the texts of the files by their names.
func generate(document []byte) (map[string][]byte, error) {
	doc := &apiDocument{}
	if err := json.Unmarshal(document, doc); err != nil {
		return nil, fmt.Errorf("the document cannot be read: %w", err)
	}
	g := newGenerator(doc)
	if err := g.readNames(names); err != nil {
		return nil, err
	}
	if err := g.readOperations(); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, text := range g.files() {
		source, err := format.Source(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", name, err, text)
		}
		files[name] = source
	}
	return files, nil
}
