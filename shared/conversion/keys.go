package conversion

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/dchest/siphash"
)

// KeyPeriod is how long one key signs click ids.
const KeyPeriod = 30 * 24 * time.Hour

// Period returns the number of the key period of a time in Unix milliseconds.
func Period(ms int64) int64 { return ms / KeyPeriod.Milliseconds() }

// PeriodsAt returns the first and the last period whose keys are of use at a time: those of clicks whose conversions still
// count, with a period more for conversions that are reported late, and the next two, so that receivers have them early.
func PeriodsAt(now time.Time, window time.Duration) (first, last int64) {
	return Period(max(0, now.Add(-window-KeyPeriod).UnixMilli())), Period(now.UnixMilli()) + 2
}

// Key is the key of one period in transport form.
type Key struct {
	Period int64  `json:"period"`
	Key    string `json:"key"` // 16 bytes in hex
}

// Derive returns the keys of the periods from first to last. The first secret signs; keys of the others follow for each
// period, because ids that they signed stay valid. There is one secret for each key of ENCRYPTION_KEY.
func Derive(secrets [][]byte, first, last int64) []Key {
	var list []Key
	for p := first; p <= last; p++ {
		for _, s := range secrets {
			b, err := hkdf.Key(sha256.New, s, nil, "shortline/click-id/"+strconv.FormatInt(p, 10), 16)
			if err != nil {
				panic("BUG: conversion: " + err.Error()) // only for lengths that this code does not use
			}
			list = append(list, Key{p, hex.EncodeToString(b)})
		}
	}
	return list
}

// Keys sign and verify click ids. The zero value, and nil, has no key. Keys are immutable, so they may be shared.
type Keys struct {
	first   int64 // period of periods[0]
	periods [][]macKey
}

type macKey struct{ k0, k1 uint64 }

func (k macKey) sum(b []byte) uint64 { return siphash.Hash(k.k0, k.k1, b) }

// maxPeriods limits how far apart the periods of keys may be.
const maxPeriods = 1000

// NewKeys returns the keys of a list. The first key of a period signs, all verify.
func NewKeys(list []Key) (*Keys, error) {
	k := &Keys{}
	if len(list) == 0 {
		return k, nil
	}
	k.first = list[0].Period
	last := k.first
	for _, key := range list {
		k.first, last = min(k.first, key.Period), max(last, key.Period)
	}
	if last-k.first >= maxPeriods {
		return nil, fmt.Errorf("conversion: keys of periods %d to %d", k.first, last)
	}
	k.periods = make([][]macKey, last-k.first+1)
	for _, key := range list {
		b, err := hex.DecodeString(key.Key)
		if err != nil || len(b) != 16 {
			return nil, fmt.Errorf("conversion: the key of period %d is not 16 bytes in hex", key.Period)
		}
		at := &k.periods[key.Period-k.first]
		*at = append(*at, macKey{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])})
	}
	return k, nil
}

func (k *Keys) of(ms int64) []macKey {
	if k == nil || ms < 0 {
		return nil
	}
	if i := Period(ms) - k.first; i >= 0 && i < int64(len(k.periods)) {
		return k.periods[i]
	}
	return nil
}

func (k *Keys) signing(ms int64) (macKey, bool) {
	list := k.of(ms)
	if len(list) == 0 {
		return macKey{}, false
	}
	return list[0], true
}

// signed compares without constant time: a MAC of 64 bits is checked once per request, and timing over a network does not
// tell how many of its bits are right, because the numbers are compared in one instruction.
func (k *Keys) signed(ms int64, b []byte, mac uint64) bool {
	for _, key := range k.of(ms) {
		if key.sum(b) == mac {
			return true
		}
	}
	return false
}
