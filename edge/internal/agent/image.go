package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/snapshot"
)

// Beside the state lies its image: the same links in the form in which the table has them, so that a start need not
// unpack, decode and compile. It belongs to one state file, byte for byte, and to one release of the program. It is
// nothing that anything depends on: where it is missing or anything about it is doubtful, the state file is read.
const (
	imageName = "links.image"

	// Of a state file's end, which has the hash of all before it.
	bondBytes = 128
	// So many bytes wait for the disk at most while an image is written: clicks want to get there too.
	imagePace = 16 << 20
	// An image that isn't written yet when the agent ends gets so much longer.
	lastImage = 3 * time.Second
)

// image is one on its way to the disk.
type image struct {
	*table.Image
	bond []byte
}

// bond names all that an image and its reader must agree on.
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

// restore puts the image of a state file into the table. It returns fs.ErrNotExist where there is none.
func (d *disk) restore(t *table.Table, bond []byte) error {
	file, err := os.Open(filepath.Join(d.dir, imageName))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read from
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return t.Restore(file, info.Size(), bond)
}

// writeImage replaces the image.
func (d *disk) writeImage(ctx context.Context, i *image) error {
	path := filepath.Join(d.dir, imageName)
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", imageName, err)
	}
	err = i.Write(&paced{ctx: ctx, file: file}, i.bond)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		_ = os.Remove(path + ".new") // it only takes up room
		return fmt.Errorf("write %s: %w", imageName, err)
	}
	return syncDir(d.dir)
}

// dropImage makes room once the state is another one. Should the image stay, it is refused.
func (d *disk) dropImage() { _ = os.Remove(filepath.Join(d.dir, imageName)) }

// paced writes as fast as the disk does, until its context ends.
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

// images writes what the keeper wants written, one after the other, until it has ended. Deltas reach the log meanwhile.
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
			a.cfg.Logger.Warn("image_not_written", "error", err, "advice", "nothing: the next start takes longer")
			continue
		}
		a.cfg.Logger.Debug("image_written", "revision", i.Cursor().Revision, "seconds", time.Since(start).Seconds())
	}
}
