package redirect

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"

	"github.com/valyala/fasthttp"
)

//go:embed sl.js
var scriptSource []byte

// script is what web sites load to send conversions, and scriptTag its ETag.
var script, scriptTag = func() (text []byte, tag string) {
	text = pack(scriptSource)
	sum := sha256.Sum256(text)
	return text, `"` + base64.RawURLEncoding.EncodeToString(sum[:9]) + `"`
}()

// pack removes lines of comments, indentation and line breaks. Each statement of the script must end with a semicolon.
func pack(source []byte) (text []byte) {
	for line := range bytes.Lines(source) {
		if line = bytes.TrimSpace(line); !bytes.HasPrefix(line, []byte("//")) {
			text = append(text, line...)
		}
	}
	return text
}

// serveScript answers GET /sl.js.
func (h *Handler) serveScript(ctx *fasthttp.RequestCtx) {
	if !h.framed(ctx, maxIdleBody) || h.refuseOverLimit(ctx) {
		return
	}
	head := &ctx.Response.Header
	head.Set("Cache-Control", "public, max-age=86400")
	head.Set("ETag", scriptTag)
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Cross-Origin-Resource-Policy", "cross-origin")
	head.Set("X-Content-Type-Options", "nosniff")
	if bytes.Contains(first(ctx.Request.Header.RawHeaders(), "if-none-match"), []byte(scriptTag)) {
		ctx.Response.SetStatusCode(fasthttp.StatusNotModified)
		return
	}
	head.SetContentType("text/javascript; charset=utf-8")
	ctx.Response.SetBodyRaw(script)
}
