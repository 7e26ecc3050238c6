package api_test

import (
	"fmt"
	"strings"
	"testing"
)

const datedFile = "url,slug,created,expires\n" +
	"https://example.com/1,dated-1,03/04/2020 09:30,2099-01-31\n" +
	"https://example.com/2,dated-2,25/12/2020,2099-07-01T12:00:00Z\n" +
	"https://example.com/3,dated-3,12/25/2020,\n"

func datedPlan(more string) string {
	return `{"mapping":{"originalUrl":"url","slug":"slug","createdAt":"created","expiresAt":"expires"}` + more + `}`
}

// The dry run shows the guessed format and how the first dates are read, and the import reads them so.
func TestImports_read_dates_of_a_file(t *testing.T) {
	w := small(t, whole)
	id := w.uploadLinks(strings.Replace(datedFile, "12/25/2020", "31/12/2020", 1))
	dry := w.do("POST", "/api/imports/"+id+"/dry-run", datedPlan(`,"dateFormat":"auto","timeZone":"Europe/Berlin"`), as(w.ann)).want(200)
	dry.shows("errors", 0, "dates.format", "dayFirst", "dates.first.0.field", "createdAt", "dates.first.0.column", "created",
		"dates.first.0.row", 2, "dates.first.0.value", "03/04/2020 09:30", "dates.first.0.time", "2020-04-03T07:30:00.000Z",
		"dates.first.1.time", "2020-12-24T23:00:00.000Z", "dates.first.3.field", "expiresAt",
		"dates.first.3.time", "2099-01-30T23:00:00.000Z", "dates.first.4.time", "2099-07-01T12:00:00.000Z")
	w.do("GET", "/api/imports/"+id, "", as(w.ann)).want(200).shows("dateFormat", nil, "timeZone", nil)
	done := w.imported(id, datedPlan(`,"dateFormat":"auto","timeZone":"Europe/Berlin"`))
	done.shows("dateFormat", "dayFirst", "timeZone", "Europe/Berlin", "mapping.createdAt", "created", "progress.created", 3)
	w.do("GET", "/api/urls?search=dated-1", "", as(w.ann)).want(200).
		shows("data.0.createdAt", "2020-04-03T07:30:00.000Z", "data.0.expiresAt", "2099-01-30T23:00:00.000Z")
	w.do("GET", "/api/urls?search=dated-2", "", as(w.ann)).want(200).shows("data.0.createdAt", "2020-12-24T23:00:00.000Z")
}

// Dates that the format does not have, or that several formats have, are errors of their rows.
func TestImports_refuse_ambiguous_dates(t *testing.T) {
	w := small(t, whole)
	id := w.uploadLinks(datedFile)
	for _, c := range []struct {
		plan   string
		format any
		want   string
	}{
		{"", "iso", "2 DATE_AMBIGUOUS, 3 TIME, 4 TIME"},
		{`,"dateFormat":"auto"`, nil, "2 DATE_AMBIGUOUS, 3 TIME, 4 TIME"},
		{`,"dateFormat":"dayFirst"`, "dayFirst", "4 DATE_NONE"},
		{`,"dateFormat":"monthFirst"`, "monthFirst", "3 DATE_NONE"},
		{`,"dateFormat":"dots"`, "dots", "2 DATE_FORMAT, 3 DATE_FORMAT, 4 DATE_FORMAT"},
	} {
		dry := w.do("POST", "/api/imports/"+id+"/dry-run", datedPlan(c.plan), as(w.ann)).want(200)
		var got []string
		for _, p := range dry.at("problems").([]any) {
			got = append(got, fmt.Sprint(p.(map[string]any)["row"], " ", p.(map[string]any)["code"]))
		}
		if dry.at("dates.format") != c.format || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %v, %v", c.plan, dry.at("dates.format"), got)
		}
	}
	w.unchanged("a wrong plan", func() {
		for more, field := range map[string]string{
			`,"dateFormat":"american"`:     "dateFormat",
			`,"timeZone":"Europe/Nowhere"`: "timeZone",
			`,"timeZone":"Local"`:          "timeZone",
			`,"timeZone":"../../etc"`:      "timeZone",
		} {
			for _, action := range []string{"dry-run", "start"} {
				w.do("POST", "/api/imports/"+id+"/"+action, datedPlan(more), as(w.ann)).wantField(field)
			}
		}
	})
}
