package agent

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/durable"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
)

// There are two files on disk. The state file is a header (magic "SLNKEDGE", format u16, schema u16, CRC-32C of these u32,
// little-endian) and a full document; it is always replaced as a whole. The log holds the deltas since then, each after
// its length u32 and CRC-32C u32. A log that does not continue its state, or has a torn end, is read as far as possible.
// The agent requests missing changes again.
const (
	stateName   = "links.state"
	logName     = "links.log"
	stateMagic  = "SLNKEDGE"
	stateFormat = 1
	stateHeader = 16
	frameHeader = 8
	frameMax    = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type disk struct {
	dir     string
	program string // release of the program

	log   *os.File
	size  int64           // of the valid part of the log
	at    snapshot.Cursor // position of the state with its log
	valid bool            // at and size describe the files
	base  snapshot.Cursor // of the state file

	lock  *os.File    // open while this agent has locked the folder
	state fs.FileInfo // of the state file when it was read
	read  int64       // length of the log when it was read
}

func openDisk(dir, program string) (*disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	log, err := os.OpenFile(filepath.Join(dir, logName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	return &disk{dir: dir, program: program, log: log}, nil
}

// own locks the folder, so that this process may write to it. changed reports whether another process changed the files
// since they were read; their content then counts as unknown.
func (d *disk) own() (changed bool, err error) {
	if d.lock, err = durable.Lock(d.dir); err != nil {
		return false, fmt.Errorf("agent: %w", err)
	}
	now, err := os.Stat(filepath.Join(d.dir, stateName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	log, err := d.log.Stat()
	if err != nil {
		return false, err
	}
	if (now == nil) != (d.state == nil) || now != nil && !os.SameFile(now, d.state) || log.Size() != d.read {
		d.valid = false
		return true, nil
	}
	if !d.valid {
		return false, nil
	}
	return false, d.log.Truncate(d.size) // removes the rest of a write that a crash interrupted
}

func (d *disk) close() error {
	err := d.log.Close()
	if d.lock != nil {
		err = errors.Join(err, durable.Unlock(d.lock))
	}
	return err
}

type found struct {
	state       bool
	olderSchema bool
	deltas      int
	restored    bool   // loaded from the image
	refused     error  // why the image was not loaded
	missing     *image // image that must be written
}

// load loads the state on disk into the table, from the image if images is true and there is one. Even with an error,
// found describes what was loaded.
func (d *disk) load(t *table.Table, images bool) (found, error) {
	return d.loadSlot(t, stateName, d.log, nil, images)
}

// loadSlot loads a state file and its log, up to a cursor if upTo is not nil.
func (d *disk) loadSlot(t *table.Table, name string, deltas io.ReaderAt, upTo *snapshot.Cursor,
	images bool) (found, error) {
	var f found
	log, err := d.log.Stat()
	if err != nil {
		return f, err
	}
	d.read = log.Size()
	if d.state, err = os.Stat(filepath.Join(d.dir, stateName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	file, err := os.Open(filepath.Join(d.dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	defer func() { _ = file.Close() }() // read only
	schema, err := readStateHeader(file)
	if err != nil {
		return f, fmt.Errorf("read %s: %w", stateName, err)
	}
	var bond []byte
	if upTo == nil {
		if bond, err = d.bond(file); err != nil {
			return f, fmt.Errorf("read %s: %w", stateName, err)
		}
	}
	if images {
		f.refused = d.restore(t, bond)
		f.restored = f.refused == nil
	}
	if !f.restored {
		builder := t.NewBuilder()
		cur, err := snapshot.Decode(file, snapshot.Limits{}, builder.Add)
		if err != nil {
			return f, fmt.Errorf("read %s: %w", stateName, err)
		}
		if err := t.Load(builder, cur); err != nil {
			return f, fmt.Errorf("read %s: %w", stateName, err)
		}
		if bond != nil {
			f.missing = &image{t.Image(), bond}
		}
	}
	f.state, f.olderSchema = true, schema < snapshot.Schema
	d.base = t.Cursor()
	f.deltas, err = d.replay(t, deltas, upTo)
	d.at, d.valid = t.Cursor(), true
	return f, err
}

func readStateHeader(r io.Reader) (schema uint16, err error) {
	var h [stateHeader]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return 0, err
	}
	if string(h[:8]) != stateMagic || binary.LittleEndian.Uint32(h[12:]) != crc32.Checksum(h[:12], castagnoli) {
		return 0, errors.New("not a state file of an edge")
	}
	if format := binary.LittleEndian.Uint16(h[8:]); format != stateFormat {
		return 0, fmt.Errorf("unknown format %d", format)
	}
	return binary.LittleEndian.Uint16(h[10:]), nil
}

// replay applies a log, up to a cursor if upTo is not nil. It sets size to the end of the valid part.
func (d *disk) replay(t *table.Table, log io.ReaderAt, upTo *snapshot.Cursor) (deltas int, err error) {
	const most = 16 << 20 // bytes of deltas in one batch; applying many deltas one by one would take longer than loading a document
	r := bufio.NewReader(io.NewSectionReader(log, 0, 1<<62))
	at := t.Cursor()
	for more := true; more; {
		var batch []snapshot.Delta
		var ends []int64 // offset of the end of each delta in the log
		end := d.size
		for more && end-d.size < most && err == nil {
			var wire []byte
			var delta snapshot.Delta
			if wire, err = readFrame(r); err != nil {
				more, err = false, nil // the end of the log, or of its part that was written completely
				break
			}
			if delta, err = snapshot.DecodeDelta(wire); err != nil {
				err = fmt.Errorf("read %s at %d: %w", logName, end, err)
				break
			}
			if upTo != nil && !within(snapshot.Cursor{Incarnation: delta.Incarnation, Revision: delta.To}, *upTo) {
				more = false
				break
			}
			end += frameHeader + int64(len(wire))
			// A crash before the log was emptied leaves deltas that the state contains already.
			if delta.Incarnation == at.Incarnation && delta.To > at.Revision {
				at.Revision = delta.To
				batch, ends = append(batch, delta), append(ends, end)
			}
		}
		n, refused := t.ApplyAll(batch)
		deltas += n
		if refused != nil {
			if n > 0 {
				d.size = ends[n-1]
			}
			return deltas, fmt.Errorf("replay %s at %d: %w", logName, d.size, refused)
		}
		d.size = end
		if err != nil {
			return deltas, err
		}
	}
	return deltas, nil
}

func readFrame(r *bufio.Reader) ([]byte, error) {
	var h [frameHeader]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(h[:])
	if n == 0 || n > frameMax {
		return nil, io.ErrUnexpectedEOF
	}
	// Read with a limit instead of allocating n bytes: a damaged length must not cost a gigabyte.
	wire, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return nil, err
	}
	if len(wire) != int(n) || crc32.Checksum(wire, castagnoli) != binary.LittleEndian.Uint32(h[4:]) {
		return nil, io.ErrUnexpectedEOF
	}
	return wire, nil
}

var errGap = errors.New("agent: the delta does not continue the state on disk")

// append adds deltas to the log and syncs it.
func (d *disk) append(deltas [][]byte) error {
	var frames []byte
	at := d.at
	for _, wire := range deltas {
		delta, err := snapshot.DecodeDelta(wire)
		if err != nil {
			return fmt.Errorf("agent: decode an applied delta: %w", err)
		}
		if d.valid && delta.Incarnation == at.Incarnation && delta.To <= at.Revision {
			continue // the state file contains it
		}
		if !d.valid || (snapshot.Cursor{Incarnation: delta.Incarnation, Revision: delta.From}) != at {
			return errGap
		}
		at.Revision = delta.To
		frames = binary.LittleEndian.AppendUint32(frames, uint32(len(wire)))
		frames = binary.LittleEndian.AppendUint32(frames, crc32.Checksum(wire, castagnoli))
		frames = append(frames, wire...)
	}
	if len(frames) == 0 {
		return nil
	}
	if _, err := d.log.WriteAt(frames, d.size); err != nil {
		return fmt.Errorf("write %s: %w", logName, err)
	}
	if err := d.log.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", logName, err)
	}
	d.size += int64(len(frames))
	d.at = at
	return nil
}

// replace writes the current table to a new state file and empties the log. It returns the image to write next.
func (d *disk) replace(ctx context.Context, t *table.Table) (*image, error) {
	still := &image{Image: t.Image()}
	err := durable.Replace(filepath.Join(d.dir, stateName), func(file *os.File) (err error) {
		if err = writeState(ctx, file, still.Image); err == nil {
			still.bond, err = d.bond(file)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", stateName, err)
	}
	at := still.Cursor()
	d.at, d.base, d.valid, d.size = at, at, true, 0
	// If a crash prevents this, the log holds deltas that the state contains, or that do not continue it; both are skipped.
	if err := errors.Join(d.log.Truncate(0), d.log.Sync()); err != nil {
		return nil, fmt.Errorf("empty %s: %w", logName, err)
	}
	d.dropImage()
	return still, nil
}

func writeState(ctx context.Context, file io.Writer, still *table.Image) error {
	buffered := bufio.NewWriterSize(file, 1<<20)
	h := append(make([]byte, 0, stateHeader), stateMagic...)
	h = binary.LittleEndian.AppendUint16(h, stateFormat)
	h = binary.LittleEndian.AppendUint16(h, snapshot.Schema)
	h = binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
	if _, err := buffered.Write(h); err != nil {
		return err
	}
	doc, err := snapshot.NewFastWriter(buffered, still.Cursor())
	if err != nil {
		return err
	}
	n := 0
	err = still.Records(func(r *link.Record) error {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return doc.Add(r)
	})
	if err != nil {
		return err
	}
	return errors.Join(doc.Close(), buffered.Flush())
}

const (
	diskRetry = 15 * time.Second
	lastWrite = 20 * time.Second
)

// keep writes applied deltas to the log, rewrites the state file when that is due, and folds the table. After follow has
// ended it writes the rest.
func (a *Agent) keep(ctx context.Context, followed <-chan struct{}) {
	retry := time.NewTimer(0)
	defer retry.Stop()
	var failed time.Time
	for running := true; running; {
		var batch [][]byte
		select {
		case <-followed:
			running = false
		case wire := <-a.unwritten:
			batch = append(batch, wire)
		case <-a.disturb:
		case <-retry.C:
		}
		for more := true; more; {
			select {
			case wire := <-a.unwritten:
				batch = append(batch, wire)
			default:
				more = false
			}
		}
		if running && a.rewrite.Load() && time.Since(failed) < diskRetry {
			continue // the state file will contain this batch; do not retry at every change if the disk is full
		}
		limited, cancel := ctx, context.CancelFunc(func() {})
		if !running {
			limited, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWrite)
		}
		err := a.writeChanges(limited, batch)
		cancel()
		if err != nil && (ctx.Err() == nil || !running) {
			a.stats.diskErrors.Add(1)
			a.cfg.Logger.Error("link state not written", "error", err)
			failed = time.Now()
			retry.Reset(diskRetry + time.Second)
		}
	}
}

// logLimit balances the time that a start needs to replay the log against the cost of rewriting all links.
func (a *Agent) logLimit() int64 {
	if a.cfg.LogBytes != 0 {
		return a.cfg.LogBytes
	}
	return max(8<<20, a.cfg.Table.Bytes()/32)
}

func (a *Agent) writeChanges(ctx context.Context, batch [][]byte) error {
	if len(batch) > 0 && !a.rewrite.Load() {
		err := a.disk.append(batch)
		if err != nil || a.disk.size > a.logLimit() {
			a.rewrite.Store(true)
		}
		if err == nil {
			a.stats.written.Store(time.Now().UnixMilli())
		} else if !errors.Is(err, errGap) {
			return err
		}
	}
	if a.cfg.Table.FoldDue() {
		a.cfg.Table.Fold()
	}
	if !a.rewrite.Load() || !a.Ready() { // without a state, do not overwrite the files
		return nil
	}
	// Cleared before the table is read, so changes that are applied later go to the log or set it again.
	a.rewrite.Store(false)
	a.mu.Lock()
	proven := a.ledger.Proven
	a.mu.Unlock()
	if a.disk.valid && within(a.disk.base, proven) {
		if err := a.disk.setAside(); err != nil {
			a.stats.diskErrors.Add(1) // not fatal: without the other slot only a rollback is impossible
			a.cfg.Logger.Warn("proven state not kept", "error", err)
		}
	}
	still, err := a.disk.replace(ctx, a.cfg.Table)
	if err != nil {
		a.rewrite.Store(true)
		return err
	}
	if err := a.vouch(); err != nil {
		a.noteTrust(err)
	}
	a.image.Store(still)
	wake(a.imaged)
	a.stats.written.Store(time.Now().UnixMilli())
	return nil
}
