package reportapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/clicks/report"
	"github.com/shortline/shortline/control/internal/manage/annotations"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
)

// Annotation is a mark on the charts of reports.
type Annotation struct {
	ID        string   `json:"id"`
	Kind      string   `json:"kind" values:"annotationKind" doc:"NOTE: written by a member. The others come from the history of links, and cannot be changed."`
	At        kit.Time `json:"at"`
	Text      *string  `json:"text" doc:"Of a note; null for other kinds."`
	URLID     *string  `json:"urlId" doc:"The link that it is about. Null if it is about the whole workspace, or several links."`
	URLName   *string  `json:"urlName" doc:"Host name, slash and slug of the link. Links on the host of the service have no host name."`
	URLCount  int      `json:"urlCount" doc:"How many links a change concerns; 1 for notes."`
	UserID    *string  `json:"userId" doc:"Who wrote the note or made the change. Null if it was the service, or if the user was deleted."`
	CreatedAt kit.Time `json:"createdAt"`
	UpdatedAt kit.Time `json:"updatedAt"`
}

func annotationOf(a annotations.Annotation) Annotation {
	return Annotation{ID: a.ID, Kind: string(a.Kind), At: kit.Time(a.At), Text: kit.Text(a.Text), URLID: kit.Text(a.LinkID),
		URLName: kit.Text(a.LinkName), URLCount: a.Links, UserID: kit.Text(a.UserID), CreatedAt: kit.Time(a.CreatedAt),
		UpdatedAt: kit.Time(a.UpdatedAt)}
}

// AnnotationList has the annotations of a range.
type AnnotationList struct {
	Annotations []Annotation `json:"annotations" doc:"Oldest first."`
	IsTruncated bool         `json:"isTruncated" doc:"Whether the range has more than 500 annotations; the oldest ones are left out."`
}

type listAnnotations struct {
	StartDate string `query:"startDate" doc:"The first day or instant, as in reports. Default: 30 days ago."`
	EndDate   string `query:"endDate" doc:"The last day or instant, as in reports. Default: today."`
	TimeRange string `query:"timeRange" values:"reportRange" doc:"The range, as in reports."`
	Timezone  string `query:"timezone" doc:"IANA time zone of the days. Default: UTC."`
	Interval  string `query:"interval" values:"reportInterval" doc:"As in the report for whose chart they are: with minute or hour, instants stand for themselves."`
	URLID     string `query:"urlId" doc:"Only those of this link, and the notes about the whole workspace."`
}

type createAnnotation struct {
	At    kit.Opt[kit.TimeText] `json:"at" required:"true" doc:"The instant to mark. It may be in the future."`
	Text  kit.Opt[string]       `json:"text" required:"true" doc:"1 to 280 characters."`
	URLID kit.Opt[string]       `json:"urlId,omitempty" doc:"The link that the note is about. Without it, the note is about the whole workspace."`
}

type updateAnnotation struct {
	At   kit.Opt[kit.TimeText] `json:"at,omitempty"`
	Text kit.Opt[string]       `json:"text,omitempty"`
}

func noteOf(at kit.Opt[kit.TimeText], text kit.Opt[string]) (in annotations.Input, err error) {
	var v problem.Fields
	in = annotations.Input{At: kit.TextMillis(at, "at", &v), Text: kit.Given(text, "")}
	return in, v.Err()
}

var annotationResource = kit.Resource{
	Tag: "Annotations", About: "Notes and changes of links, to mark on the charts of reports.",
	Read: kit.Needs(auth.Viewer, auth.AnalyticsRead), Change: kit.Needs(auth.Editor, auth.LinksWrite),
	Values: map[string][]any{"annotationKind": kit.Enum(annotations.Kinds...)},
}

func (s *server) registerAnnotations() {
	declare := kit.Under("/api/annotations", "Annotations")
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listAnnotations", "List the annotations of a range").
		About("The notes of the range, and what the history of links says: a destination or routing rules were changed, or an experiment was "+
			"started or decided. At most the newest 500."),
		func(ctx context.Context, in *listAnnotations) (*kit.Body[AnnotationList], error) {
			from, to, err := s.Reports.Bounds(report.Range{Start: in.StartDate, End: in.EndDate, Name: in.TimeRange, Zone: in.Timezone,
				Interval: in.Interval})
			if err != nil {
				return nil, err
			}
			list, more, err := s.Annotations.List(ctx, kit.Principal(ctx), in.URLID, from, to)
			if err != nil {
				return nil, err
			}
			out := AnnotationList{Annotations: make([]Annotation, len(list)), IsTruncated: more}
			for i, a := range list {
				out.Annotations[i] = annotationOf(a)
			}
			return &kit.Body[AnnotationList]{Body: out}, nil
		})
	kit.Handle(s.Kit, declare(http.MethodPost, "", "createAnnotation", "Create a note").
		About("Marks an instant on the charts of the workspace, or of one of its links. With 2,000 notes in the workspace, the response is 409.").
		Example(`{"at":"2026-11-27T08:00:00Z","text":"Newsletter sent"}`).Fails(http.StatusConflict),
		func(ctx context.Context, in *struct{ Body createAnnotation }) (*kit.Body[Annotation], error) {
			note, err := noteOf(in.Body.At, in.Body.Text)
			if err != nil {
				return nil, err
			}
			var link string
			if id := in.Body.URLID.Pointer(); id != nil {
				link = *id
			}
			return kit.Respond(annotationOf)(s.Annotations.Create(ctx, kit.Principal(ctx), link, note))
		})
	kit.Handle(s.Kit, declare(http.MethodPut, "/{id}", "updateAnnotation", "Update the given fields of a note").
		About("Changes the given fields. What comes from the history of links is not found (404).").Example(`{"text":"Newsletter to all"}`),
		func(ctx context.Context, in *struct {
			kit.ByID
			Body updateAnnotation
		}) (*kit.Body[Annotation], error) {
			note, err := noteOf(in.Body.At, in.Body.Text)
			if err != nil {
				return nil, err
			}
			return kit.Respond(annotationOf)(s.Annotations.Update(ctx, kit.Principal(ctx), in.ID, note))
		})
	kit.Handle(s.Kit, declare(http.MethodDelete, "/{id}", "deleteAnnotation", "Delete a note").
		About("Deletes a note. What comes from the history of links is not found (404)."), kit.Delete(s.Annotations.Delete))
}
