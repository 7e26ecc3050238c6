package report

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"
)

const (
	meanOf      = 4  // periods
	maxMeanDays = 31 // each period costs as much as the report itself
)

// meanBefore makes the figures of the four periods of the same weekdays before a period, each as few weeks before the next one as possible,
// and returns their mean.
func meanBefore[T any](period Period, figures func(Period) (*T, error)) (*Compared[T], error) {
	var m mean
	var list []reflect.Value
	last := period.weeksBefore()
	for range meanOf {
		period = period.weeksBefore()
		made, err := figures(period)
		if err != nil {
			return nil, err
		}
		list, m.first = append(list, reflect.ValueOf(made).Elem()), append(m.first, period.First.String())
	}
	c := comparedWith(period, m.of(list).Interface().(T))
	c.EndDate, c.Periods = comparedWith(last, c.Figures).EndDate, meanOf
	return c, nil
}

// mean averages figures of the same type: numbers count as zero where they are missing, and texts are those of the newest period.
type mean struct{ first []string } // first day of each period

// of returns the mean of values. Values without an entry in a list are invalid.
func (m *mean) of(list []reflect.Value) reflect.Value {
	i := slices.IndexFunc(list, reflect.Value.IsValid)
	out := reflect.New(list[i].Type()).Elem()
	out.Set(list[i])
	switch out.Kind() {
	case reflect.Int, reflect.Int64:
		out.SetInt(int64(math.Round(sum(list, func(v reflect.Value) float64 { return float64(v.Int()) }) / meanOf)))
	case reflect.Float64:
		out.SetFloat(math.Round(sum(list, reflect.Value.Float)/meanOf*100) / 100)
	case reflect.Bool:
		out.SetBool(!slices.ContainsFunc(list, func(v reflect.Value) bool { return v.IsValid() && !v.Bool() }))
	case reflect.Pointer:
		m.pointer(out, list)
	case reflect.Struct:
		for f := range out.NumField() {
			m.into(out.Field(f), list, func(v reflect.Value) reflect.Value { return v.Field(f) })
		}
	case reflect.Slice:
		m.slice(out, list)
	}
	return out
}

func sum(list []reflect.Value, number func(reflect.Value) float64) (all float64) {
	for _, v := range list {
		if v.IsValid() {
			all += number(v)
		}
	}
	return all
}

// into sets out to the mean of a part of each value.
func (m *mean) into(out reflect.Value, list []reflect.Value, part func(reflect.Value) reflect.Value) {
	parts := make([]reflect.Value, len(list))
	for i, v := range list {
		if v.IsValid() {
			parts[i] = part(v)
		}
	}
	out.Set(m.of(parts))
}

func (m *mean) pointer(out reflect.Value, list []reflect.Value) {
	parts, found := make([]reflect.Value, len(list)), false
	for i, v := range list {
		if v.IsValid() && !v.IsNil() {
			parts[i], found = v.Elem(), true
		}
	}
	if found {
		out.Set(reflect.New(out.Type().Elem()))
		out.Elem().Set(m.of(parts))
	}
}

// slice averages the entries that are about the same. A list with most clicks first stays one, and is not longer than the longest.
func (m *mean) slice(out reflect.Value, list []reflect.Value) {
	var keys []string
	found, most := map[string][]reflect.Value{}, 0
	for i, v := range list {
		if !v.IsValid() {
			continue
		}
		most = max(most, v.Len())
		for j := range v.Len() {
			key := m.key(v.Index(j), i, j)
			if found[key] == nil {
				found[key], keys = make([]reflect.Value, len(list)), append(keys, key)
			}
			found[key][i] = v.Index(j)
		}
	}
	made := make([]reflect.Value, len(keys))
	for i, key := range keys {
		made[i] = m.of(found[key])
	}
	if field, ok := ranked(out.Type().Elem()); ok {
		slices.SortStableFunc(made, func(a, b reflect.Value) int {
			return cmp.Compare(b.FieldByIndex(field).Int(), a.FieldByIndex(field).Int())
		})
		made = made[:min(most, len(made))]
	}
	if out.IsNil() && len(made) == 0 {
		return // nil is null in JSON
	}
	out.Set(reflect.Append(reflect.MakeSlice(out.Type(), 0, len(made)), made...))
}

// ranked returns the number by which lists of a type are sorted.
func ranked(t reflect.Type) (field []int, ok bool) {
	switch reflect.Zero(t).Interface().(type) {
	case Named, Valued, Referred, SiteClicks, Group, BotType, TopVariant:
		f, ok := t.FieldByName("Clicks")
		return f.Index, ok
	case NamedYield, LinkYield, GoalYield:
		f, ok := t.FieldByName("Conversions")
		return f.Index, ok
	}
	return nil, false
}

// key tells which entries of the lists of periods are about the same: those with the same texts, or at the same place in a series.
func (m *mean) key(v reflect.Value, period, place int) string {
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[DayFigures]() {
		return fmt.Sprint(place)
	}
	switch e := v.Interface().(type) {
	case RuleDay: // only days with matches
		at, hour := m.first[period], ""
		if e.At != "" {
			hour = e.At[len(time.DateOnly):min(len(e.At), len("2006-01-02T15:04"))]
		}
		return fmt.Sprint(days(at, e.Date), hour, e.RuleID)
	case Group:
		if e.ID != nil {
			return *e.ID
		}
	}
	key := ""
	for f := range v.NumField() {
		if part := v.Field(f); part.Kind() == reflect.String {
			key += part.String() + "\n"
		}
	}
	return key
}

// days returns the number of days from one date to another.
func days(from, to string) int {
	a, _ := time.Parse(time.DateOnly, from)
	b, _ := time.Parse(time.DateOnly, to)
	return int(b.Sub(a).Hours() / 24)
}
