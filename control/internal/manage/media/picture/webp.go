//go:build cgo

package picture

import (
	"image"

	"github.com/chai2010/webp"
)

// Available reports whether this program can make WebP: it can't if it was built without cgo.
const Available = true

// encodeWebP encodes an image whose colours are not multiplied by their opacity, whatever its type says.
func encodeWebP(m *image.RGBA) ([]byte, error) { return webp.EncodeRGBA(m, quality) }
