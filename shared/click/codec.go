package click

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"unicode/utf8"

	"github.com/shortline/shortline/shared/link"
)

// Schema is the highest number that AppendRecord writes into a record. A new field does not change it, because readers skip
// unknown fields. It is raised when an older reader would misunderstand a record. Clicks still have clickSchema.
const (
	Schema      = 2 // conversions
	clickSchema = 1
)

// MaxRecord is the maximum number of bytes that AppendRecord appends for one event, including the length prefix.
const MaxRecord = 3840

// maxForeign is the maximum size of a record to read, in bytes. Records of a newer writer may be longer than ours.
const maxForeign = 64 << 10

var (
	// ErrCorrupt is wrapped by every error about bytes that are not valid records, or not those of the batch.
	ErrCorrupt = errors.New("click: corrupt records")
	// ErrSchema is wrapped by errors about a schema or frame version that is newer than this code.
	ErrSchema = errors.New("click: unknown schema")
)

// Field numbers, as in click.proto. Those up to 15 cost one byte in a record.
const (
	fieldSchema      = 1
	fieldSeq         = 2
	fieldTime        = 3
	fieldLink        = 4
	fieldOwner       = 5
	fieldVariant     = 6
	fieldRule        = 7
	fieldIP          = 8
	fieldUserAgent   = 9
	fieldReferer     = 10
	fieldLanguage    = 11
	fieldUTMSource   = 12
	fieldUTMMedium   = 13
	fieldUTMCampaign = 14
	fieldPrefetch    = 15
	fieldUTMTerm     = 16
	fieldUTMContent  = 17
	fieldUTMID       = 18
	fieldUTMPlatform = 19
	fieldLostFrom    = 20
	fieldLostTo      = 21
	fieldVisitor     = 22
	fieldConversion  = 23
)

// Wire types of the protobuf encoding.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// AppendRecord appends the event as one length-delimited protobuf message (click.proto): a varint with the length of
// the message, then the message. It cuts strings to their limits, drops an address's zone, and appends at most
// MaxRecord bytes. It does not allocate if dst has enough capacity. If the capacity behind the record was zero, it is
// zero afterwards.
func AppendRecord(dst []byte, e *Event) []byte {
	start := len(dst)
	schema := byte(clickSchema)
	if e.Conversion != "" {
		schema = Schema
	}
	dst = append(dst, 0, 0, fieldSchema<<3|wireVarint, schema)
	dst = appendNumber(dst, fieldSeq, e.Seq)
	dst = appendNumber(dst, fieldTime, uint64(e.Time))
	dst = appendNumber(dst, fieldLink, e.Link)
	dst = appendNumber(dst, fieldOwner, e.Owner)
	if e.Conversion == "" {
		dst = appendFacts(dst, e)
	} else {
		dst = appendString(dst, fieldConversion, e.Conversion, MaxConversion)
	}
	dst = appendNumber(dst, fieldLostFrom, e.LostFrom)
	dst = appendNumber(dst, fieldLostTo, e.LostTo)

	// Two bytes are reserved for the length, because nearly every record needs exactly two.
	n := len(dst) - start - 2
	if n < 0x80 {
		copy(dst[start+1:], dst[start+2:])
		dst[start] = byte(n)
		dst[len(dst)-1] = 0 // the spool writes this memory into a file, where zeros mark the end of the records
		return dst[:len(dst)-1]
	}
	dst[start] = byte(n) | 0x80
	dst[start+1] = byte(n >> 7)
	return dst
}

// appendFacts appends what is known of a click's visitor and of the decision.
func appendFacts(dst []byte, e *Event) []byte {
	dst = appendID(dst, fieldVariant, &e.Variant)
	dst = appendID(dst, fieldRule, &e.Rule)
	switch {
	case e.IP.Is4():
		a := e.IP.As4()
		dst = append(dst, fieldIP<<3|wireBytes, byte(len(a)))
		dst = append(dst, a[:]...)
	case e.IP.Is6():
		a := e.IP.As16()
		dst = append(dst, fieldIP<<3|wireBytes, byte(len(a)))
		dst = append(dst, a[:]...)
	}
	dst = appendString(dst, fieldUserAgent, e.UserAgent, MaxUserAgent)
	dst = appendString(dst, fieldReferer, e.Referer, MaxReferer)
	dst = appendString(dst, fieldLanguage, e.AcceptLanguage, MaxAcceptLanguage)
	if !e.UTM.IsZero() {
		dst = appendString(dst, fieldUTMSource, e.UTM.Source, MaxUTM)
		dst = appendString(dst, fieldUTMMedium, e.UTM.Medium, MaxUTM)
		dst = appendString(dst, fieldUTMCampaign, e.UTM.Campaign, MaxUTM)
		dst = appendString(dst, fieldUTMTerm, e.UTM.Term, MaxUTM)
		dst = appendString(dst, fieldUTMContent, e.UTM.Content, MaxUTM)
		dst = appendString(dst, fieldUTMID, e.UTM.ID, MaxUTM)
		dst = appendString(dst, fieldUTMPlatform, e.UTM.SourcePlatform, MaxUTM)
	}
	if e.Prefetch {
		dst = append(dst, fieldPrefetch<<3|wireVarint, 1)
	}
	if e.Visitor != 0 {
		dst = binary.LittleEndian.AppendUint64(appendTag(dst, fieldVisitor, wireFixed64), e.Visitor)
	}
	return dst
}

func appendTag(dst []byte, field int, wire byte) []byte {
	if field < 16 {
		return append(dst, byte(field)<<3|wire)
	}
	return append(dst, byte(field<<3)|wire|0x80, byte(field>>4))
}

func appendNumber(dst []byte, field int, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return binary.AppendUvarint(appendTag(dst, field, wireVarint), v)
}

func appendID(dst []byte, field int, id *link.ID) []byte {
	if id.IsZero() {
		return dst
	}
	return append(append(dst, byte(field)<<3|wireBytes, byte(len(id))), id[:]...)
}

func appendString(dst []byte, field int, s string, limit int) []byte {
	if s == "" {
		return dst
	}
	s = cut(s, limit)
	dst = binary.AppendUvarint(appendTag(dst, field, wireBytes), uint64(len(s)))
	return append(dst, s...)
}

// cut shortens s to at most limit bytes, without splitting a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for n := limit; n > limit-utf8.UTFMax; n-- {
		if utf8.RuneStart(s[n]) {
			return s[:n]
		}
	}
	return s[:limit] // not UTF-8
}

// Decoder reads the events of one batch in order. It does not trust the bytes: it ends with an error or with exactly
// the batch's events. A Decoder is for one goroutine.
type Decoder struct {
	rest  []byte
	seq   uint64 // expected sequence number of the next record
	count int    // remaining events
}

// NewDecoder returns a decoder of b.Records. The records must not change while the decoder is in use.
func NewDecoder(b *Batch) Decoder {
	return Decoder{rest: b.Records, seq: b.First, count: b.Count}
}

// Next sets *e to the next event and returns true, or returns false at the end of the batch. After an error
// (ErrCorrupt, ErrSchema) it must not be called again. The event's strings are copies: each event costs one allocation,
// and keeps no memory of the batch. Unknown fields are skipped.
func (d *Decoder) Next(e *Event) (bool, error) {
	if d.count == 0 {
		if len(d.rest) != 0 {
			return false, fmt.Errorf("%w: %d bytes after the last record", ErrCorrupt, len(d.rest))
		}
		return false, nil
	}
	msg, rest, err := splitRecord(d.rest)
	if err != nil {
		return false, err
	}
	if err := decode(string(msg), e); err != nil {
		return false, fmt.Errorf("record %d: %w", d.seq, err)
	}
	if e.Seq != d.seq {
		return false, fmt.Errorf("%w: record %d where %d belongs", ErrCorrupt, e.Seq, d.seq)
	}
	d.rest, d.seq, d.count = rest, d.seq+1, d.count-1
	return true, nil
}

// splitRecord splits off the first length-delimited message of b.
func splitRecord(b []byte) (msg, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > maxForeign || n > uint64(len(b)-size) {
		return nil, nil, fmt.Errorf("%w: a record is incomplete", ErrCorrupt)
	}
	return b[size : size+int(n)], b[size+int(n):], nil
}

// decode sets *e from one message. The message is a string, so that the event's strings can be substrings of it.
func decode(msg string, e *Event) error {
	*e = Event{}
	var schema uint64
	for len(msg) > 0 {
		tag, rest, ok := takeVarint(msg)
		if !ok || tag>>3 == 0 || tag>>3 > 1<<29-1 {
			return fmt.Errorf("%w: bad field tag", ErrCorrupt)
		}
		msg = rest
		var number uint64
		var text string
		switch tag & 7 {
		case wireVarint:
			number, msg, ok = takeVarint(msg)
		case wireBytes:
			var n uint64
			if n, msg, ok = takeVarint(msg); ok {
				if ok = n <= uint64(len(msg)); ok {
					text, msg = msg[:n], msg[n:]
				}
			}
		case wireFixed64:
			if ok = len(msg) >= 8; ok {
				number, msg = binary.LittleEndian.Uint64([]byte(msg[:8])), msg[8:]
			}
		case wireFixed32:
			if ok = len(msg) >= 4; ok {
				msg = msg[4:]
			}
		default:
			ok = false
		}
		if !ok {
			return fmt.Errorf("%w: field %d is incomplete or has an unknown wire type", ErrCorrupt, tag>>3)
		}
		if !e.set(tag, number, text, &schema) {
			return fmt.Errorf("%w: field %d has a wrong type or value", ErrCorrupt, tag>>3)
		}
	}
	switch {
	case schema == 0:
		return fmt.Errorf("%w: no schema number", ErrCorrupt)
	case schema > Schema:
		return fmt.Errorf("%w: record has schema %d, this program knows up to %d", ErrSchema, schema, Schema)
	case e.LostFrom > e.LostTo || (e.LostFrom == 0) != (e.LostTo == 0):
		return fmt.Errorf("%w: loss marker from %d to %d", ErrCorrupt, e.LostFrom, e.LostTo)
	}
	return nil
}

// set stores one field of a message in the event. It returns false if the field has a wrong type or value.
func (e *Event) set(tag, number uint64, text string, schema *uint64) bool {
	field, isText := tag>>3, tag&7 == wireBytes
	switch field {
	case fieldSchema, fieldSeq, fieldTime, fieldLink, fieldOwner, fieldPrefetch, fieldLostFrom, fieldLostTo:
		if tag&7 != wireVarint {
			return false
		}
	case fieldVisitor:
		if tag&7 != wireFixed64 {
			return false
		}
	default:
		if field <= fieldConversion && !isText {
			return false
		}
	}
	switch field {
	case fieldSchema:
		*schema = number
	case fieldSeq:
		e.Seq = number
	case fieldTime:
		e.Time = int64(number)
	case fieldLink:
		e.Link = number
	case fieldOwner:
		e.Owner = number
	case fieldVariant:
		return len(text) == copy(e.Variant[:], text) && len(text) == len(e.Variant)
	case fieldRule:
		return len(text) == copy(e.Rule[:], text) && len(text) == len(e.Rule)
	case fieldIP:
		switch len(text) {
		case 4:
			e.IP = netip.AddrFrom4([4]byte([]byte(text)))
		case 16:
			e.IP = netip.AddrFrom16([16]byte([]byte(text)))
		default:
			return false
		}
	case fieldUserAgent:
		e.UserAgent = cut(text, MaxUserAgent)
	case fieldReferer:
		e.Referer = cut(text, MaxReferer)
	case fieldLanguage:
		e.AcceptLanguage = cut(text, MaxAcceptLanguage)
	case fieldUTMSource:
		e.UTM.Source = cut(text, MaxUTM)
	case fieldUTMMedium:
		e.UTM.Medium = cut(text, MaxUTM)
	case fieldUTMCampaign:
		e.UTM.Campaign = cut(text, MaxUTM)
	case fieldUTMTerm:
		e.UTM.Term = cut(text, MaxUTM)
	case fieldUTMContent:
		e.UTM.Content = cut(text, MaxUTM)
	case fieldUTMID:
		e.UTM.ID = cut(text, MaxUTM)
	case fieldUTMPlatform:
		e.UTM.SourcePlatform = cut(text, MaxUTM)
	case fieldVisitor:
		e.Visitor = number
	case fieldConversion:
		e.Conversion = cut(text, MaxConversion)
	case fieldPrefetch:
		e.Prefetch = number != 0
	case fieldLostFrom:
		e.LostFrom = number
	case fieldLostTo:
		e.LostTo = number
	}
	return true
}

// takeVarint splits a varint of at most ten bytes off s.
func takeVarint(s string) (v uint64, rest string, ok bool) {
	for i := 0; i < len(s) && i < binary.MaxVarintLen64; i++ {
		c := s[i]
		if i == binary.MaxVarintLen64-1 && c > 1 {
			return 0, "", false
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, s[i+1:], true
		}
	}
	return 0, "", false
}
