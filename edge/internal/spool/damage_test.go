package spool_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// history is a segment of one lane with the clicks that were appended to it.
type history struct {
	name    string
	image   []byte
	records []extent // of record i+1
	event   func(seq int) click.Event
	bounds
}

// bounds collects the results of all cases of a history.
type bounds struct {
	tried, recovered int
	slowest          time.Duration
}

type extent struct{ from, to int }

// recordHistory makes a segment as a killed process leaves it: not sealed, with its unused space reserved. It appends
// clicks and copies the file while it is in use. With seed 0, all clicks are alike; another seed makes clicks of any
// length. With an odd seed, the segment is as a process leaves it after a clean stop.
func recordHistory(t testing.TB, clicks int, seed uint64) *history {
	t.Helper()
	cfg := small(scratch(t))
	cfg.Lanes = 1
	s := open(t, cfg)
	h := &history{event: event}
	if seed != 0 {
		most := uint64(12_000/clicks - 60)
		h.event = func(seq int) click.Event {
			rng := rand.New(rand.NewPCG(seed, uint64(seq)))
			e := event(seq)
			n := int(rng.Uint64N(most))
			e.UserAgent = strings.Repeat("a", rng.IntN(min(n, click.MaxUserAgent)+1))
			e.Referer = strings.Repeat("b", n-len(e.UserAgent))
			return e
		}
	}
	for i := range clicks {
		e := h.event(i + 1)
		if !s.Append(0, &e) {
			t.Fatal("dropped")
		}
	}
	files, _ := filepath.Glob(filepath.Join(cfg.Dir, "*-00-00000000.seg"))
	if len(files) != 1 {
		t.Fatalf("segments %v", files)
	}
	read := func() {
		var err error
		if h.image, err = os.ReadFile(files[0]); err != nil {
			t.Fatal(err)
		}
	}
	h.name = filepath.Base(files[0])
	read()
	s.stop()
	if seed%2 == 1 {
		read()
	}
	for off := spool.HeaderSize; off+spool.RecordHeader <= len(h.image); {
		n := int(binary.LittleEndian.Uint32(h.image[off:]))
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

// check opens a spool on the damaged image and compares its clicks with the appended ones. The spool must return each
// record outside the damaged bytes, and nothing that was not appended.
func (h *history) check(t testing.TB, dir string, image []byte, damaged func(extent) bool) {
	t.Helper()
	began := time.Now()
	for _, name := range []string{"epoch", "shipped", "instance.id"} {
		os.Remove(filepath.Join(dir, name))
	}
	old, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	for _, path := range old {
		os.Remove(path)
	}
	testkit.Must(t, os.WriteFile(filepath.Join(dir, h.name), image, 0o600))
	cfg := small(dir)
	cfg.Lanes = 1
	cfg.Sync = spool.SyncNone
	s, err := spool.Open(cfg)
	testkit.Must(t, err)
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
			t.Fatal("the reader does not reach the end")
		}
		d := click.NewDecoder(b)
		var e click.Event
		for {
			ok, err := d.Next(&e)
			testkit.Must(t, err)
			if !ok {
				break
			}
			if e.Seq == 0 || e.Seq >= uint64(len(came)) || came[e.Seq] || named[e.Seq] {
				t.Fatalf("got number %d of %d records", e.Seq, len(h.records))
			}
			if e.LostTo != 0 {
				for n := e.LostFrom; n <= e.LostTo; n++ {
					named[n] = true
				}
				continue
			}
			came[e.Seq] = true
			want := h.event(int(e.Seq))
			want.Seq = e.Seq
			if e != want {
				t.Fatalf("accepted a wrong record:\n got %+v\nwant %+v", e, want)
			}
		}
		r.Ack()
	}
	tail := true
	for seq := len(h.records); seq > 0; seq-- {
		tail = tail && !came[seq]
		switch {
		case came[seq]:
			h.recovered++
		case !damaged(h.records[seq-1]):
			t.Fatalf("record %d is lost outside of the damage", seq)
		case !named[seq] && !tail:
			t.Fatalf("record %d is lost without a marker", seq)
		}
	}
	h.tried++
	h.slowest = max(h.slowest, time.Since(began))
}

// histories calls f with one history and the number of random cases that f must try. The environment variable CASES makes
// the run longer by that factor, make proof by 100: then there is one history for each 2 of CASES. histories logs the results.
func histories(t *testing.T, clicks, cases int, f func(h *history, dir string, cases int)) {
	t.Helper()
	factor := testkit.Size(1, 100)
	if set, err := strconv.Atoi(os.Getenv("CASES")); err == nil {
		factor = set
	}
	n := max(1, factor/2)
	cases = cases * factor / n
	var all bounds
	for seed := range n {
		h := recordHistory(t, clicks, uint64(seed))
		f(h, scratch(t), cases)
		all = bounds{all.tried + h.tried, all.recovered + h.recovered, max(all.slowest, h.slowest)}
	}
	t.Logf("%d cases of %d histories: %d records recovered, none of them wrong, and none lost outside of the damage; the slowest case took %v",
		all.tried, n, all.recovered, all.slowest.Round(time.Millisecond))
}

// In make proof, every byte is an end; in make test, every seventh.
func TestRecovery_cut_at_every_byte(t *testing.T) {
	t.Parallel()
	histories(t, 12, 0, func(h *history, dir string, _ int) {
		end := min(h.records[len(h.records)-1].to+16, len(h.image))
		for cut := 0; cut <= end; cut += testkit.Size(7, 1) {
			h.check(t, dir, h.image[:cut], func(r extent) bool { return r.to > cut })
		}
	})
}

func TestRecovery_flipped_bits(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	histories(t, 30, testkit.Size(500, 2000), func(h *history, dir string, cases int) {
		image := make([]byte, len(h.image))
		flip := func(at, bit int) {
			copy(image, h.image)
			image[at] ^= 1 << bit
			h.check(t, dir, image, func(r extent) bool { return r.from <= at && at < r.to })
		}
		for at := 0; at < 256; at += testkit.Size(7, 1) { // the used part of the segment's header
			for bit := range 8 {
				flip(at, bit)
			}
		}
		for _, r := range h.records[:5] {
			for at := r.from; at < r.from+spool.RecordHeader; at += testkit.Size(3, 1) {
				for bit := range 8 {
					flip(at, bit)
				}
			}
		}
		for range cases / 2 {
			flip(spool.HeaderSize+rng.IntN(len(image)-spool.HeaderSize), rng.IntN(8))
		}
		// Flip one bit in a hundred in a run of records.
		for range cases / 2 {
			copy(image, h.image)
			first := rng.IntN(len(h.records))
			run := h.records[first : first+1+rng.IntN(min(8, len(h.records)-first))]
			from, to := run[0].from, run[len(run)-1].to
			for range max(1, (to-from)*8/100) {
				image[from+rng.IntN(to-from)] ^= 1 << rng.IntN(8)
			}
			h.check(t, dir, image, h.changed(image))
		}
	})
}

// changed returns a function that reports whether the bytes of a record differ in an image.
func (h *history) changed(image []byte) func(extent) bool {
	return func(r extent) bool { return string(image[r.from:r.to]) != string(h.image[r.from:r.to]) }
}

// TestRecovery_lost_pages simulates a power cut: each page may have its content of some earlier moment.
func TestRecovery_lost_pages(t *testing.T) {
	t.Parallel()
	const page = 4096
	rng := rand.New(rand.NewPCG(3, 4))
	histories(t, 55, testkit.Size(400, 1500), func(h *history, dir string, cases int) {
		for range cases {
			image := append([]byte(nil), h.image...)
			synced := rng.IntN(len(h.records)) // the last sync covered the records up to this one
			safe := spool.HeaderSize
			if synced > 0 {
				safe = h.records[synced-1].to
			}
			for p := range (len(image) + page - 1) / page {
				from, to := p*page, min((p+1)*page, len(image))
				lost := rng.IntN(2) == 0
				switch {
				case p == 0 && lost && synced == 0:
					clear(image[:page])
				case p > 0 && lost:
					// Restore an earlier state of the page, which ends with some record that is not older than the sync.
					at := safe
					if k := synced + rng.IntN(len(h.records)-synced+1); k > 0 {
						at = max(at, h.records[k-1].to)
					}
					clear(image[min(max(at, from), to):to])
				}
			}
			h.check(t, dir, image, h.changed(image))
		}
	})
}

func TestRecovery_random_overwrites(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	histories(t, 40, testkit.Size(400, 1500), func(h *history, dir string, cases int) {
		for range cases {
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
			default: // copy one part of the file over another: valid records in wrong places
				copy(image[from:to], h.image[rng.IntN(len(image)):])
			}
			h.check(t, dir, image, h.changed(image))
		}
	})
}

// FuzzRecovery replaces a segment by arbitrary bytes. Opening and reading must terminate and return nothing but clicks.
func FuzzRecovery(f *testing.F) {
	h := recordHistory(f, 10, 0)
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
		testkit.Must(t, err)
		defer os.RemoveAll(sub)
		testkit.Must(t, os.WriteFile(filepath.Join(sub, h.name), image, 0o600))
		cfg := small(sub)
		s, err := spool.Open(cfg)
		testkit.Must(t, err)
		defer s.Close()
		l := newLedger()
		l.take(t, s)
		if l.events > len(image)+1 {
			t.Fatalf("%d events from %d bytes", l.events, len(image))
		}
	})
}
