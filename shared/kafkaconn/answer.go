package kafkaconn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/apiversions"
	"github.com/segmentio/kafka-go/protocol/consumer"
	"github.com/segmentio/kafka-go/protocol/createtopics"
	"github.com/segmentio/kafka-go/protocol/describeconfigs"
	"github.com/segmentio/kafka-go/protocol/findcoordinator"
	"github.com/segmentio/kafka-go/protocol/heartbeat"
	"github.com/segmentio/kafka-go/protocol/joingroup"
	"github.com/segmentio/kafka-go/protocol/leavegroup"
	"github.com/segmentio/kafka-go/protocol/listoffsets"
	"github.com/segmentio/kafka-go/protocol/metadata"
	"github.com/segmentio/kafka-go/protocol/offsetcommit"
	"github.com/segmentio/kafka-go/protocol/offsetfetch"
	"github.com/segmentio/kafka-go/protocol/produce"
	"github.com/segmentio/kafka-go/protocol/saslauthenticate"
	"github.com/segmentio/kafka-go/protocol/saslhandshake"
	"github.com/segmentio/kafka-go/protocol/syncgroup"
)

// answers are the expected responses of brokers, in kafka-go's own description.
var answers = map[protocol.ApiKey]reflect.Type{
	protocol.Produce:          reflect.TypeFor[produce.Response](),
	protocol.ListOffsets:      reflect.TypeFor[listoffsets.Response](),
	protocol.Metadata:         reflect.TypeFor[metadata.Response](),
	protocol.OffsetCommit:     reflect.TypeFor[offsetcommit.Response](),
	protocol.OffsetFetch:      reflect.TypeFor[offsetfetch.Response](),
	protocol.FindCoordinator:  reflect.TypeFor[findcoordinator.Response](),
	protocol.JoinGroup:        reflect.TypeFor[joingroup.Response](),
	protocol.Heartbeat:        reflect.TypeFor[heartbeat.Response](),
	protocol.LeaveGroup:       reflect.TypeFor[leavegroup.Response](),
	protocol.SyncGroup:        reflect.TypeFor[syncgroup.Response](),
	protocol.SaslHandshake:    reflect.TypeFor[saslhandshake.Response](),
	protocol.ApiVersions:      reflect.TypeFor[apiversions.Response](),
	protocol.CreateTopics:     reflect.TypeFor[createtopics.Response](),
	protocol.DescribeConfigs:  reflect.TypeFor[describeconfigs.Response](),
	protocol.SaslAuthenticate: reflect.TypeFor[saslauthenticate.Response](),
}

var (
	errShort = errors.New("the response is shorter than its lengths say")
	errHost  = errors.New("a broker's host must not contain a comma")
)

// checkAnswer checks that a response has all the bytes that its lengths promise. data is the response without its
// length and correlation id. kafka-go trusts these lengths and allocates memory for them before it reads. A host must
// not contain a comma either: kafka-go takes it for two hosts, and then fails to find the second (transport.go,
// connGroup.connect).
func checkAnswer(data []byte, key protocol.ApiKey, version int16) error {
	t, ok := answers[key]
	if !ok {
		return fmt.Errorf("no response to %v is expected", key)
	}
	w := walker{data: data, version: version, flexible: flexible(t, version)}
	if w.flexible {
		w.tags()
	}
	from := w.data
	w.struct_(t)
	if w.bad == nil && key == protocol.SyncGroup {
		w.assignment(from)
	}
	return w.bad
}

// assignment checks the nested response with the partitions of the member, which kafka-go also decodes.
func (w *walker) assignment(answer []byte) {
	if w.flexible {
		return // versions that kafka-go does not request
	}
	inner := walker{data: answer, version: w.version}
	if inner.version >= 1 {
		inner.skip(4) // throttle time
	}
	inner.skip(2) // error
	if n := inner.count(); n > 0 {
		inner = walker{data: inner.data[:n], version: consumer.MaxVersionSupported}
		inner.struct_(reflect.TypeFor[consumer.Assignment]())
		w.bad = inner.bad
	}
}

// walker reads over a response as kafka-go's decoder would, without keeping anything.
type walker struct {
	data     []byte
	version  int16
	flexible bool // lengths are compact, and structures end with tagged fields (KIP-482)
	bad      error
}

// fail ends the walk: nothing more is read.
func (w *walker) fail(err error) {
	w.data = nil
	if w.bad == nil {
		w.bad = err
	}
}

// skip skips n bytes and returns them, or nil if there are fewer.
func (w *walker) skip(n uint64) []byte {
	if n > uint64(len(w.data)) {
		w.fail(errShort)
		return nil
	}
	passed := w.data[:n]
	w.data = w.data[n:]
	return passed
}

func (w *walker) uvarint() uint64 {
	v, n := binary.Uvarint(w.data)
	if n <= 0 {
		w.fail(errShort)
		return 0
	}
	w.data = w.data[n:]
	return v
}

// count reads the number of elements of a list, or of bytes. Each element takes at least one byte.
func (w *walker) count() (n uint64) {
	if w.flexible {
		n = w.uvarint()
		n -= min(n, 1) // 0 is null
	} else if b := w.skip(4); b != nil {
		n = uint64(max(0, int32(binary.BigEndian.Uint32(b))))
	}
	if n > uint64(len(w.data)) {
		w.fail(errShort)
		return 0
	}
	return n
}

func (w *walker) string_() []byte {
	if w.flexible {
		return w.skip(w.count())
	}
	if b := w.skip(2); b != nil {
		return w.skip(uint64(max(0, int16(binary.BigEndian.Uint16(b)))))
	}
	return nil
}

func (w *walker) tags() {
	for n := w.uvarint(); n > 0 && w.bad == nil; n-- {
		w.uvarint() // tag number
		w.skip(w.uvarint())
	}
}

func (w *walker) value(t reflect.Type) {
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float64:
		w.skip(uint64(t.Size()))
	case reflect.String:
		w.string_()
	case reflect.Slice:
		n := w.count()
		if t.Elem().Kind() == reflect.Uint8 {
			w.skip(n)
			return
		}
		for ; n > 0 && w.bad == nil; n-- {
			w.value(t.Elem())
		}
	case reflect.Struct:
		w.struct_(t)
	default:
		panic("kafkaconn: no response has a  " + t.String())
	}
}

func (w *walker) struct_(t reflect.Type) {
	for _, f := range fieldsOf(t) {
		switch {
		case f.tagged || !f.in(w.version):
		case f.host:
			if bytes.IndexByte(w.string_(), ',') >= 0 {
				w.fail(errHost)
			}
		default:
			w.value(f.value)
		}
	}
	if w.flexible {
		w.tags()
	}
}

// field is a field in kafka-go's description of a response.
type field struct {
	value  reflect.Type
	spans  [][2]int16 // versions that have the field; none means all
	tagged bool
	host   bool // whether it is a broker's host
}

func (f field) in(version int16) bool {
	for _, s := range f.spans {
		if s[0] <= version && version <= s[1] {
			return true
		}
	}
	return len(f.spans) == 0
}

// flexible reports whether responses of this version have tagged fields. They have them from the first version on in
// which any field is tagged.
func flexible(t reflect.Type, version int16) bool {
	for _, f := range fieldsOf(t) {
		if f.tagged && f.spans[0][0] <= version {
			return true
		}
	}
	return false
}

var fields sync.Map // reflect.Type to []field

// fieldsOf parses the tags of a structure's fields, such as `kafka:"min=v0,max=v5|min=v6,max=v7,compact"`.
func fieldsOf(t reflect.Type) []field {
	if known, ok := fields.Load(t); ok {
		return known.([]field)
	}
	var list []field
	for i := range t.NumField() {
		f := field{value: t.Field(i).Type, host: t.Field(i).Name == "Host"}
		for part := range strings.SplitSeq(t.Field(i).Tag.Get("kafka"), "|") {
			var span [2]int16
			for word := range strings.SplitSeq(part, ",") {
				name, number, _ := strings.Cut(word, "=v")
				n, _ := strconv.ParseInt(number, 10, 16)
				switch name {
				case "min":
					span[0] = int16(n)
				case "max":
					span[1] = int16(n)
				case "tag":
					f.tagged = true
				}
			}
			if part != "" {
				f.spans = append(f.spans, span)
			}
		}
		list = append(list, f)
	}
	fields.Store(t, list)
	return list
}
