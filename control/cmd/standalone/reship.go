package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/shared/click"
)

// reship ships clicks again that the click store has acknowledged and lost since, for example with its log. The edge's spool
// keeps acknowledged clicks for a day.
type reship struct {
	clicks *duckdb.Store
	log    *slog.Logger
	lanes  []gap // what the click store lacks
}

// gap is a range of clicks of an edge.
type gap struct {
	edge uint64
	click.Range
}

// newReship compares the click store with what the edge has delivered. If the store lacks clicks, the edge forgets that it has
// delivered them; clicks that are stored count once. It must be called before the edge opens its folder.
func newReship(ctx context.Context, dir string, clicks *duckdb.Store, log *slog.Logger) (*reship, error) {
	r := &reship{clicks: clicks, log: log}
	marks, err := clicks.Marks(ctx)
	if err != nil {
		return nil, err
	}
	spool := filepath.Join(dir, edgeFolder, "spool")
	delivered, err := deliveredBy(spool)
	if err != nil {
		return nil, err
	}
	stored := map[click.Lane]uint64{}
	for _, m := range marks {
		stored[m.Lane] = m.Seq
	}
	for lane, seq := range delivered {
		at, mark := markOf(lane, stored)
		if mark < seq {
			r.lanes = append(r.lanes, gap{at.Edge, click.Range{Epoch: lane.Epoch, Lane: lane.Lane, From: mark + 1, To: seq}})
		}
	}
	if len(r.lanes) == 0 {
		return r, nil
	}
	log.Warn("click store lacks delivered clicks, shipping them again", "clicks", r.clickCount(), "lanes", len(r.lanes))
	for _, path := range []string{filepath.Join(spool, shippedFile), filepath.Join(dir, edgeFolder, "conversions", shippedFile)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("ship clicks again: %w", err)
		}
	}
	return r, nil
}

// markOf returns the mark of a lane. A folder may have had another edge number before, whose epochs go on; see stamped.fork.
func markOf(lane click.Lane, stored map[click.Lane]uint64) (at click.Lane, mark uint64) {
	if mark, ok := stored[lane]; ok {
		return lane, mark
	}
	at = lane
	for other, seq := range stored {
		if other.Epoch == lane.Epoch && other.Lane == lane.Lane && seq > mark {
			at, mark = other, seq
		}
	}
	return at, mark
}

func (r *reship) clickCount() (n uint64) {
	for _, l := range r.lanes {
		n += l.Len()
	}
	return n
}

// report waits until the edge has delivered its clicks, and logs how many of those that were missing are lost.
func (r *reship) report(ctx context.Context, delivered func(context.Context) error) error {
	if len(r.lanes) > 0 && delivered(ctx) == nil {
		switch lost, err := r.lost(ctx); {
		case err != nil:
			r.log.Error("clicks that were shipped again not counted", "error", err.Error())
		case lost > 0:
			r.log.Error("clicks lost, not in the spool any more", "clicks", lost)
		default:
			r.log.Info("missing clicks stored again", "clicks", r.clickCount())
		}
	}
	<-ctx.Done()
	return nil
}

// lost returns how many of the missing clicks are not stored.
func (r *reship) lost(ctx context.Context) (n uint64, err error) {
	for _, l := range r.lanes {
		held, err := r.clicks.Held(ctx, l.Of(l.edge), l.From, l.To)
		if err != nil {
			return 0, err
		}
		n += l.Len() - min(held, l.Len())
	}
	return n, nil
}

// shippedFile is the file of a spool that says how far each lane was acknowledged: records of an epoch (32 bits), a lane (8
// bits) with a sequence number (56 bits), and a CRC-32C, little-endian. See package spool of the edge.
const (
	shippedFile   = "shipped"
	shippedRecord = 16
	shippedSeq    = 1<<56 - 1
)

// deliveredBy returns how far each lane of the edge that has a spool was acknowledged.
func deliveredBy(spool string) (map[click.Lane]uint64, error) {
	var edge uint64
	seqs := map[click.Lane]uint64{}
	text, err := os.ReadFile(filepath.Join(spool, "instance.id"))
	if errors.Is(err, fs.ErrNotExist) {
		return seqs, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Sscanf(string(text), "%16x", &edge); err != nil {
		return seqs, nil // the edge takes a new number
	}
	data, err := os.ReadFile(filepath.Join(spool, shippedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for ; len(data) >= shippedRecord; data = data[shippedRecord:] {
		b := data[:shippedRecord]
		if crc32.Checksum(b[:12], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(b[12:]) {
			continue
		}
		word := binary.LittleEndian.Uint64(b[4:])
		lane := click.Lane{Edge: edge, Epoch: binary.LittleEndian.Uint32(b), Lane: uint8(word >> 56)}
		seqs[lane] = max(seqs[lane], word&shippedSeq)
	}
	return seqs, nil
}
