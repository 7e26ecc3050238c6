package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shortline/shortline/shared/each"
)

// Tag is a label of links in one workspace.
type Tag struct {
	Num       uint64 // dense, assigned by the database
	ID        string
	Workspace uint64 // number of the workspace that owns it
	Name      string // unique in the workspace by TagKey
	Color     string // hexadecimal, such as #3B82F6
	CreatedAt int64
	UpdatedAt int64
	Links     int // number of links with the tag; only Tags and TagByID set it
}

// DefaultTagColor is the colour of a tag that was created by its first use.
const DefaultTagColor = "#6B7280"

// TagKey returns what makes a tag's name unique. Names that differ only in case are equal.
func TagKey(name string) string { return strings.ToLower(name) }

const tagColumns = `num, id, workspace_num, name, color, created_at, updated_at`

func (t *Tag) targets() []any {
	return []any{&t.Num, &t.ID, &t.Workspace, &t.Name, &t.Color, &t.CreatedAt, &t.UpdatedAt}
}

func scanTag(row interface{ Scan(...any) error }) (t Tag, err error) {
	return t, row.Scan(t.targets()...)
}

func scanCountedTag(row interface{ Scan(...any) error }) (t Tag, err error) {
	return t, row.Scan(append(t.targets(), &t.Links)...)
}

const countedTagColumns = tagColumns + `, (SELECT count(*) FROM url_tags WHERE tag_num = num)`

// TagByID reads one tag, or returns ErrNotFound.
func (c Conn) TagByID(ctx context.Context, id string) (Tag, error) {
	return scanCountedTag(c.Row(ctx, `SELECT `+countedTagColumns+` FROM tags WHERE id = ?`, id))
}

// TagByName reads the tag of a workspace with a name, or returns ErrNotFound.
func (c Conn) TagByName(ctx context.Context, workspace uint64, name string) (Tag, error) {
	return scanTag(c.Row(ctx, `SELECT `+tagColumns+` FROM tags WHERE workspace_num = ? AND name_key = ?`, workspace, TagKey(name)))
}

// TagFilter selects tags. A zero field selects everything.
type TagFilter struct {
	Workspace     uint64
	Search        string // text in the name, case-insensitive
	Offset, Limit int
}

// Tags reads one page of tags, ordered by name, and counts all tags that the filter selects.
func (c Conn) Tags(ctx context.Context, f TagFilter) (list []Tag, total int, err error) {
	var w conditions
	w.and(f.Workspace != 0, `workspace_num = ?`, f.Workspace)
	w.and(f.Search != "", `name_key LIKE ? ESCAPE '\'`, LikeContains(f.Search))
	return pageOf(ctx, c, scanCountedTag, countedTagColumns, `tags`+w.String(), `name_key, num`, w.args, f.Limit, f.Offset)
}

// LockTag reads a tag and locks it until the commit. It returns ErrNotFound if there is none.
func (tx *Tx) LockTag(ctx context.Context, id string) (Tag, error) {
	return scanTag(tx.Row(ctx, `SELECT `+tagColumns+` FROM tags WHERE id = ?`+tx.forUpdate(), id))
}

// InsertTag adds a tag and reports whether its name was free in the workspace.
func (tx *Tx) InsertTag(ctx context.Context, t *Tag) (bool, error) {
	err := tx.Row(ctx, `INSERT INTO tags (id, workspace_num, name, name_key, color, created_at, updated_at) VALUES (`+In(7)+`)
		ON CONFLICT (workspace_num, name_key) DO NOTHING RETURNING num`,
		t.ID, t.Workspace, t.Name, TagKey(t.Name), t.Color, t.CreatedAt, t.UpdatedAt).Scan(&t.Num)
	return inserted(err)
}

// UpdateTag writes name and colour of a tag. It reports whether the name was free in the workspace, and writes nothing
// if it was not. The caller has locked the tag.
func (tx *Tx) UpdateTag(ctx context.Context, t *Tag) (bool, error) {
	taken := tx.Row(ctx, `SELECT EXISTS (SELECT 1 FROM tags WHERE workspace_num = ? AND name_key = ? AND num <> ?)`,
		t.Workspace, TagKey(t.Name), t.Num)
	return tx.unlessTaken(ctx, taken, `UPDATE tags SET name = ?, name_key = ?, color = ?, updated_at = ? WHERE num = ?`,
		t.Name, TagKey(t.Name), t.Color, t.UpdatedAt, t.Num)
}

// Untag takes a tag from up to limit of its links and returns from how many. The caller has locked the tag.
func (tx *Tx) Untag(ctx context.Context, num uint64, limit int) (int64, error) {
	return tx.Exec(ctx,
		`DELETE FROM url_tags WHERE tag_num = ? AND url_num IN (SELECT url_num FROM url_tags WHERE tag_num = ? ORDER BY url_num LIMIT ?)`,
		num, num, limit)
}

// DeleteTag removes a tag and takes it from its links.
func (tx *Tx) DeleteTag(ctx context.Context, num uint64) error {
	return tx.Do(ctx, `DELETE FROM tags WHERE num = ?`, num)
}

// TagsOf returns the names of the tags of links, by the links' numbers. The names of a link are in the order of their
// keys. A link without tags is missing.
func (c Conn) TagsOf(ctx context.Context, nums []uint64) (map[uint64][]string, error) {
	out := map[uint64][]string{}
	for part := range slices.Chunk(nums, manyLinks) {
		err := c.each(ctx, func(rows *sql.Rows) error {
			var num uint64
			var name string
			err := rows.Scan(&num, &name)
			out[num] = append(out[num], name)
			return err
		}, `SELECT m.url_num, t.name FROM url_tags m JOIN tags t ON t.num = m.tag_num WHERE m.url_num IN (`+In(len(part))+
			`) ORDER BY m.url_num, t.name_key`, Args(part)...)
		if err != nil {
			return nil, fmt.Errorf("read the tags of links: %w", err)
		}
	}
	return out, nil
}

// ReadTags sets the Tags of links.
func (c Conn) ReadTags(ctx context.Context, links []Link) error {
	nums := each.At(links, func(l *Link) uint64 { return l.Num })
	tags, err := c.TagsOf(ctx, nums)
	if err != nil {
		return err
	}
	for i := range links {
		links[i].Tags = tags[links[i].Num]
	}
	return nil
}

// LinkNumsOfTags returns the numbers of the links that have at least one of the tags, in order, without duplicates.
// Workspace 0 stands for all. A name that no tag has selects nothing.
func (c Conn) LinkNumsOfTags(ctx context.Context, workspace uint64, names []string) ([]uint64, error) {
	if len(names) == 0 {
		return nil, nil
	}
	args := make([]any, 0, len(names)+1)
	for _, n := range names {
		args = append(args, TagKey(n))
	}
	where := `t.name_key IN (` + In(len(names)) + `)`
	if workspace != 0 {
		where, args = where+` AND t.workspace_num = ?`, append(args, workspace)
	}
	return All(ctx, c, column[uint64],
		`SELECT DISTINCT m.url_num FROM tags t JOIN url_tags m ON m.tag_num = t.num WHERE `+where+` ORDER BY m.url_num`, args...)
}

// SetTags replaces the tags of links of one workspace. It creates tags that do not exist. of maps the links' numbers to
// the names of their tags; SetTags replaces the names by those of the tags, sorted by key and without duplicates. The
// caller has locked the links, and locks neither bundles nor the log of changes before.
func (tx *Tx) SetTags(ctx context.Context, workspace uint64, of map[uint64][]string) error {
	if len(of) == 0 {
		return nil
	}
	names := map[string]string{} // by key
	nums := slices.Sorted(maps.Keys(of))
	for _, num := range nums {
		for _, name := range of[num] {
			if key := TagKey(name); names[key] == "" {
				names[key] = name
			}
		}
	}
	tags, err := tx.holdTags(ctx, workspace, names)
	if err != nil {
		return err
	}
	if err := tx.LeaveTags(ctx, nums); err != nil {
		return err
	}
	var rows []any // pairs of numbers
	for _, num := range nums {
		keys := map[string]bool{}
		for _, name := range of[num] {
			keys[TagKey(name)] = true
		}
		of[num] = nil
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			of[num] = append(of[num], tags[key].Name)
			rows = append(rows, tags[key].Num, num)
		}
	}
	for part := range slices.Chunk(rows, 2*manyLinks) {
		if _, err := tx.Exec(ctx, `INSERT INTO url_tags (tag_num, url_num) VALUES `+values(len(part)/2, "(?,?)"), part...); err != nil {
			return fmt.Errorf("set tags: %w", err)
		}
	}
	return nil
}

// LeaveTags takes all tags from links. The caller has locked the links and calls it before Touch.
func (tx *Tx) LeaveTags(ctx context.Context, nums []uint64) error {
	for part := range slices.Chunk(nums, manyLinks) {
		if err := tx.holdTagsOf(ctx, In(len(part)), Args(part)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM url_tags WHERE url_num IN (`+In(len(part))+`)`, Args(part)...); err != nil {
			return fmt.Errorf("take tags from links: %w", err)
		}
	}
	return nil
}

// holdTagsOf keeps the tags of links from being deleted until the commit. nums is an IN list of the links' numbers. A
// transaction that removes rows of url_tags and one that deletes their tag would otherwise deadlock.
func (tx *Tx) holdTagsOf(ctx context.Context, nums string, args []any) error {
	if !tx.pg {
		return nil
	}
	_, err := tx.Exec(ctx, `SELECT num FROM tags WHERE num IN (SELECT tag_num FROM url_tags WHERE url_num IN (`+nums+
		`)) ORDER BY num FOR KEY SHARE`, args...)
	if err != nil {
		return fmt.Errorf("hold tags: %w", err)
	}
	return nil
}

// holdTags returns the tags with the keys of names, by key. It creates the missing ones, and keeps all of them from
// being deleted until the commit. It goes by key, so that concurrent transactions cannot deadlock.
func (tx *Tx) holdTags(ctx context.Context, workspace uint64, names map[string]string) (map[string]Tag, error) {
	tags := map[string]Tag{}
	keys := slices.Sorted(maps.Keys(names))
	hold := ""
	if tx.pg {
		hold = ` FOR KEY SHARE`
	}
	for len(tags) < len(keys) { // again if another transaction has deleted a tag between the two statements
		for part := range slices.Chunk(keys, batch) {
			if err := tx.each(ctx, func(rows *sql.Rows) error {
				t, err := scanTag(rows)
				tags[TagKey(t.Name)] = t
				return err
			}, `SELECT `+tagColumns+` FROM tags WHERE workspace_num = ? AND name_key IN (`+In(len(part))+`) ORDER BY name_key`+hold,
				append([]any{workspace}, Args(part)...)...); err != nil {
				return nil, fmt.Errorf("find tags: %w", err)
			}
		}
		var args []any
		now := Now()
		for _, key := range keys {
			if _, ok := tags[key]; !ok {
				args = append(args, NewID(), workspace, names[key], key, DefaultTagColor, now, now)
			}
		}
		for part := range slices.Chunk(args, 7*batch) {
			if _, err := tx.Exec(ctx, `INSERT INTO tags (id, workspace_num, name, name_key, color, created_at, updated_at) VALUES `+
				values(len(part)/7, "("+In(7)+")")+
				` ON CONFLICT (workspace_num, name_key) DO NOTHING`, part...); err != nil {
				return nil, fmt.Errorf("create tags: %w", err)
			}
		}
	}
	return tags, nil
}
