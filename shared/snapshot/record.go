package snapshot

import (
	"encoding/binary"
	"fmt"

	"github.com/shortline/shortline/shared/link"
)

// Schema is the number of the set of record fields that this build knows. Each added field increases it by one. State that
// was written with a lower number may lack fields. An edge serves such a state, but loads a full document before it
// applies deltas.
const Schema = 4

// MaxKey is the maximum length of a link's key in a document or delta, in bytes. Real keys are shorter (link.MaxKey).
const MaxKey = 100

const (
	maxFanOut = 1000 // rules or variants in one record: ten times what the control plane allows
	maxWeight = 1 << 31
	maxCode   = 599
)

// Field numbers of a record. A number is never reused.
const (
	fieldNum       = 1
	fieldOwner     = 2
	fieldRevision  = 3
	fieldKey       = 4
	fieldTarget    = 5 // the destination
	fieldDefault   = 6
	fieldInactive  = 7
	fieldExpires   = 8
	fieldCreated   = 9
	fieldTitle     = 10
	fieldPassword  = 11
	fieldUTM       = 12
	fieldSmart     = 13
	fieldABTesting = 14
	fieldRule      = 15
	fieldVariant   = 16
	fieldPreview   = 17
	fieldStarts    = 18 // schema 2, with the fields that follow
	fieldExpired   = 19 // the URL after expiry
	fieldCode      = 20
	fieldSince     = 21 // of the limit
	fieldClicks    = 22
	fieldTrack     = 23 // schema 3, with the fields that follow
	fieldParameter = 24 // of the click id
	fieldSticky    = 25
	fieldForward   = 26 // schema 4: the destination gets the path behind the slug
	lastField      = fieldForward
)

// MaxRecord is the maximum size of all texts of a record in bytes. It keeps the wire form within the default limit of
// readers.
const MaxRecord = 4 << 20

// Check reports why a record cannot be sent. The publisher checks each link and reduces or omits those that fail, because
// readers reject a document or delta as a whole: one bad record would stop all changes.
func Check(r *link.Record) error {
	size := len(r.Destination) + len(r.Default) + len(r.Title) + len(r.PasswordHash) + len(r.ExpiredURL) + len(r.ClickParameter)
	for _, s := range utmFields(&r.UTM) {
		size += len(*s)
	}
	for _, s := range previewFields(&r.Preview) {
		size += len(*s)
	}
	for i := range r.Rules {
		size += len(r.Rules[i].Name) + len(r.Rules[i].Target) + len(r.Rules[i].Conditions)
	}
	for i := range r.Variants {
		if r.Variants[i].Weight > maxWeight {
			return fmt.Errorf("snapshot: link %d has a variant of weight %d", r.Num, r.Variants[i].Weight)
		}
		size += len(r.Variants[i].Target)
	}
	switch {
	case r.Key == "" || len(r.Key) > MaxKey:
		return fmt.Errorf("snapshot: link %d has a key of %d bytes", r.Num, len(r.Key))
	case len(r.Rules) > maxFanOut || len(r.Variants) > maxFanOut:
		return fmt.Errorf("snapshot: link %d has %d rules and %d variants", r.Num, len(r.Rules), len(r.Variants))
	case size > MaxRecord:
		return fmt.Errorf("snapshot: link %d has %d bytes of text", r.Num, size)
	}
	return nil
}

// AppendRecord appends the wire form of a record to b. Equal records give equal bytes.
func AppendRecord(b []byte, r *link.Record) []byte {
	b = appendUint(b, fieldNum, r.Num)
	b = appendUint(b, fieldOwner, r.Owner)
	b = appendUint(b, fieldRevision, r.Revision)
	b = appendString(b, fieldKey, r.Key)
	b = appendString(b, fieldTarget, r.Destination)
	b = appendString(b, fieldDefault, r.Default)
	b = appendBool(b, fieldInactive, r.Inactive)
	b = appendUint(b, fieldExpires, uint64(r.ExpiresAt))
	b = appendUint(b, fieldCreated, uint64(r.CreatedAt))
	b = appendString(b, fieldTitle, r.Title)
	b = appendString(b, fieldPassword, r.PasswordHash)
	if !r.UTM.IsZero() {
		b = appendMessage(b, fieldUTM, func(b []byte) []byte {
			for i, s := range utmFields(&r.UTM) {
				b = appendString(b, i+1, *s)
			}
			return b
		})
	}
	b = appendBool(b, fieldSmart, r.SmartRouting)
	b = appendBool(b, fieldABTesting, r.ABTesting)
	for i := range r.Rules {
		rule := &r.Rules[i]
		b = appendMessage(b, fieldRule, func(b []byte) []byte {
			b = appendID(b, 1, rule.ID)
			b = appendString(b, 2, rule.Name)
			b = appendString(b, 3, rule.Target)
			return appendString(b, 4, rule.Conditions)
		})
	}
	for i := range r.Variants {
		v := &r.Variants[i]
		b = appendMessage(b, fieldVariant, func(b []byte) []byte {
			b = appendID(b, 1, v.ID)
			b = appendString(b, 2, v.Target)
			return appendUint(b, 3, uint64(v.Weight))
		})
	}
	if !r.Preview.IsZero() {
		b = appendMessage(b, fieldPreview, func(b []byte) []byte {
			for i, s := range previewFields(&r.Preview) {
				b = appendString(b, i+1, *s)
			}
			return b
		})
	}
	b = appendUint(b, fieldStarts, uint64(r.StartsAt))
	b = appendString(b, fieldExpired, r.ExpiredURL)
	b = appendUint(b, fieldCode, uint64(r.Code))
	b = appendUint(b, fieldSince, uint64(r.Limit.Since))
	b = appendUint(b, fieldClicks, r.Limit.Clicks)
	b = appendBool(b, fieldTrack, r.TrackConversions)
	b = appendString(b, fieldParameter, r.ClickParameter)
	b = appendUint(b, fieldSticky, uint64(r.Stickiness))
	return appendBool(b, fieldForward, r.Forward)
}

// DecodeRecord decodes a record into r and overwrites all of r. It skips unknown fields and rejects a record without a
// slug. r shares no memory with b.
func DecodeRecord(b []byte, r *link.Record) error {
	return decodeRecord(string(b), r)
}

// decodeRecord makes the record's strings share s, so all of them need one allocation.
func decodeRecord(s string, r *link.Record) error {
	*r = link.Record{}
	f := fields{s: s}
	for f.next() {
		if f.kind == wireFixed4 || f.kind == wireFixed8 {
			continue // only unknown fields have these types
		}
		if isVarint := f.kind == wireVarint; isVarint != varintField(f.number) && f.number <= lastField {
			return corrupt("record field %d has wire type %d", f.number, f.kind)
		}
		switch f.number {
		case fieldNum:
			r.Num = f.value
		case fieldOwner:
			r.Owner = f.value
		case fieldRevision:
			r.Revision = f.value
		case fieldKey:
			r.Key = f.bytes
		case fieldTarget:
			r.Destination = f.bytes
		case fieldDefault:
			r.Default = f.bytes
		case fieldInactive:
			r.Inactive = f.value != 0
		case fieldExpires:
			r.ExpiresAt = int64(f.value)
		case fieldCreated:
			r.CreatedAt = int64(f.value)
		case fieldTitle:
			r.Title = f.bytes
		case fieldPassword:
			r.PasswordHash = f.bytes
		case fieldUTM:
			into := utmFields(&r.UTM)
			decodeStrings(&f, into[:])
		case fieldSmart:
			r.SmartRouting = f.value != 0
		case fieldABTesting:
			r.ABTesting = f.value != 0
		case fieldRule:
			if len(r.Rules) == maxFanOut {
				return corrupt("more than %d rules", maxFanOut)
			}
			r.Rules = append(r.Rules, decodeRule(&f))
		case fieldVariant:
			if len(r.Variants) == maxFanOut {
				return corrupt("more than %d variants", maxFanOut)
			}
			r.Variants = append(r.Variants, decodeVariant(&f))
		case fieldPreview:
			into := previewFields(&r.Preview)
			decodeStrings(&f, into[:])
		case fieldStarts:
			r.StartsAt = int64(f.value)
		case fieldExpired:
			r.ExpiredURL = f.bytes
		case fieldCode:
			if f.value > maxCode {
				return corrupt("redirect with status %d", f.value)
			}
			r.Code = uint16(f.value)
		case fieldSince:
			r.Limit.Since = int64(f.value)
		case fieldClicks:
			r.Limit.Clicks = f.value
		default:
			decodeTracking(&f, r)
		}
	}
	if f.err != nil {
		return f.err
	}
	if r.Key == "" || len(r.Key) > MaxKey {
		return corrupt("key of %d bytes", len(r.Key))
	}
	return nil
}

// decodeTracking decodes the fields of schemas 3 and 4.
func decodeTracking(f *fields, r *link.Record) {
	switch f.number {
	case fieldTrack:
		r.TrackConversions = f.value != 0
	case fieldParameter:
		r.ClickParameter = f.bytes
	case fieldSticky:
		if f.value <= uint64(link.StickyHash) { // a later release may know more ways
			r.Stickiness = link.Stickiness(f.value)
		}
	case fieldForward:
		r.Forward = f.value != 0
	}
}

func varintField(number int) bool {
	switch number {
	case fieldNum, fieldOwner, fieldRevision, fieldInactive, fieldExpires, fieldCreated, fieldSmart, fieldABTesting, fieldStarts, fieldCode,
		fieldSince, fieldClicks, fieldTrack, fieldSticky, fieldForward:
		return true
	}
	return false
}

func utmFields(u *link.UTM) [7]*string {
	return [...]*string{&u.Source, &u.Medium, &u.Campaign, &u.Term, &u.Content, &u.ID, &u.SourcePlatform}
}

func previewFields(p *link.Preview) [4]*string {
	return [...]*string{&p.Title, &p.Description, &p.ImageURL, &p.TwitterCard}
}

// decodeStrings decodes a message whose fields 1…n are strings.
func decodeStrings(outer *fields, into []*string) {
	f := fields{s: outer.bytes}
	for f.next() {
		if f.kind == wireBytes && f.number <= len(into) {
			*into[f.number-1] = f.bytes
		}
	}
	outer.err = f.err
}

func decodeRule(outer *fields) (r link.Rule) {
	f := fields{s: outer.bytes}
	for f.next() {
		if f.kind != wireBytes {
			continue
		}
		switch f.number {
		case 1:
			r.ID = f.id()
		case 2:
			r.Name = f.bytes
		case 3:
			r.Target = f.bytes
		case 4:
			r.Conditions = append([]byte(nil), f.bytes...) // nil if there are none
		}
	}
	outer.err = f.err
	return r
}

func decodeVariant(outer *fields) (v link.Variant) {
	f := fields{s: outer.bytes}
	for f.next() {
		switch {
		case f.number == 1 && f.kind == wireBytes:
			v.ID = f.id()
		case f.number == 2 && f.kind == wireBytes:
			v.Target = f.bytes
		case f.number == 3 && f.kind == wireVarint:
			if f.value > maxWeight {
				f.err = corrupt("weight %d", f.value)
			}
			v.Weight = uint32(f.value)
		}
	}
	outer.err = f.err
	return v
}

func appendID(b []byte, field int, id link.ID) []byte {
	if id.IsZero() {
		return b
	}
	b = binary.AppendUvarint(b, uint64(field)<<3|wireBytes)
	b = append(b, byte(len(id)))
	return append(b, id[:]...)
}

func (f *fields) id() (id link.ID) {
	if copy(id[:], f.bytes) != len(f.bytes) || len(f.bytes) != len(id) {
		f.err = corrupt("identity of %d bytes", len(f.bytes))
	}
	return id
}
