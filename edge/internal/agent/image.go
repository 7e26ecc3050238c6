package agent

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/durable"
	"github.com/shortline/shortline/shared/snapshot"
)

// Next to the state file there is its image: the same links in the table's memory layout, so that a start need not
// decompress, decode and compile them. An image belongs to exactly one state file and one release of the program. It is
// optional: if it is missing or does not match, the state file is read.
const (
	imageName = "links.image"

	// Bytes at the end of a state file that identify it, because they contain the hash of all bytes before them.
	bondBytes = 128
	// Bytes between two syncs while an image is written, so that writes of clicks do not wait behind it.
	imagePace = 16 << 20
	// Extra time for an image that is being written when the agent ends.
	lastImage = 3 * time.Second
)

// image is an image that waits to be written.
type image struct {
	*table.Image
	bond []byte
}

// bond identifies the state file, schema and release that an image belongs to. Writer and reader must have the same bond.
func (d *disk) bond(state *os.File) ([]byte, error) {
	info, err := state.Stat()
	if err != nil {
		return nil, err
	}
	end := make([]byte, min(info.Size(), bondBytes))
	if _, err := state.ReadAt(end, info.Size()-int64(len(end))); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "program %q\nschema %d\nstate of %d bytes ending in %x\n", d.program, snapshot.Schema, info.Size(), end), nil
}

// restore loads the image of a state file into the table. It returns fs.ErrNotExist if there is no image.
func (d *disk) restore(t *table.Table, bond []byte) error {
	file, err := os.Open(filepath.Join(d.dir, imageName))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // read only
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return t.Restore(file, info.Size(), bond)
}

// writeImage replaces the image.
func (d *disk) writeImage(ctx context.Context, i *image) error {
	err := durable.Replace(filepath.Join(d.dir, imageName), func(file *os.File) error {
		return i.Write(&paced{ctx: ctx, file: file}, i.bond)
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", imageName, err)
	}
	return nil
}

// dropImage frees the space of an image whose state was replaced. If deletion fails, the image is rejected later.
func (d *disk) dropImage() { _ = os.Remove(filepath.Join(d.dir, imageName)) }

// paced is a writer that syncs regularly, until its context ends.
type paced struct {
	ctx    context.Context
	file   *os.File
	behind int
}

var _ io.Writer = (*paced)(nil)

func (p *paced) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.file.Write(b)
	if p.behind += n; err == nil && p.behind >= imagePace {
		p.behind, err = 0, p.file.Sync()
	}
	return n, err
}

// images writes the images that keep queues, one at a time, until keep has ended. keep appends deltas to the log meanwhile.
func (a *Agent) images(ctx context.Context, kept <-chan struct{}) {
	for running := true; running; {
		select {
		case <-a.imaged:
		case <-kept:
			running = false
		}
		i := a.image.Swap(nil)
		if i == nil {
			continue
		}
		start := time.Now()
		if err := a.disk.writeImage(ctx, i); err != nil {
			if ctx.Err() == nil {
				a.stats.diskErrors.Add(1)
			}
			a.cfg.Logger.Warn("image not written", "error", err, "effect", "the next start takes longer")
			continue
		}
		a.cfg.Logger.Debug("image written", "revision", i.Cursor().Revision, "seconds", time.Since(start).Seconds())
	}
}
