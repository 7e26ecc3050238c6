package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"

	"github.com/shortline/shortline/control/internal/backup"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
)

// savedConversion is a conversion in a backup.
type savedConversion struct {
	Record     string        `json:"record"` // as in click.Event
	Click      analytics.Row `json:"click"`
	Attributed bool          `json:"attributed"`
}

// exportConversions writes all conversions, also those without a click.
func (f *Fleet) exportConversions(ctx context.Context, folder *backup.Folder, facts *facts) error {
	return writeLines(folder.Path(conversionsFile), func(each func(any) error) error {
		return f.Clicks.EachConversion(ctx, analytics.Scope{Bots: analytics.Everyone}, "", math.MaxInt,
			func(c *analytics.Conversion) error {
				facts.Conversions++
				return each(savedConversion{c.Event().Conversion, c.Row, c.Attributed})
			})
	})
}

// importConversions inserts the conversions of a backup.
func (f *Fleet) importConversions(ctx context.Context, from string, m *backup.Manifest, facts *facts) error {
	if _, has := m.Files[conversionsFile]; !has {
		return nil
	}
	var list []analytics.Conversion
	var n int64
	flush := func() error {
		n += int64(len(list))
		err := f.Clicks.InsertConversions(ctx, list)
		list = list[:0]
		return err
	}
	err := readLines(filepath.Join(from, conversionsFile), func(dec *json.Decoder) error {
		var saved savedConversion
		if err := dec.Decode(&saved); err != nil {
			return err
		}
		c, err := conversion.FromEvent(&click.Event{Conversion: saved.Record})
		if err != nil {
			return err
		}
		list = append(list, analytics.Conversion{Conversion: c, Row: saved.Click, Attributed: saved.Attributed})
		if len(list) < importSize {
			return nil
		}
		return flush()
	})
	if err == nil && len(list) > 0 {
		err = flush()
	}
	if err == nil && n != facts.Conversions {
		err = fmt.Errorf("the backup has %d, but its manifest says %d", n, facts.Conversions)
	}
	if err != nil {
		return fmt.Errorf("restore conversions: %w", err)
	}
	return nil
}
