package spool_test

import (
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/edge/internal/spool"
)

func BenchmarkAppend(b *testing.B) {
	s := open(b, spool.Config{Dir: scratch(b), MinFreePercent: -1, CapBytes: 16 << 30})
	e := event(1)
	b.ReportAllocs()
	for b.Loop() {
		if !s.Append(0, &e) {
			b.Fatal("dropped")
		}
	}
}

func BenchmarkAppend_parallel(b *testing.B) {
	s := open(b, spool.Config{Dir: scratch(b), MinFreePercent: -1, CapBytes: 16 << 30})
	var hints atomic.Uint32
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		hint := hints.Add(1)
		e := event(1)
		for pb.Next() {
			if !s.Append(hint, &e) {
				b.Error("dropped")
			}
		}
	})
}

func BenchmarkReader(b *testing.B) {
	s := open(b, spool.Config{Dir: scratch(b), MinFreePercent: -1, CapBytes: 16 << 30, Lanes: 1})
	const clicks = 100_000
	e := event(1)
	for range clicks {
		s.Append(0, &e)
	}
	b.ReportAllocs()
	n := 0
	r := s.Readers()[0]
	for b.Loop() {
		batch := r.Next(10_000, 1_000_000)
		if batch == nil {
			b.StopTimer()
			for range clicks {
				s.Append(0, &e)
			}
			b.StartTimer()
			continue
		}
		n += batch.Count
		r.Ack()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/click")
}
