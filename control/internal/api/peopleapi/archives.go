package peopleapi

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/archive"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/each"
)

const (
	// archiveTime limits an export, and an import with its upload.
	archiveTime = 6 * time.Hour
	// pause is how long an upload or a download may stand still.
	pause = 30 * time.Second
)

var archiveResource = kit.Resource{
	Tag: "Archives", About: "A whole workspace as one file: export and import.",
	Read: kit.Needs(auth.WorkspaceAdmin, 0), Change: kit.Needs(auth.WorkspaceAdmin, 0),
	Values: map[string][]any{"archiveKind": kit.Enum(archive.AllKinds...)},
}

// ArchiveReport says what an import of an archive did, or what it would do.
type ArchiveReport struct {
	DryRun      bool             `json:"dryRun" doc:"Whether nothing was changed, because the request asked what would happen."`
	Source      ArchiveSource    `json:"source"`
	Kinds       []ArchiveCounts  `json:"kinds"`
	Deactivated int              `json:"deactivated" doc:"Created links that are inactive because they had a password or were suspended."`
	Problems    []ArchiveProblem `json:"problems" doc:"The first 100 objects that cannot be imported."`
	AllProblems int              `json:"problemCount" doc:"How many objects cannot be imported."`
}

// ArchiveSource says where an archive is from.
type ArchiveSource struct {
	Workspace  string   `json:"workspace" doc:"Name of the workspace that was exported."`
	Host       string   `json:"host" doc:"Host of the installation."`
	ExportedAt kit.Time `json:"exportedAt"`
}

// ArchiveCounts counts the objects of a kind.
type ArchiveCounts struct {
	Kind    string `json:"kind" values:"archiveKind"`
	Rows    int64  `json:"rows" doc:"Objects in the archive."`
	Created int64  `json:"created" doc:"Objects that were added, or would be. Clicks and conversions that are stored already count, too."`
	Present int64  `json:"present" doc:"Objects that the workspace has already, which stay as they are."`
	Skipped int64  `json:"skipped" doc:"Objects that cannot be imported, and clicks of their links."`
}

// ArchiveProblem says why an object cannot be imported.
type ArchiveProblem struct {
	Kind    string `json:"kind" values:"archiveKind"`
	Name    string `json:"name"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

func reportOf(r *archive.Report, dry bool) ArchiveReport {
	return ArchiveReport{dry, ArchiveSource{r.Manifest.Workspace.Name, r.Manifest.Host, kit.Time(r.Manifest.ExportedAt)},
		each.Of(r.Kinds, func(k *archive.Kind) ArchiveCounts {
			return ArchiveCounts{k.Name, k.Rows, k.Created, k.Present, k.Skipped}
		}), r.Deactivated,
		each.Of(r.Problems, func(p archive.Problem) ArchiveProblem { return ArchiveProblem(p) }), r.AllProblems}
}

func (s *server) registerArchives() {
	declare := func(method, id, summary string) kit.Endpoint {
		return kit.Endpoint{Method: method, Path: "/api/workspaces/{id}/archive", ID: id, Summary: summary, Tag: "Archives", OfPath: true,
			Limit: kit.LimitExport, Work: kit.Exporting, Timeout: archiveTime}
	}
	export := declare(http.MethodGet, "exportWorkspace", "Export a workspace as one file").
		About("A ZIP file with links, rules, variants, tags, bundles, domains, UTM templates, webhooks and experiments as lines of JSON, and with " +
			"all clicks and conversions as CSV and Parquet. It has no secrets. Requires the role ADMIN. An API key with scopes cannot do this. " +
			"A file that was cut off is refused by the import.").Fails(http.StatusServiceUnavailable)
	export.Files = map[string]*huma.Schema{"application/zip": {Type: huma.TypeString, Format: "binary"}}
	kit.Handle(s.Kit, export, s.exportWorkspace)
	upload := declare(http.MethodPost, "importWorkspace", "Import a file that exportWorkspace has made").
		Fails(http.StatusConflict, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
			http.StatusRequestTimeout, http.StatusServiceUnavailable).
		About("Adds what the archive has to the workspace of the path. The complete file is checked first: a damaged one gets 400, and nothing " +
			"is changed. What the workspace has already stays as it is, so repeat an import that was interrupted. If something cannot be " +
			"imported, such as a link whose slug is taken, the response is 409 and nothing is changed, unless `skipConflicts` is true. " +
			"Domains become PENDING, webhooks inactive with a new secret, and links that had a password inactive. Requires the role ADMIN.")
	upload.Status, upload.Raw, upload.MaxBody = http.StatusOK, true, int64(archive.MaxUpload)
	s.HandleRaw(upload, s.importWorkspace)
	boolean := &huma.Schema{Type: huma.TypeBoolean}
	s.Describe(&huma.Operation{
		Method: upload.Method, Path: upload.Path, OperationID: upload.ID, Summary: upload.Summary, Tags: []string{upload.Tag},
		Security: []map[string][]string{{"bearer": {}}, {"apiKey": {}}, {"cookie": {}}},
		Parameters: []*huma.Param{
			{Name: "id", In: "path", Required: true, Description: "The id or the slug of the workspace.",
				Schema: &huma.Schema{Type: huma.TypeString}},
			{Name: "dryRun", In: "query", Description: "Only tell what would happen.", Schema: boolean},
			{Name: "skipConflicts", In: "query", Description: "Import everything else if something cannot be imported.", Schema: boolean}},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/zip": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}},
		Responses: map[string]*huma.Response{"200": {Description: "OK", Content: map[string]*huma.MediaType{
			"application/json": {Schema: s.Schema(reflect.TypeFor[ArchiveReport]())},
		}}},
	})
}

func (s *server) exportWorkspace(ctx context.Context, _ *ByWorkspace) (*huma.StreamResponse, error) {
	e, err := s.Archives.Prepare(ctx, kit.Principal(ctx))
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer e.Close()
		hc.SetHeader("Content-Type", "application/zip")
		hc.SetHeader("Content-Disposition", `attachment; filename="`+e.FileName()+`"`)
		hc.SetStatus(http.StatusOK)
		if err := e.WriteTo(ctx, newPatient(hc.BodyWriter())); err != nil {
			kit.RequestLogOf(ctx).Err = err
			panic(http.ErrAbortHandler) // the caller must notice that the file is truncated
		}
	}}, nil
}

// patient gives the caller time for each part of a response, instead of for all of it.
type patient struct {
	io.Writer
	deadline *http.ResponseController // nil: the response has none
}

func newPatient(w io.Writer) *patient {
	p := &patient{Writer: w}
	if r, ok := w.(http.ResponseWriter); ok {
		p.deadline = http.NewResponseController(r)
	}
	return p
}

func (p *patient) Write(b []byte) (int, error) {
	if p.deadline != nil {
		_ = p.deadline.SetWriteDeadline(time.Now().Add(pause)) // not all writers support it
	}
	return p.Writer.Write(b)
}

// archiveTypes are the media types of archives. Browsers choose one by the name of the file.
var archiveTypes = []string{"application/zip", "application/x-zip-compressed", "application/octet-stream"}

func (s *server) importWorkspace(c echo.Context) error {
	var v problem.Fields
	flag := func(name string) bool {
		value := c.QueryParam(name)
		if value != "" && value != "true" && value != "false" {
			v.Add(name, "must be true or false")
		}
		return value == "true"
	}
	o := archive.Options{DryRun: flag("dryRun"), SkipConflicts: flag("skipConflicts")}
	if err := v.Err(); err != nil {
		return err
	}
	if mt, _, err := mime.ParseMediaType(c.Request().Header.Get("Content-Type")); err != nil || !slices.Contains(archiveTypes, mt) {
		return kit.NewAnswer(http.StatusUnsupportedMediaType, "The request body must be a ZIP file (Content-Type: application/zip).")
	}
	file, size, err := s.receive(c)
	if err != nil {
		return err
	}
	defer file.Close()
	ctx := c.Request().Context()
	report, err := s.Archives.Import(ctx, kit.Principal(ctx), file, size, o)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, reportOf(report, o.DryRun))
}

// receive stores the body in a temporary file without a name.
func (s *server) receive(c echo.Context) (file *os.File, size int64, err error) {
	r, most := c.Request(), int64(archive.MaxUpload)
	tooLarge := problem.New(problem.TooLarge, "The file is larger than %d MB.", most>>20)
	if r.ContentLength > most {
		return nil, 0, tooLarge
	}
	if file, err = s.Archives.Temporary(); err != nil {
		return nil, 0, err
	}
	deadline := http.NewResponseController(c.Response().Writer)
	body := &lively{from: http.MaxBytesReader(c.Response(), r.Body, most), alive: func() {
		_ = deadline.SetReadDeadline(time.Now().Add(pause)) // not all writers support it
	}}
	size, err = io.Copy(file, body)
	_ = deadline.SetReadDeadline(time.Time{})
	_ = deadline.SetWriteDeadline(time.Now().Add(archiveTime)) // the server's begins with the upload
	if err == nil {
		return file, size, nil
	}
	file.Close()
	var past *http.MaxBytesError
	switch {
	case errors.As(err, &past):
		return nil, 0, tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, 0, kit.NewAnswer(http.StatusRequestTimeout, "The request body took too long to arrive.")
	case errors.Is(err, syscall.ENOSPC):
		return nil, 0, problem.New(problem.Unavailable, "The disk for temporary files is full.")
	}
	return nil, 0, problem.New(problem.Invalid, "The request body could not be read.")
}

// lively calls alive before each read.
type lively struct {
	from  io.Reader
	alive func()
}

func (l *lively) Read(b []byte) (int, error) {
	l.alive()
	return l.from.Read(b)
}
