package store

import "context"

// Variant is one arm of a link's A/B test.
type Variant struct {
	ID, URLID  string
	Name       string
	TargetURL  string
	Weight     int // 0 to 100
	Active     bool
	ClickCount int64 // written by ingest only
	CreatedAt  int64
	UpdatedAt  int64
}

const variantColumns = `variants.id, variants.url_id, variants.name, variants.target_url, variants.weight, variants.active,
	variants.click_count, variants.created_at, variants.updated_at`

func (v *Variant) columns() []any {
	return []any{&v.ID, &v.URLID, &v.Name, &v.TargetURL, &v.Weight, &v.Active, &v.ClickCount, &v.CreatedAt, &v.UpdatedAt}
}

func scanVariant(row interface{ Scan(...any) error }) (v Variant, err error) {
	err = row.Scan(v.columns()...)
	return v, err
}

// Variants reads a link's variants, oldest first.
func (c Conn) Variants(ctx context.Context, urlID string) ([]Variant, error) {
	return All(ctx, c, scanVariant, `SELECT `+variantColumns+` FROM variants WHERE url_id = ? ORDER BY created_at, id`, urlID)
}

// Variant reads one variant of a link, or returns ErrNotFound.
func (c Conn) Variant(ctx context.Context, urlID, id string) (Variant, error) {
	return scanVariant(c.Row(ctx, `SELECT `+variantColumns+` FROM variants WHERE id = ? AND url_id = ?`, id, urlID))
}

// ActiveVariants counts a link's active variants.
func (c Conn) ActiveVariants(ctx context.Context, urlID string) (int, error) {
	return column[int](c.Row(ctx, `SELECT count(*) FROM variants WHERE url_id = ? AND active`, urlID))
}

// InsertVariant adds a variant.
func (tx *Tx) InsertVariant(ctx context.Context, v *Variant) error {
	return tx.Do(ctx, `INSERT INTO variants (id, url_id, name, target_url, weight, active, created_at, updated_at) VALUES (`+In(8)+`)`,
		v.ID, v.URLID, v.Name, v.TargetURL, v.Weight, v.Active, v.CreatedAt, v.UpdatedAt)
}

// UpdateVariant writes the fields that an owner can change.
func (tx *Tx) UpdateVariant(ctx context.Context, v *Variant) error {
	return tx.Do(ctx, `UPDATE variants SET name = ?, target_url = ?, weight = ?, active = ?, updated_at = ? WHERE id = ?`,
		v.Name, v.TargetURL, v.Weight, v.Active, v.UpdatedAt, v.ID)
}

// DeleteVariant removes a variant.
func (tx *Tx) DeleteVariant(ctx context.Context, id string) error {
	return tx.Do(ctx, `DELETE FROM variants WHERE id = ?`, id)
}
