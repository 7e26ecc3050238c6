package link

import (
	"bytes"
	"hash/maphash"
	"unsafe"
)

// Limits of Params, which bound its cost for any query.
const (
	MaxParams     = 64      // parameters of a query; the others are ignored
	MaxParamQuery = 4 << 10 // bytes of a query; a parameter that ends beyond them is ignored
	MaxParamName  = 100     // bytes of a name, decoded; parameters with longer names are ignored
	MaxParamValue = 255     // bytes of a value, decoded; the others are cut off
)

// Params finds the parameters of a visitor's query by their names. The zero Params is an empty query. Only one goroutine
// may use it at a time. It does not allocate.
type Params struct {
	query  []byte
	size   int
	hashes [MaxParams]uint64 // of decoded names
	places [MaxParams]paramPlace
	value  [MaxParamValue]byte // the last decoded value
}

// paramPlace is the position of a parameter in the query: its name begins at name, its value at value.
type paramPlace struct{ name, nameEnd, value, end uint16 }

// paramSeed is different in every process, so that nobody can choose names with equal hashes.
var paramSeed = maphash.MakeSeed()

// Reset makes p the parameters of a raw query without "?". p keeps query until the next Reset and only reads it.
func (p *Params) Reset(query []byte) {
	p.query, p.size = query, 0
	for at := 0; at < len(query) && at < MaxParamQuery && p.size < MaxParams; {
		end := len(query)
		if i := bytes.IndexByte(query[at:], '&'); i >= 0 {
			end = at + i
		}
		if end > MaxParamQuery {
			return
		}
		p.addParam(at, end)
		at = end + 1
	}
}

// addParam adds the parameter query[at:end], unless its name is empty or too long.
func (p *Params) addParam(at, end int) {
	name := nameOf(p.query[at:end])
	value := at + len(name) + 1
	var buf [MaxParamName]byte
	plain := name
	if escaped(name) {
		var whole bool
		if plain, whole = decodeInto(buf[:], name); !whole {
			return
		}
	}
	if len(plain) == 0 || len(plain) > MaxParamName {
		return
	}
	place := paramPlace{name: uint16(at), nameEnd: uint16(at + len(name)), value: uint16(min(value, end)), end: uint16(end)}
	p.hashes[p.size], p.places[p.size] = maphash.Bytes(paramSeed, plain), place
	p.size++
}

// Value returns the decoded value of the first parameter with a name, which is compared after decoding and is
// case-sensitive. It returns "" if there is none or its value is empty. The value is valid until the next call of Value
// or Reset, and at most as long as the query. It may contain any bytes.
func (p *Params) Value(name string) string {
	if p.size == 0 {
		return ""
	}
	hash := maphash.String(paramSeed, name)
	for i, h := range p.hashes[:p.size] {
		if h != hash {
			continue
		}
		at := &p.places[i]
		if !sameDecoded(p.query[at.name:at.nameEnd], name) {
			continue
		}
		value := p.query[at.value:at.end]
		if escaped(value) {
			value, _ = decodeInto(p.value[:], value)
		}
		value = value[:min(len(value), MaxParamValue)]
		// unsafe: neither the request's memory nor p.value changes while the caller may use the value, as documented above.
		return unsafe.String(unsafe.SliceData(value), len(value))
	}
	return ""
}

func escaped(s []byte) bool {
	return bytes.IndexByte(s, '%') >= 0 || bytes.IndexByte(s, '+') >= 0
}

// decodeInto decodes s into buf as far as it has room, and reports whether all of s fitted.
func decodeInto(buf, s []byte) (decoded []byte, whole bool) {
	n := 0
	for i := 0; i < len(s); n++ {
		if n == len(buf) {
			return buf, false
		}
		c, size := decodeByte(s, i)
		buf[n] = c
		i += size
	}
	return buf[:n], true
}

// sameDecoded reports whether an encoded name is equal to a plain one.
func sameDecoded(encoded []byte, plain string) bool {
	i, j := 0, 0
	for i < len(encoded) && j < len(plain) {
		c, size := decodeByte(encoded, i)
		if c != plain[j] {
			return false
		}
		i += size
		j++
	}
	return i == len(encoded) && j == len(plain)
}
