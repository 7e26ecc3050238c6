// Package backup writes and reads backups: folders of files with a manifest of their checksums.
//
// A folder is renamed to its final name when it is complete, so an interrupted backup cannot be mistaken for a complete
// one. Callers decide on the content: package fleet for a fleet, and standalone for itself.
package backup

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/shortline/shortline/shared/durable"
	"github.com/shortline/shortline/shared/ops"
)

// ManifestFile is the name of the manifest in a backup's folder.
const ManifestFile = "backup.json"

// format is the version of the layout. It is increased when older programs cannot read new backups.
const format = 1

// Manifest describes a backup.
type Manifest struct {
	Format    int       `json:"format"`
	Kind      string    `json:"kind"` // "standalone" or "fleet"
	Version   string    `json:"version"`
	CreatedAt time.Time `json:"createdAt"` // start of the backup, which contains everything acknowledged before
	Links     int64     `json:"links"`
	Clicks    int64     `json:"clicks"`
	// Files has all files of the folder except for the manifest, by their paths with slashes.
	Files map[string]File `json:"files"`
	// Fleet has the data that only backups of a fleet have; see package fleet.
	Fleet json.RawMessage `json:"fleet,omitempty"`
}

// File is a file's size and checksum.
type File struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Folder is a backup in progress.
type Folder struct {
	to, temp string
	began    time.Time
}

// Create starts a backup. The folder must not exist. Files are written to a temporary folder, which Finish renames.
func Create(to string) (*Folder, error) {
	to, err := filepath.Abs(to)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(to); err == nil {
		return nil, fmt.Errorf("%s already exists: a backup needs a new folder", to)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f := &Folder{to: to, temp: to + ".partial-" + rand.Text()[:8], began: time.Now().UTC()}
	return f, os.Mkdir(f.temp, 0o700)
}

// Path returns the path to which a file of the backup must be written.
func (f *Folder) Path(name string) string { return filepath.Join(f.temp, filepath.FromSlash(name)) }

// Abandon deletes the temporary folder, unless Finish has renamed it.
func (f *Folder) Abandon() { _ = os.RemoveAll(f.temp) }

// Finish writes the manifest, makes everything durable, and renames the folder.
func (f *Folder) Finish(m *Manifest) error {
	m.Format, m.Version, m.CreatedAt = format, ops.Version, f.began
	var folders []string
	m.Files = map[string]File{}
	err := filepath.WalkDir(f.temp, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			folders = append(folders, path)
			return nil
		}
		name, err := filepath.Rel(f.temp, path)
		if err != nil {
			return err
		}
		m.Files[filepath.ToSlash(name)], err = measure(path, true)
		return err
	})
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := durable.Write(f.Path(ManifestFile), append(text, '\n')); err != nil {
		return err
	}
	for _, dir := range folders {
		if err := durable.SyncDir(dir); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(f.to); err == nil {
		return fmt.Errorf("%s was created meanwhile", f.to)
	}
	if err := os.Rename(f.temp, f.to); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(f.to))
}

// Read reads the manifest of a backup and verifies all files.
func Read(dir, kind string) (*Manifest, error) {
	text, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a backup: it has no %s", dir, ManifestFile)
	}
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", ManifestFile, err)
	}
	if m.Format != format || m.Kind != kind {
		return nil, fmt.Errorf("%s is a backup of the kind %q in format %d, but this program restores %q in format %d", dir,
			m.Kind, m.Format,
			kind, format)
	}
	for name, want := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%s names the file %q", ManifestFile, name)
		}
		got, err := measure(filepath.Join(dir, filepath.FromSlash(name)), false)
		if err != nil {
			return nil, fmt.Errorf("the backup is damaged: %w", err)
		}
		if got != want {
			return nil, fmt.Errorf("the backup is damaged: %s does not match %s", name, ManifestFile)
		}
	}
	return &m, nil
}

// Unchanged reports whether a file in a folder is the one that the folder's manifest describes. It is false in a folder that is
// no backup.
func Unchanged(dir, name string) (bool, error) {
	text, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var m Manifest
	if err != nil || json.Unmarshal(text, &m) != nil {
		return false, err
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	info, err := os.Stat(path)
	if err != nil || info.Size() != m.Files[name].Bytes {
		return false, nil
	}
	got, err := measure(path, false)
	return got == m.Files[name], err
}

// CopyTree copies the files below a folder, except for those that skip selects and those that the backup has already.
// It ignores files that are deleted meanwhile, and a missing folder.
func (f *Folder) CopyTree(from, name string, skip func(name string) bool) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() || skip != nil && skip(d.Name()) {
			return err
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		err = f.Copy(path, filepath.ToSlash(filepath.Join(name, below)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return err
}

// Copy copies a file into the backup, unless the backup already has a file of that name.
func (f *Folder) Copy(from, name string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	to := f.Path(name)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// measure returns the size and checksum of a file. With sync, it also syncs the file.
func measure(path string, sync bool) (File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err == nil && sync {
		err = f.Sync()
	}
	return File{n, hex.EncodeToString(sum.Sum(nil))}, err
}
