//go:build !cgo

package picture

import (
	"errors"
	"image"
)

// Available reports whether this program can encode WebP. That requires cgo.
const Available = false

func encodeWebP(*image.RGBA) ([]byte, error) {
	return nil, errors.New("cannot encode WebP: this program was built without cgo")
}
