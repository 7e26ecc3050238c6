package publish

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/snapshot"
)

// page is the number of links in memory while a document is built.
const page = 500

// document is a full document in an unlinked file. The file is freed when its last reader closes it.
type document struct {
	file   *os.File
	size   int64
	cursor snapshot.Cursor
	refs   atomic.Int32
}

func (d *document) release() {
	if d != nil && d.refs.Add(-1) == 0 {
		d.file.Close()
	}
}

type documentReader struct {
	*io.SectionReader
	doc    *document
	closed atomic.Bool
}

func (r *documentReader) Close() error {
	if !r.closed.Swap(true) {
		r.doc.release()
	}
	return nil
}

// Snapshot implements snapshot.Source. The document may lack the newest revisions; the edge then continues with Changes. The
// returned reader also implements io.Seeker.
func (p *Publisher) Snapshot(ctx context.Context) (io.ReadCloser, error) {
	select {
	case p.building <- struct{}{}:
		defer func() { <-p.building }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	fresh, err := p.fresh(ctx, p.kept)
	if err != nil {
		return nil, fmt.Errorf("count changes since the last document: %w", err)
	}
	if !fresh {
		d, err := p.build(ctx)
		if err != nil {
			return nil, fmt.Errorf("build a full document: %w", err)
		}
		p.kept.release()
		p.kept = d
	}
	p.kept.refs.Add(1)
	return &documentReader{SectionReader: io.NewSectionReader(p.kept.file, 0, p.kept.size), doc: p.kept}, nil
}

// fresh reports whether a small delta leads from the document to the newest revision.
func (p *Publisher) fresh(ctx context.Context, d *document) (bool, error) {
	if d == nil {
		return false, nil
	}
	if err := p.comparable(ctx, d.cursor); err != nil {
		if errors.Is(err, snapshot.ErrTooOld) {
			return false, nil
		}
		return false, err
	}
	head, err := p.store.Revision(ctx)
	if err != nil || head == d.cursor.Revision {
		return err == nil, err
	}
	if ok, err := reaches(ctx, p.store.Conn, d.cursor.Revision); err != nil || !ok {
		return false, err
	}
	_, more, err := p.store.ChangesAfter(ctx, d.cursor.Revision, p.cfg.MaxBehind)
	return err == nil && !more, err
}

func (p *Publisher) build(ctx context.Context) (_ *document, err error) {
	start := time.Now()
	defer func() { p.counts.built(err, time.Since(start)) }()
	if p.cfg.Dir != "" {
		if err := os.MkdirAll(p.cfg.Dir, 0o700); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(p.cfg.Dir, "snapshot-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	d := &document{file: f}
	d.refs.Store(1)
	var hash snapshot.StateHash
	err = p.store.View(ctx, func(c store.Conn) error {
		var err error
		if d.cursor.Incarnation, d.cursor.Revision, err = c.Head(ctx); err != nil {
			return err
		}
		hash, err = p.writeDocument(ctx, c, f, d.cursor)
		return err
	})
	if err == nil {
		d.size, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	p.delta.know(d.cursor.Revision, hash)
	return d, nil
}

func (p *Publisher) writeDocument(ctx context.Context, c store.Conn, f io.Writer, cur snapshot.Cursor) (hash snapshot.StateHash,
	err error) {
	buf := bufio.NewWriterSize(f, 256<<10)
	w, err := snapshot.NewWriter(buf, cur)
	if err != nil {
		return hash, err
	}
	w.Sign(p.cfg.Key)
	for last := uint64(0); ; {
		list, err := c.FullLinksAfter(ctx, last, page)
		if err != nil {
			return hash, err
		}
		for i := range list {
			r := p.record(&list[i])
			if err := w.Add(&r); err != nil {
				return hash, err
			}
			hash.Add(r.Key, r.Num, r.Revision)
		}
		if len(list) < page {
			break
		}
		last = list[len(list)-1].Num
	}
	if err := w.Close(); err != nil {
		return hash, err
	}
	return hash, buf.Flush()
}
