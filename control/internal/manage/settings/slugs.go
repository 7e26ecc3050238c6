package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/shortline/shortline/control/internal/manage/slugs"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// baseSlugs reads the value of BaseSlugs. What it does not mention has its default.
func baseSlugs(text string) (r link.SlugRules, err error) {
	var value struct {
		CaseSensitive *bool   `json:"caseSensitive"`
		Slugs         *string `json:"slugs"`
		MinSlugLength *int64  `json:"minSlugLength"`
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&value); err != nil || text == "null" {
		return r, fmt.Errorf("not the rules for slugs: %w", err)
	}
	r.Min = link.MinSlug
	var v problem.Fields
	in := slugs.Input{CaseSensitive: value.CaseSensitive, Slugs: value.Slugs, MinLength: value.MinSlugLength}
	in.Apply(&r, &v)
	return r, v.Err()
}

// setBaseSlugs changes the rules for slugs on the host of BASE_URL to those of a checked value.
func setBaseSlugs(ctx context.Context, tx *store.Tx, text string) error {
	after, err := baseSlugs(text)
	if err != nil {
		return err
	}
	before, err := tx.LockBaseSlugs(ctx)
	if err != nil {
		return fmt.Errorf("lock the rules for slugs: %w", err)
	}
	if before == after {
		return nil
	}
	if err := slugs.Change(ctx, tx, 0, before, after); err != nil {
		return err
	}
	return tx.SetBaseSlugs(ctx, after)
}
