package kit

import (
	"fmt"
	"net/http"

	"github.com/klauspost/compress/gzhttp"
	"github.com/labstack/echo/v4"
)

// compressMin is the number of bytes from which a response is compressed.
const compressMin = 1 << 10

// compressor returns a wrapper that compresses text with gzip or zstd. Images are compressed already.
//
// Compression can tell secrets by the length of responses, if an attacker can make a browser send requests whose input comes back
// beside the secret (BREACH). Therefore only responses to GET are compressed: new keys, secrets, tokens and recovery codes are in
// responses to POST, and no GET returns one, except for the addresses of shared reports. Responses to pages of other sites, which the
// browser sends with its cookie, are not compressed either. A random length is added to the rest, because lists show what members of a
// workspace have written.
func compressor() (func(http.Handler) http.HandlerFunc, error) {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.MinSize(compressMin), gzhttp.EnableZstd(true), gzhttp.RandomJitter(32, 0, false), gzhttp.SetContentType(false),
		gzhttp.ContentTypes([]string{
			"application/json", "application/yaml", "text/csv", "text/html", "text/css", "text/javascript", "image/svg+xml",
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("compress responses: %w", err)
	}
	return wrap, nil
}

// compress compresses responses, except for streams and for those that compressor excludes.
func (k *Kit) compress(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		r, res := c.Request(), c.Response()
		e := k.endpointOf(c)
		if e == nil || e.Method != http.MethodGet || e.Timeout < 0 || r.Header.Get("Sec-Fetch-Site") == "cross-site" {
			return next(c)
		}
		plain := res.Writer
		defer func() { res.Writer = plain }() // errors are written afterwards
		k.compressed(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			res.Writer = w
			err = next(c)
		})).ServeHTTP(plain, r)
		return err
	}
}
