package picture

import (
	"bytes"
	"encoding/binary"
)

type kind uint8

const (
	kindJPEG kind = iota + 1
	kindPNG
	kindWebP
	kindGIF
)

// header is the content of a file's headers.
type header struct {
	kind          kind
	width, height int
	memory        int64 // for decoding, in bytes
	orientation   int   // 1 to 8, as in EXIF
}

// inspect parses a file's headers without decoding the image. It returns an error for unsupported and too large images.
func inspect(file []byte) (header, error) {
	var h header
	var frames int
	var ok bool
	switch {
	case bytes.HasPrefix(file, []byte{0xff, 0xd8, 0xff}):
		h, ok = inspectJPEG(file)
	case bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1a\n")):
		h, ok = inspectPNG(file)
	case len(file) >= 12 && string(file[:4]) == "RIFF" && string(file[8:12]) == "WEBP":
		var moves bool
		if h, moves, ok = inspectWebP(file); moves {
			return h, refused("is an animated WebP, which is not supported; use a GIF")
		}
	case bytes.HasPrefix(file, []byte("GIF87a")), bytes.HasPrefix(file, []byte("GIF89a")):
		h, frames, ok = inspectGIF(file)
	default:
		return h, refused("must be a JPEG, PNG, WebP or GIF image")
	}
	switch {
	case !ok || h.width <= 0 || h.height <= 0:
		return h, refused("is damaged or not a readable image")
	case int64(h.width)*int64(h.height) > MaxPixels:
		return h, refused("has more than %d megapixels", MaxPixels/1_000_000)
	case h.width > maxSide || h.height > maxSide:
		return h, refused("is wider or higher than %d pixels", maxSide)
	case frames > MaxFrames:
		return h, refused("has more than %d frames", MaxFrames)
	case frames > 1 && h.memory > maxMotion:
		return h, refused("has more than %d megapixels in all frames together", maxMotion/1_000_000)
	case h.memory > MaxMemory:
		return h, refused("has too many pixels for its format")
	}
	return h, nil
}

// inspectJPEG parses the segments up to the first scan (ITU T.81, annex B).
func inspectJPEG(file []byte) (h header, ok bool) {
	h = header{kind: kindJPEG, orientation: 1}
	rgb := false
	for at := 2; at+4 <= len(file); {
		if file[at] != 0xff {
			at++ // skip bytes between segments, as the decoder does
			continue
		}
		marker := file[at+1]
		if marker == 0xff {
			at++
			continue
		}
		if marker == 0 || marker == 1 || marker >= 0xd0 && marker <= 0xd8 {
			at += 2
			continue
		}
		end := at + 2 + int(binary.BigEndian.Uint16(file[at+2:]))
		if end > len(file) || end < at+4 {
			return h, false
		}
		body := file[at+4 : end]
		switch {
		case marker == 0xda, marker == 0xd9:
			if rgb && h.memory > 0 {
				h.memory += int64(h.width) * int64(h.height) * 4
			}
			return h, h.memory > 0
		case marker >= 0xc0 && marker <= 0xc2:
			if h.memory != 0 || len(body) < 6 || len(body) < 6+3*int(body[5]) || body[5] == 0 || body[5] > 4 {
				return h, false
			}
			h.height, h.width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
			h.memory = jpegMemory(h, body[6:6+3*int(body[5])], marker == 0xc2)
			rgb = body[5] == 4 || body[5] == 3 && body[6] == 'R' && body[9] == 'G' && body[12] == 'B'
		case marker == 0xe1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")):
			h.orientation = orientation(body[6:])
		case marker == 0xee && len(body) >= 12 && string(body[:5]) == "Adobe" && body[11] == 0:
			rgb = true // decoded into planes and then copied into pixels
		}
		at = end
	}
	return h, false
}

// jpegMemory returns the size of the planes and, for a progressive file, of the coefficients of 4 bytes each.
func jpegMemory(h header, components []byte, progressive bool) int64 {
	maxH, maxV := int64(1), int64(1)
	for i := 0; i < len(components); i += 3 {
		maxH, maxV = max(maxH, int64(components[i+1]>>4)), max(maxV, int64(components[i+1]&15))
	}
	// Planes are padded to whole units of the largest sampling factor.
	area := (int64(h.width) + 8*maxH) * (int64(h.height) + 8*maxV)
	var n int64
	for i := 0; i < len(components); i += 3 {
		n += area * int64(components[i+1]>>4) * int64(components[i+1]&15) / (maxH * maxV)
	}
	n = max(n, 1)
	if progressive {
		n *= 5
	}
	return n
}

// inspectPNG parses the chunks up to the pixels (PNG specification, third edition).
func inspectPNG(file []byte) (h header, ok bool) {
	h = header{kind: kindPNG, orientation: 1}
	interlaced := false
	for at := 8; at+12 <= len(file); {
		length := int64(binary.BigEndian.Uint32(file[at:]))
		if length > int64(len(file)-at-12) {
			return h, false
		}
		name, body := string(file[at+4:at+8]), file[at+8:at+8+int(length)]
		switch name {
		case "IHDR":
			if len(body) != 13 || at != 8 {
				return h, false
			}
			width, height := binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:])
			if width > 1<<31-1 || height > 1<<31-1 {
				return h, false
			}
			h.width, h.height, interlaced = int(width), int(height), body[12] != 0
			each := int64(4)
			switch {
			case body[8] == 16:
				each = 8
			case body[9] == 0, body[9] == 3: // grey or palette; grey with a transparent tone takes 4 bytes
				each = 1
			}
			h.memory = each
		case "tRNS":
			h.memory = max(h.memory, 4)
		case "eXIf":
			h.orientation = orientation(body)
		case "IDAT":
			if int64(h.width)*int64(h.height) > MaxPixels {
				return h, true
			}
			h.memory *= int64(h.width) * int64(h.height)
			if interlaced {
				h.memory = h.memory * 3 / 2
			}
			return h, h.width > 0
		}
		at += 12 + int(length)
	}
	return h, false
}

// inspectWebP parses the chunks (RFC 9649). It returns the size of the image, not the size of the canvas in the header.
func inspectWebP(file []byte) (h header, moves, ok bool) {
	h = header{kind: kindWebP, orientation: 1}
	alpha := false
	for at := 12; at+8 <= len(file); {
		length := int64(binary.LittleEndian.Uint32(file[at+4:]))
		if length > int64(len(file)-at-8) {
			return h, false, false
		}
		body := file[at+8 : at+8+int(length)]
		var each int64
		switch string(file[at : at+4]) {
		case "VP8X":
			if len(body) < 10 {
				return h, false, false
			}
			if body[0]&2 != 0 {
				return h, true, true
			}
		case "ALPH":
			alpha = true
		case "VP8 ":
			if len(body) < 10 {
				return h, false, false
			}
			h.width, h.height, each = int(binary.LittleEndian.Uint16(body[6:]))&0x3fff, int(binary.LittleEndian.Uint16(body[8:]))&0x3fff, 2
			if alpha {
				each += 9
			}
		case "VP8L":
			if len(body) < 5 || body[0] != 0x2f {
				return h, false, false
			}
			bits := binary.LittleEndian.Uint32(body[1:])
			h.width, h.height, each = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1, 8
		case "EXIF":
			h.orientation = orientation(bytes.TrimPrefix(body, []byte("Exif\x00\x00")))
		}
		if each > 0 && h.memory == 0 {
			h.memory = each * (int64(h.width) + 16) * (int64(h.height) + 16)
			ok = true
		}
		at += 8 + int(length) + int(length&1)
	}
	return h, false, ok
}

// orientation returns the orientation in EXIF data (tag 0x0112 of the first directory; CIPA DC-008), or 1, upright, if
// there is no valid one.
func orientation(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			return 1
		}
		if order.Uint16(entries) == 0x0112 {
			if v := order.Uint16(entries[8:]); order.Uint16(entries[2:]) == 3 && v >= 1 && v <= 8 {
				return int(v)
			}
			return 1
		}
		entries = entries[12:]
	}
	return 1
}
