package spool_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/click"
)

// history is one lane's segment as a killed process leaves it: not sealed, its unused room reserved.
type history struct {
	name    string
	image   []byte
	records []extent // of record i+1
}

type extent struct{ from, to int }

// recordHistory makes a segment with clicks, by appending them and copying the file while it is in use.
func recordHistory(t testing.TB, clicks int) history {
	t.Helper()
	cfg := small(scratch(t))
	cfg.Lanes = 1
	s := open(t, cfg)
	for i := range clicks {
		e := event(i + 1)
		if !s.Append(0, &e) {
			t.Fatal("dropped")
		}
	}
	files, _ := filepath.Glob(filepath.Join(cfg.Dir, "*-00-00000000.seg"))
	if len(files) != 1 {
		t.Fatalf("segments %v", files)
	}
	image, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	s.stop()
	h := history{name: filepath.Base(files[0]), image: image}
	for off := spool.HeaderSize; ; {
		n := int(binary.LittleEndian.Uint32(image[off:]))
		if n == 0 {
			break
		}
		end := off + (spool.RecordHeader+n+7)&^7
		h.records = append(h.records, extent{off, end})
		off = end
	}
	if len(h.records) != clicks {
		t.Fatalf("%d records of %d clicks", len(h.records), clicks)
	}
	return h
}

// check opens a spool on the damaged image and compares what it gives out with what was appended: nothing that
// was not appended may come, and each record outside the damaged bytes must. It returns how many came.
func (h history) check(t testing.TB, dir string, image []byte, damaged func(extent) bool) int {
	t.Helper()
	for _, name := range []string{"epoch", "shipped", "instance.id"} {
		os.Remove(filepath.Join(dir, name))
	}
	old, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	for _, path := range old {
		os.Remove(path)
	}
	if err := os.WriteFile(filepath.Join(dir, h.name), image, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := small(dir)
	cfg.Lanes = 1
	cfg.Sync = spool.SyncNone
	s, err := spool.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	came := make([]bool, len(h.records)+1)
	named := make([]bool, len(h.records)+1)
	r := s.Readers()[0]
	for rounds := 0; ; rounds++ {
		b := r.Next(7, 3000)
		if b == nil {
			break
		}
		if rounds > 3*len(h.records)+10 {
			t.Fatal("it does not end")
		}
		d := click.NewDecoder(b)
		var e click.Event
		for {
			ok, err := d.Next(&e)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if e.Seq == 0 || e.Seq >= uint64(len(came)) || came[e.Seq] || named[e.Seq] {
				t.Fatalf("number %d comes, of %d records", e.Seq, len(h.records))
			}
			if e.LostTo != 0 {
				for n := e.LostFrom; n <= e.LostTo; n++ {
					named[n] = true
				}
				continue
			}
			came[e.Seq] = true
			want := event(int(e.Seq))
			want.Seq = e.Seq
			if e != want {
				t.Fatalf("accepted a wrong record:\n got %+v\nwant %+v", e, want)
			}
		}
		r.Ack()
	}
	n, tail := 0, true
	for seq := len(h.records); seq > 0; seq-- {
		tail = tail && !came[seq]
		switch {
		case came[seq]:
			n++
		case !damaged(h.records[seq-1]):
			t.Fatalf("record %d is lost outside of the damage", seq)
		case !named[seq] && !tail:
			t.Fatalf("record %d is lost and no marker says so", seq)
		}
	}
	return n
}

// cases returns how many cases to try: few by default, G8 times as many as the environment says.
func cases(n int) int {
	if factor, err := strconv.Atoi(os.Getenv("CASES")); err == nil {
		return n * factor
	}
	return n
}

func TestRecovery_cut_at_every_byte(t *testing.T) {
	t.Parallel()
	h := recordHistory(t, 12)
	dir := scratch(t)
	end := h.records[len(h.records)-1].to
	for cut := 0; cut <= end+16; cut++ {
		h.check(t, dir, h.image[:cut], func(r extent) bool { return r.to > cut })
	}
}

func TestRecovery_flipped_bits(t *testing.T) {
	t.Parallel()
	h := recordHistory(t, 30)
	dir := scratch(t)
	image := make([]byte, len(h.image))
	flip := func(at, bit int) {
		copy(image, h.image)
		image[at] ^= 1 << bit
		h.check(t, dir, image, func(r extent) bool { return r.from <= at && at < r.to })
	}
	for at := range 256 { // what the segment's header uses
		for bit := range 8 {
			flip(at, bit)
		}
	}
	for _, r := range h.records[:5] {
		for at := r.from; at < r.from+spool.RecordHeader; at++ {
			for bit := range 8 {
				flip(at, bit)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range cases(2000) {
		flip(spool.HeaderSize+rng.IntN(len(image)-spool.HeaderSize), rng.IntN(8))
	}
}

// TestRecovery_lost_pages drops pages as a power cut does: each may hold what it held at some earlier moment.
func TestRecovery_lost_pages(t *testing.T) {
	t.Parallel()
	const page = 4096
	h := recordHistory(t, 55)
	dir := scratch(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for range cases(1500) {
		image := append([]byte(nil), h.image...)
		synced := rng.IntN(len(h.records)) // up to this record, a sync had completed
		safe := spool.HeaderSize
		if synced > 0 {
			safe = h.records[synced-1].to
		}
		cut := make([]int, len(image)/page) // where the page's newer bytes begin, which are gone
		for p := range cut {
			cut[p] = (p + 1) * page
			if rng.IntN(2) == 0 {
				// An earlier state of the page: all up to the end of some record that is not older than the sync.
				at := safe
				if k := synced + rng.IntN(len(h.records)-synced+1); k > 0 {
					at = max(at, h.records[k-1].to)
				}
				cut[p] = min(max(at, p*page), (p+1)*page)
			}
			if p > 0 {
				clear(image[cut[p] : (p+1)*page])
			} else if rng.IntN(2) == 0 && synced == 0 {
				clear(image[:page])
			}
		}
		h.check(t, dir, image, func(r extent) bool {
			for p := r.from / page; p <= (r.to-1)/page; p++ {
				if cut[p] < min(r.to, (p+1)*page) {
					return true
				}
			}
			return false
		})
	}
}

func TestRecovery_random_overwrites(t *testing.T) {
	t.Parallel()
	h := recordHistory(t, 40)
	dir := scratch(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for range cases(1500) {
		image := append([]byte(nil), h.image...)
		from := rng.IntN(len(image))
		to := min(len(image), from+1+rng.IntN(6000))
		switch rng.IntN(3) {
		case 0:
			clear(image[from:to])
		case 1:
			for i := from; i < to; i++ {
				image[i] = byte(rng.Uint32())
			}
		default: // one part of the file over another: valid records in wrong places
			copy(image[from:to], h.image[rng.IntN(len(image)):])
		}
		changed := func(r extent) bool {
			return string(image[r.from:r.to]) != string(h.image[r.from:r.to])
		}
		h.check(t, dir, image, changed)
	}
}

// FuzzRecovery puts any bytes in the place of a segment: whatever they are, opening and reading ends, and gives
// out nothing that is not a click.
func FuzzRecovery(f *testing.F) {
	h := recordHistory(f, 10)
	end := h.records[9].to
	f.Add(h.image[:end], 0, []byte{})
	f.Add(h.image[:end], spool.HeaderSize, []byte{1, 0, 0, 0})
	f.Add(h.image[:end], 128, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add([]byte{}, 0, []byte{})
	dir := scratch(f)
	f.Fuzz(func(t *testing.T, image []byte, at int, patch []byte) {
		if len(image) > 64<<10 {
			return
		}
		image = append([]byte(nil), image...)
		if at >= 0 && at < len(image) {
			copy(image[at:], patch)
		}
		sub, err := os.MkdirTemp(dir, "f")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(sub)
		if err := os.WriteFile(filepath.Join(sub, h.name), image, 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := small(sub)
		s, err := spool.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		l := newLedger()
		l.take(t, s)
		if l.events > len(image)+1 {
			t.Fatalf("%d events from %d bytes", l.events, len(image))
		}
	})
}
