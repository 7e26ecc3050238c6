package linkapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/media"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
)

const (
	imagePath  = "/api/og-images/"
	uploadTime = 60 * time.Second
	maxForm    = media.MaxUpload + 64<<10 // the file and the form around it
)

// UploadedImage locates an uploaded image.
type UploadedImage struct {
	Key      string `json:"key" example:"og-images/01970000-0000-7000-8000-000000000000/1735689600000000.webp"`
	ProxyURL string `json:"proxyUrl" doc:"The image's path."`
}

// ImageUploaded is the response to an upload.
type ImageUploaded struct {
	StatusCode int           `json:"statusCode"`
	Data       UploadedImage `json:"data"`
}

var imageResource = kit.Resource{
	Tag: "Images", About: "Images for previews in social networks.",
	Read: kit.Needs(auth.Viewer, auth.LinksRead), Change: kit.Needs(auth.Editor, auth.LinksWrite),
}

func (s *server) registerMedia() {
	upload := kit.Endpoint{Method: http.MethodPost, Path: imagePath + "upload/{urlId}", ID: "uploadOGImage",
		Summary: "Upload a link's preview image", Tag: "Images",
		Raw: true, MaxBody: maxForm, Timeout: uploadTime}
	s.HandleRaw(upload, s.uploadImage)
	str := &huma.Schema{Type: huma.TypeString}
	s.Describe(&huma.Operation{
		Method: upload.Method, Path: upload.Path, OperationID: upload.ID, Summary: upload.Summary, Tags: []string{upload.Tag},
		Description: "Accepts JPEG, PNG, WebP or GIF of at most 10 MiB, 50 megapixels and 500 frames. The image is converted to WebP (a GIF " +
			"stays a GIF) of at most 1200 by 630 pixels, and becomes the link's `ogImage`.",
		Security:   []map[string][]string{{"bearer": {}}, {"apiKey": {}}, {"cookie": {}}},
		Parameters: []*huma.Param{{Name: "urlId", In: "path", Required: true, Description: "The URL's id.", Schema: str}},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"file"},
			Properties: map[string]*huma.Schema{"file": {Type: huma.TypeString, Format: "binary"}},
		}}}},
		Responses: map[string]*huma.Response{"201": {Description: "Created", Content: map[string]*huma.MediaType{
			"application/json": {Schema: s.Schema(reflect.TypeFor[ImageUploaded]())},
		}}},
	})

	s.HandleRaw(kit.Endpoint{Method: http.MethodGet, Path: imagePath + "*", ID: "getOGImage", Tag: upload.Tag, Need: kit.Public},
		s.showImage)
	s.Describe(&huma.Operation{
		Method: http.MethodGet, Path: imagePath + "{key}", OperationID: "getOGImage", Summary: "Get a preview image",
		Tags:        []string{upload.Tag},
		Description: "The converted image. It can be cached for a day; a new upload has a new key.",
		Parameters:  []*huma.Param{{Name: "key", In: "path", Required: true, Description: "The image's key, URL-encoded.", Schema: str}},
		Responses: map[string]*huma.Response{"200": {Description: "The image.", Content: map[string]*huma.MediaType{"image/webp": {},
			"image/gif": {}}}, "304": {Description: "The image has the ETag of the request."}},
	})
}

func (s *server) uploadImage(c echo.Context) error {
	r := c.Request()
	ctx := r.Context()
	urlID := c.Param("urlId")
	if err := s.Media.CheckLink(ctx, kit.Principal(ctx), urlID); err != nil {
		return err
	}
	tooLarge := problem.New(problem.TooLarge, "The image is larger than %d MiB.", media.MaxUpload>>20)
	if r.ContentLength > maxForm {
		return tooLarge
	}
	if mt, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || mt != "multipart/form-data" {
		return kit.NewAnswer(http.StatusUnsupportedMediaType,
			"The request body must be a form with a file (Content-Type: multipart/form-data).")
	}
	deadline := http.NewResponseController(c.Response().Writer)
	_ = deadline.SetReadDeadline(time.Now().Add(uploadTime)) // not all writers support it
	r.Body = http.MaxBytesReader(c.Response(), r.Body, maxForm)
	key, err := s.storeImage(r, urlID)
	var past *http.MaxBytesError
	switch {
	case errors.As(err, &past):
		return tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return kit.NewAnswer(http.StatusRequestTimeout, "The request body took too long to arrive.")
	case err != nil:
		return err
	}
	_ = deadline.SetReadDeadline(time.Time{})
	return c.JSON(http.StatusCreated, ImageUploaded{http.StatusCreated, UploadedImage{key, imagePath + url.PathEscape(key)}})
}

// storeImage streams the file of the form. It ignores other fields.
func (s *server) storeImage(r *http.Request, urlID string) (key string, err error) {
	form, err := r.MultipartReader()
	if err != nil {
		return "", problem.New(problem.Invalid, "The form could not be read.")
	}
	for {
		part, err := form.NextRawPart()
		if err == io.EOF {
			return "", problem.OfField("file", "is required")
		}
		if err != nil {
			return "", formProblem(err)
		}
		if part.FormName() != "file" {
			continue
		}
		file := &uploadReader{r: part}
		key, err := s.Media.Upload(r.Context(), kit.Principal(r.Context()), urlID, file)
		if err != nil && file.err != nil {
			return "", formProblem(file.err)
		}
		return key, err
	}
}

// uploadReader keeps the error of reading, which is caused by the client.
type uploadReader struct {
	r   io.Reader
	err error
}

func (u *uploadReader) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	if err != nil && err != io.EOF {
		u.err = err
	}
	return n, err
}

// formProblem converts an error of reading the form into a problem of the client. Errors that uploadImage handles stay as they are.
func formProblem(err error) error {
	var past *http.MaxBytesError
	if errors.As(err, &past) || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return problem.New(problem.Invalid, "The form could not be read. It may be truncated.")
}

// showImage sends a converted image with its own content type. The key is decoded once, whether or not its slashes are
// encoded.
func (s *server) showImage(c echo.Context) error {
	r := c.Request()
	key := strings.TrimPrefix(r.URL.Path, imagePath)
	image, size, err := s.Media.Open(r.Context(), key)
	if err != nil {
		return err
	}
	defer image.Close()
	h := c.Response().Header()
	h.Set("Cache-Control", "public, max-age=86400, immutable")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("ETag", `"`+key[strings.LastIndexByte(key, '/')+1:]+`"`)    // an image never changes under its key
	if kit.HasETag(r.Header.Values("If-None-Match"), h.Get("ETag")) { // unchanged would answer the same, but after the image is read
		return c.NoContent(http.StatusNotModified)
	}
	h.Set("Content-Type", media.ContentType(key))
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	c.Response().WriteHeader(http.StatusOK)
	_, err = io.Copy(c.Response(), image)
	return err
}
