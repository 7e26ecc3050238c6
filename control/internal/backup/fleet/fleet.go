// Package fleet backs up and restores the data of a fleet: PostgreSQL, the clicks in ClickHouse, and images.
//
// It uses the connections of control, so neither pg_dump nor access to a server's files is needed, and the image of
// control is enough. A backup runs while the fleet is online. The order makes it consistent:
//
//  1. The offsets of ingest in Kafka. A restore resets ingest to these offsets, and Kafka delivers later clicks again.
//  2. The marks of lanes, and then the clicks: a mark never covers clicks that are missing in the backup.
//  3. Images, a snapshot of PostgreSQL, and images again: the backup has the link of every click and the image of every link.
//
// Clicks that are both in the backup and delivered again have the same identity, so they count once. Backups contain no
// rollups, because a restore rebuilds them.
package fleet

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/backup"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/control/internal/manage/media"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/seal"
)

const kind = "fleet"

// Clicks is the click store of a fleet, with one server or several.
type Clicks interface {
	analytics.Conversions
	Insert(ctx context.Context, b analytics.Batch) error
	Marks(ctx context.Context) ([]analytics.Mark, error)
	// Export calls f with every click. The row is valid only during the call.
	Export(ctx context.Context, f func(*analytics.Row) error) error
	ExportLosses(ctx context.Context) ([]analytics.Loss, error)
	Empty(ctx context.Context) (bool, error)
	Clear(ctx context.Context) error
	Rebuild(ctx context.Context, before time.Time) error
}

// Fleet has the stores to back up or restore.
type Fleet struct {
	Database store.Config
	Clicks   Clicks
	// Shards gets what a backup knows of shards, before Restore changes anything, and returns an error if Clicks does not have
	// these shards. Identify gives the shards their identities, after all clicks were restored.
	Shards   func(Shards) error
	Identify func(ctx context.Context, s Shards) error
	Objects  object.Store
	Kafka    []kafkasource.Config // one for each Kafka cluster; none: offsets are neither stored nor reset
	Keys     [][]byte             // ENCRYPTION_KEY
	Out      io.Writer            // receives messages for the operator
}

// facts is the part of the manifest about a fleet.
type facts struct {
	Database store.Dumped `json:"database"`
	Losses   int64        `json:"losses"`
	// Conversions is the number of conversions.
	Conversions int64                `json:"conversions"`
	Marks       []analytics.Mark     `json:"marks"`
	LastLink    uint64               `json:"lastLink"` // the highest link number in the clicks
	Offsets     *kafkasource.Offsets `json:"kafkaOffsets,omitempty"`
	// Regions has the offsets of clusters with a name (KAFKA_REGIONS). Those that could not be read are missing.
	Regions map[string]kafkasource.Offsets `json:"kafkaRegions,omitempty"`
	Probe   string                         `json:"probe"` // encrypted with ENCRYPTION_KEY
}

const (
	probePlace = "backup|probe"
	probeText  = "shortline"

	clicksFile = "clicks/clicks.jsonl.gz"
	lossesFile = "clicks/losses.jsonl.gz"
	// conversionsFile is missing in backups of releases without conversions.
	conversionsFile = "clicks/conversions.jsonl.gz"
	images          = "media"
)

func tableFile(table string) string { return "postgres/" + table + ".copy.gz" }

// Backup writes a backup into a new folder.
func (f *Fleet) Backup(ctx context.Context, to string) (*backup.Manifest, error) {
	box, err := seal.New("backup", f.Keys...)
	if err != nil {
		return nil, err
	}
	folder, err := backup.Create(to)
	if err != nil {
		return nil, err
	}
	defer folder.Abandon()
	m, facts := &backup.Manifest{Kind: kind}, facts{Probe: box.Seal(probePlace, probeText)}
	if err := f.readOffsets(ctx, &facts); err != nil {
		return nil, err
	}
	if err := f.exportClicks(ctx, folder, m, &facts); err != nil {
		return nil, err
	}
	if err := f.exportConversions(ctx, folder, &facts); err != nil {
		return nil, err
	}
	if err := f.exportImages(ctx, folder); err != nil {
		return nil, err
	}
	links, err := store.Open(ctx, f.Database)
	if err != nil {
		return nil, err
	}
	facts.Database, err = links.Dump(ctx, func(table string) (io.WriteCloser, error) { return create(folder.Path(tableFile(table))) })
	if err = errors.Join(err, links.Close()); err != nil {
		return nil, err
	}
	m.Links = facts.Database.Links
	if err := f.exportImages(ctx, folder); err != nil {
		return nil, err
	}
	if m.Fleet, err = json.Marshal(facts); err != nil {
		return nil, err
	}
	return m, folder.Finish(m)
}

func (f *Fleet) exportClicks(ctx context.Context, folder *backup.Folder, m *backup.Manifest, facts *facts) (err error) {
	if facts.Marks, err = f.Clicks.Marks(ctx); err != nil {
		return err
	}
	losses, err := f.Clicks.ExportLosses(ctx)
	if err != nil {
		return err
	}
	facts.Losses = int64(len(losses))
	err = writeLines(folder.Path(lossesFile), func(each func(any) error) error {
		for _, l := range losses {
			if err := each(l); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return writeLines(folder.Path(clicksFile), func(each func(any) error) error {
		return f.Clicks.Export(ctx, func(r *analytics.Row) error {
			m.Clicks++
			facts.LastLink = max(facts.LastLink, r.Link)
			return each(r)
		})
	})
}

// exportImages copies the images that the backup does not have yet. It ignores images that are deleted meanwhile.
func (f *Fleet) exportImages(ctx context.Context, folder *backup.Folder) error {
	return f.Objects.List(ctx, func(item object.Item) error {
		to := folder.Path(path.Join(images, item.Key))
		if _, err := os.Lstat(to); err == nil || !filepath.IsLocal(filepath.FromSlash(item.Key)) ||
			strings.HasPrefix(path.Base(item.Key), ".") {
			return nil
		}
		from, _, err := f.Objects.Get(ctx, item.Key)
		if errors.Is(err, object.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		defer from.Close()
		file, err := newFile(to)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, from)
		return errors.Join(err, file.Close())
	})
}

// Restore restores a backup. Before it changes anything, it verifies the whole backup and ENCRYPTION_KEY, and fails if
// data would be replaced and force is not set. Control planes must be stopped. If it returns a manifest and an error, all data
// are restored, and only Kafka would not deliver later clicks again.
func (f *Fleet) Restore(ctx context.Context, from string, force bool) (*backup.Manifest, error) {
	m, err := backup.Read(from, kind)
	if err != nil {
		return nil, err
	}
	var facts facts
	if err := json.Unmarshal(m.Fleet, &facts); err != nil {
		return nil, fmt.Errorf("%s: %w", backup.ManifestFile, err)
	}
	box, err := seal.New("backup", f.Keys...)
	if err != nil {
		return nil, err
	}
	if text, err := box.Open(probePlace, facts.Probe); err != nil || text != probeText {
		return nil, errors.New(
			"ENCRYPTION_KEY is not the key of the backup: second factors, webhook secrets and identity providers could not be decrypted")
	}
	if err := store.Restorable(ctx, f.Database, facts.Database, force); err != nil {
		return nil, err
	}
	known, err := readShards(from, facts.Database)
	if err != nil {
		return nil, err
	}
	if err := f.Shards(known); err != nil {
		return nil, err
	}
	empty, err := f.Clicks.Empty(ctx)
	if err != nil {
		return nil, err
	}
	if !empty && !force {
		return nil, errors.New("the click store already contains clicks; -force replaces them")
	}
	if !empty {
		if err := f.Clicks.Clear(ctx); err != nil {
			return nil, err
		}
	}
	if err := f.importClicks(ctx, from, m, &facts); err != nil {
		return nil, err
	}
	if err := f.importConversions(ctx, from, m, &facts); err != nil {
		return nil, err
	}
	if err := f.importImages(ctx, from, m); err != nil {
		return nil, err
	}
	if err := f.Identify(ctx, known); err != nil {
		return nil, err
	}
	err = store.Restore(ctx, f.Database, facts.Database, store.RestoreOptions{Force: force, Numbers: facts.LastLink},
		func(table string) (io.ReadCloser, error) {
			return open(filepath.Join(from, filepath.FromSlash(tableFile(table))))
		})
	if err != nil {
		return nil, err
	}
	return m, f.rewind(ctx, &facts)
}

// importSize is the number of clicks per insert.
const importSize = 20_000

// importClicks inserts the clicks, and then the marks.
func (f *Fleet) importClicks(ctx context.Context, from string, m *backup.Manifest, facts *facts) error {
	var b analytics.Batch
	var clicks, losses int64
	flush := func() error {
		clicks += int64(len(b.Rows))
		err := f.Clicks.Insert(ctx, b)
		b.Rows = b.Rows[:0]
		return err
	}
	err := readLines(filepath.Join(from, clicksFile), func(dec *json.Decoder) error {
		var r analytics.Row
		if err := dec.Decode(&r); err != nil {
			return err
		}
		if b.Rows = append(b.Rows, r); len(b.Rows) < importSize {
			return nil
		}
		return flush()
	})
	if err == nil && len(b.Rows) > 0 {
		err = flush()
	}
	if err != nil {
		return fmt.Errorf("restore clicks: %w", err)
	}
	err = readLines(filepath.Join(from, lossesFile), func(dec *json.Decoder) error {
		var l analytics.Loss
		if err := dec.Decode(&l); err != nil {
			return err
		}
		losses++
		b.Losses = append(b.Losses, l)
		return nil
	})
	if err != nil {
		return fmt.Errorf("restore losses: %w", err)
	}
	if clicks != m.Clicks || losses != facts.Losses {
		return fmt.Errorf("the backup has %d clicks and %d losses, but its manifest says %d and %d", clicks, losses, m.Clicks, facts.Losses)
	}
	b.Rows, b.Marks = nil, facts.Marks
	if err := f.Clicks.Insert(ctx, b); err != nil {
		return fmt.Errorf("restore marks: %w", err)
	}
	return f.Clicks.Rebuild(ctx, time.Now())
}

// Images counts the images of a backup.
func Images(m *backup.Manifest) (n int) {
	for name := range m.Files {
		if strings.HasPrefix(name, images+"/") {
			n++
		}
	}
	return n
}

func (f *Fleet) importImages(ctx context.Context, from string, m *backup.Manifest) error {
	for name := range m.Files {
		key, ok := strings.CutPrefix(name, images+"/")
		if !ok {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, filepath.FromSlash(name)))
		if err == nil {
			err = f.Objects.Put(ctx, key, media.ContentType(key), data)
		}
		if err != nil {
			return fmt.Errorf("restore images: %w", err)
		}
	}
	return nil
}

// compressed is a gzip file that is written or read.
type compressed struct {
	io.Reader
	io.Writer
	closers []func() error
}

func (c *compressed) Close() (err error) {
	for _, f := range c.closers {
		err = errors.Join(err, f())
	}
	return err
}

func newFile(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

func create(name string) (io.WriteCloser, error) {
	file, err := newFile(name)
	if err != nil {
		return nil, err
	}
	zip, err := gzip.NewWriterLevel(file, gzip.BestSpeed)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	buffer := bufio.NewWriterSize(zip, 1<<16)
	return &compressed{Writer: buffer, closers: []func() error{buffer.Flush, zip.Close, file.Close}}, nil
}

func open(name string) (io.ReadCloser, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	zip, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &compressed{Reader: zip, closers: []func() error{zip.Close, file.Close}}, nil
}

// writeLines writes every value that f passes to each, as one JSON value per line.
func writeLines(name string, f func(each func(any) error) error) error {
	to, err := create(name)
	if err != nil {
		return err
	}
	return errors.Join(f(json.NewEncoder(to).Encode), to.Close())
}

// readLines calls f for every value in a file, until f returns an error.
func readLines(name string, f func(*json.Decoder) error) error {
	from, err := open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	dec := json.NewDecoder(from)
	for {
		if err := f(dec); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
