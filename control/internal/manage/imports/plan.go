package imports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Plan is what a caller wants of an import.
type Plan struct {
	Mapping   Mapping
	Conflicts string
	// DateFormat is how dates are written; "" stands for DatesISO.
	DateFormat DateFormat
	// Zone is the IANA time zone of dates without one; "" stands for UTC.
	Zone string
}

// prepare returns the way to treat conflicts, and what turns rows into links.
func (plan *Plan) prepare(t *table) (links.Conflicts, *reader, error) {
	var v problem.Fields
	how := links.Conflicts(cmp.Or(plan.Conflicts, string(links.Skip)))
	if !slices.Contains(links.AllConflicts, how) {
		v.Add("conflicts", "must be skip, rename or overwrite")
	}
	format := cmp.Or(plan.DateFormat, DatesISO)
	if !slices.Contains(AllDateFormats, format) {
		v.Add("dateFormat", "must be iso, dots, dayFirst, monthFirst or auto")
	}
	zone, err := time.LoadLocation(plan.Zone)
	if err != nil || plan.Zone == "Local" {
		v.Add("timeZone", "is not a time zone of the IANA database, such as Europe/Berlin")
	}
	if err := v.Err(); err != nil {
		return "", nil, err
	}
	r, err := plan.Mapping.reader(t)
	if err != nil {
		return "", nil, err
	}
	if format == DatesAuto {
		format = r.guess()
	}
	r.dates = dates{format, zone}
	return how, r, nil
}

// kept is a started plan as the column "mapping" of an import holds it, if its dates are not those of all plans before there was a
// choice. Otherwise the column holds the mapping alone, which a control plane of an earlier release reads, too.
type kept struct {
	Fields     Mapping    `json:"mapping"`
	DateFormat DateFormat `json:"dateFormat"`
	Zone       string     `json:"timeZone"`
}

// stored returns what PlanOf reads. A format that was guessed is kept.
func (r *reader) stored() (string, error) {
	format := cmp.Or(r.dates.format, DatesISO)
	var what any = kept{r.mapping, format, r.dates.zone.String()}
	if format == DatesISO && r.dates.zone == time.UTC {
		what = r.mapping
	}
	text, err := json.Marshal(what)
	if err != nil {
		return "", fmt.Errorf("write a mapping: %w", err)
	}
	return string(text), nil
}

// PlanOf returns the plan of an import that was started; the mapping of others is nil.
func PlanOf(i *store.Import) (plan Plan, err error) {
	if i.Mapping == "" {
		return Plan{}, nil
	}
	plan = Plan{Conflicts: i.Conflicts, DateFormat: DatesISO, Zone: time.UTC.String()}
	if json.Unmarshal([]byte(i.Mapping), &plan.Mapping) == nil {
		return plan, nil
	}
	var k kept
	if err := json.Unmarshal([]byte(i.Mapping), &k); err != nil {
		return Plan{}, fmt.Errorf("mapping of an import: %w", err)
	}
	plan.Mapping, plan.DateFormat, plan.Zone = k.Fields, k.DateFormat, k.Zone
	return plan, nil
}
