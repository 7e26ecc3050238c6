package linkapi

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/imports"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/platform/spreadsheet"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
)

// importTime limits an upload and a dry run.
const importTime = 60 * time.Second

const importPage = 20

var importResource = kit.Resource{
	Tag: "Imports", About: "Links from CSV files: upload, dry run, import.",
	Read: kit.Needs(auth.Editor, auth.LinksRead), Change: kit.Needs(auth.Editor, auth.LinksWrite),
	Values: map[string][]any{"importConflicts": kit.Enum(links.AllConflicts...),
		"importDates":       kit.Enum(imports.AllDateFormats[:len(imports.AllDateFormats)-1]...),
		"importDatesOrAuto": kit.Enum(imports.AllDateFormats...)},
}

func importEndpoint(method, path, id, summary string) kit.Endpoint {
	return kit.Endpoint{Method: method, Path: "/api/imports" + path, ID: id, Summary: summary, Tag: "Imports"}
}

func (s *server) registerImports() {
	s.registerUpload()
	kit.Handle(s.Kit, importEndpoint(http.MethodGet, "", "listImports", "List imports").
		About("A page of imports, newest first."), s.listImports)
	kit.Handle(s.Kit, importEndpoint(http.MethodGet, "/{id}", "getImport", "Get an import with its progress").
		About("An import with its progress. Ask for it repeatedly while it is RUNNING."),
		func(ctx context.Context, in *kit.ByID) (*kit.Body[Import], error) {
			return answerImport(s.Imports.Get(ctx, kit.Principal(ctx), in.ID))
		})
	kit.Handle(s.Kit, importEndpoint(http.MethodDelete, "/{id}", "deleteImport", "Delete an import; its links stay").
		About("Deletes the import and its file. A running import gets 409.").Fails(http.StatusConflict),
		kit.Delete(s.Imports.Delete))
	preview := importEndpoint(http.MethodPost, "/{id}/dry-run", "previewImport", "Check all rows of an import and change nothing").
		About("Checks every row like a new link, and its slug and externalId against the file and the saved links. It does not ask the " +
			"operator's check service. An import that was started gets 409.").
		Example(`{"mapping":{"originalUrl":"long_url","slug":"keyword","tags":"tags"},"conflicts":"rename","dateFormat":"auto",` +
			`"timeZone":"Europe/Berlin"}`).Fails(http.StatusConflict)
	preview.Status, preview.Timeout, preview.Work = http.StatusOK, importTime, kit.Computing
	kit.Handle(s.Kit, preview, s.previewImport)
	start := importEndpoint(http.MethodPost, "/{id}/start", "startImport", "Start an import").
		About("Imports the rows in the background, in steps of 200. Rows with problems are left out. A process that ends is replaced, and no " +
			"row is imported twice. An import that was started gets 409.").
		Example(`{"mapping":{"originalUrl":"long_url","slug":"keyword","tags":"tags"},"conflicts":"skip"}`).Fails(http.StatusConflict)
	start.Status = http.StatusAccepted
	kit.Handle(s.Kit, start, func(ctx context.Context, in *importPlanIn) (*kit.Body[Import], error) {
		slot, err := s.Large.Enter(ctx, kit.Principal(ctx).UserID)
		if err != nil {
			return nil, err
		}
		defer slot.Leave()
		return answerImport(s.Imports.Start(ctx, kit.Principal(ctx), in.ID, in.Body.plan()))
	})
	cancel := importEndpoint(http.MethodPost, "/{id}/cancel", "cancelImport", "Cancel an import that is running").
		About("Ends the import after the present step. Rows that were imported stay. An import that is not running gets 409.").
		Fails(http.StatusConflict)
	cancel.Status = http.StatusOK
	kit.Handle(s.Kit, cancel, func(ctx context.Context, in *kit.ByID) (*kit.Body[Import], error) {
		return answerImport(s.Imports.Cancel(ctx, kit.Principal(ctx), in.ID))
	})
	kit.Handle(s.Kit, importEndpoint(http.MethodGet, "/{id}/problems", "listImportProblems", "List the problems of an import").
		About("A page of what was wrong with the rows that the import has not imported so far, in the order of the file. Rows that were "+
			"skipped have the code SKIPPED."), func(ctx context.Context, in *struct {
		kit.ByID
		kit.Paging
	}) (*kit.Body[kit.List[ImportProblem]], error) {
		return kit.RespondPage(in.Paging, importPage, importProblemOf)(s.Imports.Problems(ctx, kit.Principal(ctx), in.ID,
			in.Offset(importPage),
			in.Size(importPage)))
	})
	left := importEndpoint(http.MethodGet, "/{id}/problems.csv", "exportImportProblems", "Export the rows that an import has left out").
		About("The rows that failed or were skipped, as they were, with the reason in a last column, for you to correct and to import again. " +
			"A text that a spreadsheet could take for a formula begins with an apostrophe, which an import removes.")
	left.Limit, left.Timeout, left.Files = kit.LimitExport, importTime, map[string]*huma.Schema{"text/csv": kit.CSVFile()}
	kit.Handle(s.Kit, left, s.leftRows)
}

// answerImport converts one import.
func answerImport(i store.Import, err error) (*kit.Body[Import], error) {
	if err != nil {
		return nil, err
	}
	out, err := importOf(i)
	return kit.NewBody(out), err
}

func (s *server) listImports(ctx context.Context, in *kit.Paging) (*kit.Body[kit.List[Import]], error) {
	list, total, err := s.Imports.List(ctx, kit.Principal(ctx), in.Offset(importPage), in.Size(importPage))
	if err != nil {
		return nil, err
	}
	rows := make([]Import, len(list))
	for i := range list {
		if rows[i], err = importOf(list[i]); err != nil {
			return nil, err
		}
	}
	return kit.NewBody(kit.ListOf(rows, total, *in, importPage)), nil
}

func (s *server) previewImport(ctx context.Context, in *importPlanIn) (*kit.Body[ImportPreview], error) {
	slot, err := s.Large.Enter(ctx, kit.Principal(ctx).UserID)
	if err != nil {
		return nil, err
	}
	defer slot.Leave()
	p, err := s.Imports.Preview(ctx, kit.Principal(ctx), in.ID, in.Body.plan())
	if err != nil {
		return nil, err
	}
	told := func(list []store.ImportProblem) []ImportProblem {
		return each.At(list, func(i *store.ImportProblem) ImportProblem { return importProblemOf(*i) })
	}
	return kit.NewBody(ImportPreview{p.Rows, p.Create, p.Update, p.Skip, p.Rename, p.Errors, told(p.Problems), told(p.Warnings),
		importDatesOf(&p)}), nil
}

// registerUpload declares the endpoint that takes a file as its body.
func (s *server) registerUpload() {
	upload := importEndpoint(http.MethodPost, "", "createImport", "Upload a CSV file of links").
		About("Stores a CSV file and suggests which column fills which field of links. The body is text in UTF-8 of at most 10 MB, 100,000 "+
			"rows and 200 columns; the delimiter is a comma, a semicolon or a tab. The first row names the columns. "+
			"Passwords are not imported: a file with a column of passwords gets 400. A workspace keeps 20 imports (409).").
		Fails(http.StatusConflict,
			http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusRequestTimeout)
	upload.Raw, upload.MaxBody, upload.Timeout = true, imports.MaxFile, importTime
	s.HandleRaw(upload, s.uploadImport)
	str := &huma.Schema{Type: huma.TypeString}
	s.Describe(&huma.Operation{
		Method: upload.Method, Path: upload.Path, OperationID: upload.ID, Summary: upload.Summary, Tags: []string{upload.Tag},
		Security: []map[string][]string{{"bearer": {}}, {"apiKey": {}}, {"cookie": {}}},
		Parameters: []*huma.Param{
			{Name: "name", In: "query", Description: "Name of the import, such as that of the file; at most 100 characters.", Schema: str}},
		RequestBody: &huma.RequestBody{Required: true,
			Content: map[string]*huma.MediaType{
				"text/csv": {Schema: str, Example: "long_url,keyword,tags\nhttps://example.com/spring,spring,news;spring\n"}}},
		Responses: map[string]*huma.Response{"201": {Description: "Created", Content: map[string]*huma.MediaType{
			"application/json": {Schema: s.Schema(reflect.TypeFor[Import]())},
		}}},
	})
}

// csvTypes are the media types of files. Browsers choose one by the name of the file.
var csvTypes = []string{"text/csv", "text/plain", "text/tab-separated-values", "application/csv", "application/vnd.ms-excel"}

func (s *server) uploadImport(c echo.Context) error {
	r := c.Request()
	ctx := r.Context()
	tooLarge := problem.New(problem.TooLarge, "The file is larger than %d MB.", imports.MaxFile>>20)
	if r.ContentLength > imports.MaxFile {
		return tooLarge
	}
	if mt, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || !slices.Contains(csvTypes, mt) {
		return kit.NewAnswer(http.StatusUnsupportedMediaType, "The request body must be a CSV file (Content-Type: text/csv).")
	}
	deadline := http.NewResponseController(c.Response().Writer)
	_ = deadline.SetReadDeadline(time.Now().Add(importTime)) // not all writers support it
	content, err := io.ReadAll(http.MaxBytesReader(c.Response(), r.Body, imports.MaxFile))
	var past *http.MaxBytesError
	switch {
	case errors.As(err, &past):
		return tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return kit.NewAnswer(http.StatusRequestTimeout, "The request body took too long to arrive.")
	case err != nil:
		return problem.New(problem.Invalid, "The request body could not be read.")
	}
	_ = deadline.SetReadDeadline(time.Time{})
	slot, err := s.TakeTurn(c)
	if err != nil {
		return err
	}
	defer slot.Leave()
	i, err := s.Imports.Create(ctx, kit.Principal(ctx), c.QueryParam("name"), content)
	if err != nil {
		return err
	}
	out, err := importOf(i)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, out)
}

// leftRows answers with a file in the form of the uploaded one. Cells are inert; an import makes them plain again.
func (s *server) leftRows(ctx context.Context, in *kit.ByID) (*huma.StreamResponse, error) {
	delimiter, each, err := s.Imports.LeftRows(ctx, kit.Principal(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", "text/csv; charset=utf-8")
		hc.SetHeader("Content-Disposition", `attachment; filename="problems.csv"`)
		hc.SetStatus(http.StatusOK)
		if err := writeCells(ctx, hc.BodyWriter(), delimiter, each); err != nil {
			kit.RequestLogOf(ctx).Err = err
			panic(http.ErrAbortHandler) // the caller must notice that the file is truncated
		}
	}}, nil
}

// writeCells writes rows as CSV after a byte-order mark. After an error the file is incomplete and must be discarded.
func writeCells(ctx context.Context, w io.Writer, delimiter rune, each func(context.Context, func([]string) error) error) error {
	b := bufio.NewWriterSize(w, 32<<10)
	b.WriteString("\uFEFF")
	c := csv.NewWriter(b)
	c.Comma, c.UseCRLF = delimiter, true
	err := each(ctx, func(cells []string) error {
		for i := range cells {
			cells[i] = spreadsheet.Inert(kit.LineFeeds.Replace(spreadsheet.Plain(cells[i])))
		}
		return c.Write(cells)
	})
	if err != nil {
		return fmt.Errorf("export rows of an import: %w", err)
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("export rows of an import: %w", err)
	}
	return b.Flush()
}
