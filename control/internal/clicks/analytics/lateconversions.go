package analytics

import (
	"context"

	"github.com/shortline/shortline/shared/conversion"
)

// InsertConversions implements Conversions.
func (l *Late) InsertConversions(ctx context.Context, list []Conversion) error {
	return l.get().InsertConversions(ctx, list)
}

// Unattributed implements Conversions.
func (l *Late) Unattributed(ctx context.Context, since, after int64, limit int) ([]Conversion, error) {
	return l.get().Unattributed(ctx, since, after, limit)
}

// FindClicks implements Conversions.
func (l *Late) FindClicks(ctx context.Context, ids []conversion.ClickID) (map[conversion.ClickID]Row, error) {
	return l.get().FindClicks(ctx, ids)
}

// StoredConversions implements Conversions.
func (l *Late) StoredConversions(ctx context.Context, keys []ConversionKey) (map[ConversionKey]bool, error) {
	return l.get().StoredConversions(ctx, keys)
}

// ConversionLines implements Conversions.
func (l *Late) ConversionLines(ctx context.Context, q Query, goal string) ([]ConversionLine, error) {
	return l.get().ConversionLines(ctx, q, goal)
}

// ConversionBreakdown implements Conversions.
func (l *Late) ConversionBreakdown(ctx context.Context, sc Scope, dims []Dimension, goal string) (map[Dimension][]ConversionLine, error) {
	return l.get().ConversionBreakdown(ctx, sc, dims, goal)
}

// EachConversion implements Conversions.
func (l *Late) EachConversion(ctx context.Context, sc Scope, goal string, limit int, f func(*Conversion) error) error {
	return l.get().EachConversion(ctx, sc, goal, limit, f)
}

// Goals implements Conversions.
func (l *Late) Goals(ctx context.Context, sc Scope) ([]GoalLine, error) {
	return l.get().Goals(ctx, sc)
}

// ConvertedClicks implements Conversions.
func (l *Late) ConvertedClicks(ctx context.Context, sc Scope) (map[string]int64, error) {
	return l.get().ConvertedClicks(ctx, sc)
}

// Arms implements Conversions.
func (l *Late) Arms(ctx context.Context, e Experiment) ([]ArmLine, error) {
	return l.get().Arms(ctx, e)
}

func (unopened) InsertConversions(context.Context, []Conversion) error {
	return errNotOpen
}

func (unopened) Unattributed(context.Context, int64, int64, int) ([]Conversion, error) {
	return nil, errNotOpen
}

func (unopened) FindClicks(context.Context, []conversion.ClickID) (map[conversion.ClickID]Row, error) {
	return nil, errNotOpen
}

func (unopened) StoredConversions(context.Context, []ConversionKey) (map[ConversionKey]bool, error) {
	return nil, errNotOpen
}

func (unopened) ConversionLines(context.Context, Query, string) ([]ConversionLine, error) {
	return nil, errNotOpen
}

func (unopened) ConversionBreakdown(context.Context, Scope, []Dimension, string) (map[Dimension][]ConversionLine, error) {
	return nil, errNotOpen
}

func (unopened) EachConversion(context.Context, Scope, string, int, func(*Conversion) error) error {
	return errNotOpen
}

func (unopened) Goals(context.Context, Scope) ([]GoalLine, error) {
	return nil, errNotOpen
}

func (unopened) ConvertedClicks(context.Context, Scope) (map[string]int64, error) {
	return nil, errNotOpen
}

func (unopened) Arms(context.Context, Experiment) ([]ArmLine, error) {
	return nil, errNotOpen
}
