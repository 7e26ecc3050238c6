package click_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/testing/testkit"
)

var update = flag.Bool("update", false, "write the golden files of the newest schema anew")

// samples are the events in testdata/batch-v1.hex. They never change: that file must stay readable permanently.
func samples() []click.Event {
	return []click.Event{
		{Seq: 41, Time: 1790000000123, Link: 7, Owner: 3},
		{
			Seq: 42, Time: 1790000000456, Link: 1 << 40, Owner: 99,
			Variant: link.ID{0: 1, 15: 2}, Rule: link.ID{0: 3, 15: 4},
			IP:             netip.MustParseAddr("2001:db8::17"),
			UserAgent:      "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
			Referer:        "https://example.org/a?b=c",
			AcceptLanguage: "de-CH,de;q=0.8",
			UTM: link.UTM{
				Source: "news", Medium: "mail", Campaign: "spring", Term: "t", Content: "c\xff", ID: "i", SourcePlatform: "p",
			},
			Prefetch: true,
		},
		{Seq: 43, Time: -1, Link: 7, Owner: 3, IP: netip.MustParseAddr("192.0.2.200"), UserAgent: "curl/8"},
		{Seq: 44, Time: 1790000000789, LostFrom: 44, LostTo: 44},
	}
}

func sampleBatch() click.Batch {
	b := click.Batch{Lane: click.Lane{Edge: 0xfedcba9876543210, Epoch: 12, Lane: 3}, First: 41, Repair: true}
	for _, e := range samples() {
		b.Records = click.AppendRecord(b.Records, &e)
		b.Count++
	}
	return b
}

// An edge writes records into a file in which zeros mark the end.
func TestAppendRecord_leaves_zeros_behind_it(t *testing.T) {
	t.Parallel()
	for n := range 300 {
		e := click.Event{Seq: 1, Time: 1790000000123, Link: 7, UserAgent: strings.Repeat("a", n)}
		room := make([]byte, click.MaxRecord)
		b := click.AppendRecord(room[:0], &e)
		if rest := room[len(b):]; !bytes.Equal(rest, make([]byte, len(rest))) {
			t.Fatalf("bytes behind a record of %d bytes are not zero: %x", len(b), rest[:8])
		}
	}
}

func decodeAll(t *testing.T, b click.Batch) []click.Event {
	t.Helper()
	var all []click.Event
	d := click.NewDecoder(&b)
	for {
		var e click.Event
		ok, err := d.Next(&e)
		testkit.Must(t, err)
		if !ok {
			return all
		}
		all = append(all, e)
	}
}

func expectSamples(t *testing.T, b click.Batch) {
	t.Helper()
	want := samples()
	got := decodeAll(t, b)
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("event %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

func TestBatch_golden_frame_reads_and_writes_the_same(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "batch-v1.hex")
	b := sampleBatch()
	frame := click.AppendBatch(nil, &b)
	if *update {
		testkit.Must(t, os.WriteFile(path, []byte(hex.EncodeToString(frame)+"\n"), 0o644))
	}
	text, err := os.ReadFile(path)
	testkit.Must(t, err)
	golden, err := hex.DecodeString(strings.TrimSpace(string(text)))
	testkit.Must(t, err)
	if !bytes.Equal(golden, frame) {
		t.Errorf("the wire form has changed:\n got %x\nwant %x", frame, golden)
	}
	parsed, err := click.ParseBatch(golden)
	testkit.Must(t, err)
	if parsed.Lane != b.Lane || parsed.First != b.First || parsed.Count != b.Count || !parsed.Repair {
		t.Errorf("got %+v", parsed)
	}
	expectSamples(t, parsed)
}

func TestAppendRecord_cuts_to_bounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 3000) // a two-byte character, so that odd limits fall inside one
	e := click.Event{
		Seq: math.MaxUint64, Time: -1, Link: math.MaxUint64, Owner: math.MaxUint64,
		Variant: link.ID{1}, Rule: link.ID{1}, IP: netip.MustParseAddr("fe80::1%eth0"),
		UserAgent: long, Referer: strings.Repeat("\x80", 3000), AcceptLanguage: long,
		UTM:      link.UTM{Source: long, Medium: long, Campaign: long, Term: long, Content: long, ID: long, SourcePlatform: "x" + long},
		Prefetch: true, LostFrom: math.MaxUint64, LostTo: math.MaxUint64,
	}
	record := click.AppendRecord(nil, &e)
	if len(record) > click.MaxRecord {
		t.Errorf("record of %d bytes, MaxRecord is %d", len(record), click.MaxRecord)
	}
	got := decodeAll(t, click.Batch{First: e.Seq, Count: 1, Records: record})[0]
	if len(got.UserAgent) != click.MaxUserAgent || len(got.Referer) != click.MaxReferer ||
		len(got.AcceptLanguage) != click.MaxAcceptLanguage {
		t.Errorf("lengths %d %d %d", len(got.UserAgent), len(got.Referer), len(got.AcceptLanguage))
	}
	if len(got.UTM.Source) != 254 || len(got.UTM.SourcePlatform) != 255 {
		t.Errorf("campaign parameters of %d and %d bytes, want 254 (whole characters) and 255", len(got.UTM.Source),
			len(got.UTM.SourcePlatform))
	}
	if got.IP != netip.MustParseAddr("fe80::1") {
		t.Errorf("address %v", got.IP)
	}
}

func TestDecoder_skips_unknown_fields(t *testing.T) {
	t.Parallel()
	e := samples()[1]
	record := click.AppendRecord(nil, &e)
	message := append([]byte{}, record[2:]...)
	message = append(message, 0xf0, 0x01, 0x85, 0x01)             // field 30, varint
	message = append(message, 0xfa, 0x01, 0x03, 'n', 'e', 'w')    // field 31, bytes
	message = append(message, 0x81, 0x02, 1, 2, 3, 4, 5, 6, 7, 8) // field 32, fixed64
	message = append(message, 0x8d, 0x02, 1, 2, 3, 4)             // field 33, fixed32
	longer := append([]byte{byte(len(message)) | 0x80, byte(len(message) >> 7)}, message...)
	got := decodeAll(t, click.Batch{First: e.Seq, Count: 1, Records: longer})
	if got[0] != e {
		t.Errorf("got %+v", got[0])
	}
}

func TestDecoder_refuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		batch func(*click.Batch)
		want  error
	}{
		"other_sequence":   {func(b *click.Batch) { b.First++ }, click.ErrCorrupt},
		"too_few_records":  {func(b *click.Batch) { b.Count++ }, click.ErrCorrupt},
		"too_many_records": {func(b *click.Batch) { b.Count-- }, click.ErrCorrupt},
		"cut_record":       {func(b *click.Batch) { b.Records = b.Records[:len(b.Records)-1] }, click.ErrCorrupt},
		"newer_schema":     {func(b *click.Batch) { b.Records[2] = click.Schema + 1 }, click.ErrSchema},
		"wire_type":        {func(b *click.Batch) { b.Records[3] = 2<<3 | 3 }, click.ErrCorrupt},
		"address_length":   {func(b *click.Batch) { b.Records = []byte{9, 8, 1, 16, 41, 66, 3, 1, 2, 3}; b.Count = 1 }, click.ErrCorrupt},
		"no_schema":        {func(b *click.Batch) { b.Records = []byte{2, 16, 41}; b.Count = 1 }, click.ErrCorrupt},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := sampleBatch()
			c.batch(&b)
			d := click.NewDecoder(&b)
			var e click.Event
			for {
				ok, err := d.Next(&e)
				if err != nil {
					if !errors.Is(err, c.want) {
						t.Errorf("error %v, want %v", err, c.want)
					}
					return
				}
				if !ok {
					t.Fatal("accepted")
				}
			}
		})
	}
}

func TestParseBatch_refuses_every_flipped_bit_and_every_cut(t *testing.T) {
	t.Parallel()
	b := sampleBatch()
	frame := click.AppendBatch(nil, &b)
	for i := range frame {
		for bit := range 8 {
			frame[i] ^= 1 << bit
			if _, err := click.ParseBatch(frame); !errors.Is(err, click.ErrCorrupt) && !errors.Is(err, click.ErrSchema) {
				t.Fatalf("byte %d bit %d: error %v", i, bit, err)
			}
			frame[i] ^= 1 << bit
		}
		if _, err := click.ParseBatch(frame[:i]); !errors.Is(err, click.ErrCorrupt) {
			t.Fatalf("cut at %d: error %v", i, err)
		}
	}
}

func TestAppendRecord_does_not_allocate(t *testing.T) {
	events := samples()
	buf := make([]byte, 0, click.MaxRecord)
	if n := testing.AllocsPerRun(1000, func() {
		for i := range events {
			buf = click.AppendRecord(buf[:0], &events[i])
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzDecoder checks that decoding any bytes ends without a panic, and that accepted events survive a round trip.
func FuzzDecoder(f *testing.F) {
	b := sampleBatch()
	f.Add(b.Records, b.First, b.Count)
	for _, e := range samples() {
		f.Add(click.AppendRecord(nil, &e), e.Seq, 1)
	}
	f.Fuzz(func(t *testing.T, records []byte, first uint64, count int) {
		d := click.NewDecoder(&click.Batch{First: first, Count: count, Records: records})
		for range len(records) + 1 {
			var e click.Event
			ok, err := d.Next(&e)
			if err != nil || !ok {
				return
			}
			record := click.AppendRecord(nil, &e)
			if len(record) > click.MaxRecord {
				t.Fatalf("record of %d bytes", len(record))
			}
			again := click.NewDecoder(&click.Batch{First: e.Seq, Count: 1, Records: record})
			var e2 click.Event
			if ok, err := again.Next(&e2); !ok || err != nil || e2 != e {
				t.Fatalf("round trip of %+v gives %+v, %v", e, e2, err)
			}
		}
		t.Fatal("more events than bytes")
	})
}

// FuzzParseBatch checks that every accepted frame is the same after a round trip.
func FuzzParseBatch(f *testing.F) {
	b := sampleBatch()
	f.Add(click.AppendBatch(nil, &b))
	b.Repair = false
	f.Add(click.AppendBatch(nil, &b))
	f.Fuzz(func(t *testing.T, frame []byte) {
		b, err := click.ParseBatch(frame)
		if err != nil {
			return
		}
		again, err := click.ParseBatch(click.AppendBatch(nil, &b))
		if err != nil || again.Lane != b.Lane || again.First != b.First || !bytes.Equal(again.Records, b.Records) {
			t.Fatalf("%+v became %+v, %v", b, again, err)
		}
	})
}

func BenchmarkAppendRecord(b *testing.B) {
	e := samples()[1]
	buf := make([]byte, 0, click.MaxRecord)
	b.ReportAllocs()
	for b.Loop() {
		buf = click.AppendRecord(buf[:0], &e)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkDecoder(b *testing.B) {
	batch := sampleBatch()
	b.ReportAllocs()
	b.SetBytes(int64(len(batch.Records)))
	var e click.Event
	for b.Loop() {
		d := click.NewDecoder(&batch)
		for ok := true; ok; {
			var err error
			if ok, err = d.Next(&e); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// FuzzFrame is FuzzParseBatch behind the checksum: any records in an otherwise valid frame. An accepted frame has as
// many records as it says, and decoding them ends.
func FuzzFrame(f *testing.F) {
	b := sampleBatch()
	f.Add(b.Records, b.Count, b.First, true)
	f.Add([]byte{}, 0, uint64(0), false)
	f.Add([]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}, 1, ^uint64(0), false)
	f.Fuzz(func(t *testing.T, records []byte, count int, first uint64, repair bool) {
		sent := click.Batch{Lane: click.Lane{Edge: 1, Epoch: 2, Lane: 3}, First: first, Count: count, Records: records, Repair: repair}
		got, err := click.ParseBatch(click.AppendBatch(nil, &sent))
		if err != nil {
			if !errors.Is(err, click.ErrCorrupt) && !errors.Is(err, click.ErrSchema) {
				t.Fatal(err)
			}
			return
		}
		if got.Lane != sent.Lane || got.First != first || got.Repair != repair || !bytes.Equal(got.Records, records) ||
			got.Count > len(records) {
			t.Fatalf("%+v became %+v", sent, got)
		}
		d := click.NewDecoder(&got)
		for n := 0; ; n++ {
			var e click.Event
			ok, err := d.Next(&e)
			if err != nil {
				return
			}
			if !ok {
				if n > got.Count {
					t.Fatalf("%d events in a frame of %d", n, got.Count)
				}
				return
			}
		}
	})
}
