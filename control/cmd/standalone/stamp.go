package main

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/shortline/shortline/control/internal/clicks/analytics/duckdb"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/durable"
	"github.com/shortline/shortline/shared/snapshot"
)

// The links, the clicks and the edge of a folder belong together. A copy of one of them from an earlier time or from another
// folder would not be noticed otherwise: new links would get the clicks of lost ones, and new clicks the numbers of stored
// ones. So each of the three has a stamp: the random number of the folder, and the number of the newest start.
//
// A start writes its number into the links, the clicks, the edge, and again into the links. The start in the links is twice the
// number while the others may still have the number before, and one more when they all have it. The edge's stamp is a file.
type stamp struct{ folder, start uint32 }

// firstStart is the stamp's start in the links of a folder whose first start was not completed.
const firstStart = 2

// number returns the number of the start in the stamp of links, and whether the others may have the number before.
func (s stamp) number() (n uint32, begun bool) { return s.start / 2, s.start%2 == 0 }

// stamped is a data folder with its open stores.
type stamped struct {
	dir    string
	links  *store.Store
	clicks *duckdb.Store
	log    *slog.Logger
}

// join checks that the three parts belong together, repairs what loses nothing, and stamps them. With accept it repairs the
// rest, too, and logs what is lost.
func (f *stamped) join(ctx context.Context, accept bool) error {
	links, clicks, edge, err := f.stamps(ctx)
	if err != nil {
		return err
	}
	if err := f.related(links, clicks, edge); err != nil {
		return err
	}
	if behind := f.older(links, clicks); behind != nil {
		// A copy over the files of a killed program gets its journal, and the newer start with it.
		if err := checkLinks(ctx, f.dir, f.links); err != nil {
			return err
		}
		if !accept {
			return behind
		}
		f.log.Warn("older copy accepted", "reason", behind.Error())
	}
	if n, _ := links.number(); clicks.start > n {
		err = f.fork(ctx)
	} else {
		err = f.followEdge(ctx, links, edge)
	}
	if err != nil {
		return err
	}
	return f.stampParts(ctx, links, clicks, edge)
}

// stamps reads the three stamps. A stamp of the edge that cannot be read is like none.
func (f *stamped) stamps(ctx context.Context) (links, clicks, edge stamp, err error) {
	if links.folder, links.start, err = f.links.Stamp(ctx); err != nil {
		return links, clicks, edge, fmt.Errorf("read the stamp of %s: %w", linksFile, err)
	}
	if clicks.folder, clicks.start, err = f.clicks.Stamp(ctx); err != nil {
		return links, clicks, edge, fmt.Errorf("read the stamp of %s: %w", clicksFile, err)
	}
	edge, err = readStamp(f.dir)
	return links, clicks, edge, err
}

// related returns an error if two parts are of different folders.
func (f *stamped) related(links, clicks, edge stamp) error {
	const advice = "restore the whole folder from one backup into an empty folder"
	if links.folder != 0 && clicks.folder != 0 && links.folder != clicks.folder {
		return fmt.Errorf("DATA_DIR: %s and %s in %s are of different folders, so clicks would count for the wrong links: %s",
			linksFile, clicksFile, f.dir, advice)
	}
	if links.folder != 0 && edge.folder != 0 && links.folder != edge.folder {
		return fmt.Errorf("DATA_DIR: %s and the folder %s in %s are of different folders: move %[2]s away. "+
			"Clicks that it has not delivered belong to the other folder", linksFile, edgeFolder, f.dir)
	}
	return nil
}

// older returns an error if the links or the clicks are an earlier copy than the other.
func (f *stamped) older(links, clicks stamp) error {
	n, begun := links.number()
	const advice = "Restore both from one backup into an empty folder, or accept the loss with `standalone repair`"
	switch {
	case clicks.start == n || begun && clicks.start+1 == n:
		return nil
	case clicks.start > n:
		return fmt.Errorf("DATA_DIR: %s in %s is of start %d and %s of start %d, so %[1]s is an older copy: "+
			"links, users and changes since then are missing. %[6]s", linksFile, f.dir, n, clicksFile, clicks.start, advice)
	}
	return fmt.Errorf("DATA_DIR: %s in %s is of start %d and %s of start %d, so %[1]s is an older copy: clicks since then are missing, "+
		"except for those of the last day that the edge still has. %[6]s", clicksFile, f.dir, clicks.start, linksFile, n, advice)
}

// followEdge makes the links safe to use with the edge that is in the folder. The edge loses nothing: it loads the links again,
// and clicks that it has not delivered stay.
func (f *stamped) followEdge(ctx context.Context, links, edge stamp) error {
	used, err := holds(f.dir, edgeFile)
	if err != nil {
		return err
	}
	n, begun := links.number()
	if !used {
		if n > 0 && !begun {
			f.log.Warn("edge missing, starting without it", "effect", "clicks that it had not delivered are missing")
		}
		return nil
	}
	if edge.start == n || begun && edge.start+1 == n {
		return nil
	}
	if edge.start > n {
		f.log.Warn("links older than the edge, publishing them again", "start", n, "edge", edge.start,
			"effect", "links and changes since the backup are missing")
	} else {
		f.log.Warn("edge is an older copy, numbering clicks anew", "start", n, "edge", edge.start,
			"effect", "clicks that it had not delivered later are missing")
	}
	return f.fork(ctx)
}

// followApplied is followEdge for a copy of the same start: the edge has loaded its state, and serves a revision that the links do
// not have.
func followApplied(ctx context.Context, links *store.Store, applied snapshot.Cursor, log *slog.Logger) error {
	incarnation, revision, err := links.Head(ctx)
	if err != nil {
		return fmt.Errorf("read the newest revision: %w", err)
	}
	if applied.Incarnation != incarnation || applied.Revision <= revision {
		return nil
	}
	log.Warn("links older than the edge, publishing them again", "revision", revision, "edge", applied.Revision,
		"effect", "links and changes since the backup are missing")
	return links.Fork(ctx)
}

// fork lets the edge begin again: all links are published again, and its clicks have numbers of a new edge. Clicks in its spool
// keep theirs.
func (f *stamped) fork(ctx context.Context) error {
	if err := f.links.Fork(ctx); err != nil {
		return fmt.Errorf("start a new log of link changes: %w", err)
	}
	for _, spool := range []string{"spool", "conversions"} {
		if err := os.Remove(filepath.Join(f.dir, edgeFolder, spool, "instance.id")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("number clicks anew: %w", err)
		}
	}
	return nil
}

// stampParts stamps the parts with the next number, or again with one whose start was interrupted.
func (f *stamped) stampParts(ctx context.Context, links, clicks, edge stamp) error {
	folder := links.folder
	if folder == 0 {
		folder = rand.Uint32N(1<<31-1) + 1
	}
	n, begun := links.number()
	if !begun || n == 0 || clicks.start > n || edge.start > n {
		n = max(n, clicks.start, edge.start) + 1
	}
	if err := f.links.SetStamp(ctx, folder, 2*n); err != nil {
		return fmt.Errorf("stamp %s: %w", linksFile, err)
	}
	if err := f.clicks.SetStamp(ctx, folder, n); err != nil {
		return fmt.Errorf("stamp %s: %w", clicksFile, err)
	}
	if err := writeStamp(f.dir, stamp{folder, n}); err != nil {
		return fmt.Errorf("stamp %s: %w", edgeFolder, err)
	}
	if err := f.links.SetStamp(ctx, folder, 2*n+1); err != nil {
		return fmt.Errorf("stamp %s: %w", linksFile, err)
	}
	return nil
}

// stampFile is the file with the stamp of the edge.
var stampFile = filepath.Join(edgeFolder, "stamp")

func readStamp(dir string) (s stamp, err error) {
	text, err := os.ReadFile(filepath.Join(dir, stampFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	if _, err := fmt.Sscanf(string(text), "%d %d", &s.folder, &s.start); err != nil || string(text) != s.String() {
		return stamp{}, nil
	}
	return s, nil
}

func writeStamp(dir string, s stamp) error {
	if err := os.MkdirAll(filepath.Join(dir, edgeFolder), 0o700); err != nil {
		return err
	}
	return durable.Write(filepath.Join(dir, stampFile), []byte(s.String()))
}

// String returns the content of the file.
func (s stamp) String() string {
	text := fmt.Sprintf("%d %d", s.folder, s.start)
	return fmt.Sprintf("%s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}
