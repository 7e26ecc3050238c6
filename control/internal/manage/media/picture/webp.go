//go:build cgo

package picture

import (
	"image"

	"github.com/chai2010/webp"
)

// Available reports whether this program can encode WebP. That requires cgo.
const Available = true

// encodeWebP encodes an image. Its colours must not be premultiplied, although the type image.RGBA says so.
func encodeWebP(m *image.RGBA) ([]byte, error) { return webp.EncodeRGBA(m, quality) }
