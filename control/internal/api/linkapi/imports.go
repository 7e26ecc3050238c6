package linkapi

import (
	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/imports"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// Import is a CSV file of links.
type Import struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Status      string          `json:"status" enum:"MAPPING,RUNNING,DONE,FAILED,CANCELLED"`
	Rows        int             `json:"rows" doc:"Rows of the file that are not blank, without the header."`
	Delimiter   string          `json:"delimiter" doc:"A comma, a semicolon or a tab."`
	Columns     []ImportColumn  `json:"columns"`
	Mapping     imports.Mapping `json:"mapping" doc:"The name of the column for each field; empty before the start."`
	Conflicts   *string         `json:"conflicts" values:"importConflicts" doc:"null before the start."`
	DateFormat  *string         `json:"dateFormat" values:"importDates" doc:"How the dates of the file are written; null before the start."`
	TimeZone    *string         `json:"timeZone" doc:"IANA time zone of dates without one; null before the start."`
	Progress    ImportProgress  `json:"progress"`
	Failure     *string         `json:"failure" doc:"Why the status is FAILED."`
	kit.Wording                 // of Failure
	CreatedBy   string          `json:"createdBy" doc:"Id of the user who imports."`
	CreatedAt   kit.Time        `json:"createdAt"`
	StartedAt   *kit.Time       `json:"startedAt"`
	FinishedAt  *kit.Time       `json:"finishedAt"`
	DeleteAt    *kit.Time       `json:"deleteAt" doc:"When the import is deleted with its file; its links stay. null while it runs."`
}

// ImportColumn is a column of a file.
type ImportColumn struct {
	Name      string   `json:"name" doc:"From the header row. A name that occurs twice gets a number."`
	Sample    []string `json:"sample" doc:"Up to three values, cut."`
	Suggested string   `json:"suggested" doc:"The field of links that the column probably holds, or an empty string."`
}

// ImportProgress counts finished rows.
type ImportProgress struct {
	Rows    int `json:"rows" doc:"All rows."`
	Done    int `json:"done" doc:"Sum of the following counts."`
	Created int `json:"created"`
	Updated int `json:"updated"`
	Skipped int `json:"skipped"`
	Renamed int `json:"renamed" doc:"Rows whose link was created with another slug."`
	Failed  int `json:"failed"`
}

// ImportProblem is why a row of a file is not imported.
type ImportProblem struct {
	Row     int    `json:"row" doc:"Number of the line in the file on which the row begins, from 1."`
	Field   string `json:"field" doc:"Field of the link; an empty string if the problem is about the whole row."`
	Column  string `json:"column" doc:"Name of the column, or an empty string."`
	Value   string `json:"value" doc:"The cell, cut."`
	Message string `json:"message"`
	kit.Wording
}

// ImportPreview is what an import would do. Each row is in one of the counts.
type ImportPreview struct {
	Rows     int             `json:"rows"`
	Create   int             `json:"create"`
	Update   int             `json:"update"`
	Skip     int             `json:"skip"`
	Rename   int             `json:"rename" doc:"Rows whose link would get another slug."`
	Errors   int             `json:"errors" doc:"Rows that cannot be imported."`
	Problems []ImportProblem `json:"problems" doc:"The first 1,000 problems in the order of the file, with those of rows that would be skipped."`
	Warnings []ImportProblem `json:"warnings" doc:"What rows without errors would lose, at most 1,000: first what concerns the whole file, with the line of the header as row."`
	Dates    ImportDates     `json:"dates"`
}

// ImportDates is how the dates of a file are read.
type ImportDates struct {
	Format *string      `json:"format" values:"importDates" doc:"The format of the request; with auto, the only one that fits all dates of the file. null if none or several fit, so that only ISO 8601 is read."`
	First  []ImportDate `json:"first" doc:"The first three dates of each column."`
}

// ImportDate is a date of a file, and what it becomes.
type ImportDate struct {
	Row    int       `json:"row" doc:"Number of the line in the file on which the row begins, from 1."`
	Field  string    `json:"field"`
	Column string    `json:"column"`
	Value  string    `json:"value" doc:"The cell, cut."`
	Time   *kit.Time `json:"time" doc:"The instant; null if the date is refused."`
}

func importDatesOf(p *imports.Preview) ImportDates {
	return ImportDates{kit.Text(string(p.DateFormat)), each.At(p.Dates, func(d *imports.DateSample) ImportDate {
		return ImportDate{d.Line, d.Field, d.Column, d.Value, kit.Instant(d.Time)}
	})}
}

func importOf(i store.Import) (Import, error) {
	columns, err := imports.Columns(&i)
	if err != nil {
		return Import{}, err
	}
	plan, err := imports.PlanOf(&i)
	if err != nil {
		return Import{}, err
	}
	if plan.Mapping == nil {
		plan.Mapping = imports.Mapping{}
	}
	out := Import{
		ID: i.ID, Name: i.Name, Status: i.Status, Rows: i.Rows, Delimiter: i.Delimiter, Mapping: plan.Mapping,
		Conflicts: kit.Text(i.Conflicts), DateFormat: kit.Text(string(plan.DateFormat)), TimeZone: kit.Text(plan.Zone),
		Failure: kit.Text(i.Failure), Wording: kit.WordingOf(i.Failure), CreatedBy: i.UserID,
		Progress:  ImportProgress{i.Rows, i.Done, i.Created, i.Updated, i.Skipped, i.Renamed, i.Failed},
		CreatedAt: kit.Time(i.CreatedAt), StartedAt: kit.Instant(i.StartedAt), FinishedAt: kit.Instant(i.FinishedAt),
		Columns: make([]ImportColumn, len(columns)),
	}
	for n, c := range columns {
		out.Columns[n] = ImportColumn(c)
	}
	switch keep := imports.Keep.Milliseconds(); {
	case i.FinishedAt != 0:
		out.DeleteAt = kit.Instant(i.FinishedAt + keep)
	case i.Status != store.ImportRunning:
		out.DeleteAt = kit.Instant(i.CreatedAt + keep)
	}
	return out, nil
}

func importProblemOf(p store.ImportProblem) ImportProblem {
	return ImportProblem{p.Line, p.Field, p.Column, p.Value, p.Message, kit.WordingOf(p.Message)}
}

type importPlan struct {
	Mapping   imports.Mapping `json:"mapping" doc:"The name of a column for each field that is to be imported. originalUrl is required." example:"{\"originalUrl\":\"long_url\",\"slug\":\"keyword\"}"`
	Conflicts kit.Opt[string] `json:"conflicts,omitempty" values:"importConflicts" doc:"What happens to a row whose slug or externalId is taken: skip (default), rename, or overwrite."`

	DateFormat kit.Opt[string] `json:"dateFormat,omitempty" values:"importDatesOrAuto" doc:"How dates are written that are not in ISO 8601: iso (the default; there are none), dots (31.01.2027), dayFirst (31/01/2027), monthFirst (01/31/2027), or auto, the only one of these that fits all dates of the file."`
	TimeZone   kit.Opt[string] `json:"timeZone,omitempty" doc:"IANA time zone of dates without one; UTC if it is left out." example:"Europe/Berlin"`
}

type importPlanIn struct {
	kit.ByID
	Body importPlan
}

func (b *importPlan) plan() imports.Plan {
	return imports.Plan{Mapping: b.Mapping, Conflicts: b.Conflicts.Value, DateFormat: imports.DateFormat(b.DateFormat.Value),
		Zone: b.TimeZone.Value}
}
