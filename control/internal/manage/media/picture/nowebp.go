//go:build !cgo

package picture

import (
	"errors"
	"image"
)

// Available reports whether this program can make WebP: it can't if it was built without cgo.
const Available = false

func encodeWebP(*image.RGBA) ([]byte, error) {
	return nil, errors.New("this program was built without cgo and can't make WebP")
}
