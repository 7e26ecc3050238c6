package parquet

import "encoding/binary"

// Types of Thrift's compact protocol.
const (
	thriftInteger = 5
	thriftWide    = 6
	thriftText    = 8
	thriftList    = 9
	thriftObject  = 12
)

// thrift encodes a structure in Thrift's compact protocol, in which the descriptions in a Parquet file are written.
type thrift struct {
	b    []byte
	last int16 // the field before
}

// field begins a field. Fields come in ascending order, at most 15 apart.
func (t *thrift) field(id int16, kind byte) {
	t.b = append(t.b, byte(id-t.last)<<4|kind)
	t.last = id
}

func (t *thrift) number(v int64) { t.b = binary.AppendVarint(t.b, v) }

func (t *thrift) bytes(s string) {
	t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...)
}

func (t *thrift) integer(id int16, v int64) {
	t.field(id, thriftInteger)
	t.number(v)
}

func (t *thrift) wide(id int16, v int64) {
	t.field(id, thriftWide)
	t.number(v)
}

func (t *thrift) textField(id int16, s string) {
	t.field(id, thriftText)
	t.bytes(s)
}

// listField begins a list of n members, and calls member for each.
func (t *thrift) listField(id int16, kind byte, n int, member func(i int)) {
	t.field(id, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|kind)
	} else {
		t.b = binary.AppendUvarint(append(t.b, 0xf0|kind), uint64(n))
	}
	for i := range n {
		member(i)
	}
}

// object adds a field that is a structure.
func (t *thrift) object(id int16, fill func(*thrift)) {
	t.field(id, thriftObject)
	t.element(fill)
}

// element adds a structure, the fields of which are numbered on their own.
func (t *thrift) element(fill func(*thrift)) {
	outer := t.last
	t.last = 0
	fill(t)
	t.stop()
	t.last = outer
}

// stop ends a structure.
func (t *thrift) stop() { t.b = append(t.b, 0) }
