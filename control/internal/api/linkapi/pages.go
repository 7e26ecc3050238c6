package linkapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/platform/auth"
)

const iconPath = "/api/pages/icon"

// PagePreview is what a page says about itself.
type PagePreview struct {
	URL         string `json:"url" doc:"The address after redirects."`
	Title       string `json:"title" doc:"At most 255 characters; empty without a title."`
	Description string `json:"description" doc:"At most 200 characters; empty without a description."`
	Image       []byte `json:"image,omitempty" doc:"The page's image as JPEG of at most 320 by 168 pixels, in base64. Missing if the page names none that can be read."`
	Problem     string `json:"problem,omitempty" doc:"Why the page cannot be read."`
}

func (s *server) registerPages() {
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: "/api/pages/preview", ID: "previewPage",
		Summary: "Read a page's title, description and image", Tag: "URLs", Role: auth.Editor}.
		About("Fetches the page and returns what it says about itself. The texts are empty for a page that cannot be read, and `problem` says "+
			"why. It takes at most five seconds. Private addresses are not fetched."), s.previewPage)

	icon := kit.Endpoint{Method: http.MethodGet, Path: iconPath, ID: "siteIcon", Summary: "Get the icon of a page's site", Tag: "URLs",
		Limit: kit.NoLimit}.
		About("An icon of at most 64 by 64 pixels that the server has fetched from the site. An icon that is not known yet is a 204, and is " +
			"fetched for the next request.")
	s.HandleRaw(icon, s.siteIcon)
	s.Describe(&huma.Operation{
		Method: icon.Method, Path: icon.Path, OperationID: icon.ID, Summary: icon.Summary, Tags: []string{icon.Tag},
		Security: []map[string][]string{{"bearer": {}}, {"apiKey": {}}, {"cookie": {}}},
		Parameters: []*huma.Param{{Name: "url", In: "query", Required: true, Description: "An address of the site.",
			Schema: &huma.Schema{Type: huma.TypeString}}},
		Responses: map[string]*huma.Response{
			"200": {Description: "The icon.", Content: map[string]*huma.MediaType{"image/png": {}, "image/x-icon": {}}},
			"204": {Description: "The site has no icon, or it is not known yet."},
		},
	})
}

func (s *server) previewPage(ctx context.Context, in *struct {
	URL string `query:"url" required:"true" doc:"An http or https address."`
}) (*kit.Body[PagePreview], error) {
	page, err := s.Pages.Preview(ctx, in.URL)
	if err != nil {
		return nil, err
	}
	return kit.NewBody(PagePreview{page.URL, page.Title, page.Description, page.Image, page.Problem}), nil
}

// siteIcon answers at once. Browsers open few connections to a server, so icons that are waited for would hold up the
// requests of the console.
func (s *server) siteIcon(c echo.Context) error {
	icon, known := s.Pages.Icon(c.QueryParam("url"))
	h := c.Response().Header()
	switch {
	case !known:
		h.Set("Cache-Control", "no-store")
		return c.NoContent(http.StatusNoContent)
	case len(icon.Bytes) == 0:
		h.Set("Cache-Control", "private, max-age=3600")
		return c.NoContent(http.StatusNoContent)
	}
	h.Set("Cache-Control", "private, max-age=86400")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	return c.Blob(http.StatusOK, icon.Type, icon.Bytes)
}
