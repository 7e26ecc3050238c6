package linkapi

import (
	"encoding/base64"
	"image"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/links/qr"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
)

// The limits of a logo and of the form with it, in bytes.
const (
	maxLogo     = 1 << 20
	maxLogoForm = maxLogo + 64<<10
)

func (s *server) registerQRCode() {
	e := kit.Endpoint{Method: http.MethodGet, Path: "/api/urls/{id}/qrcode", ID: "urlQRCode", Summary: "Get the QR code of a link",
		Tag: "URLs"}
	s.HandleRaw(e, s.qrCode)
	with := kit.Endpoint{Method: http.MethodPost, Path: e.Path, ID: "urlQRCodeWithLogo", Summary: "Get the QR code of a link with a logo",
		Tag: e.Tag, Role: auth.Viewer, Scope: auth.LinksRead, Raw: true, MaxBody: maxLogoForm}
	if s.Media != nil {
		s.HandleRaw(with, s.qrCodeWithLogo)
	}
	param := func(in, name, doc string, schema *huma.Schema) *huma.Param {
		return &huma.Param{Name: name, In: in, Required: in == "path", Description: doc, Schema: schema}
	}
	str := &huma.Schema{Type: huma.TypeString}
	low, high := float64(qr.MinWidth), float64(qr.MaxWidth)
	none, wide := 0.0, float64(qr.MaxMargin)
	op := huma.Operation{
		Method: e.Method, Path: e.Path, OperationID: e.ID, Summary: e.Summary, Tags: []string{e.Tag},
		Description: "Returns an image if `format` is png, svg or pdf, or if Accept contains an image type. Otherwise it returns JSON with a " +
			"data URL. " +
			"Colours with a contrast of less than 1.5:1 are a 400, because no camera can read such a code.",
		Security: []map[string][]string{{"bearer": {}}, {"apiKey": {}}, {"cookie": {}}},
		Parameters: []*huma.Param{
			param("path", "id", "The URL's id.", str),
			param("query", "width", "Width and height in pixels. The default is 300.", &huma.Schema{Type: huma.TypeInteger, Minimum: &low,
				Maximum: &high}),
			param("query", "color", "Hexadecimal colour of the code. The default is #000000.", str),
			param("query", "background", "Hexadecimal colour of the background. The default is #ffffff.", str),
			param("query", "shape", "The shape of the modules. The default is square.",
				&huma.Schema{Type: huma.TypeString, Enum: []any{"square", "rounded", "dots"}}),
			param("query", "level", "How much of the code may be damaged: L 7 %, M 15 % (default), Q 25 %, H 30 %.",
				&huma.Schema{Type: huma.TypeString, Enum: []any{"L", "M", "Q", "H"}}),
			param("query", "margin", "Width of the empty border in modules. The default is 4, which scanners expect.",
				&huma.Schema{Type: huma.TypeInteger, Minimum: &none, Maximum: &wide}),
			param("query", "format", "The format of the response.",
				&huma.Schema{Type: huma.TypeString, Enum: []any{"png", "svg", "pdf", "json"}}),
		},
		Responses: map[string]*huma.Response{"200": {Description: "The code.", Headers: map[string]*huma.Param{
			qrWarning: {Schema: str, Description: "Why some cameras may not read the code: low-contrast (less than 4:1), " +
				"inverted (lighter than the background), or both with a comma between them."},
		}, Content: map[string]*huma.MediaType{
			"image/png": {}, "image/svg+xml": {}, "application/pdf": {},
			"application/json": {Schema: &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"qrCode": str},
				Required: []string{"qrCode"}}},
		}}},
	}
	s.Describe(&op)
	if s.Media == nil {
		return
	}
	logo := op
	logo.Method, logo.OperationID, logo.Summary = with.Method, with.ID, with.Summary
	logo.Description =
		"The same with the image `file` in the middle: JPEG, PNG, WebP or GIF of at most 1 MiB. `level` must be Q or H (default). The logo is " +
			"not stored."
	logo.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: &huma.Schema{
		Type: huma.TypeObject, Required: []string{"file"},
		Properties: map[string]*huma.Schema{"file": {Type: huma.TypeString, Format: "binary"}},
	}}}}
	s.Describe(&logo)
}

// qrCode answers with a code without a logo.
func (s *server) qrCode(c echo.Context) error { return s.drawQRCode(c, nil) }

// qrCodeWithLogo answers with a code that has the uploaded image in the middle.
func (s *server) qrCodeWithLogo(c echo.Context) error {
	if _, err := s.Links.Get(c.Request().Context(), kit.Principal(c.Request().Context()), c.Param("id")); err != nil {
		return err
	}
	file, err := c.FormFile("file")
	if err != nil {
		return problem.OfField("file", "is required, in a form with the type multipart/form-data")
	}
	if file.Size > maxLogo {
		return problem.New(problem.TooLarge, "The logo is larger than %d MiB.", maxLogo>>20)
	}
	content, err := file.Open()
	if err != nil {
		return problem.OfField("file", "cannot be read")
	}
	defer content.Close()
	data, err := io.ReadAll(content)
	if err != nil {
		return problem.OfField("file", "cannot be read")
	}
	logo, err := s.Media.Thumbnail(c.Request().Context(), data, qr.MaxLogo, qr.MaxLogo)
	if err != nil {
		return err
	}
	return s.drawQRCode(c, logo)
}

func (s *server) drawQRCode(c echo.Context, logo image.Image) error {
	ctx := c.Request().Context()
	u, err := s.Links.Get(ctx, kit.Principal(ctx), c.Param("id"))
	if err != nil {
		return err
	}
	var v problem.Fields
	style := qrStyle(c, &v)
	if logo != nil {
		style.Logo = logo
		if c.QueryParam("level") == "" {
			style.Level = "H"
		} else if !slices.Contains(qr.LogoLevels, style.Level) {
			v.Add("level", "must be Q or H, because the logo covers a part of the code")
		}
	}
	format := c.QueryParam("format")
	switch accept := strings.Join(c.Request().Header.Values("Accept"), ","); {
	case format == "png", format == "svg", format == "pdf", format == "json":
	case format != "":
		v.Add("format", "must be png, svg, pdf or json")
	case !strings.Contains(accept, "image/"):
		format = "json"
	case strings.Contains(accept, "image/svg+xml") && strings.Count(accept, "image/") == 1:
		format = "svg"
	default:
		format = "png"
	}
	if err := v.Err(); err != nil {
		return err
	}
	draw, mediaType := qr.PNG, "image/png"
	switch format {
	case "svg":
		draw, mediaType = qr.SVG, "image/svg+xml"
	case "pdf":
		draw, mediaType = qr.PDF, "application/pdf"
	}
	slot, err := s.Queue(kit.Computing).Enter(ctx, kit.Principal(ctx).UserID)
	if err != nil {
		return err
	}
	b, err := draw(s.Links.ShortURL(&u), style)
	slot.Leave()
	if err != nil {
		return err
	}
	c.Response().Header().Add("Vary", "Accept")
	if text := strings.Join(qrWarnings(style), ", "); text != "" {
		c.Response().Header().Set(qrWarning, text)
	}
	if format == "json" {
		return c.JSON(http.StatusOK, map[string]string{"qrCode": "data:image/png;base64," + base64.StdEncoding.EncodeToString(b)})
	}
	return c.Blob(http.StatusOK, mediaType, b)
}

// qrWarning is the header that says why some cameras may not read a code.
const qrWarning = "X-QR-Warning"

func qrWarnings(style qr.Style) (list []string) {
	if style.Contrast() < qr.GoodContrast {
		list = append(list, "low-contrast")
	}
	if style.Inverted() {
		list = append(list, "inverted")
	}
	return list
}

// qrStyle reads the appearance of a code from the query, and adds what is wrong with it to v.
func qrStyle(c echo.Context, v *problem.Fields) qr.Style {
	style := qr.Style{Width: qr.DefaultWidth, Margin: qr.DefaultMargin, Shape: qr.Squares, Level: "M"}
	number := func(name string, value *int, low, high int) {
		raw := c.QueryParam(name)
		if raw == "" {
			return
		}
		n, err := strconv.Atoi(raw)
		if err != nil || n < low || n > high {
			v.Add(name, "must be a whole number from %d to %d", low, high)
			return
		}
		*value = n
	}
	number("width", &style.Width, qr.MinWidth, qr.MaxWidth)
	number("margin", &style.Margin, 0, qr.MaxMargin)
	var err error
	if style.Color, err = qr.ParseColor(c.QueryParam("color"), qr.Black); err != nil {
		v.Add("color", "%s", err)
	}
	if style.Background, err = qr.ParseColor(c.QueryParam("background"), qr.White); err != nil {
		v.Add("background", "%s", err)
	}
	if len(*v) == 0 && style.Contrast() < qr.MinContrast {
		v.Add("color", "has a contrast of %.1f:1 with background, so no camera can read the code; at least %.1f:1 is needed",
			style.Contrast(), qr.MinContrast)
	}
	if shape := qr.Shape(c.QueryParam("shape")); slices.Contains(qr.Shapes, shape) {
		style.Shape = shape
	} else if shape != "" {
		v.Add("shape", "must be square, rounded or dots")
	}
	if level := c.QueryParam("level"); slices.Contains(qr.Levels, level) {
		style.Level = level
	} else if level != "" {
		v.Add("level", "must be L, M, Q or H")
	}
	return style
}
