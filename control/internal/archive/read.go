package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/link"
)

// Limits of what is read.
const (
	maxDirectory = 1 << 20 // bytes that the list of members takes, with what stands behind it
	maxManifest  = 1 << 20
	maxUnpacked  = 64 << 30 // bytes of all members
	maxRatio     = 1100     // deflate reaches 1032
	maxObjects   = 100_000  // of each kind but links
	// maxTime is the end of the times of clicks, in Unix milliseconds: their positions have 42 bits for it.
	maxTime = 1 << 42
)

// opened is an archive that was opened. Its members were not read yet, other than the manifest.
type opened struct {
	manifest Manifest
	files    map[string]*zip.File
}

// invalid returns a problem with an archive. member is the name of a member, or "" for the whole file.
func invalid(member, format string, args ...any) error {
	e := problem.New(problem.Invalid, "The file is not a valid archive. Nothing was changed.")
	text := fmt.Sprintf(format, args...)
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	e.Fields = []problem.Field{{Field: cmpOr(member, "archive"), Message: problem.Clip(text)}}
	return e
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// limited is a file of which a limited number of bytes is read until open is set. It limits the memory for the list of members.
type limited struct {
	io.ReaderAt
	left int64
	open bool
}

func (l *limited) ReadAt(b []byte, at int64) (int, error) {
	if !l.open {
		if l.left -= int64(len(b)); l.left < 0 {
			return 0, errors.New("the list of members is too long")
		}
	}
	return l.ReaderAt.ReadAt(b, at)
}

// open reads the list of members and the manifest.
func open(file io.ReaderAt, size int64) (*opened, error) {
	at := &limited{ReaderAt: file, left: maxDirectory}
	z, err := zip.NewReader(at, size)
	if err != nil {
		return nil, invalid("", "is not a complete ZIP file: %s", err)
	}
	at.open = true
	a := &opened{files: map[string]*zip.File{}}
	var unpacked uint64
	for _, f := range z.File {
		switch {
		case f.Name != manifestName && !slices.Contains(memberNames, f.Name):
			return nil, invalid("", "has an unknown member %q", problem.Clip(f.Name))
		case a.files[f.Name] != nil:
			return nil, invalid(f.Name, "is there twice")
		case f.Method != zip.Store && f.Method != zip.Deflate:
			return nil, invalid(f.Name, "is compressed in an unknown way")
		case f.Flags&1 != 0:
			return nil, invalid(f.Name, "is encrypted")
		case f.UncompressedSize64 > maxUnpacked || f.CompressedSize64 > uint64(size):
			return nil, invalid(f.Name, "is too large")
		case f.UncompressedSize64 > (f.CompressedSize64+1)*maxRatio:
			return nil, invalid(f.Name, "says that it is compressed more than is possible")
		}
		if unpacked += f.UncompressedSize64; unpacked > maxUnpacked {
			return nil, invalid("", "would have more than %d GiB unpacked", maxUnpacked>>30)
		}
		a.files[f.Name] = f
	}
	return a, a.readManifest()
}

func (a *opened) readManifest() error {
	f := a.files[manifestName]
	if f == nil {
		return invalid(manifestName, "is missing, so the archive is not complete")
	}
	text, err := readAll(f, maxManifest)
	if err != nil {
		return invalid(manifestName, "%s", err)
	}
	var version struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(text, &version); err != nil || version.Format != formatName || version.Version < 1 {
		return invalid(manifestName, "is not the manifest of an archive of Shortline")
	}
	if version.Version > Version {
		return invalid(manifestName, "the archive has the format %d, and this program reads up to %d; update the program first",
			version.Version, Version)
	}
	if err := strictly(text, &a.manifest); err != nil {
		return invalid(manifestName, "%s", err)
	}
	listed := map[string]bool{}
	for _, m := range a.manifest.Members {
		f := a.files[m.Name]
		switch {
		case f == nil || m.Name == manifestName || listed[m.Name]:
			return invalid(manifestName, "does not fit the members: %q", problem.Clip(m.Name))
		case m.Bytes < 0 || f.UncompressedSize64 != uint64(m.Bytes):
			return invalid(m.Name, "has %d bytes, and the manifest says %d", f.UncompressedSize64, m.Bytes)
		}
		listed[m.Name] = true
	}
	for _, name := range memberNames {
		if !listed[name] {
			return invalid(name, "is missing")
		}
	}
	return nil
}

func readAll(f *zip.File, most int64) ([]byte, error) {
	if f.UncompressedSize64 > uint64(most) {
		return nil, fmt.Errorf("is larger than %d bytes", most)
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("is larger than %d bytes", most)
	}
	return b, err
}

// strictly decodes one JSON value without unknown members.
func strictly(text []byte, to any) error {
	if !utf8.Valid(text) {
		return errors.New("must be UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("must be one JSON value")
	}
	return nil
}

// member returns what the manifest says of a member.
func (a *opened) member(name string) Member {
	i := slices.IndexFunc(a.manifest.Members, func(m Member) bool { return m.Name == name })
	return a.manifest.Members[i]
}

// read calls f with the content of a member. f returns the number of rows. It checks size, sum and rows at the end.
func (a *opened) read(name string, f func(io.Reader) (int64, error)) error {
	m := a.member(name)
	r, err := a.files[name].Open()
	if err != nil {
		return invalid(name, "%s", err)
	}
	defer r.Close()
	sum := sha256.New()
	content := io.TeeReader(io.LimitReader(r, m.Bytes), sum)
	rows, err := f(content)
	var own *problem.Error
	switch {
	case errors.As(err, &own), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case err != nil && !isStore(err):
		return invalid(name, "%s", err)
	case err != nil:
		return err
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return invalid(name, "%s", err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != m.SHA256 {
		return invalid(name, "does not have the SHA-256 that the manifest says")
	}
	if rows >= 0 && rows != m.Rows {
		return invalid(name, "has %d rows, and the manifest says %d", rows, m.Rows)
	}
	return nil
}

// ours marks an error of a function that was called with rows: not the archive is wrong, but something failed here.
type ours struct{ error }

func (o ours) Unwrap() error { return o.error }

func isStore(err error) bool {
	var o ours
	return errors.As(err, &o)
}

func oursOr(err error) error {
	var own *problem.Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	return ours{err}
}

// eachLine calls f with each line of a member with JSON. Lines are counted from 1.
func eachLine[T any](ctx context.Context, a *opened, name string, f func(n int64, v *T) error) error {
	return a.read(name, func(from io.Reader) (rows int64, err error) {
		s := bufio.NewScanner(from)
		s.Buffer(make([]byte, 0, 64<<10), maxRecord)
		for s.Scan() {
			if rows++; rows%1024 == 0 && ctx.Err() != nil {
				return rows, ctx.Err()
			}
			var v T
			if err := strictly(s.Bytes(), &v); err != nil {
				return rows, fmt.Errorf("line %d: %w", rows, err)
			}
			if err := f(rows, &v); err != nil {
				return rows, err
			}
		}
		if errors.Is(s.Err(), bufio.ErrTooLong) {
			return rows, fmt.Errorf("line %d has more than %d bytes", rows+1, maxRecord)
		}
		return rows, s.Err()
	})
}

// all returns the lines of a member with few objects.
func all[T any](ctx context.Context, a *opened, name string) (list []T, err error) {
	err = eachLine(ctx, a, name, func(n int64, v *T) error {
		if n > maxObjects {
			return fmt.Errorf("has more than %d lines", maxObjects)
		}
		list = append(list, *v)
		return nil
	})
	return list, err
}

// eachRecord calls f with each row of a member with CSV.
func eachRecord[T any](ctx context.Context, a *opened, name string, file []column[T], f func(n int64, row *T) error) error {
	return a.read(name, func(from io.Reader) (int64, error) {
		return eachRow(from, file, func(n int64, row *T) error {
			if n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			return f(n, row)
		})
	})
}

// checkMembers reads the complete archive, and refuses one that is damaged, or of which a line or a row has the wrong form. What the values
// mean is checked later, like that of a request.
func (a *opened) checkMembers(ctx context.Context) error {
	for _, f := range []func() error{
		func() error { return checkIDs(ctx, a, tagsName, func(t *Tag) string { return t.ID }) },
		func() error { return checkIDs(ctx, a, templatesName, func(t *Template) string { return t.ID }) },
		func() error { return checkIDs(ctx, a, domainsName, func(d *Domain) string { return d.ID }) },
		func() error { return checkIDs(ctx, a, bundlesName, func(b *Bundle) string { return b.ID }) },
		func() error { return checkIDs(ctx, a, webhooksName, func(w *Webhook) string { return w.ID }) },
		func() error { return a.checkLinks(ctx) },
		func() error {
			return eachRecord(ctx, a, clicksName, clickFile, func(n int64, r *clickRow) error { return r.checkClick(n) })
		},
		func() error {
			return eachRecord(ctx, a, conversionsName, conversionFile, func(n int64, r *conversionRow) error { return r.checkRow(n) })
		},
	} {
		if err := f(); err != nil {
			return err
		}
	}
	for _, name := range []string{daysName, clicksParquet, conversionParquet} { // for other programs
		if err := a.read(name, func(io.Reader) (int64, error) { return -1, nil }); err != nil {
			return err
		}
	}
	return nil
}

// checkIDs checks that objects have ids, each its own.
func checkIDs[T any](ctx context.Context, a *opened, name string, id func(*T) string) error {
	seen := map[string]bool{}
	return eachLine(ctx, a, name, func(n int64, v *T) error {
		if n > maxObjects {
			return fmt.Errorf("has more than %d lines", maxObjects)
		}
		if err := checkID(id(v)); err != nil {
			return fmt.Errorf("line %d: id: %w", n, err)
		}
		if seen[id(v)] {
			return fmt.Errorf("line %d: another line has the id %s", n, id(v))
		}
		seen[id(v)] = true
		return nil
	})
}

func checkID(text string) error {
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text || id == uuid.Nil {
		return errors.New("must be a UUID in lower case")
	}
	return nil
}

// checkLinks checks what the later parts of an import rely on: ids, slugs, and that each occurs once.
func (a *opened) checkLinks(ctx context.Context) error {
	seen := map[uint64]bool{}
	once := func(kind, text string) bool {
		h := fnv.New64a()
		_, _ = io.WriteString(h, kind+"\x00"+text)
		key := h.Sum64()
		was := seen[key]
		seen[key] = true
		return !was
	}
	return eachLine(ctx, a, linksName, func(n int64, l *Link) error {
		ids := []string{l.ID}
		for i := range l.Rules {
			ids = append(ids, l.Rules[i].ID)
		}
		for i := range l.Variants {
			ids = append(ids, l.Variants[i].ID)
		}
		for _, id := range ids {
			if err := checkID(id); err != nil {
				return fmt.Errorf("line %d: the id of a link, a rule or a variant %w", n, err)
			}
			if !once("id", id) {
				return fmt.Errorf("line %d: another link, rule or variant has the id %s", n, id)
			}
		}
		switch {
		case !link.ValidSlug(l.Slug):
			return fmt.Errorf("line %d: slug: must be 3 to 50 letters, digits, hyphens or underscores", n)
		case !once("slug", l.Domain+"/"+l.Slug):
			return fmt.Errorf("line %d: another line has the slug %s", n, l.Slug)
		}
		if id := l.Texts["externalId"]; id != "" && !once("external", id) {
			return fmt.Errorf("line %d: another line has the externalId %s", n, problem.Clip(id))
		}
		return l.Experiment.checkExperiment(n, l)
	})
}

func (r *clickRow) checkClick(n int64) error {
	if err := checkID(r.id); err != nil {
		return fmt.Errorf("row %d: id: %w", n, err)
	}
	if r.Time < 0 || r.Time >= maxTime {
		return fmt.Errorf("row %d: time: must be from 1970 to 2109", n)
	}
	return nil
}

func (r *conversionRow) checkRow(n int64) error {
	if r.clickRow.Time < 0 || r.clickRow.Time >= maxTime || r.Value < 0 || r.OccurredAt < 0 || r.ReceivedAt < 0 ||
		max(r.OccurredAt, r.ReceivedAt) > math.MaxInt64/2 {
		return fmt.Errorf("row %d: a time or the value is out of range", n)
	}
	if r.Attributed {
		if err := checkID(r.id); err != nil {
			return fmt.Errorf("row %d: click_id: %w", n, err)
		}
	}
	return checkConversion(n, &r.Conversion.Conversion)
}
