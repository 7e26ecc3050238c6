//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/shortline/shortline/edge"
	record "github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// lifelike returns a realistic destination, which is hard to compress: hosts and words repeat, numbers do not.
func lifelike(r *rand.Rand, words []string) string {
	word := func() string { return words[min(int(r.ExpFloat64()*float64(len(words))/6), len(words)-1)] }
	b := fmt.Appendf(nil, "https://www.%s-%s.example/", word(), word())
	for range 2 + r.IntN(3) {
		b = append(append(b, word()...), "-/"[r.IntN(2)])
	}
	b = fmt.Appendf(b, "%s-%d", word(), r.Uint32())
	if r.IntN(2) == 0 {
		b = fmt.Appendf(b, "?utm_source=%s&utm_campaign=%s_%d&id=%x", word(), word(), r.IntN(1000), r.Uint32())
	}
	return string(b)
}

// writeDocument writes a snapshot of plain links with realistic slugs and destinations.
func writeDocument(path string, links int) (slug string, size int64, took time.Duration, err error) {
	f, err := os.Create(path)
	if err != nil {
		return "", 0, 0, err
	}
	defer f.Close()
	r := rand.New(rand.NewPCG(2, 2))
	words := make([]string, 4000)
	for i := range words {
		for range 3 + r.IntN(7) {
			words[i] += string(rune('a' + min(int(r.ExpFloat64()*6), 25)))
		}
	}
	began := time.Now()
	w, err := snapshot.NewWriter(f, snapshot.Cursor{Incarnation: 1, Revision: uint64(links)})
	if err != nil {
		return "", 0, 0, err
	}
	for i := range links {
		l := record.Record{
			Num: uint64(i + 1), Owner: uint64(r.IntN(5000)), Revision: uint64(i + 1), CreatedAt: 1_700_000_000_000 + int64(i)*50_000 +
				r.Int64N(50_000),
			Key: string(appendSlug(nil, classPlain, uint32(i))), Destination: lifelike(r, words),
		}
		if err := w.Add(&l); err != nil {
			return "", 0, 0, err
		}
	}
	if err := w.Close(); err != nil {
		return "", 0, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return "", 0, 0, err
	}
	return string(appendSlug(nil, classPlain, uint32(links/2))), info.Size(), time.Since(began), nil
}

// fileSource is a control plane with one document and without changes.
type fileSource struct {
	noChanges
	path string
}

func (s fileSource) Snapshot(context.Context) (io.ReadCloser, error) {
	if s.path == "" {
		return nil, fmt.Errorf("the control plane is unreachable")
	}
	return os.Open(s.path)
}

// serveCold runs a complete edge with a data folder. It loads the document if it has no links yet.
func serveCold(s *settings) error {
	return runEdge(s, edge.Config{DataDir: s.data}, edge.Deps{Links: fileSource{path: s.document}, Sink: nowhere{}},
		func(*edge.Edge) error { return nil })
}

// coldStart holds the results of starting an edge twice.
type coldStart struct {
	Links    int     `json:"links"`
	Wire     float64 `json:"from_the_wire_s"` // time from the start of the process to the first redirect
	Local    float64 `json:"from_local_state_s"`
	Resident float64 `json:"resident_mb"` // after the start
	Document float64 `json:"document_mb"`
	Written  float64 `json:"document_written_s"`
}

// measureCold starts an edge twice: with an empty folder, and with the state that the first start has stored.
func measureCold(dir string, links int) (c coldStart, err error) {
	document := filepath.Join(dir, "document")
	slug, size, took, err := writeDocument(document, links)
	if err != nil {
		return c, err
	}
	c.Links, c.Document, c.Written = links, float64(size)/1e6, took.Seconds()
	data := filepath.Join(dir, "data")
	defer os.RemoveAll(data)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, run := range []struct {
		document string
		to       *float64
	}{{document, &c.Wire}, {"", &c.Local}} {
		began := time.Now()
		child, err := start(self, -1, "cold", []string{"-data", data, "-document", run.document})
		if err != nil {
			return c, err
		}
		err = await(3*time.Minute, 2*time.Millisecond, func() error {
			r, err := client.Get("http://" + child.hello["plain"] + "/" + slug)
			if err != nil {
				return err
			}
			_ = r.Body.Close()
			if r.StatusCode != http.StatusFound {
				return fmt.Errorf("the edge answers %s", r.Status)
			}
			return nil
		})
		*run.to = time.Since(began).Seconds()
		if err == nil && run.document != "" {
			// Wait until the edge has stored its links for the next start. It writes the image last.
			err = await(3*time.Minute, 5*time.Millisecond, func() error {
				_, err := os.Stat(filepath.Join(data, "links", "links.image"))
				return err
			})
		}
		if err != nil {
			child.stop()
			return c, fmt.Errorf("cold start of an edge: %w", err)
		}
		client.CloseIdleConnections()
		child.ask("free")
		c.Resident = resident(child.cmd.Process.Pid)
		child.stop()
	}
	return c, nil
}
